/* The least that it takes to share a camera's raw frames: a program that polls, dequeues, and does what readers need.

       cc -O2 -o floor floor.c -lpthread
       floor WIDTHxHEIGHT@RATE READERS copy|look

   With `copy` it copies each frame once for each reader. With `look` readers are threads of another process, which wait
   for a word of shared memory, and one call wakes them all. It needs the camera of camera.c, or one that is served from
   it. Prints `running` with the first frame, and when it is sent SIGTERM a line of JSON: how many frames there were, how
   much processor time each took of the process that dequeues, and how long after the DQBUF of a frame at the camera readers
   were awake, both in µs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { most_readers = 64, buffer_count = 4, most_delays = 120, kind = V4L2_BUF_TYPE_VIDEO_CAPTURE };

struct reader {
    pthread_t thread;
    int64_t delays[most_delays]; /* of the last frames */
    size_t count;
};

/* What the readers' process shares. */
static struct {
    _Atomic uint32_t published;
    _Atomic uint64_t dequeued;
    _Atomic int is_over;
    struct reader readers[most_readers];
} *shared;

static volatile sig_atomic_t is_asked;

static void on_signal(int number) {
    (void)number;
    is_asked = 1;
}

static void fail(const char *what) {
    fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void call(int camera, unsigned long request, void *argument, const char *what) {
    if (ioctl(camera, request, argument) < 0) fail(what);
}

static void note(struct reader *reader, struct timespec now, uint64_t dequeued) {
    reader->delays[reader->count++ % most_delays] = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - (int64_t)dequeued;
}

static void *look(void *data) {
    struct reader *reader = data;
    uint32_t seen = 0;
    while (!shared->is_over) {
        syscall(SYS_futex, &shared->published, FUTEX_WAIT, seen, NULL, NULL, 0);
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        uint32_t last = shared->published;
        if (last == seen) continue;
        seen = last;
        note(reader, now, shared->dequeued);
    }
    return NULL;
}

static void wake(void) {
    shared->published++;
    syscall(SYS_futex, &shared->published, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* The readers' process. */
static void look_all(unsigned readers) {
    signal(SIGTERM, SIG_IGN);
    for (unsigned i = 0; i < readers; i++)
        if (pthread_create(&shared->readers[i].thread, NULL, look, &shared->readers[i]) != 0) _exit(1);
    for (unsigned i = 0; i < readers; i++) pthread_join(shared->readers[i].thread, NULL);
    _exit(0);
}

static int compare(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static double used(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void tell(unsigned readers, unsigned frames, double each) {
    static int64_t delays[most_readers * most_delays];
    size_t count = 0;
    for (unsigned i = 0; i < readers; i++) {
        const struct reader *reader = &shared->readers[i];
        size_t own = reader->count < most_delays ? reader->count : most_delays;
        memcpy(delays + count, reader->delays, own * sizeof *delays);
        count += own;
    }
    qsort(delays, count, sizeof *delays, compare);
    size_t last = count ? count - 1 : 0;
    printf("{\"frames\": %u, \"each\": %.3f, \"delays\": %zu, \"delayP50\": %.3f, \"delayP99\": %.3f}\n", frames, each,
           count, (double)delays[last / 2] / 1000, (double)delays[(last * 99 + 50) / 100] / 1000);
}

int main(int count, char **words) {
    unsigned width, height, rate, readers;
    char *own[most_readers], *mapped[buffer_count];
    if (count != 4 || sscanf(words[1], "%ux%u@%u", &width, &height, &rate) != 3 ||
        sscanf(words[2], "%u", &readers) != 1 || readers > most_readers) {
        fprintf(stderr, "usage: floor WIDTHxHEIGHT@RATE READERS copy|look\n");
        return 64;
    }
    int copies = strcmp(words[3], "copy") == 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) fail("memory");
    pid_t child = copies ? 0 : fork();
    if (child < 0) fail("another process");
    if (child == 0 && !copies) look_all(readers);
    signal(SIGTERM, on_signal);
    int camera = open("/dev/video0", O_RDWR | O_CLOEXEC);
    if (camera < 0) fail("/dev/video0");
    struct v4l2_format format = {.type = kind};
    format.fmt.pix = (struct v4l2_pix_format){.width = width, .height = height, .pixelformat = V4L2_PIX_FMT_YUYV};
    call(camera, VIDIOC_S_FMT, &format, "the format");
    struct v4l2_streamparm parameters = {.type = kind};
    parameters.parm.capture.timeperframe = (struct v4l2_fract){1, rate};
    call(camera, VIDIOC_S_PARM, &parameters, "the rate");
    struct v4l2_requestbuffers request = {.count = buffer_count, .type = kind, .memory = V4L2_MEMORY_MMAP};
    call(camera, VIDIOC_REQBUFS, &request, "buffers");
    if (request.count != buffer_count) fail("another number of buffers");
    for (unsigned i = 0; i < buffer_count; i++) {
        struct v4l2_buffer buffer = {.index = i, .type = kind, .memory = V4L2_MEMORY_MMAP};
        call(camera, VIDIOC_QUERYBUF, &buffer, "a buffer");
        mapped[i] = mmap(NULL, buffer.length, PROT_READ, MAP_SHARED, camera, buffer.m.offset);
        if (mapped[i] == MAP_FAILED) fail("a buffer cannot be mapped");
        call(camera, VIDIOC_QBUF, &buffer, "a buffer cannot be queued");
    }
    size_t size = format.fmt.pix.sizeimage;
    for (unsigned i = 0; i < readers; i++) {
        if (!(own[i] = malloc(size))) fail("memory");
        memset(own[i], 0, size);
    }
    int type = kind;
    call(camera, VIDIOC_STREAMON, &type, "the stream");
    unsigned frames = 0;
    double start = 0;
    for (; !is_asked; frames++) {
        struct pollfd wanted = {.fd = camera, .events = POLLIN};
        if (poll(&wanted, 1, -1) < 0) {
            if (errno == EINTR) continue;
            fail("the camera cannot be waited for");
        }
        struct v4l2_buffer buffer = {.type = kind, .memory = V4L2_MEMORY_MMAP};
        call(camera, VIDIOC_DQBUF, &buffer, "no frame");
        struct timespec awake;
        clock_gettime(CLOCK_MONOTONIC, &awake);
        uint64_t stamps[2];
        memcpy(stamps, mapped[buffer.index], sizeof stamps);
        if (!copies) {
            shared->dequeued = stamps[1];
            wake();
        } else if (readers) {
            note(&shared->readers[0], awake, stamps[1]);
        }
        for (unsigned i = 0; copies && i < readers; i++) {
            memcpy(own[i], mapped[buffer.index], buffer.bytesused);
            /* What nobody reads is copied nevertheless. */
            __asm__ volatile("" : : "r"(own[i]) : "memory");
        }
        call(camera, VIDIOC_QBUF, &buffer, "a buffer cannot be queued");
        if (frames == 0) {
            printf("running\n");
            fflush(stdout);
            start = used();
        }
    }
    /* The first frame is not among them. */
    double each = frames > 1 ? (used() - start) / (frames - 1) : 0;
    call(camera, VIDIOC_STREAMOFF, &type, "the end");
    shared->is_over = 1;
    wake();
    int status = 0;
    if (!copies && waitpid(child, &status, 0) < 0) fail("the readers");
    if (status != 0) {
        fprintf(stderr, "floor: the readers failed\n");
        return 1;
    }
    tell(copies && readers ? 1 : readers, frames, each);
    return 0;
}
