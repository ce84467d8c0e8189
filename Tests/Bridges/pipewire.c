/* A camera by PipeWire; a microphone, if it is compiled for one. Every other time over a connection of its own. */
#include "starts.h"

#include <errno.h>
#include <pipewire/pipewire.h>
#include <spa/param/audio/format-utils.h>
#include <spa/param/video/format-utils.h>
#include <string.h>

#ifndef IS_MICROPHONE
#define IS_MICROPHONE 0
#endif

static struct client {
    struct pw_main_loop *loop;
    struct pw_context *context;
    struct pw_core *core;
    struct pw_stream *stream;
    struct spa_source *clock;
    int has_data;
} client;

static void state_changed(void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error) {
    (void)data, (void)old;
    if (state == PW_STREAM_STATE_ERROR) failed("stream", error);
}

/* Silence may come from the microphone that is shown while captured asks. */
static int has_data(const struct spa_data *block) {
    const char *bytes = block->data;
    if (!IS_MICROPHONE) return bytes && block->chunk->size;
    for (uint32_t i = 0; bytes && i < block->chunk->size; i++)
        if (bytes[block->chunk->offset + i]) return 1;
    return 0;
}

static void process(void *data) {
    struct pw_buffer *buffer = pw_stream_dequeue_buffer(client.stream);
    (void)data;
    if (!buffer) return;
    if (has_data(&buffer->buffer->datas[0])) {
        client.has_data = 1;
        pw_main_loop_quit(client.loop);
    }
    pw_stream_queue_buffer(client.stream, buffer);
}

static const struct pw_stream_events events = {
    .version = PW_VERSION_STREAM_EVENTS, .state_changed = state_changed, .process = process};

/* Of a connection that stays: what was said before has been heard. */
static void done(void *data, uint32_t id, int sequence) {
    (void)data, (void)id, (void)sequence;
    pw_main_loop_quit(client.loop);
}

static const struct pw_core_events core_events = {.version = PW_VERSION_CORE_EVENTS, .done = done};

static void round_trip(void) {
    struct spa_hook hook;
    pw_core_add_listener(client.core, &hook, &core_events, NULL);
    pw_core_sync(client.core, PW_ID_CORE, 0);
    pw_main_loop_run(client.loop);
    spa_hook_remove(&hook);
}

static void too_late(void *data, uint64_t expirations) {
    (void)data, (void)expirations;
    failed("stream", "nothing came");
}

static void begin(void) {
    pw_init(NULL, NULL);
    client.loop = pw_main_loop_new(NULL);
    client.context = pw_context_new(pw_main_loop_get_loop(client.loop), NULL, 0);
    client.clock = pw_loop_add_timer(pw_main_loop_get_loop(client.loop), too_late, NULL);
}

static const struct spa_pod *format_of(struct spa_pod_builder *builder) {
    if (IS_MICROPHONE) {
        struct spa_audio_info_raw info = {.format = SPA_AUDIO_FORMAT_S16_LE, .rate = 48000, .channels = 2};
        return spa_format_audio_raw_build(builder, SPA_PARAM_EnumFormat, &info);
    }
    struct spa_rectangle size = SPA_RECTANGLE(320, 240);
    return spa_pod_builder_add_object(builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType,
                                      SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
                                      SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_VIDEO_format,
                                      SPA_POD_Id(SPA_VIDEO_FORMAT_YUY2), SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&size));
}

void start_and_stop(int number) {
    struct timespec most = {.tv_sec = most_ms / 1000}, none = {0};
    struct spa_hook hook;
    uint8_t space[1024];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(space, sizeof space);
    if (!client.loop) begin();
    if (!client.core) client.core = pw_context_connect(client.context, NULL, 0);
    if (!client.core) failed("connect", strerror(errno));
    client.has_data = 0;
    client.stream = pw_stream_new(client.core, "starts",
                                  pw_properties_new(PW_KEY_MEDIA_TYPE, IS_MICROPHONE ? "Audio" : "Video",
                                                    PW_KEY_MEDIA_CATEGORY, "Capture", PW_KEY_MEDIA_ROLE,
                                                    IS_MICROPHONE ? "Production" : "Camera", NULL));
    pw_stream_add_listener(client.stream, &hook, &events, NULL);
    const struct spa_pod *format = format_of(&builder);
    if (pw_stream_connect(client.stream, PW_DIRECTION_INPUT, PW_ID_ANY,
                          PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS, &format, 1) < 0)
        failed("connect a stream", strerror(errno));
    pw_loop_update_timer(pw_main_loop_get_loop(client.loop), client.clock, &most, NULL, false);
    pw_main_loop_run(client.loop);
    pw_loop_update_timer(pw_main_loop_get_loop(client.loop), client.clock, &none, NULL, false);
    if (!client.has_data) failed("stream", "ended before anything came");
    pw_stream_destroy(client.stream);
    if (number % 2) {
        round_trip();
        return;
    }
    pw_core_disconnect(client.core);
    client.core = NULL;
}
