/* A program's private node, and the reader of captured's ring behind it. */
#include "bridge.h"

#include <errno.h>

void node_state_changed(void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error) {
    struct visit *visit = data;
    (void)old;
    if (state == PW_STREAM_STATE_ERROR) {
        bridge_say("the stream of %s for process %d failed: %s", visit->device_name, visit->pid, error);
        /* A stream cannot be destroyed by its own listener. */
        visit->has_failed = true;
    }
    if (state == PW_STREAM_STATE_PAUSED && visit->private_node == SPA_ID_INVALID) {
        visit->private_node = pw_stream_get_node_id(visit->stream);
        hiding_node(visit->bridge, visit->private_node);
        /* Its ports come after it, and lead. */
    }
}

/* Passes over what has come while nobody wants it, too: the end of the capture is behind it. */
static void media_came(void *data, int fd, uint32_t events) {
    struct visit *visit = data;
    struct capture_buffer buffer = {.size = sizeof buffer};
    bool is_video = visit->media == CAPTURE_VIDEO;
    (void)fd;
    (void)events;
    if (visit->has_failed) {
        visits_end(visit, CAPTURE_INTERNAL, "PipeWire ended the stream");
        return;
    }
    int result = is_video ? capture_reader_newest(visit->reader, &buffer, 0)
                          : capture_reader_next(visit->reader, &buffer, 0);
    if (result == CAPTURE_BUFFER && !(is_video ? video_fits : sound_fits)(visit, buffer.format))
        visits_end(visit, CAPTURE_BUSY, "the device goes on in the format of another program");
    else if (result == CAPTURE_BUFFER && is_video) video_take(visit, &buffer);
    else if (result == CAPTURE_BUFFER) sound_take(visit, &buffer);
    else if (result == CAPTURE_END) visits_end(visit, CAPTURE_REVOKED, "the capture was stopped");
    else if (result < 0) visits_end(visit, -result, capture_message());
}

int node_open(struct visit *visit) {
    struct bridge *bridge = visit->bridge;
    bool is_video = visit->media == CAPTURE_VIDEO;
    struct pw_properties *properties =
        pw_properties_new(PW_KEY_MEDIA_CLASS, BRIDGE_PRIVATE_CLASS, PW_KEY_NODE_DESCRIPTION, visit->device_name, NULL);
    if (!properties) return -errno;
    pw_properties_setf(properties, PW_KEY_NODE_NAME, "captured.private.%d", visit->pid);
    visit->stream = pw_stream_new(bridge->core, visit->device_name, properties);
    if (!visit->stream) return -errno;
    pw_stream_add_listener(visit->stream, &visit->stream_listener, is_video ? &video_events : &sound_events, visit);
    int result = peers_connect(visit, is_video ? video_connect : sound_connect);
    if (result < 0) return result;
    visit->reader_source =
        pw_loop_add_io(bridge->loop, capture_reader_fd(visit->reader), SPA_IO_IN, false, media_came, visit);
    return visit->reader_source ? 0 : -errno;
}

void node_close(struct visit *visit) {
    if (visit->reader_source) pw_loop_destroy_source(visit->bridge->loop, visit->reader_source);
    visit->reader_source = NULL;
    if (visit->stream) {
        struct pw_stream *stream = visit->stream;
        peers_forget(visit);
        /* Its buffers are given back to the listener. */
        pw_stream_destroy(stream);
        visit->stream = NULL;
    }
    if (visit->media == CAPTURE_AUDIO) sound_close(visit);
    visit->private_node = SPA_ID_INVALID;
}
