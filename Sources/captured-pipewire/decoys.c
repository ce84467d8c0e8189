/* The public node of each device. It is never active: what links to it gets neither a format nor memory. */
#include "bridge.h"

#include <stdlib.h>
#include <string.h>

enum { most_formats = 256, format_space = 65536, most_lists = 64 };

/* A stream cannot be destroyed by its own listener. And a program that destroys the node again and again must not keep the
   bridge busy: it is made again a second later. */
static void mend_later(struct bridge *bridge) {
    struct timespec later = {.tv_sec = 1};
    pw_loop_update_timer(bridge->loop, bridge->decoys_source, &later, NULL, false);
}

static void state_changed(void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error) {
    struct decoy *decoy = data;
    (void)error;
    if (state != PW_STREAM_STATE_UNCONNECTED || old < PW_STREAM_STATE_PAUSED) return;
    decoy->is_destroyed = true;
    mend_later(decoy->bridge);
}

static const struct pw_stream_events events = {.version = PW_VERSION_STREAM_EVENTS, .state_changed = state_changed};

struct decoy *decoys_find(struct bridge *bridge, uint32_t node) {
    struct decoy *decoy;
    spa_list_for_each(decoy, &bridge->decoys, link)
        if (decoy->stream && pw_stream_get_node_id(decoy->stream) == node && node != SPA_ID_INVALID) return decoy;
    return NULL;
}

static uint32_t list_formats(const struct capture_device *device, struct spa_pod_builder *builder,
                             const struct spa_pod **pods) {
    if (device->media == CAPTURE_VIDEO) return pictures_list(device, builder, pods, most_formats);
    if (device->media != CAPTURE_AUDIO) return 0;
    uint32_t rate, channels;
    sound_shape(device, &rate, &channels);
    pods[0] = sound_pod(rate, channels, CAPTURE_FLOAT_LE, builder);
    return 1;
}

static int open_decoy(struct decoy *decoy) {
    const struct capture_device *device = decoy->device;
    bool is_video = device->media == CAPTURE_VIDEO;
    struct pw_properties *properties = pw_properties_new(
        PW_KEY_MEDIA_CLASS, is_video ? "Video/Source" : "Audio/Source", PW_KEY_NODE_DESCRIPTION, device->name,
        PW_KEY_NODE_NICK, device->name, PW_KEY_PRIORITY_SESSION, "1500", NULL);
    if (!properties) return -1;
    pw_properties_setf(properties, PW_KEY_NODE_NAME, "captured.%s", device->id);
    if (is_video) pw_properties_set(properties, PW_KEY_MEDIA_ROLE, "Camera");
    decoy->stream = pw_stream_new(decoy->bridge->core, device->name, properties);
    if (!decoy->stream) return -1;
    pw_stream_add_listener(decoy->stream, &decoy->listener, &events, decoy);
    uint8_t *space = malloc(format_space);
    if (!space) return -1;
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(space, format_space);
    const struct spa_pod *pods[most_formats];
    uint32_t count = list_formats(device, &builder, pods);
    int result = -1, flags = PW_STREAM_FLAG_INACTIVE;
    if (is_video) flags |= PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_ALLOC_BUFFERS;
    if (count) result = pw_stream_connect(decoy->stream, PW_DIRECTION_OUTPUT, PW_ID_ANY, flags, pods, count);
    free(space);
    return result;
}

static void release(struct device_list *list) {
    if (--list->users) return;
    capture_devices_free(list->devices);
    free(list);
}

static void free_decoy(struct decoy *decoy) {
    struct visit *visit, *next;
    spa_list_for_each_safe(visit, next, &decoy->bridge->visits, link)
        if (!strcmp(visit->device, decoy->device->id)) visits_end(visit, CAPTURE_DEVICE_LOST, "the device is gone");
    spa_list_remove(&decoy->link);
    if (decoy->stream) pw_stream_destroy(decoy->stream);
    release(decoy->list);
    free(decoy);
}

static void add_decoy(struct device_list *list, const struct capture_device *device) {
    struct bridge *bridge = list->bridge;
    struct decoy *decoy = calloc(1, sizeof *decoy);
    if (!decoy) return;
    decoy->bridge = bridge;
    decoy->is_listed = true;
    decoy->device = device;
    decoy->list = list;
    list->users++;
    spa_list_append(&bridge->decoys, &decoy->link);
    if (open_decoy(decoy) < 0) {
        bridge_say("%s has no format that PipeWire knows", device->name);
        free_decoy(decoy);
    }
}

void decoys_mend(struct bridge *bridge) {
    struct decoy *decoy;
    spa_list_for_each(decoy, &bridge->decoys, link) {
        if (!decoy->is_destroyed) continue;
        bridge_say("the node of %s was destroyed by another program, and is made again", decoy->device->name);
        if (decoy->stream) pw_stream_destroy(decoy->stream);
        decoy->stream = NULL;
        decoy->is_destroyed = open_decoy(decoy) < 0;
        if (decoy->is_destroyed) mend_later(bridge);
    }
}

void decoys_update(struct device_list *list) {
    struct bridge *bridge = list->bridge;
    struct decoy *decoy, *next;
    list->users = 1;
    spa_list_for_each(decoy, &bridge->decoys, link) decoy->is_listed = false;
    for (const struct capture_device *const *at = list->devices; at && *at; at++) {
        bool is_known = false;
        spa_list_for_each(decoy, &bridge->decoys, link)
            if (!strcmp(decoy->device->id, (*at)->id) && !strcmp(decoy->device->name, (*at)->name))
                is_known = decoy->is_listed = true;
        if (!is_known) add_decoy(list, *at);
    }
    spa_list_for_each_safe(decoy, next, &bridge->decoys, link)
        if (!decoy->is_listed) free_decoy(decoy);
    permission_look(bridge);
    release(list);
}
