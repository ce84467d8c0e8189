/* What comes over the bus unasked. Only the daemon is heard: any program of the bus can send signals to any other. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void add(struct capture_client *client, const struct capture_event *event) {
    struct cap_event_node *node = calloc(1, sizeof *node);
    if (!node) return;
    node->event = *event;
    *client->last_event = node;
    client->last_event = &node->next;
    client->event_count++;
}

void cap_event_locked(struct capture_client *client, const struct capture_event *event) {
    if (client->event_count < cap_most_events) {
        add(client, event);
    } else if (client->event_count == cap_most_events) {
        add(client, &(struct capture_event){.kind = CAPTURE_EVENTS_LOST});
    }
    cap_raise_locked(client);
}

int capture_next_event(struct capture_client *client, struct capture_event *event) {
    if (!event || event->size < sizeof event->size)
        return cap_fail(CAPTURE_INVALID_ARGUMENT, "there is no place for the event; set its size");
    int result = cap_lock_open_or_not(client);
    if (result) return result;
    struct cap_event_node *node = client->first_event;
    if (node) {
        client->first_event = node->next;
        if (!node->next) client->last_event = &client->first_event;
        client->event_count--;
    }
    cap_unlock(client);
    if (!node) return 0;
    cap_export(&node->event, sizeof node->event, event, event->size);
    free(node);
    return 1;
}

void cap_set_owner_locked(struct capture_client *client, const char *owner) {
    bool was_there = client->owner;
    free(client->owner);
    client->owner = owner && *owner ? strdup(owner) : NULL;
    client->life++;
    if (!was_there) return;
    for (struct capture_session *session = client->sessions; session; session = session->next)
        if (session->path) cap_session_lost_locked(session, CAPTURE_UNREACHABLE, "the capture daemon went away");
    for (struct cap_request *request = client->requests; request; request = request->next) {
        if (request->is_done) continue;
        request->is_done = true;
        request->code = CAPTURE_UNREACHABLE;
        cap_copy_text(request->message, sizeof request->message, "the capture daemon went away while it asked");
    }
    cap_event_locked(client, &(struct capture_event){.kind = CAPTURE_EVENT_DAEMON_GONE});
}

static void heard_owner(struct capture_client *client, sd_bus_message *message) {
    const char *name, *before, *owner;
    if (sd_bus_message_read(message, "sss", &name, &before, &owner) <= 0 || strcmp(name, CAP_SERVICE)) return;
    /* The answer to a question may have told it before. */
    if (!client->owner || strcmp(client->owner, owner)) cap_set_owner_locked(client, owner);
}

static void heard_device(struct capture_client *client, sd_bus_message *message, const char *member) {
    struct capture_event event = {0};
    if (!client->watches_devices) return;
    if (!strcmp(member, "DeviceAdded")) {
        event.kind = CAPTURE_EVENT_DEVICE_ADDED;
        if (cap_device_id(message, event.device, sizeof event.device) < 0) return;
    } else if (!strcmp(member, "DeviceRemoved")) {
        const char *id;
        event.kind = CAPTURE_EVENT_DEVICE_REMOVED;
        if (sd_bus_message_read_basic(message, 's', &id) <= 0) return;
        cap_copy_text(event.device, sizeof event.device, id);
    } else {
        return;
    }
    cap_event_locked(client, &event);
}

static void heard_control(struct capture_client *client, sd_bus_message *message, const char *path,
                          const char *member) {
    struct capture_event event = {0};
    char *id = NULL;
    if (sd_bus_path_decode(path, CAP_DEVICES, &id) <= 0) return;
    cap_copy_text(event.device, sizeof event.device, id);
    free(id);
    if (!strcmp(member, "ControlChanged")) {
        event.kind = CAPTURE_EVENT_CONTROL_CHANGED;
        if (cap_control_changed(message, &event) < 0) return;
    } else if (!strcmp(member, "WatchEnded")) {
        const char *code;
        event.kind = CAPTURE_EVENT_CONTROLS_ENDED;
        if (sd_bus_message_read_basic(message, 's', &code) <= 0) return;
        event.code = cap_code_named(code);
    } else {
        return;
    }
    cap_event_locked(client, &event);
}

static void heard_daemon(struct capture_client *client, sd_bus_message *message) {
    const char *path = sd_bus_message_get_path(message), *interface = sd_bus_message_get_interface(message),
               *member = sd_bus_message_get_member(message);
    if (!path || !interface || !member) return;
    if (!strncmp(path, CAP_SESSIONS, sizeof CAP_SESSIONS - 1)) {
        for (struct capture_session *session = client->sessions; session; session = session->next)
            if (session->path && !strcmp(session->path, path)) cap_session_heard_locked(session, message);
    } else if (!strcmp(interface, CAP_DEVICE)) {
        heard_control(client, message, path, member);
    } else if (!strcmp(path, CAP_ROOT) && !strcmp(interface, CAP_MANAGER)) {
        heard_device(client, message, member);
    } else if (!strcmp(path, CAP_ROOT) && !strcmp(interface, CAP_CONSENT) && !strcmp(member, "AccessDecided")) {
        cap_access_decided_locked(client, message);
    }
}

int cap_heard(sd_bus_message *message, void *context, sd_bus_error *error) {
    struct capture_client *client = context;
    (void)error;
    uint8_t type;
    const char *sender = sd_bus_message_get_sender(message);
    if (sd_bus_message_get_type(message, &type) < 0 || type != SD_BUS_MESSAGE_SIGNAL || !sender) return 0;
    if (!strcmp(sender, "org.freedesktop.DBus")) {
        if (sd_bus_message_is_signal(message, "org.freedesktop.DBus", "NameOwnerChanged")) heard_owner(client, message);
    } else if (client->owner && !strcmp(sender, client->owner)) {
        heard_daemon(client, message);
    }
    return 0;
}
