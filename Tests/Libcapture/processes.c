/* Scenes about forks, threads and daemons that lie. */
#include "subject.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void must_be_forked(int result, const char *what) {
    if (result != -CAPTURE_WRONG_STATE) wrong(what);
}

static int child(void) {
    const struct capture_device *const *list;
    struct capture_client *own;
    struct capture_buffer frame = {.size = sizeof frame};
    must_be_forked(capture_devices(client, &list), "devices");
    must_be_forked(capture_dispatch(client), "dispatch");
    must_be_forked(capture_session_state(session), "state");
    must_be_forked(capture_session_stop(session), "stop");
    must_be_forked(capture_reader_next(reader, &frame, 0), "next");
    must_be_forked(capture_reader_new(session, "camera", &reader), "reader");
    need(capture_connect(CAPTURE_BUS_DEFAULT, &own));
    need(capture_devices(own, &list));
    capture_devices_free(list);
    capture_disconnect(own);
    return 0;
}

/* A child's handles do nothing, and the parent's go on. */
int forks(char **arguments) {
    struct capture_buffer frame = {.size = sizeof frame};
    (void)arguments;
    start_camera(NULL);
    if (capture_reader_next(reader, &frame, 20000) != CAPTURE_BUFFER) wrong("no frame");
    struct capture_reader *first = reader;
    need(capture_reader_fd(reader));
    pid_t pid = fork();
    if (!pid) {
        int result = child();
        reader = first;
        end();
        /* Not to its end as a program: sd-bus's own memory stays, since a thread that is not here may have used it. */
        _exit(result);
    }
    int status;
    waitpid(pid, &status, 0);
    say("the child exits with %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    for (int i = 0; i < 10; i++)
        if (capture_reader_next(reader, &frame, 20000) != CAPTURE_BUFFER) wrong("no frame after the fork");
    say("the parent reads on");
    end();
    return 0;
}

/* A parent that dies while its child lives on. */
int orphan(char **arguments) {
    (void)arguments;
    start_camera(NULL);
    if (!fork()) {
        for (int i = 0; i < 600; i++) usleep(100000);
        _exit(0);
    }
    say("running");
    pause();
    return 0;
}

static atomic_int got, called;
static atomic_bool is_over;

static void *read_frames(void *context) {
    struct capture_reader *own = context;
    struct capture_buffer frame = {.size = sizeof frame};
    int result;
    while ((result = capture_reader_next(own, &frame, -1)) == CAPTURE_BUFFER) atomic_fetch_add(&got, 1);
    return (void *)(intptr_t)result;
}

static void *call(void *context) {
    (void)context;
    while (!atomic_load(&is_over)) {
        const struct capture_device *const *list;
        if (capture_devices(client, &list) < 0) wrong("a call failed");
        capture_devices_free(list);
        if (capture_consent_status(client, "camera") != CAPTURE_STATUS_AUTHORIZED) wrong("another status");
        if (capture_session_state(session) < 0) wrong("no state");
        atomic_fetch_add(&called, 1);
    }
    return NULL;
}

/* threads COUNT: two readers and two callers of one connection, then a cancellation and a stop from outside. */
int threads(char **arguments) {
    pthread_t reading[2], calling[2];
    struct capture_reader *readers[2];
    void *results[2];
    start_camera(NULL);
    readers[0] = reader;
    need(capture_reader_new(session, "camera", &readers[1]));
    need(capture_reader_fd(readers[1]));
    for (int i = 0; i < 2; i++) pthread_create(&reading[i], NULL, read_frames, readers[i]);
    for (int i = 0; i < 2; i++) pthread_create(&calling[i], NULL, call, NULL);
    while (atomic_load(&got) < atoi(arguments[0]) || atomic_load(&called) < 20) usleep(10000);
    capture_reader_cancel(readers[0]);
    pthread_join(reading[0], &results[0]);
    say("cancelled: %d", (int)(intptr_t)results[0]);
    need(capture_session_stop(session));
    pthread_join(reading[1], &results[1]);
    say("stopped: %d", (int)(intptr_t)results[1]);
    atomic_store(&is_over, true);
    for (int i = 0; i < 2; i++) pthread_join(calling[i], NULL);
    capture_reader_free(readers[1]);
    end();
    return 0;
}

/* Calls everything, for a daemon that answers anything; tells which codes came. */
int lies(char **arguments) {
    static const char *const services[] = {"camera", NULL};
    const struct capture_device *const *list;
    const struct capture_control *const *found;
    struct capture_event event = {.size = sizeof event};
    int64_t value;
    int result;
    (void)arguments;
    need(capture_connect(CAPTURE_BUS_DEFAULT, &client));
    if ((result = capture_devices_watch(client, 1)) < 0) say("watch %s", capture_code_name(result));
    if ((result = capture_devices(client, &list)) < 0) say("devices %s", capture_code_name(result));
    else {
        for (size_t i = 0; list[i]; i++) say("%s %s", list[i]->id, list[i]->name);
        capture_devices_free(list);
    }
    if ((result = capture_controls(client, "x", &found)) < 0) say("controls %s", capture_code_name(result));
    else capture_controls_free(found);
    if ((result = capture_control_get(client, "x", "y", &value)) < 0) say("get %s", capture_code_name(result));
    if ((result = capture_consent_status(client, "camera")) < 0) say("status %s", capture_code_name(result));
    if ((result = capture_consent_request(client, services, 200, -1)) < 0) say("request %s", capture_code_name(result));
    need(capture_session_new(client, &session));
    need(capture_session_add_camera(session, "camera", NULL, NULL));
    if ((result = capture_session_start(session, 500, -1)) < 0)
        say("start %s: %s", capture_code_name(result), capture_message());
    if ((result = capture_reader_new(session, "camera", &reader)) < 0)
        say("reader %s: %s", capture_code_name(result), capture_message());
    for (int i = 0; reader && i < 20; i++) {
        struct capture_buffer frame = {.size = sizeof frame};
        if ((result = capture_reader_next(reader, &frame, 20)) == CAPTURE_BUFFER) continue;
        say("next %s: %s", capture_code_name(result < 0 ? result : 0), capture_message());
    }
    capture_dispatch(client);
    while (capture_next_event(client, &event) > 0) say("event %u %s", event.kind, event.device);
    end();
    return 0;
}
