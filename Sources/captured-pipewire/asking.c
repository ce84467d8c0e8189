/* A thread for each program that waits for captured, which may wait for a person. */
#include "bridge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static const char input[] = "device";

static void run_answer(struct bridge_post *post) {
    struct asking *asking = (struct asking *)post;
    asking->bridge->asking_count--;
    if (asking->visit) {
        visit_answered(asking);
    } else {
        /* The program left meanwhile. */
        capture_reader_free(asking->reader);
        capture_disconnect(asking->client);
        capture_session_free(asking->session);
    }
    close(asking->cancel_fd);
    free(asking->connections);
    free(asking);
}

static int add_input(struct asking *asking) {
    if (asking->media == CAPTURE_VIDEO)
        return capture_session_add_camera(asking->session, input, asking->device, &asking->video);
    return capture_session_add_microphone(asking->session, input, asking->device, &asking->audio);
}

static int start_session(struct asking *asking) {
    int result = capture_session_new(asking->client, &asking->session);
    if (result == 0)
        result = capture_session_for_process(asking->session, asking->pid, asking->start_time, asking->said_pid,
                                             asking->connections, asking->connection_count, asking->bridge_name);
    if (result == 0) result = add_input(asking);
    return result < 0 ? result : capture_session_start(asking->session, bridge_answer_ms, asking->cancel_fd);
}

static int start(struct asking *asking) {
    int result = capture_connect(asking->bridge->bus, &asking->client);
    if (result == 0) result = start_session(asking);
    /* Another program has the camera in another format, which this one may take, too. */
    if (result == -CAPTURE_BUSY && asking->media == CAPTURE_VIDEO) {
        capture_session_free(asking->session);
        asking->session = NULL;
        asking->video = (struct capture_video_request){.size = sizeof asking->video};
        result = start_session(asking);
    }
    if (result == 0) result = capture_reader_new(asking->session, input, &asking->reader);
    if (result == 0 && (result = capture_reader_fd(asking->reader)) >= 0) result = 0;
    return result;
}

static void *ask(void *data) {
    struct asking *asking = data;
    asking->code = -start(asking);
    if (asking->code)
        strncpy(asking->sentence, *capture_message() ? capture_message() : capture_strerror(asking->code),
                sizeof asking->sentence - 1);
    bridge_post(asking->bridge, &asking->post);
    return NULL;
}

int asking_begin(struct visit *visit) {
    if (visit->bridge->asking_count == bridge_most_askings) return -EAGAIN;
    struct asking *asking = calloc(1, sizeof *asking);
    if (!asking) return -ENOMEM;
    asking->post.run = run_answer;
    asking->bridge = visit->bridge;
    asking->visit = visit;
    asking->media = visit->media;
    asking->pid = (uint32_t)visit->pid;
    asking->said_pid = visit->said_pid;
    asking->start_time = visit->start_time;
    asking->connections = globals_makers(visit->bridge, &asking->connection_count);
    visit->connections = globals_connections(visit->bridge, visit->pid);
    visit->client_changes = visit->bridge->client_changes;
    visit->is_by_portal = visit->is_portal;
    strcpy(asking->device, visit->device);
    strcpy(asking->bridge_name, visit->is_pulse ? "pulse" : visit->is_portal ? "portal" : "pipewire");
    asking->video = (struct capture_video_request){.size = sizeof asking->video, .exact = 1};
    asking->audio = (struct capture_audio_request){.size = sizeof asking->audio};
    asking->audio.rate = visit->sound_rate;
    asking->audio.channels = visit->sound_channels;
    if (visit->media == CAPTURE_VIDEO) {
        const struct picture *picture = &visit->picture;
        asking->video.pixel_format = picture->kind->code;
        asking->video.width = picture->width;
        asking->video.height = picture->height;
        asking->video.frames_per_second = (double)picture->rate.num / picture->rate.denom;
    }
    asking->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_t thread;
    int result = asking->cancel_fd < 0 ? -errno : asking->connections ? 0 : -ENOMEM;
    if (result == 0) result = -pthread_create(&thread, NULL, ask, asking);
    if (result < 0) {
        if (asking->cancel_fd >= 0) close(asking->cancel_fd);
        free(asking->connections);
        free(asking);
        return result;
    }
    pthread_setname_np(thread, "asking");
    pthread_detach(thread);
    visit->asking = asking;
    visit->bridge->asking_count++;
    return 0;
}

void asking_forget(struct visit *visit) {
    uint64_t one = 1;
    if (!visit->asking) return;
    visit->asking->visit = NULL;
    ssize_t written = write(visit->asking->cancel_fd, &one, sizeof one);
    (void)written;
    visit->asking = NULL;
}
