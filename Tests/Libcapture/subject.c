/* What the test has a program do through libcapture: `subject SCENE ARGUMENT…`. It prints what it found, a line each,
   and exits with the library's code. */
#include "subject.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct capture_client *client;
struct capture_session *session;
struct capture_reader *reader;

void need(int result) {
    if (result >= 0) return;
    say("%s: %s", capture_code_name(result), capture_message());
    exit(capture_exit_code(result));
}

void wrong(const char *what) {
    say("wrong: %s", what);
    exit(1);
}

void start_camera(const struct capture_video_request *request) {
    need(capture_connect(CAPTURE_BUS_DEFAULT, &client));
    need(capture_session_new(client, &session));
    need(capture_session_add_camera(session, "camera", NULL, request));
    need(capture_session_start(session, 30000, -1));
    need(capture_reader_new(session, "camera", &reader));
}

void end(void) {
    capture_reader_free(reader);
    capture_session_free(session);
    capture_disconnect(client);
}

static int devices(char **arguments) {
    const struct capture_device *const *list;
    (void)arguments;
    need(capture_connect(CAPTURE_BUS_DEFAULT, &client));
    need(capture_devices(client, &list));
    for (size_t i = 0; list[i]; i++) {
        const struct capture_device *device = list[i];
        say("%d %s %s %s", (int)device->media, device->id, device->device_type, device->name);
        for (size_t j = 0; device->video[j]; j++)
            for (size_t k = 0; device->video[j]->sizes[k]; k++) {
                const struct capture_frame_size *size = device->video[j]->sizes[k];
                say("  %.4s %ux%u %u/%u of %zu", (const char *)&device->video[j]->pixel_format, size->width.most,
                    size->height.most, size->intervals[0].numerator, size->intervals[0].denominator,
                    size->interval_count);
            }
        for (size_t j = 0; device->audio[j]; j++)
            say("  formats %x, %u Hz, %u to %u", device->audio[j]->sample_formats, device->audio[j]->rate.least,
                device->audio[j]->channels.least, device->audio[j]->channels.most);
    }
    capture_devices_free(list);
    capture_disconnect(client);
    return 0;
}

/* Status, and what comes of asking within some milliseconds. */
static int consent(char **arguments) {
    static const char *const camera[] = {"camera", NULL};
    need(capture_connect(CAPTURE_BUS_DEFAULT, &client));
    say("status %d", capture_consent_status(client, "camera"));
    if (capture_consent_status(client, "toaster") != -CAPTURE_INVALID_ARGUMENT) wrong("there is a toaster");
    if (arguments[1]) need(capture_consent_explain(client, "camera", arguments[1]));
    need(capture_consent_request(client, camera, atoi(arguments[0]), -1));
    say("allowed");
    capture_disconnect(client);
    return 0;
}

/* Asks with a pipe that a child closes after a while. */
static int cancelled(char **arguments) {
    static const char *const camera[] = {"camera", NULL};
    int ends[2];
    (void)arguments;
    need(capture_connect(CAPTURE_BUS_DEFAULT, &client));
    if (pipe(ends)) return 1;
    pid_t child = fork();
    if (!child) {
        close(ends[0]);
        sleep(1);
        _exit(0);
    }
    close(ends[1]);
    int64_t began = now();
    int result = capture_consent_request(client, camera, -1, ends[0]);
    say("%s after %d s", capture_code_name(result), (int)((now() - began) / 1000000000));
    waitpid(child, NULL, 0);
    /* A start can be cancelled just the same. */
    need(capture_session_new(client, &session));
    need(capture_session_add_camera(session, "camera", NULL, NULL));
    result = capture_session_start(session, -1, ends[0]);
    say("%s", capture_code_name(result));
    result = capture_session_start(session, 300, -1);
    say("%s: %s", capture_code_name(result), capture_message());
    say("then %s", capture_session_stop(session) ? "still there" : "stopped");
    capture_session_free(session);
    capture_disconnect(client);
    return 0;
}

static int refused(char **arguments) {
    (void)arguments;
    need(capture_connect(CAPTURE_BUS_DEFAULT, &client));
    need(capture_session_new(client, &session));
    int result = capture_session_start(session, -1, -1);
    if (result != -CAPTURE_INVALID_ARGUMENT) wrong("a session without an input starts");
    need(capture_session_add_camera(session, "camera", NULL, NULL));
    if (capture_session_add_camera(session, "camera", NULL, NULL) != -CAPTURE_INVALID_ARGUMENT) wrong("two of a name");
    if (capture_reader_new(session, "camera", &reader) != -CAPTURE_WRONG_STATE) wrong("a reader before the start");
    result = capture_session_start(session, 60000, -1);
    if (result < 0) {
        say("state %d", capture_session_state(session));
        int again = capture_session_reason(session);
        if (again != result) wrong("the reason is another");
    }
    need(result);
    say("started");
    return 0;
}

static int controls(char **arguments) {
    const char *device = arguments[0];
    const struct capture_control *const *list;
    int64_t before, after;
    need(capture_connect(CAPTURE_BUS_DEFAULT, &client));
    need(capture_controls(client, device, &list));
    for (size_t i = 0; list[i]; i++)
        say("%s %lld %lld..%lld kind %d choices %zu", list[i]->name, (long long)list[i]->value,
            (long long)list[i]->minimum, (long long)list[i]->maximum, (int)list[i]->kind, list[i]->choice_count);
    capture_controls_free(list);
    need(capture_controls_watch(client, device, 1));
    need(capture_control_get(client, device, "drop_every", &before));
    need(capture_control_set(client, device, "drop_every", 1000));
    need(capture_control_get(client, device, "drop_every", &after));
    say("drop_every %lld, then %lld", (long long)before, (long long)after);
    struct capture_event event = {.size = sizeof event};
    struct pollfd file = {.fd = capture_fd(client), .events = POLLIN};
    while (!capture_next_event(client, &event)) {
        if (poll(&file, 1, 10000) <= 0) wrong("no event came");
        need(capture_dispatch(client));
    }
    say("event %u of %s: %s is %lld", event.kind, event.device, event.name, (long long)event.value);
    if (capture_control_set(client, device, "drop_every", 1000000) != -CAPTURE_INVALID_ARGUMENT) wrong("out of range");
    if (capture_control_set(client, device, "nothing", 1) != -CAPTURE_INVALID_ARGUMENT) wrong("an unknown control");
    if (capture_control_set(client, "synthetic:none", "gain", 1) != -CAPTURE_NO_SUCH_DEVICE) wrong("an unknown device");
    need(capture_control_set(client, device, "drop_every", before));
    need(capture_controls_watch(client, device, 0));
    capture_disconnect(client);
    return 0;
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        int (*run)(char **arguments);
    } scenes[] = {{"devices", devices},   {"consent", consent},   {"cancelled", cancelled}, {"refused", refused},
                  {"controls", controls}, {"frames", frames},     {"slow", slow},           {"sound", sound},
                  {"together", together}, {"until", until},       {"forks", forks},         {"orphan", orphan},
                  {"threads", threads},   {"polled", polled},     {"again", again},         {"lies", lies}};
    for (size_t i = 0; count > 1 && i < sizeof scenes / sizeof *scenes; i++)
        if (!strcmp(scenes[i].name, arguments[1])) return scenes[i].run(arguments + 2);
    return 64;
}
