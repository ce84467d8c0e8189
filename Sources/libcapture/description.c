/* A session as the daemon is told of it: each input feeds a buffer of the same name. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int append_video(sd_bus_message *message, const struct capture_video_request *request) {
    char name[16];
    int result = 0;
    cap_pixel_format_name(request->pixel_format, name);
    if (request->pixel_format) result = cap_append_text(message, "pixel-format", name);
    if (result >= 0 && request->width) result = cap_append_u32(message, "width", request->width);
    if (result >= 0 && request->height) result = cap_append_u32(message, "height", request->height);
    if (result >= 0 && request->frames_per_second > 0)
        result = sd_bus_message_append(message, "{sv}", "frames-per-second", "d", request->frames_per_second);
    if (result >= 0 && request->exact) result = cap_append_flag(message, "exact", 1);
    return result;
}

static int append_audio(sd_bus_message *message, const struct capture_audio_request *request) {
    int result = 0;
    if (request->sample_format)
        result = cap_append_text(message, "sample-format", cap_sample_format_names[request->sample_format]);
    if (result >= 0 && request->rate) result = cap_append_u32(message, "sample-rate", request->rate);
    if (result >= 0 && request->channels) result = cap_append_u32(message, "channels", request->channels);
    if (result >= 0 && request->exact) result = cap_append_flag(message, "exact", 1);
    return result;
}

static int append_input(sd_bus_message *message, const struct cap_input *input) {
    bool is_video = input->media == CAPTURE_VIDEO;
    int result = sd_bus_message_open_container(message, 'a', "{sv}");
    if (result >= 0) result = cap_append_text(message, "name", input->name);
    if (result >= 0) result = cap_append_text(message, "media-type", is_video ? "video" : "audio");
    if (result >= 0 && input->device) result = cap_append_text(message, "device", input->device);
    if (result >= 0) result = is_video ? append_video(message, &input->video) : append_audio(message, &input->audio);
    return result < 0 ? result : sd_bus_message_close_container(message);
}

/* "inputs", "outputs" or "connections", one entry for each input. */
static int append_list(sd_bus_message *message, const struct capture_session *session, const char *key,
                       const char *type) {
    int result = sd_bus_message_open_container(message, 'e', "sv");
    char array[16] = "a";
    strcat(array, type);
    if (result >= 0) result = sd_bus_message_append_basic(message, 's', key);
    if (result >= 0) result = sd_bus_message_open_container(message, 'v', array);
    if (result >= 0) result = sd_bus_message_open_container(message, 'a', type);
    for (size_t i = 0; i < session->input_count && result >= 0; i++) {
        const struct cap_input *input = &session->inputs[i];
        if (key[0] == 'i') result = append_input(message, input);
        else if (key[0] == 'o')
            result = sd_bus_message_append(message, "a{sv}", 2, "name", "s", input->name, "kind", "s", "buffer");
        else result = sd_bus_message_append(message, "(ss)", input->name, input->name);
    }
    for (int i = 0; i < 3 && result >= 0; i++) result = sd_bus_message_close_container(message);
    return result;
}

/* For another process: which one, and whom PipeWire takes for the makers of its connections. */
static int append_process(sd_bus_message *message, const struct capture_session *session) {
    int result = sd_bus_message_append(message, "ut", session->process, session->process_start);
    if (result >= 0) result = sd_bus_message_open_container(message, 'a', "{uu}");
    for (size_t i = 0; i < session->connection_count && result >= 0; i++)
        result = sd_bus_message_append(message, "{uu}", session->connections[i].process, session->connections[i].count);
    if (result >= 0) result = sd_bus_message_close_container(message);
    return result < 0 ? result : sd_bus_message_append(message, "us", session->process_said, session->bridge);
}

int cap_session_make_locked(struct capture_session *session) {
    sd_bus_message *message = NULL, *reply = NULL;
    const char *member = session->process ? "CreateSessionFor" : "CreateSession";
    int result = cap_call_new_locked(session->client, CAP_ROOT, CAP_MANAGER, member, &message);
    if (result < 0) return result;
    if (session->process) result = append_process(message, session);
    if (result >= 0) result = sd_bus_message_open_container(message, 'a', "{sv}");
    if (result >= 0) result = append_list(message, session, "inputs", "a{sv}");
    if (result >= 0) result = append_list(message, session, "outputs", "a{sv}");
    if (result >= 0) result = append_list(message, session, "connections", "(ss)");
    /* It ends with this connection, whatever becomes of the program. */
    if (result >= 0) result = cap_append_flag(message, "attached", 1);
    if (result >= 0) result = sd_bus_message_close_container(message);
    if (result >= 0) result = sd_bus_message_append(message, "a{ss}", 0);
    if (result < 0) {
        sd_bus_message_unref(message);
        return cap_fail_errno(CAPTURE_INVALID_ARGUMENT, -result, "describe the session");
    }
    result = cap_call_locked(session->client, message, &reply);
    if (result < 0) return result;
    const char *path;
    if (sd_bus_message_read_basic(reply, 'o', &path) <= 0 || strncmp(path, CAP_SESSIONS, sizeof CAP_SESSIONS - 1))
        result = cap_malformed(member);
    else if (!(session->path = strdup(path))) result = cap_fail_errno(CAPTURE_INTERNAL, ENOMEM, "make a session");
    sd_bus_message_unref(reply);
    return result;
}
