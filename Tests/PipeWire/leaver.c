/* Connects to PipeWire, leaves the connection to a child and runs another program, for which the server then takes the child.
   The child asks for a camera and prints what becomes of it.

   leaver PROGRAM [ARGUMENT...] */
#include <pipewire/pipewire.h>
#include <spa/param/video/format-utils.h>
#include <stdio.h>
#include <unistd.h>

struct child {
    struct pw_main_loop *loop;
    struct pw_stream *stream;
};

static void state_changed(void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error) {
    struct child *child = data;
    (void)old;
    printf("%s %s\n", pw_stream_state_as_string(state), error ? error : "");
    fflush(stdout);
    if (state == PW_STREAM_STATE_ERROR) pw_main_loop_quit(child->loop);
}

static void buffer_came(void *data, struct pw_buffer *buffer) {
    (void)data;
    (void)buffer;
    printf("memory\n");
    fflush(stdout);
}

static const struct pw_stream_events events = {
    .version = PW_VERSION_STREAM_EVENTS, .state_changed = state_changed, .add_buffer = buffer_came};

int main(int count, char **arguments) {
    struct child child = {0};
    if (count < 2) return 64;
    pw_init(NULL, NULL);
    child.loop = pw_main_loop_new(NULL);
    struct pw_context *context = pw_context_new(pw_main_loop_get_loop(child.loop), NULL, 0);
    struct pw_core *core = pw_context_connect(context, NULL, 0);
    if (!core) return 1;
    if (fork()) {
        for (int fd = 3; fd < 1024; fd++) close(fd);
        execv(arguments[1], arguments + 1);
        return 127;
    }
    child.stream = pw_stream_new(core, "leaver", pw_properties_new(PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY,
                                                                    "Capture", PW_KEY_MEDIA_ROLE, "Camera", NULL));
    struct spa_hook hook;
    pw_stream_add_listener(child.stream, &hook, &events, &child);
    uint8_t space[512];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(space, sizeof space);
    const struct spa_pod *format = spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
        SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_VIDEO_format,
        SPA_POD_Id(SPA_VIDEO_FORMAT_NV12));
    pw_stream_connect(child.stream, PW_DIRECTION_INPUT, PW_ID_ANY, PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS,
                      &format, 1);
    pw_main_loop_run(child.loop);
    return 0;
}
