/* What the desktop's camera portal may do without asking: it keeps an answer for each app id, and all programs outside of
   sandboxes have the empty one. While every camera of PipeWire is captured's, which asks about each program, that answer is
   yes. One that is there already stays. Ours goes as soon as there is another camera, and when this program ends. */
#include "bridge.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <time.h>
#include <unistd.h>

#define STORE "org.freedesktop.impl.portal.PermissionStore"

enum { call_seconds = 3, end_seconds = 5, again_seconds = 10 };

/* The portal's answers, and which of them is ours. */
static const struct place {
    const char *table, *id;
} answers = {"devices", "camera"}, own = {"org.capturekit.Capture1", "camera-portal"};

enum found { found_nothing, found_yes, found_other };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_known, is_there, is_wanted, is_ending, has_ended;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int call(sd_bus *bus, const char *member, sd_bus_error *error, sd_bus_message **reply, const char *types, ...) {
    sd_bus_message *message = NULL;
    int result = sd_bus_message_new_method_call(bus, &message, STORE, "/org/freedesktop/impl/portal/PermissionStore",
                                                STORE, member);
    va_list arguments;
    va_start(arguments, types);
    if (result >= 0) result = sd_bus_message_appendv(message, types, arguments);
    va_end(arguments);
    if (result >= 0) result = sd_bus_call(bus, message, 0, error, reply);
    sd_bus_message_unref(message);
    return result;
}

/* The entry of the empty app id; below 0 for an error. */
static int read_entries(sd_bus_message *reply) {
    int result = sd_bus_message_enter_container(reply, 'a', "{sas}"), found = found_nothing;
    while (result >= 0 && (result = sd_bus_message_enter_container(reply, 'e', "sas")) > 0) {
        const char *app;
        char **words = NULL;
        result = sd_bus_message_read_basic(reply, 's', &app);
        if (result >= 0) result = sd_bus_message_read_strv(reply, &words);
        bool is_yes = words && words[0] && !words[1] && !strcmp(words[0], "yes");
        if (result >= 0 && !*app) found = is_yes ? found_yes : found_other;
        for (char **word = words; word && *word; word++) free(*word);
        free(words);
        if (result >= 0) result = sd_bus_message_exit_container(reply);
    }
    return result < 0 ? result : found;
}

static int find(sd_bus *bus, const struct place *place) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    int result = call(bus, "Lookup", &error, &reply, "ss", place->table, place->id);
    if (result >= 0) result = read_entries(reply);
    else if (sd_bus_error_has_name(&error, "org.freedesktop.portal.Error.NotFound")) result = found_nothing;
    sd_bus_error_free(&error);
    sd_bus_message_unref(reply);
    return result;
}

static int set(sd_bus *bus, const struct place *place) {
    return call(bus, "SetPermission", NULL, NULL, "sbssas", place->table, 1, place->id, "", 1, "yes");
}

static int clear(sd_bus *bus, const struct place *place) {
    return call(bus, "DeletePermission", NULL, NULL, "sss", place->table, place->id, "");
}

/* sd_bus_open_user passes over what main.c left in the environment, in a program with a group of its own. */
static int open_bus(sd_bus **bus) {
    char address[512];
    const char *given = getenv("DBUS_SESSION_BUS_ADDRESS");
    if (given) snprintf(address, sizeof address, "%s", given);
    else snprintf(address, sizeof address, "unix:path=%s/bus", getenv("XDG_RUNTIME_DIR"));
    int result = sd_bus_new(bus);
    if (result >= 0) result = sd_bus_set_address(*bus, address);
    if (result >= 0) result = sd_bus_set_bus_client(*bus, 1);
    if (result >= 0) result = sd_bus_set_method_call_timeout(*bus, call_seconds * UINT64_C(1000000));
    return result < 0 ? result : sd_bus_start(*bus);
}

/* Whether nothing is left to do. Without a store there is no portal, either. */
static bool put(bool is_wanted) {
    sd_bus *bus = NULL;
    int result = open_bus(&bus);
    int there = result < 0 ? result : find(bus, &answers), ours = there < 0 ? there : find(bus, &own);
    if (ours >= 0 && is_wanted && there == found_nothing) {
        /* Marked first: what is not marked would never go. */
        result = set(bus, &own);
        if (result >= 0) result = set(bus, &answers);
    } else if (ours > found_nothing && !is_wanted) {
        if (there == found_yes) result = clear(bus, &answers);
        if (result >= 0) result = clear(bus, &own);
    }
    bool is_late = ours == -ETIMEDOUT || ours == -ECONNRESET || ours == -ENOTCONN;
    if (ours >= 0 && result < 0) bridge_say("cannot write the desktop's permissions: %s", strerror(-result));
    if (is_late) bridge_say("cannot read the desktop's permissions: %s", strerror(-ours));
    sd_bus_flush_close_unref(bus);
    return ours < 0 ? !is_late : result >= 0;
}

static void *keep(void *data) {
    (void)data;
    pthread_mutex_lock(&state.lock);
    while (!state.has_ended) {
        while (state.is_known && state.is_there == state.is_wanted && !state.is_ending)
            pthread_cond_wait(&state.changed, &state.lock);
        bool is_last = state.is_ending, is_wanted = state.is_wanted && !is_last;
        pthread_mutex_unlock(&state.lock);
        bool is_done = put(is_wanted);
        pthread_mutex_lock(&state.lock);
        state.is_known = is_done;
        state.is_there = is_wanted;
        state.has_ended = is_last;
        if (is_done || is_last || state.is_ending) continue;
        struct timespec again;
        clock_gettime(CLOCK_REALTIME, &again);
        again.tv_sec += again_seconds;
        pthread_cond_timedwait(&state.changed, &state.lock, &again);
    }
    pthread_cond_broadcast(&state.changed);
    pthread_mutex_unlock(&state.lock);
    return NULL;
}

void permission_begin(void) {
    pthread_t thread;
    state.has_ended = pthread_create(&thread, NULL, keep, NULL) != 0;
    if (state.has_ended) return;
    pthread_setname_np(thread, "permission");
    pthread_detach(thread);
}

void permission_look(struct bridge *bridge) {
    struct decoy *decoy;
    struct global *global;
    bool is_wanted = false;
    spa_list_for_each(decoy, &bridge->decoys, link) is_wanted |= decoy->device->media == CAPTURE_VIDEO;
    spa_list_for_each(global, &bridge->globals, link) {
        if (global->kind != global_node || !global->is_camera) continue;
        struct global *client = globals_find(bridge, global->owner, global_client);
        is_wanted &= client && client->pid == getpid();
    }
    pthread_mutex_lock(&state.lock);
    state.is_wanted = is_wanted;
    pthread_cond_broadcast(&state.changed);
    pthread_mutex_unlock(&state.lock);
}

void permission_end(void) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += end_seconds;
    pthread_mutex_lock(&state.lock);
    state.is_ending = true;
    pthread_cond_broadcast(&state.changed);
    while (!state.has_ended && pthread_cond_timedwait(&state.changed, &state.lock, &end) == 0) continue;
    pthread_mutex_unlock(&state.lock);
}
