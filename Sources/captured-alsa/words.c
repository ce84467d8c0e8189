/* What the person and the program are told when there is no sound. */
#include "plugin.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Programs try again, and look at every device: the same sentence is not said twice in a row. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char said[1024];

static int number(int code) {
    switch (code) {
    case CAPTURE_DENIED:
    case CAPTURE_RESTRICTED:
    case CAPTURE_REVOKED:
    case CAPTURE_NOT_PERMITTED: return -EACCES;
    case CAPTURE_UNDECIDED:
    case CAPTURE_NOBODY_TO_ASK:
    case CAPTURE_ASKED_TOO_OFTEN:
    case CAPTURE_DISMISSED:
    case CAPTURE_TIMED_OUT:
    case CAPTURE_SWITCHED_OFF:
    case CAPTURE_USER_AWAY:
    case CAPTURE_MISSING_USAGE_DESCRIPTION: return -EPERM;
    case CAPTURE_NO_SUCH_DEVICE:
    case CAPTURE_DEVICE_LOST:
    case CAPTURE_UNREACHABLE: return -ENODEV;
    case CAPTURE_BUSY: return -EBUSY;
    case CAPTURE_NO_SUCH_FORMAT: return -EINVAL;
    default: return -EIO;
    }
}

/* What to do about it. */
static const char *advice(int code) {
    switch (code) {
    case CAPTURE_DENIED:
    case CAPTURE_REVOKED: return "capturectl auth list shows the answer, and capturectl auth set changes it";
    case CAPTURE_RESTRICTED: return "capturectl auth explain shows the policy";
    case CAPTURE_SWITCHED_OFF: return "capturectl switch microphone on";
    case CAPTURE_NO_SUCH_DEVICE: return "capturectl devices lists the microphones";
    case CAPTURE_UNREACHABLE: return "capturectl doctor finds out why";
    case CAPTURE_BUSY: return "capturectl status shows the program that uses it";
    case CAPTURE_UNDECIDED:
    case CAPTURE_NOBODY_TO_ASK:
    case CAPTURE_ASKED_TOO_OFTEN:
    case CAPTURE_DISMISSED:
    case CAPTURE_TIMED_OUT:
    case CAPTURE_NOT_PERMITTED:
    case CAPTURE_MISSING_USAGE_DESCRIPTION: return "capturectl auth set allows a program";
    default: return "capturectl status shows the microphone";
    }
}

int stream_complain_of(int code, const char *sentence) {
    if (code < 0) code = -code;
    char line[sizeof said];
    /* The daemon's own advice goes before. */
    bool has_advice = strstr(sentence, "capturectl");
    int length = snprintf(line, sizeof line, "captured: %s cannot record: %.700s%s%s\n", program_invocation_short_name,
                          sentence, has_advice ? "" : "; ", has_advice ? "" : advice(code));
    if (length < 0) return number(code);
    /* One line, whatever the daemon says. */
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < ' ' && at[1]) *at = ' ';
    pthread_mutex_lock(&lock);
    bool is_new = strcmp(said, line) != 0;
    if (is_new) strcpy(said, line);
    pthread_mutex_unlock(&lock);
    if (is_new) fputs(line, stderr);
    return number(code);
}

int stream_complain(int code) {
    char sentence[701];
    snprintf(sentence, sizeof sentence, "%s", *capture_message() ? capture_message() : capture_strerror(code));
    return stream_complain_of(code, sentence);
}

void stream_complain_no_more(void) {
    pthread_mutex_lock(&lock);
    said[0] = '\0';
    pthread_mutex_unlock(&lock);
}
