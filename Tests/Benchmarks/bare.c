/* What a program that does nothing else takes of a camera: the floor under the rows of the bench.

       bare FORMAT WIDTH HEIGHT first          one frame, of which the first byte goes to standard output
       bare FORMAT WIDTH HEIGHT look           every frame, until it is told to end
       bare FORMAT WIDTH HEIGHT append FILE    each frame as it is, at the end of a file
       bare FORMAT WIDTH HEIGHT photo FILE     one frame as a JPEG: a YUYV frame is compressed

   FORMAT is YUYV or MJPG. Four mapped buffers, poll, and one write for each frame. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <turbojpeg.h>
#include <unistd.h>

enum { buffers = 4, kind = V4L2_BUF_TYPE_VIDEO_CAPTURE, quality = 90 };

static volatile sig_atomic_t is_over;
static void end(int number) { is_over = number; }

static void ask(int camera, unsigned long request, void *argument, const char *what) {
    if (ioctl(camera, request, argument) < 0) err(1, "%s", what);
}

static void write_all(int file, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t done = write(file, bytes, size);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) err(1, "write");
        bytes += done;
        size -= (size_t)done;
    }
}

/* YUYV as JPEG, without a copy of the whole picture in another colour space: the samples are only put apart. */
static void compress(int file, const unsigned char *picture, int width, int height) {
    size_t pixels = (size_t)width * (size_t)height;
    unsigned char *planes = malloc(pixels * 2), *jpeg = NULL;
    unsigned long size = 0;
    if (!planes) err(1, "memory");
    for (size_t i = 0; i < pixels / 2; i++) {
        planes[2 * i] = picture[4 * i];
        planes[2 * i + 1] = picture[4 * i + 2];
        planes[pixels + i] = picture[4 * i + 1];
        planes[pixels + pixels / 2 + i] = picture[4 * i + 3];
    }
    tjhandle handle = tjInitCompress();
    if (!handle || tjCompressFromYUV(handle, planes, width, 1, height, TJSAMP_422, &jpeg, &size, quality, 0) < 0)
        errx(1, "turbojpeg: %s", tjGetErrorStr2(handle));
    write_all(file, (const char *)jpeg, size);
    tjFree(jpeg);
    tjDestroy(handle);
    free(planes);
}

int main(int argc, char **argv) {
    if (argc < 5 || strlen(argv[1]) != 4) errx(64, "usage: bare FORMAT WIDTH HEIGHT first|look|append|photo [FILE]");
    const char *mode = argv[4];
    int is_first = strcmp(mode, "first") == 0, is_photo = strcmp(mode, "photo") == 0, is_raw = argv[1][0] == 'Y';
    int appends = strcmp(mode, "append") == 0;
    signal(SIGINT, end);
    signal(SIGTERM, end);
    int file = argc > 5 ? open(argv[5], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : STDOUT_FILENO;
    int camera = open("/dev/video0", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 || camera < 0) err(1, "open");
    struct v4l2_format format = {.type = kind};
    format.fmt.pix.width = (unsigned)atoi(argv[2]);
    format.fmt.pix.height = (unsigned)atoi(argv[3]);
    memcpy(&format.fmt.pix.pixelformat, argv[1], 4);
    ask(camera, VIDIOC_S_FMT, &format, "format");
    struct v4l2_requestbuffers request = {.count = buffers, .type = kind, .memory = V4L2_MEMORY_MMAP};
    ask(camera, VIDIOC_REQBUFS, &request, "buffers");
    char *memory[buffers];
    for (unsigned i = 0; i < buffers; i++) {
        struct v4l2_buffer buffer = {.index = i, .type = kind, .memory = V4L2_MEMORY_MMAP};
        ask(camera, VIDIOC_QUERYBUF, &buffer, "buffer");
        memory[i] = mmap(NULL, buffer.length, PROT_READ | PROT_WRITE, MAP_SHARED, camera, buffer.m.offset);
        if (memory[i] == MAP_FAILED) err(1, "mmap");
        ask(camera, VIDIOC_QBUF, &buffer, "queue");
    }
    int type = kind;
    ask(camera, VIDIOC_STREAMON, &type, "start");
    while (!is_over) {
        struct pollfd wait = {camera, POLLIN, 0};
        if (poll(&wait, 1, -1) < 0) continue;
        struct v4l2_buffer buffer = {.type = kind, .memory = V4L2_MEMORY_MMAP};
        if (ioctl(camera, VIDIOC_DQBUF, &buffer) < 0) {
            if (errno == EAGAIN || errno == EINTR) continue;
            err(1, "dequeue");
        }
        const char *picture = memory[buffer.index];
        if (is_first) write_all(file, picture, 1);
        if (appends || (is_photo && !is_raw)) write_all(file, picture, buffer.bytesused);
        if (is_photo && is_raw)
            compress(file, (const unsigned char *)picture, (int)format.fmt.pix.width, (int)format.fmt.pix.height);
        if (is_first || is_photo) break;
        ask(camera, VIDIOC_QBUF, &buffer, "queue");
    }
    ask(camera, VIDIOC_STREAMOFF, &type, "stop");
    return close(camera);
}
