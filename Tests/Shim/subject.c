/* subject NODE SCENE [ARGUMENT]: what the scenes share. */
#define _GNU_SOURCE
#include "subject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

const char *node;
int camera = -1;
void *memory[most_buffers];
unsigned buffer_count;
static uint32_t buffer_kind;

void wrong(const char *what) {
    say("wrong: %s (%s)", what, strerror(errno));
    exit(1);
}

void need(int result, const char *what) {
    if (result < 0) wrong(what);
}

int call(int fd, unsigned long request, void *argument) { return ioctl(fd, request, argument) < 0 ? errno : 0; }

void open_camera(int flags) { need(camera = open(node, O_RDWR | flags), "open"); }

void choose(int fd) {
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    struct v4l2_streamparm rate = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    format.fmt.pix.width = width;
    format.fmt.pix.height = height;
    format.fmt.pix.pixelformat = V4L2_PIX_FMT_YUYV;
    rate.parm.capture.timeperframe = (struct v4l2_fract){1, 60};
    need(ioctl(fd, VIDIOC_S_FMT, &format), "S_FMT");
    if (format.fmt.pix.sizeimage != frame_size || format.fmt.pix.bytesperline != width * 2) wrong("another size");
    need(ioctl(fd, VIDIOC_S_PARM, &rate), "S_PARM");
}

void request_buffers(int fd, uint32_t kind, unsigned count) {
    struct v4l2_requestbuffers request = {
        .count = count, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = buffer_kind = kind};
    need(ioctl(fd, VIDIOC_REQBUFS, &request), "REQBUFS");
    if (count && (request.count < count || request.count > most_buffers)) wrong("another count");
    buffer_count = request.count;
    for (unsigned i = 0; i < buffer_count; i++) {
        if (kind == V4L2_MEMORY_USERPTR) {
            memory[i] = mmap(NULL, frame_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        } else {
            struct v4l2_buffer buffer = {.index = i, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = kind};
            need(ioctl(fd, VIDIOC_QUERYBUF, &buffer), "QUERYBUF");
            memory[i] = mmap(NULL, buffer.length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, buffer.m.offset);
        }
        if (memory[i] == MAP_FAILED) wrong("mmap");
    }
}

void queue(int fd, unsigned index) {
    struct v4l2_buffer buffer = {.index = index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = buffer_kind};
    if (buffer_kind == V4L2_MEMORY_USERPTR) {
        buffer.m.userptr = (unsigned long)memory[index];
        buffer.length = frame_size;
    }
    need(ioctl(fd, VIDIOC_QBUF, &buffer), "QBUF");
}

void stream(int fd, int on) {
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    need(ioctl(fd, on ? VIDIOC_STREAMON : VIDIOC_STREAMOFF, &type), on ? "STREAMON" : "STREAMOFF");
}

void start(int flags) {
    open_camera(flags);
    choose(camera);
    request_buffers(camera, V4L2_MEMORY_MMAP, 4);
    for (unsigned i = 0; i < buffer_count; i++) queue(camera, i);
    stream(camera, 1);
}

int dequeue(int fd, struct v4l2_buffer *buffer) {
    *buffer = (struct v4l2_buffer){.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = buffer_kind};
    return call(fd, VIDIOC_DQBUF, buffer);
}

/* Luma of the seven upper bars, as the synthetic camera draws them; all white in its flash. */
int shows_bars(const void *data) {
    static const unsigned char bars[] = {180, 162, 131, 112, 84, 65, 35};
    const unsigned char *row = (const unsigned char *)data + height / 3 * width * 2;
    int matches = 0, white = 0;
    for (unsigned i = 0; i < 7; i++) {
        unsigned char luma = row[(2 * i + 1) * width / 14 * 2];
        matches += luma == bars[i];
        white += luma == 235;
    }
    return matches == 7 || white == 7;
}

void look(int fd, struct v4l2_buffer *buffer) {
    static int64_t last;
    static long sequence = -1;
    int64_t stamp = buffer->timestamp.tv_sec * INT64_C(1000000) + buffer->timestamp.tv_usec;
    if (buffer->flags & V4L2_BUF_FLAG_ERROR) wrong("a broken frame");
    if (!(buffer->flags & V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)) wrong("another clock");
    if (buffer->bytesused != frame_size) wrong("another size of a frame");
    if (!shows_bars(memory[buffer->index])) wrong("another picture");
    if (stamp <= last || stamp > now() / 1000) wrong("another time");
    if (!buffer->sequence) sequence = -1;
    if ((long)buffer->sequence <= sequence) wrong("another sequence");
    last = stamp;
    sequence = buffer->sequence;
    queue(fd, buffer->index);
}

int descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 512; fd++) count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        int (*run)(char **arguments);
    } scenes[] = {{"polled", polled},     {"selected", selected}, {"epolled", epolled},   {"duplicated", duplicated},
                  {"forked", forked},     {"executed", executed}, {"inherited", inherited}, {"user", user_memory},
                  {"reading", reading},   {"exported", exported}, {"threads", threads},   {"signals", signals},
                  {"events", events},     {"busy", busy},         {"until", until},       {"again", again},
                  {"looked", looked},     {"closed", closed},     {"converted", converted},
                  {"refused", refused},   {"cancelled", cancelled}, {"abandoned", abandoned}, {"with_child", with_child},
                  {"generic", generic},   {"in_child", in_child}, {"rateless", rateless}};
    if (count < 3) return 64;
    node = arguments[1];
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        if (!strcmp(scenes[i].name, arguments[2])) return scenes[i].run(arguments);
    return 64;
}
