/* Calls of the daemon and of the bus. */
#include "internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct answer {
    struct capture_client *client;
    sd_bus_message *message;
};

static int heard_answer(sd_bus_message *message, void *context, sd_bus_error *error) {
    struct answer *answer = context;
    (void)error;
    answer->message = sd_bus_message_ref(message);
    return 1;
}

static bool is_answered(void *context) {
    struct answer *answer = context;
    return answer->message || answer->client->is_closed;
}

int cap_call_new_locked(struct capture_client *client, const char *path, const char *interface, const char *member,
                        sd_bus_message **message) {
    const char *service = !strncmp(path, "/org/freedesktop/", 17) ? "org.freedesktop.DBus" : CAP_SERVICE;
    int result = sd_bus_message_new_method_call(client->bus, message, service, path, interface, member);
    if (result < 0) return cap_fail_errno(CAPTURE_INTERNAL, -result, "write a call");
    /* cap_need_daemon_locked starts it. A call about what lived in a daemon that is gone must not start another. */
    sd_bus_message_set_auto_start(*message, 0);
    return 0;
}

int cap_call_locked(struct capture_client *client, sd_bus_message *message, sd_bus_message **reply) {
    struct answer answer = {.client = client};
    sd_bus_slot *slot = NULL;
    char path[256];
    cap_copy_text(path, sizeof path, sd_bus_message_get_path(message));
    int result = sd_bus_call_async(client->bus, &slot, message, heard_answer, &answer, UINT64_MAX);
    sd_bus_message_unref(message);
    if (result < 0) return cap_fail_errno(CAPTURE_UNREACHABLE, -result, "call the capture daemon");
    result = cap_wait_locked(client, is_answered, &answer, cap_now() + cap_call_seconds * CAP_SECOND, -1, NULL);
    sd_bus_slot_unref(slot);
    if (result < 0) return cap_fail(CAPTURE_UNREACHABLE, "the capture daemon did not answer in time");
    if (!answer.message) return cap_fail(CAPTURE_UNREACHABLE, "the connection to the bus is lost");
    if (sd_bus_message_is_method_error(answer.message, NULL)) {
        result = cap_fail_bus(sd_bus_message_get_error(answer.message), path);
        sd_bus_message_unref(answer.message);
        return result;
    }
    if (reply) *reply = answer.message;
    else sd_bus_message_unref(answer.message);
    return 0;
}

int cap_ask_locked(struct capture_client *client, const char *path, const char *interface, const char *member,
                   sd_bus_message **reply, const char *types, ...) {
    sd_bus_message *message = NULL;
    int result = cap_call_new_locked(client, path, interface, member, &message);
    if (result < 0) return result;
    va_list arguments;
    va_start(arguments, types);
    result = sd_bus_message_appendv(message, types, arguments);
    va_end(arguments);
    if (result < 0) {
        sd_bus_message_unref(message);
        return cap_fail_errno(CAPTURE_INVALID_ARGUMENT, -result, "write a value into a call");
    }
    return cap_call_locked(client, message, reply);
}

/* Asks the bus who is the daemon. What was heard meanwhile is newer. */
static int find_locked(struct capture_client *client) {
    uint64_t life = client->life;
    sd_bus_message *reply = NULL;
    int result = cap_ask_locked(client, "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner", &reply, "s",
                                CAP_SERVICE);
    if (result < 0) return result;
    const char *owner;
    if (sd_bus_message_read_basic(reply, 's', &owner) > 0 && client->life == life && !client->owner)
        cap_set_owner_locked(client, owner);
    sd_bus_message_unref(reply);
    return client->owner ? 0 : cap_fail(CAPTURE_UNREACHABLE, "the capture daemon went away");
}

int cap_need_daemon_locked(struct capture_client *client) {
    if (!client->owner && find_locked(client) < 0) {
        /* The bus answers once it has its name, or could not be started. */
        int result = cap_ask_locked(client, "/org/freedesktop/DBus", "org.freedesktop.DBus", "StartServiceByName",
                                    NULL, "su", CAP_SERVICE, (uint32_t)0);
        if (result == 0 && !client->owner) result = find_locked(client);
        if (result < 0) return result;
    }
    return cap_tell_usages_locked(client);
}
