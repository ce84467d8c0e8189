/* Scenes about frames, however a program waits for them and wherever they go. */
#define _GNU_SOURCE
#include "subject.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <unistd.h>

enum { wanted = 30, patience = 20000 };

static void end(void) {
    stream(camera, 0);
    request_buffers(camera, V4L2_MEMORY_MMAP, 0);
    need(close(camera), "close");
}

int polled(char **arguments) {
    struct v4l2_buffer buffer;
    int got = 0, idle = 0;
    (void)arguments;
    start(O_NONBLOCK);
    struct pollfd file = {.fd = camera, .events = POLLIN};
    while (got < wanted) {
        if (poll(&file, 1, patience) != 1 || file.revents != POLLIN) wrong("poll");
        int error = dequeue(camera, &buffer);
        if (error == EAGAIN) idle++;
        else if (error) wrong("DQBUF");
        else {
            look(camera, &buffer);
            got++;
        }
    }
    /* Nothing is readable once everything is read. */
    while (dequeue(camera, &buffer) == 0) continue;
    say("%d frames, woken for nothing %s", got, idle ? "sometimes" : "never");
    stream(camera, 0);
    if (poll(&file, 1, 0)) wrong("readable without a stream");
    if (dequeue(camera, &buffer) != EINVAL) wrong("a dequeue without a stream");
    stream(camera, 1);
    if (poll(&file, 1, 100)) wrong("readable without queued buffers");
    end();
    say("ended");
    return 0;
}

int selected(char **arguments) {
    struct v4l2_buffer buffer;
    (void)arguments;
    start(0);
    for (int got = 0; got < wanted; got++) {
        fd_set set;
        struct timeval limit = {.tv_sec = patience / 1000};
        FD_ZERO(&set);
        FD_SET(camera, &set);
        if (select(camera + 1, &set, NULL, NULL, &limit) != 1) wrong("select");
        if (dequeue(camera, &buffer)) wrong("DQBUF");
        look(camera, &buffer);
    }
    end();
    say("%d frames", wanted);
    return 0;
}

/* By edges: each of them tells of a frame. */
int epolled(char **arguments) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    struct v4l2_buffer buffer;
    int set = epoll_create1(0), got = 0;
    (void)arguments;
    start(O_NONBLOCK);
    need(epoll_ctl(set, EPOLL_CTL_ADD, camera, &event), "epoll_ctl");
    while (got < wanted) {
        if (epoll_wait(set, &event, 1, patience) != 1) wrong("epoll_wait");
        while (dequeue(camera, &buffer) == 0) {
            look(camera, &buffer);
            got++;
        }
        if (errno != EAGAIN) wrong("DQBUF");
    }
    end();
    say("%d frames or more", wanted);
    return 0;
}

int user_memory(char **arguments) {
    struct v4l2_buffer buffer;
    (void)arguments;
    open_camera(0);
    choose(camera);
    request_buffers(camera, V4L2_MEMORY_USERPTR, 4);
    for (unsigned i = 0; i < buffer_count; i++) queue(camera, i);
    stream(camera, 1);
    for (int got = 0; got < wanted; got++) {
        if (dequeue(camera, &buffer)) wrong("DQBUF");
        if ((void *)buffer.m.userptr != memory[buffer.index]) wrong("another address");
        look(camera, &buffer);
    }
    say("%d frames", wanted);
    /* Memory that is gone breaks frames, not the program. */
    for (unsigned i = 0; i < buffer_count; i++) munmap(memory[i], frame_size);
    do {
        if (dequeue(camera, &buffer)) wrong("DQBUF of what is gone");
    } while (!(buffer.flags & V4L2_BUF_FLAG_ERROR));
    struct v4l2_buffer gone = {.index = buffer.index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
                               .memory = V4L2_MEMORY_USERPTR, .length = frame_size};
    gone.m.userptr = (unsigned long)memory[buffer.index];
    if (call(camera, VIDIOC_QBUF, &gone) != EFAULT) wrong("QBUF of what is gone");
    stream(camera, 0);
    close(camera);
    say("gone");
    return 0;
}

int reading(char **arguments) {
    unsigned char *data = malloc(frame_size);
    struct pollfd file;
    (void)arguments;
    open_camera(0);
    choose(camera);
    file = (struct pollfd){.fd = camera, .events = POLLIN};
    /* Programs that wait first must come to read, too. */
    if (poll(&file, 1, patience) != 1) wrong("poll before the first read");
    for (int got = 0; got < wanted; got++) {
        ssize_t first = read(camera, data, 1000), rest = read(camera, data + 1000, frame_size - 1000);
        if (first != 1000 || rest != frame_size - 1000) wrong("read");
        if (!shows_bars(data)) wrong("another picture");
    }
    struct v4l2_requestbuffers request = {
        .count = 2, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    if (call(camera, VIDIOC_REQBUFS, &request) != EBUSY) wrong("buffers while it is read");
    close(camera);
    open_camera(O_NONBLOCK);
    /* Where the start takes long, a frame is there. */
    ssize_t first = read(camera, data, frame_size);
    if (first < 0 ? errno != EAGAIN : first != frame_size) wrong("a read that does not wait");
    file.fd = camera;
    if (poll(&file, 1, patience) != 1 || read(camera, data, frame_size) != frame_size) wrong("read after poll");
    close(camera);
    free(data);
    say("%d frames", wanted);
    return 0;
}

/* Whether there is an export, it is whole. */
int exported(char **arguments) {
    (void)arguments;
    start(0);
    struct v4l2_exportbuffer export = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .index = 1, .flags = O_CLOEXEC | O_RDWR};
    int error = call(camera, VIDIOC_EXPBUF, &export);
    struct v4l2_buffer buffer;
    if (!error) {
        void *data = mmap(NULL, frame_size, PROT_READ, MAP_SHARED, export.fd, 0);
        if (data == MAP_FAILED) wrong("mmap of an export");
        do {
            if (dequeue(camera, &buffer)) wrong("DQBUF");
            if (buffer.index != 1) queue(camera, buffer.index);
        } while (buffer.index != 1);
        if (memcmp(data, memory[1], frame_size) || !shows_bars(data)) wrong("another picture");
    } else if (error != ENOTTY) wrong("EXPBUF");
    end();
    say("exported");
    return 0;
}

/* Another format, by libv4l2's conversion. */
int converted(char **arguments) {
    (void)arguments;
    void *library = dlopen("libv4l2.so.0", RTLD_NOW);
    if (!library) {
        say("no libv4l2");
        return 0;
    }
    int (*v_open)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(library, "v4l2_open");
    int (*v_ioctl)(int, unsigned long, ...) = (int (*)(int, unsigned long, ...))dlsym(library, "v4l2_ioctl");
    ssize_t (*v_read)(int, void *, size_t) = (ssize_t(*)(int, void *, size_t))dlsym(library, "v4l2_read");
    int (*v_close)(int) = (int (*)(int))dlsym(library, "v4l2_close");
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    format.fmt.pix.width = width;
    format.fmt.pix.height = height;
    format.fmt.pix.pixelformat = V4L2_PIX_FMT_RGB24;
    need(camera = v_open(node, O_RDWR), "v4l2_open");
    need(v_ioctl(camera, VIDIOC_S_FMT, &format), "S_FMT");
    unsigned char *data = malloc(width * height * 3);
    if (format.fmt.pix.pixelformat != V4L2_PIX_FMT_RGB24) wrong("no conversion");
    if (v_read(camera, data, width * height * 3) != width * height * 3) wrong("v4l2_read");
    const unsigned char *yellow = data + (height / 3 * width + 3 * width / 14) * 3;
    if (yellow[0] < 150 || yellow[1] < 150 || (yellow[2] > 100 && yellow[2] < 200)) wrong("another colour");
    v_close(camera);
    free(data);
    say("converted");
    return 0;
}
