/* A camera by V4L2, closed in each of the ways in which programs do it. */
#include "starts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { buffer_count = 4, kind = V4L2_BUF_TYPE_VIDEO_CAPTURE, memory_kind = V4L2_MEMORY_MMAP };

static void call(int fd, unsigned long request, void *argument, const char *name) {
    if (ioctl(fd, request, argument) < 0) failed(name, strerror(errno));
}

static void request(int fd, unsigned count) {
    struct v4l2_requestbuffers wanted = {.count = count, .type = kind, .memory = memory_kind};
    call(fd, VIDIOC_REQBUFS, &wanted, "REQBUFS");
}

void start_and_stop(int number) {
    int fd = open("/dev/video90", O_RDWR), type = kind;
    if (fd < 0) failed("open", strerror(errno));
    struct v4l2_format format = {.type = kind};
    format.fmt.pix.width = 320;
    format.fmt.pix.height = 240;
    format.fmt.pix.pixelformat = V4L2_PIX_FMT_YUYV;
    call(fd, VIDIOC_S_FMT, &format, "S_FMT");
    request(fd, buffer_count);
    void *memory[buffer_count];
    struct v4l2_buffer buffer;
    for (unsigned i = 0; i < buffer_count; i++) {
        buffer = (struct v4l2_buffer){.index = i, .type = kind, .memory = memory_kind};
        call(fd, VIDIOC_QUERYBUF, &buffer, "QUERYBUF");
        memory[i] = mmap(NULL, buffer.length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, buffer.m.offset);
        if (memory[i] == MAP_FAILED) failed("mmap", strerror(errno));
        call(fd, VIDIOC_QBUF, &buffer, "QBUF");
    }
    call(fd, VIDIOC_STREAMON, &type, "STREAMON");
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (poll(&ready, 1, most_ms) != 1) failed("poll", "no frame came");
    buffer = (struct v4l2_buffer){.type = kind, .memory = memory_kind};
    call(fd, VIDIOC_DQBUF, &buffer, "DQBUF");
    if (number % 3) call(fd, VIDIOC_STREAMOFF, &type, "STREAMOFF");
    for (unsigned i = 0; i < buffer_count; i++) munmap(memory[i], format.fmt.pix.sizeimage);
    if (number % 3 == 2) request(fd, 0);
    close(fd);
}
