/* A client of PipeWire that takes what it can get of a camera or microphone. It prints what it is told and what it gets:
   `memory`, `leftover` for memory that has something in it, `picture` and `sound`, and the private nodes and ports that it
   sees.

   taker [--client KEY=VALUE]... [--stream KEY=VALUE]... [--target SERIAL] [--by WAY] video|audio [COMMAND...]

   --client and --stream: what it says of itself. It says the former once more after it has connected.
   --by: how it comes by its connection. Another process makes it, and then: `gone`: ends; `zombie`: ends, and is not waited
   for; `exec`: runs COMMAND; `kept`: runs COMMAND, and keeps the connection, too; `silent`: runs COMMAND, with another
   connection that says nothing; `swapped`: runs COMMAND, with another connection that this process made; `reused`: ends,
   and COMMAND has its number. Or the camera portal of the test, at $PORTAL, makes it: `portal`; `portal-shared`: COMMAND has
   it, too; `portal-left` and `portal-left-open`: COMMAND has another connection that this process made, with which it does
   nothing, or takes it by `left`; `portal-hidden`: there is another one of the portal's, in a message that nobody takes. */
#include "maker.h"

#include <pipewire/pipewire.h>
#include <spa/param/audio/format-utils.h>
#include <spa/param/video/format-utils.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pw_main_loop *loop;
static struct pw_stream *stream;
static bool is_video;

static void say(const char *word, const char *more) {
    printf("%s%s%s\n", word, more && *more ? " " : "", more ? more : "");
    fflush(stdout);
}

static void state_changed(void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error) {
    (void)data;
    (void)old;
    say(pw_stream_state_as_string(state), error);
}

/* Anything but one value all over, which silence and a memory that nobody wrote are. */
static bool has_content(const uint8_t *bytes, uint32_t size) {
    for (uint32_t i = 1; bytes && i < size; i++)
        if (bytes[i] != bytes[0]) return true;
    return false;
}

/* What lies in the memory already is looked at at once. */
static void buffer_came(void *data, struct pw_buffer *buffer) {
    const struct spa_data *block = &buffer->buffer->datas[0];
    (void)data;
    say(has_content(block->data, block->maxsize) ? "leftover" : "memory", NULL);
}

static void process(void *data) {
    struct pw_buffer *buffer;
    (void)data;
    while ((buffer = pw_stream_dequeue_buffer(stream))) {
        const struct spa_data *block = &buffer->buffer->datas[0];
        if (has_content(block->data, SPA_MIN(block->chunk->size, block->maxsize))) say(is_video ? "picture" : "sound", NULL);
        pw_stream_queue_buffer(stream, buffer);
    }
}

static const struct pw_stream_events stream_events = {.version = PW_VERSION_STREAM_EVENTS,
                                                      .state_changed = state_changed,
                                                      .add_buffer = buffer_came,
                                                      .process = process};

static void appeared(void *data, uint32_t id, uint32_t permissions, const char *type, uint32_t version,
                     const struct spa_dict *properties) {
    (void)data;
    (void)permissions;
    (void)version;
    const char *name = properties ? spa_dict_lookup(properties, PW_KEY_NODE_NAME) : NULL;
    const char *node = properties ? spa_dict_lookup(properties, PW_KEY_NODE_ID) : NULL;
    if (!strcmp(type, PW_TYPE_INTERFACE_Node) && name && !strncmp(name, "captured.private.", 17))
        printf("private node %u serial %s\n", id, spa_dict_lookup(properties, PW_KEY_OBJECT_SERIAL));
    if (!strcmp(type, PW_TYPE_INTERFACE_Port) && node) printf("port %u of %s\n", id, node);
    fflush(stdout);
}

static const struct pw_registry_events registry_events = {PW_VERSION_REGISTRY_EVENTS, .global = appeared};

static const struct spa_pod *format_of(struct spa_pod_builder *builder) {
    struct spa_audio_info_raw info = {.format = SPA_AUDIO_FORMAT_S16_LE, .rate = 48000, .channels = 2,
                                      .position = {SPA_AUDIO_CHANNEL_FL, SPA_AUDIO_CHANNEL_FR}};
    if (!is_video) return spa_format_audio_raw_build(builder, SPA_PARAM_EnumFormat, &info);
    return spa_pod_builder_add_object(
        builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
        SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_VIDEO_format,
        SPA_POD_CHOICE_ENUM_Id(5, SPA_VIDEO_FORMAT_NV12, SPA_VIDEO_FORMAT_NV12, SPA_VIDEO_FORMAT_YUY2,
                               SPA_VIDEO_FORMAT_I420, SPA_VIDEO_FORMAT_RGB));
}

static void synced(void *data, uint32_t id, int sequence) {
    (void)data;
    (void)sequence;
    if (id == PW_ID_CORE) pw_main_loop_quit(loop);
}

static const struct pw_core_events core_events = {PW_VERSION_CORE_EVENTS, .done = synced};

/* The socket of a client that PipeWire knows, and that this process has no more. */
static int known_socket(struct pw_context *context) {
    struct pw_core *core = pw_context_connect(context, NULL, 0);
    struct spa_hook hook;
    if (!core) exit(1);
    pw_core_add_listener(core, &hook, &core_events, NULL);
    pw_core_sync(core, PW_ID_CORE, 0);
    pw_main_loop_run(loop);
    return pw_core_steal_fd(core);
}

static void set(struct pw_properties *properties, char *words) {
    char *is = strchr(words, '=');
    if (!is) exit(64);
    *is = '\0';
    pw_properties_set(properties, words, is + 1);
}

int main(int count, char **words) {
    struct pw_properties *client = pw_properties_new(NULL, NULL);
    struct pw_properties *properties = pw_properties_new(PW_KEY_MEDIA_CATEGORY, "Capture", NULL);
    const char *target = NULL, *way = NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    int at = 1;
    for (; at + 1 < count && !strncmp(words[at], "--", 2); at += 2) {
        if (!strcmp(words[at], "--client")) set(client, words[at + 1]);
        else if (!strcmp(words[at], "--stream")) set(properties, words[at + 1]);
        else if (!strcmp(words[at], "--target")) target = words[at + 1];
        else if (!strcmp(words[at], "--by")) way = words[at + 1];
        else return 64;
    }
    if (at >= count) return 64;
    is_video = !strcmp(words[at], "video");
    pw_properties_set(properties, PW_KEY_MEDIA_TYPE, is_video ? "Video" : "Audio");
    if (is_video) pw_properties_set(properties, PW_KEY_MEDIA_ROLE, "Camera");
    if (target) pw_properties_set(properties, PW_KEY_TARGET_OBJECT, target);
    pw_init(NULL, NULL);
    loop = pw_main_loop_new(NULL);
    struct pw_context *context = pw_context_new(pw_main_loop_get_loop(loop), NULL, 0);
    bool has_other = way && (!strcmp(way, "swapped") || !strncmp(way, "portal-left", 11));
    int other = has_other ? known_socket(context) : -1;
    int socket = way ? connection_by(way, words + at + 1, other) : -1;
    struct pw_core *core = way ? pw_context_connect_fd(context, socket, pw_properties_copy(client), 0)
                               : pw_context_connect(context, pw_properties_copy(client), 0);
    if (!core) return 1;
    if (client->dict.n_items) pw_client_update_properties(pw_core_get_client(core), &client->dict);
    struct spa_hook stream_hook, registry_hook;
    struct pw_registry *registry = pw_core_get_registry(core, PW_VERSION_REGISTRY, 0);
    pw_registry_add_listener(registry, &registry_hook, &registry_events, NULL);
    stream = pw_stream_new(core, "taker", properties);
    pw_stream_add_listener(stream, &stream_hook, &stream_events, NULL);
    uint8_t space[1024];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(space, sizeof space);
    const struct spa_pod *format = format_of(&builder);
    pw_stream_connect(stream, PW_DIRECTION_INPUT, PW_ID_ANY, PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS,
                      &format, 1);
    say("began", NULL);
    pw_main_loop_run(loop);
    return 0;
}
