/* Scenes about controls, events, and who may change what. */
#define _GNU_SOURCE
#include "subject.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The frequency of the mains: it does not change the picture. */
static int mains(int fd, int value) {
    struct v4l2_control control = {.id = V4L2_CID_POWER_LINE_FREQUENCY, .value = value};
    return call(fd, VIDIOC_S_CTRL, &control);
}

int events(char **arguments) {
    struct v4l2_event_subscription wish = {.type = V4L2_EVENT_CTRL, .id = V4L2_CID_POWER_LINE_FREQUENCY};
    struct v4l2_event event;
    struct v4l2_buffer buffer;
    (void)arguments;
    start(O_NONBLOCK);
    int other = open(node, O_RDWR);
    need(other, "another open");
    if (mains(camera, 2)) wrong("S_CTRL");
    wish.flags = V4L2_EVENT_SUB_FL_SEND_INITIAL;
    need(ioctl(camera, VIDIOC_SUBSCRIBE_EVENT, &wish), "SUBSCRIBE_EVENT");
    struct pollfd file = {.fd = camera, .events = POLLPRI};
    if (poll(&file, 1, 20000) != 1 || !(file.revents & POLLPRI)) wrong("the first value");
    need(ioctl(camera, VIDIOC_DQEVENT, &event), "DQEVENT");
    if (event.id != V4L2_CID_POWER_LINE_FREQUENCY || event.u.ctrl.value != 2 || event.pending) wrong("another event");
    if (call(camera, VIDIOC_DQEVENT, &event) != ENOENT || poll(&file, 1, 0)) wrong("one more event");
    /* Its own changes are not told, those of others are; frames come meanwhile. */
    if (mains(camera, 3) || mains(other, 0)) wrong("S_CTRL");
    do {
        if (poll(&file, 1, 20000) != 1) wrong("no event");
        need(ioctl(camera, VIDIOC_DQEVENT, &event), "DQEVENT");
        if (event.u.ctrl.value == 3) wrong("its own change");
    } while (event.u.ctrl.value != 0);
    for (int got = 0; got < 30;) {
        file.events = POLLIN | POLLPRI;
        if (got % 10 == 0) mains(other, 1 + got / 10);
        if (poll(&file, 1, 20000) != 1) wrong("neither frame nor event");
        if (dequeue(camera, &buffer)) continue;
        look(camera, &buffer);
        got++;
    }
    for (int value = 0; value != 3;) {
        file.events = POLLPRI;
        if (poll(&file, 1, 20000) != 1) wrong("the last event is missing");
        if (!call(camera, VIDIOC_DQEVENT, &event)) value = event.u.ctrl.value;
    }
    need(ioctl(camera, VIDIOC_UNSUBSCRIBE_EVENT, &wish), "UNSUBSCRIBE_EVENT");
    mains(other, 1);
    close(other);
    close(camera);
    say("told");
    return 0;
}

int busy(char **arguments) {
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    struct v4l2_requestbuffers request = {
        .count = 2, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    (void)arguments;
    start(0);
    int other = open(node, O_RDWR);
    need(ioctl(other, VIDIOC_G_FMT, &format), "G_FMT");
    if (format.fmt.pix.width != width) wrong("another format");
    if (call(camera, VIDIOC_S_FMT, &format) != EBUSY || call(other, VIDIOC_S_FMT, &format) != EBUSY)
        wrong("S_FMT while it streams");
    if (call(camera, VIDIOC_REQBUFS, &request) != EBUSY || call(other, VIDIOC_REQBUFS, &request) != EBUSY)
        wrong("REQBUFS while it streams");
    need(close(camera), "close");
    request_buffers(other, V4L2_MEMORY_MMAP, 3);
    for (unsigned i = 0; i < 3; i++) queue(other, i);
    stream(other, 1);
    struct v4l2_buffer buffer;
    if (dequeue(other, &buffer)) wrong("DQBUF of the other");
    close(other);
    say("busy");
    return 0;
}

static int try_to_start(int fd) {
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    return call(fd, VIDIOC_STREAMON, &type);
}

static void prepare(void) {
    open_camera(0);
    choose(camera);
    request_buffers(camera, V4L2_MEMORY_MMAP, 4);
    for (unsigned i = 0; i < buffer_count; i++) queue(camera, i);
}

/* A camera of the stub's, which refuses any rate. */
int rateless(char **arguments) {
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    (void)arguments;
    open_camera(0);
    need(ioctl(camera, VIDIOC_S_FMT, &format), "S_FMT");
    struct v4l2_requestbuffers request = {
        .count = 2, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    need(ioctl(camera, VIDIOC_REQBUFS, &request), "REQBUFS");
    say("%s", strerror(try_to_start(camera)));
    return 0;
}

int refused(char **arguments) {
    struct v4l2_buffer buffer;
    (void)arguments;
    prepare();
    say("the first: %s", strerror(try_to_start(camera)));
    int first = camera;
    prepare();
    say("another one: %s", strerror(try_to_start(camera)));
    getchar();
    say("allowed: %s", strerror(try_to_start(camera)));
    for (int i = 0; i < 3; i++) {
        if (dequeue(camera, &buffer)) wrong("DQBUF");
        look(camera, &buffer);
    }
    say("the first beside it: %s", strerror(try_to_start(first)));
    close(camera);
    say("the first alone: %s", strerror(try_to_start(first)));
    close(first);
    return 0;
}
