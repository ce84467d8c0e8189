/* Errors: codes, their names and exit codes, and the sentence of each thread's last failure. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One row a code, in the order of enum capture_code. */
static const struct {
    const char *name;
    int exit_code;
    const char *sentence;
} codes[] = {
    {"", 0, "no error"},
    {"Usage", 64, "the call was put wrongly"},
    {"InvalidArgument", 65, "a value is out of range or of the wrong form"},
    {"BadData", 65, "the data is damaged or of an unknown form"},
    {"NoSuchDevice", 66, "there is no such device"},
    {"NoSuchSession", 66, "there is no such session"},
    {"NoSuchAsset", 66, "there is no such asset"},
    {"NoSuchAlbum", 66, "there is no such album"},
    {"StaleToken", 65, "the token is too old"},
    {"OverQuota", 74, "that is more than the program may keep"},
    {"NoSuchFormat", 65, "the device does not offer that format"},
    {"Unreachable", 69, "the capture daemon cannot be reached"},
    {"Internal", 70, "something failed inside"},
    {"InputOutput", 74, "reading or writing failed"},
    {"DeviceLost", 74, "the device went away"},
    {"NoSignal", 74, "the device has no signal"},
    {"RecorderLost", 74, "the recorder ended early"},
    {"Busy", 75, "the device is in use"},
    {"Dismissed", 75, "the question was closed without an answer"},
    {"TimedOut", 75, "there was no answer in time"},
    {"Undecided", 75, "the person is being asked"},
    {"NobodyToAsk", 75, "there is nobody to ask"},
    {"AskedTooOften", 75, "the program asked too often"},
    {"Denied", 77, "the person said no"},
    {"Restricted", 77, "policy forbids it"},
    {"Revoked", 77, "the consent was withdrawn"},
    {"SwitchedOff", 77, "it is switched off for every program"},
    {"UserAway", 77, "the user is away"},
    {"NotPermitted", 77, "the program may not do that"},
    {"MissingUsageDescription", 78, "the program does not say why it captures"},
    {"WrongState", 75, "that cannot be done now"},
    {"Unknown", 70, "the capture daemon says something that this version does not know"},
};
_Static_assert(CAP_COUNT(codes) == CAPTURE_UNKNOWN + 1, "a row for each code");

static _Thread_local char last_message[512];

const char *capture_version(void) { return CAPTURE_VERSION; }

const char *capture_message(void) { return last_message; }

static unsigned row(int code) {
    unsigned number = code < 0 ? 0u - (unsigned)code : (unsigned)code;
    return number < CAP_COUNT(codes) ? number : CAPTURE_UNKNOWN;
}

const char *capture_code_name(int code) { return codes[row(code)].name; }

const char *capture_strerror(int code) { return codes[row(code)].sentence; }

int capture_exit_code(int code) { return codes[row(code)].exit_code; }

int cap_code_named(const char *name) {
    for (unsigned i = 1; i < CAPTURE_UNKNOWN; i++)
        if (!strcmp(codes[i].name, name)) return (int)i;
    return CAPTURE_UNKNOWN;
}

int cap_fail(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_message, sizeof last_message, format, arguments);
    va_end(arguments);
    /* The daemon's words may hold a program's, which may hold anything. */
    for (char *at = last_message; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f) *at = ' ';
    return -code;
}

int cap_fail_errno(int code, int number, const char *what) {
    char text[128];
    return cap_fail(code, "cannot %s: %s", what, strerror_r(number, text, sizeof text));
}

int cap_malformed(const char *what) {
    return cap_fail(CAPTURE_BAD_DATA, "cannot understand the capture daemon's answer to %s", what);
}

/* The bus's own errors, by the last words of their names. */
static const struct {
    const char *word;
    int code;
    const char *sentence;
} bus_errors[] = {
    {"ServiceUnknown", CAPTURE_UNREACHABLE, "the capture daemon is not running"},
    {"NameHasNoOwner", CAPTURE_UNREACHABLE, "the capture daemon is not running"},
    {"NoReply", CAPTURE_UNREACHABLE, "the capture daemon went away or did not answer"},
    {"Timeout", CAPTURE_UNREACHABLE, "the capture daemon did not answer"},
    {"TimedOut", CAPTURE_UNREACHABLE, "the capture daemon did not answer"},
    {"Disconnected", CAPTURE_UNREACHABLE, "the connection to the bus is lost"},
    {"NoServer", CAPTURE_UNREACHABLE, "the connection to the bus is lost"},
    {"NoNetwork", CAPTURE_UNREACHABLE, "the connection to the bus is lost"},
    {"AccessDenied", CAPTURE_NOT_PERMITTED, "not allowed to call the capture daemon"},
    {"AuthFailed", CAPTURE_NOT_PERMITTED, "not allowed to use the bus"},
    {"InteractiveAuthorizationRequired", CAPTURE_NOT_PERMITTED, "not allowed to call the capture daemon"},
    {"InvalidArgs", CAPTURE_INVALID_ARGUMENT, "a value is malformed"},
    {"InvalidSignature", CAPTURE_INVALID_ARGUMENT, "a value is malformed"},
    {"LimitsExceeded", CAPTURE_BUSY, "the capture daemon is overloaded"},
};

int cap_fail_bus(const sd_bus_error *error, const char *path) {
    static const char own[] = CAP_SERVICE ".Error.", bus[] = "org.freedesktop.DBus.Error.";
    const char *name = error && error->name ? error->name : "";
    const char *message = error && error->message ? error->message : "";
    if (!strncmp(name, own, sizeof own - 1)) {
        int code = cap_code_named(name + sizeof own - 1);
        return cap_fail(code, "%s", *message ? message : capture_strerror(code));
    }
    if (!strncmp(name, "org.freedesktop.systemd1.", 25) || !strncmp(name, "org.freedesktop.DBus.Error.Spawn.", 33))
        return cap_fail(CAPTURE_UNREACHABLE, "the capture daemon cannot be started (%s)", message);
    if (!strncmp(name, bus, sizeof bus - 1)) {
        const char *word = name + sizeof bus - 1;
        if (!strcmp(word, "UnknownObject") && path && !strncmp(path, CAP_SESSIONS, sizeof CAP_SESSIONS - 1))
            return cap_fail(CAPTURE_NO_SUCH_SESSION, "there is no session %s", path + sizeof CAP_SESSIONS - 1);
        if (!strcmp(word, "UnknownObject") && path && !strncmp(path, CAP_DEVICES, sizeof CAP_DEVICES - 1))
            return cap_fail(CAPTURE_NO_SUCH_DEVICE, "there is no such device");
        for (size_t i = 0; i < CAP_COUNT(bus_errors); i++)
            if (!strcmp(word, bus_errors[i].word))
                return cap_fail(bus_errors[i].code, "%s (%s)", bus_errors[i].sentence, message);
    }
    return cap_fail(CAPTURE_INTERNAL, "the capture daemon failed: %s (%s)", message, name);
}
