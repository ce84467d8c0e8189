/* A camera for benchmarks on a machine that has none. A program that is started with this file as a shared object in
   LD_PRELOAD finds a V4L2 camera at /dev/video0, and so do its children; other programs see nothing of it.

       gcc -O2 -Wall -Wextra -fPIC -shared -o camera.so camera.c -ldl -lpthread

   BENCH_CAMERA_FRAMES   the folder with the frames; without it there is no camera
   BENCH_CAMERA_FPS      frames per second until a program sets another rate; 30 unless said
   BENCH_CAMERA_HASTE    how many times faster than its rate says frames come; 1 unless said
   BENCH_CAMERA_COUNT    how many cameras there are: /dev/video0, /dev/video1 and so on; 1, 2, 4, 8 or 16; 1 unless said
   BENCH_CAMERA_USERPTR  0 is a driver that takes no user pointers
   BENCH_CAMERA_LEAST    a driver that maps at least so many buffers, however few are asked for
   BENCH_CAMERA_EXPBUF   1 is a driver that exports its buffers, here as memory files
   BENCH_CAMERA_LOG      a file that gets a line at the start and one at the end of each stream: "pid 1 began 12345", in
                         nanoseconds of CLOCK_MONOTONIC, and "pid 1 delivered 60 lost 0"

   The folder has a file for each mode, such as YUYV-1920x1080 and MJPG-1280x720, of whole frames one behind the other.
   Raw or not, each begins at a multiple of WIDTH * HEIGHT * 2 bytes, rounded up to pages of 4096. Pictures come from

       ffmpeg -f lavfi -i testsrc2=size=SIZE:rate=30 -frames:v 16 -vf noise=alls=8:allf=t -pix_fmt yuyv422 -f rawvideo -
       ffmpeg -f lavfi -i testsrc2=size=SIZE:rate=30 -frames:v 16 -vf noise=alls=8:allf=t -pix_fmt yuvj422p -q:v 5 \
           -f mjpeg -

   The smallest size, 64x48, has no noise.

   A JPEG gets a comment behind its first two bytes: ff fe 00 12, the frame's length with the comment as four bytes in
   the order of the machine, and twelve zeros. The folder also stands for sysfs: its sys-1/video0/index is read for
   /sys/class/video4linux/video0/index where there is one camera, sys-2/video0/index where there are two.

   The descriptor is a timer, so poll, select and epoll work by themselves, and a DQBUF is one read of it. No frame is
   copied: a mapped buffer is a private mapping of one frame of the file; a user pointer gets a picture when it is first
   queued, and keeps it. A DQBUF writes 16 bytes: when the frame was due and when it was taken, in nanoseconds of
   CLOCK_MONOTONIC. They are the first bytes of a raw picture; in a JPEG they stand in the comment. Of several mappings
   of a buffer the last gets them.

   As with a real driver, a frame is lost when no buffer is queued at the moment it is due, and its number is left out.
   Unlike one, each open of the node is a camera of its own. For machines of 64 bits. */
#include "preload.h"

#include <dirent.h>
#include <limits.h>
#include <linux/videodev2.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <time.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

enum { most_descriptors = 4096, most_buffers = 32, page = 4096, second = 1000000000, comment = 6, major_number = 81 };
enum { most_rate = 1000, kind = V4L2_BUF_TYPE_VIDEO_CAPTURE };
static char nodes[16][24]; /* the paths of the cameras */

static const struct mode {
    uint32_t format, width, height;
} modes[] = {
    {V4L2_PIX_FMT_YUYV, 1920, 1080},  {V4L2_PIX_FMT_YUYV, 1280, 720},  {V4L2_PIX_FMT_YUYV, 640, 480},
    {V4L2_PIX_FMT_MJPEG, 1920, 1080}, {V4L2_PIX_FMT_MJPEG, 1280, 720},
    {V4L2_PIX_FMT_MJPEG, 64, 48},
};
static const struct mode *const modes_end = modes + sizeof modes / sizeof *modes;

struct buffer {
    char *picture; /* where the program sees it: its mapping or its pointer */
    char *shared;  /* the first page of what was exported */
    int exported, is_queued;
    uint32_t used;
    uint64_t first; /* the first frame that was not yet due when the buffer was queued */
};

struct camera {
    int timer;          /* a descriptor of its own, whatever the program closes */
    int uses;           /* the program's descriptors, and calls under way */
    int is_on, waiting; /* threads that wait for a frame */
    pid_t process;
    const char *node;
    const struct mode *mode;
    struct v4l2_fract rate;
    int frames;
    uint32_t frame_count, memory, count, queue[most_buffers], head, tail;
    struct buffer buffers[most_buffers];
    uint64_t start, interval, next, delivered, lost;
};

static _Atomic(struct camera *) cameras[most_descriptors];
static const char *folder;
static uint32_t usual_rate = 30, haste = 1;
static int takes_pointers, exports, fewest_buffers, count = 1;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * second + (uint64_t)time.tv_nsec;
}

static size_t size_of(const struct mode *mode) { return (size_t)mode->width * mode->height * 2; }
static size_t slot_of(const struct mode *mode) { return (size_of(mode) + page - 1) / page * page; }
static off_t place_of(const struct camera *camera, uint32_t index) {
    return (off_t)(index % camera->frame_count * slot_of(camera->mode));
}
static uint64_t due_time(const struct camera *camera, uint64_t frame) {
    return camera->start + (frame + 1) * camera->interval;
}
static uint64_t frames_due(const struct camera *camera, uint64_t at) { return (at - camera->start) / camera->interval; }

/* The timer goes off with each frame, beginning at a moment that may be past. */
static void arm(const struct camera *camera, uint64_t at, uint64_t interval) {
    struct itimerspec when = {{(time_t)(interval / second), (long)(interval % second)},
                              {(time_t)(at / second), (long)(at % second)}};
    timerfd_settime(camera->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void set_rate(struct camera *camera, struct v4l2_fract rate) {
    uint64_t interval = rate.denominator ? (uint64_t)second * rate.numerator / rate.denominator : 0;
    int is_possible = interval >= second / most_rate && interval <= UINT64_C(10) * second;
    camera->rate = is_possible ? rate : (struct v4l2_fract){1, usual_rate};
    camera->interval = (is_possible ? interval : second / usual_rate) / haste;
}

static int start(struct camera *camera) {
    if (camera->count == 0) return fail(EINVAL);
    if (camera->is_on) return 0;
    camera->is_on = 1;
    camera->start = now();
    camera->next = camera->delivered = camera->lost = 0;
    arm(camera, due_time(camera, 0), camera->interval);
    tell("pid %d began %lu\n", (int)camera->process, (unsigned long)camera->start);
    return 0;
}

static int stop(struct camera *camera) {
    for (uint32_t i = 0; i < camera->count; i++) camera->buffers[i].is_queued = 0;
    camera->head = camera->tail = 0;
    if (!camera->is_on) return 0;
    camera->is_on = 0;
    /* Who waits for a frame is woken, and finds that there will be none. */
    arm(camera, camera->waiting ? 1 : 0, 0);
    unsigned long delivered = camera->delivered, lost = camera->lost;
    tell("pid %d delivered %lu lost %lu\n", (int)camera->process, delivered, lost);
    return 0;
}

static void free_buffers(struct camera *camera) {
    for (uint32_t i = 0; i < camera->count; i++) {
        if (camera->buffers[i].shared) munmap(camera->buffers[i].shared, page);
        if (camera->buffers[i].exported >= 0) close(camera->buffers[i].exported);
    }
    if (camera->frames >= 0) close(camera->frames);
    camera->frames = -1;
    camera->count = 0;
}

static int request_buffers(struct camera *camera, struct v4l2_requestbuffers *request) {
    const struct mode *mode = camera->mode;
    if (request->memory != V4L2_MEMORY_MMAP && (request->memory != V4L2_MEMORY_USERPTR || !takes_pointers))
        return fail(EINVAL);
    if (camera->is_on) return fail(EBUSY);
    stop(camera);
    free_buffers(camera);
    request->capabilities = V4L2_BUF_CAP_SUPPORTS_MMAP | (takes_pointers ? V4L2_BUF_CAP_SUPPORTS_USERPTR : 0);
    if (request->count == 0) return 0;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%.4s-%ux%u", folder, (const char *)&mode->format, mode->width, mode->height);
    struct stat status = {0};
    camera->frames = open(path, O_RDONLY | O_CLOEXEC);
    if (camera->frames >= 0) fstat(camera->frames, &status);
    camera->frame_count = (uint32_t)((size_t)status.st_size / slot_of(mode));
    if (camera->frame_count == 0) {
        fprintf(stderr, "camera.so: there are no frames in %s\n", path);
        return free_buffers(camera), fail(EIO);
    }
    if (request->memory == V4L2_MEMORY_MMAP && request->count < (uint32_t)fewest_buffers)
        request->count = (uint32_t)fewest_buffers;
    camera->memory = request->memory;
    camera->count = request->count = request->count < most_buffers ? request->count : most_buffers;
    for (uint32_t i = 0; i < camera->count; i++) {
        uint32_t used = (uint32_t)size_of(mode), size = 0;
        if (mode->format == V4L2_PIX_FMT_MJPEG) {
            ssize_t got = pread(camera->frames, &size, sizeof size, place_of(camera, i) + comment);
            used = got == sizeof size && size <= used ? size : 0;
        }
        camera->buffers[i] = (struct buffer){.exported = -1, .used = used};
    }
    return 0;
}

static int describe_buffer(const struct camera *camera, uint32_t index, struct v4l2_buffer *out) {
    if (index >= camera->count) return fail(EINVAL);
    const struct buffer *buffer = &camera->buffers[index];
    *out = (struct v4l2_buffer){.index = index, .type = kind, .field = V4L2_FIELD_NONE, .memory = camera->memory};
    out->length = (uint32_t)size_of(camera->mode);
    out->flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC | V4L2_BUF_FLAG_TSTAMP_SRC_SOE;
    if (buffer->is_queued) out->flags |= V4L2_BUF_FLAG_QUEUED;
    if (camera->memory == V4L2_MEMORY_USERPTR) return out->m.userptr = (unsigned long)buffer->picture, 0;
    if (buffer->picture) out->flags |= V4L2_BUF_FLAG_MAPPED;
    return out->m.offset = (uint32_t)(index * slot_of(camera->mode)), 0;
}

/* Frames up to a number are over, if they are not over yet. */
static void lose(struct camera *camera, uint64_t until) {
    if (until <= camera->next) return;
    camera->lost += until - camera->next;
    camera->next = until;
}

static int queue_buffer(struct camera *camera, struct v4l2_buffer *given) {
    uint32_t index = given->index;
    struct buffer *buffer = &camera->buffers[index < camera->count ? index : 0];
    if (index >= camera->count || given->memory != camera->memory || buffer->is_queued) return fail(EINVAL);
    char *pointer = (char *)given->m.userptr;
    if (camera->memory == V4L2_MEMORY_USERPTR && buffer->picture != pointer) {
        if (given->length < size_of(camera->mode)) return fail(EINVAL);
        ssize_t got = pread(camera->frames, pointer, buffer->used, place_of(camera, index));
        if (got != (ssize_t)buffer->used) return fail(EFAULT);
        buffer->picture = pointer;
    }
    buffer->first = camera->is_on ? frames_due(camera, now()) : 0;
    /* Frames that found no buffer are over: who polls is not to be woken by them. */
    if (camera->head == camera->tail && buffer->first > camera->next) {
        lose(camera, buffer->first);
        arm(camera, due_time(camera, camera->next), camera->interval);
    }
    buffer->is_queued = 1;
    camera->queue[camera->tail++ % most_buffers] = index;
    return describe_buffer(camera, index, given);
}

/* The buffer whose turn it is, if one is queued. */
static struct buffer *next_buffer(struct camera *camera) {
    return camera->head == camera->tail ? NULL : &camera->buffers[camera->queue[camera->head % most_buffers]];
}

static int dequeue_buffer(struct camera *camera, struct v4l2_buffer *out) {
    struct buffer *buffer = NULL;
    uint64_t at, due, ticks;
    for (;;) {
        if (!camera->is_on || out->memory != camera->memory) return fail(EINVAL);
        camera->waiting++;
        pthread_mutex_unlock(&lock);
        ssize_t size = read(camera->timer, &ticks, sizeof ticks);
        pthread_mutex_lock(&lock);
        camera->waiting--;
        if (size < 0) return -1;
        if (!camera->is_on) return fail(EINVAL);
        /* As many as there were ticks, whoever has read them. */
        due = frames_due(camera, at = now());
        buffer = next_buffer(camera);
        if (buffer) lose(camera, buffer->first);
        if (buffer && camera->next < due) break;
        lose(camera, due);
    }
    uint32_t index = camera->queue[camera->head++ % most_buffers];
    uint64_t frame = camera->next++, stamps[2] = {due_time(camera, frame), at};
    camera->delivered++;
    buffer->is_queued = 0;
    const struct buffer *following = next_buffer(camera);
    if (following && following->first < due && camera->next < due) {
        /* The reader is late, and the next frame waits already. */
        arm(camera, due_time(camera, camera->next), camera->interval);
    } else {
        lose(camera, due);
    }
    size_t place = camera->mode->format == V4L2_PIX_FMT_MJPEG ? comment : 0;
    if (buffer->picture) memcpy(buffer->picture + place, stamps, sizeof stamps);
    if (buffer->shared) memcpy(buffer->shared + place, stamps, sizeof stamps);
    describe_buffer(camera, index, out);
    out->bytesused = buffer->used;
    out->sequence = (uint32_t)frame;
    out->timestamp = (struct timeval){(time_t)(stamps[0] / second), (suseconds_t)(stamps[0] % second / 1000)};
    return 0;
}

/* A copy that other processes can map. It is made once for each buffer. */
static int export_buffer(struct camera *camera, struct v4l2_exportbuffer *out) {
    if (!exports) return fail(ENOTTY);
    if (out->index >= camera->count || camera->memory != V4L2_MEMORY_MMAP) return fail(EINVAL);
    struct buffer *buffer = &camera->buffers[out->index];
    if (buffer->exported < 0) {
        off_t from = place_of(camera, out->index);
        int file = memfd_create("camera", MFD_CLOEXEC);
        void *first = MAP_FAILED;
        if (file >= 0 && ftruncate(file, (off_t)slot_of(camera->mode)) == 0 &&
            sendfile(file, camera->frames, &from, buffer->used) == (ssize_t)buffer->used)
            first = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (first == MAP_FAILED) return close(file), fail(ENOMEM);
        buffer->shared = first;
        buffer->exported = file;
    }
    out->fd = fcntl(buffer->exported, out->flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
    return out->fd < 0 ? -1 : 0;
}

static const struct mode *nearest(const struct v4l2_pix_format *wanted) {
    const struct mode *best = NULL;
    int64_t least = INT64_MAX;
    for (const struct mode *mode = modes; mode < modes_end; mode++) {
        int64_t far = llabs((int64_t)mode->width - wanted->width) + llabs((int64_t)mode->height - wanted->height);
        int is_kind = (mode->format == V4L2_PIX_FMT_MJPEG) == (wanted->pixelformat == V4L2_PIX_FMT_MJPEG);
        if (is_kind && far < least) best = mode, least = far;
    }
    return best;
}

static int describe_format(const struct mode *mode, struct v4l2_pix_format *out) {
    *out = (struct v4l2_pix_format){.width = mode->width, .height = mode->height, .pixelformat = mode->format};
    out->field = V4L2_FIELD_NONE;
    out->bytesperline = mode->format == V4L2_PIX_FMT_MJPEG ? 0 : mode->width * 2;
    out->sizeimage = (uint32_t)size_of(mode);
    out->colorspace = V4L2_COLORSPACE_SRGB;
    out->priv = V4L2_PIX_FMT_PRIV_MAGIC;
    return 0;
}

static int list_size(struct v4l2_frmsizeenum *out) {
    const struct mode *mode = modes;
    for (uint32_t before = out->index; mode < modes_end; mode++)
        if (mode->format == out->pixel_format && before-- == 0) break;
    if (mode == modes_end) return fail(EINVAL);
    out->type = V4L2_FRMSIZE_TYPE_DISCRETE;
    return out->discrete = (struct v4l2_frmsize_discrete){mode->width, mode->height}, 0;
}

/* The usual rate, its half and its third. */
static int list_rate(struct v4l2_frmivalenum *out) {
    const struct mode *mode = modes;
    for (; mode < modes_end; mode++)
        if (mode->format == out->pixel_format && mode->width == out->width && mode->height == out->height) break;
    if (mode == modes_end || out->index > 2) return fail(EINVAL);
    out->type = V4L2_FRMIVAL_TYPE_DISCRETE;
    return out->discrete = (struct v4l2_fract){out->index + 1, usual_rate}, 0;
}

/* Whether a call is for another kind of buffers. It stands in the first or the second word of what is given. */
static int is_foreign(uint32_t request, const uint32_t *words) {
    switch (request) {
    case VIDIOC_ENUM_FMT: case VIDIOC_REQBUFS: case VIDIOC_QUERYBUF: case VIDIOC_QBUF: case VIDIOC_DQBUF:
        return words[1] != kind;
    case VIDIOC_G_FMT: case VIDIOC_TRY_FMT: case VIDIOC_S_FMT: case VIDIOC_G_PARM: case VIDIOC_S_PARM:
    case VIDIOC_EXPBUF: case VIDIOC_STREAMON: case VIDIOC_STREAMOFF: return words[0] != kind;
    default: return 0;
    }
}

static int number_of(const char *node) { return (int)((node - nodes[0]) / (ptrdiff_t)sizeof nodes[0]); }

static int answer(struct camera *camera, uint32_t request, void *argument) {
    static const struct v4l2_fmtdesc formats[] = {
        {.type = kind, .description = "YUYV 4:2:2", .pixelformat = V4L2_PIX_FMT_YUYV},
        {1, kind, V4L2_FMT_FLAG_COMPRESSED, "Motion-JPEG", V4L2_PIX_FMT_MJPEG, 0, {0}},
    };
    static const uint32_t caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING | V4L2_CAP_EXT_PIX_FORMAT;
    static const struct v4l2_capability capability = {
        "uvcvideo", "Bench Camera", "usb-bench", 6 << 16, caps | V4L2_CAP_DEVICE_CAPS, caps, {0}};
    if (is_foreign(request, argument)) return fail(EINVAL);
    uint32_t *word = argument;
    struct v4l2_pix_format *format = &((struct v4l2_format *)argument)->fmt.pix;
    struct v4l2_captureparm *capture = &((struct v4l2_streamparm *)argument)->parm.capture;
    switch (request) {
    case VIDIOC_QUERYCAP: {
        struct v4l2_capability *out = argument;
        *out = capability;
        snprintf((char *)out->bus_info, sizeof out->bus_info, "usb-bench-%d", number_of(camera->node) + 1);
        return 0;
    }
    case VIDIOC_ENUM_FMT: return *word > 1 ? fail(EINVAL) : (*(struct v4l2_fmtdesc *)argument = formats[*word], 0);
    case VIDIOC_ENUM_FRAMESIZES: return list_size(argument);
    case VIDIOC_ENUM_FRAMEINTERVALS: return list_rate(argument);
    case VIDIOC_TRY_FMT: return describe_format(nearest(format), format);
    case VIDIOC_S_FMT:
        if (camera->count > 0) return fail(EBUSY);
        camera->mode = nearest(format);
        return describe_format(camera->mode, format);
    case VIDIOC_G_FMT: return describe_format(camera->mode, format);
    case VIDIOC_S_PARM:
        if (camera->is_on) return fail(EBUSY);
        set_rate(camera, capture->timeperframe);
        /* fall through */
    case VIDIOC_G_PARM:
        *capture = (struct v4l2_captureparm){.capability = V4L2_CAP_TIMEPERFRAME, .timeperframe = camera->rate};
        return 0;
    case VIDIOC_ENUMINPUT:
        if (*word > 0) return fail(EINVAL);
        *(struct v4l2_input *)argument = (struct v4l2_input){.name = "Camera 1", .type = V4L2_INPUT_TYPE_CAMERA};
        return 0;
    case VIDIOC_G_INPUT: return *word = 0, 0;
    case VIDIOC_S_INPUT: return *word == 0 ? 0 : fail(EINVAL);
    case VIDIOC_REQBUFS: return request_buffers(camera, argument);
    case VIDIOC_QUERYBUF: return describe_buffer(camera, *word, argument);
    case VIDIOC_QBUF: return queue_buffer(camera, argument);
    case VIDIOC_DQBUF: return dequeue_buffer(camera, argument);
    case VIDIOC_EXPBUF: return export_buffer(camera, argument);
    case VIDIOC_STREAMON: return start(camera);
    case VIDIOC_STREAMOFF: return stop(camera);
    default: return fail(ENOTTY); /* no settings, no events, no signal */
    }
}

static struct camera *camera_at(int fd) { return fd >= 0 && fd < most_descriptors ? cameras[fd] : NULL; }

/* With the lock held: the camera of a descriptor, to be released. */
static struct camera *take(int fd) {
    struct camera *camera = camera_at(fd);
    if (camera) camera->uses++;
    return camera;
}

static void release(struct camera *camera) {
    if (!camera || --camera->uses > 0) return;
    stop(camera);
    free_buffers(camera);
    close(camera->timer);
    free(camera);
}

static int forget(int fd) {
    if (!camera_at(fd)) return fd;
    pthread_mutex_lock(&lock);
    release(atomic_exchange(&cameras[fd], NULL));
    pthread_mutex_unlock(&lock);
    return fd;
}

static int share(int from, int to) {
    if (!camera_at(from) || to < 0 || to >= most_descriptors || from == to) return to;
    pthread_mutex_lock(&lock);
    cameras[to] = take(from);
    pthread_mutex_unlock(&lock);
    return to;
}

static int open_camera(const char *node, int flags) {
    int fd = timerfd_create(CLOCK_MONOTONIC, flags & (O_NONBLOCK | O_CLOEXEC));
    int timer = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    struct camera *camera = timer < 0 || fd >= most_descriptors ? NULL : calloc(1, sizeof *camera);
    if (!camera) return close(timer), close(fd), fail(EMFILE);
    *camera = (struct camera){
        .timer = timer, .uses = 1, .process = getpid(), .node = node, .mode = modes, .frames = -1};
    set_rate(camera, (struct v4l2_fract){1, usual_rate});
    cameras[fd] = camera;
    return fd;
}

static const char *option(const char *name, const char *usual) { return getenv(name) ? getenv(name) : usual; }

__attribute__((constructor)) static void begin(void) {
    int rate = atoi(option("BENCH_CAMERA_FPS", "30"));
    if (rate > 0 && rate <= most_rate) usual_rate = (uint32_t)rate;
    int times = atoi(option("BENCH_CAMERA_HASTE", "1"));
    if (times > 0 && times <= 10) haste = (uint32_t)times;
    int wanted = atoi(option("BENCH_CAMERA_COUNT", "1"));
    if (wanted > 0 && wanted <= (int)(sizeof nodes / sizeof *nodes)) count = wanted;
    for (int i = 0; i < count; i++) snprintf(nodes[i], sizeof nodes[i], "/dev/video%d", i);
    takes_pointers = atoi(option("BENCH_CAMERA_USERPTR", "1"));
    fewest_buffers = atoi(option("BENCH_CAMERA_LEAST", "0"));
    if (fewest_buffers < 0) fewest_buffers = 0;
    exports = atoi(option("BENCH_CAMERA_EXPBUF", "0"));
    log_file = getenv("BENCH_CAMERA_LOG");
    folder = getenv("BENCH_CAMERA_FRAMES");
}

__attribute__((destructor)) static void end(void) {
    pthread_mutex_lock(&lock);
    for (int fd = 0; fd < most_descriptors; fd++)
        if (cameras[fd] && cameras[fd]->process == getpid()) stop(cameras[fd]);
    pthread_mutex_unlock(&lock);
}

/* The camera's own text of a path, or NULL where the path is that of no camera. */
static const char *node_at(const char *path) {
    for (int i = 0; path && folder && i < count; i++)
        if (strcmp(path, nodes[i]) == 0) return nodes[i];
    return NULL;
}

/* Where a path leads. What is to be known of the node is known of another character device. */
static const char *place(const char *path) {
    static _Thread_local char room[PATH_MAX];
    static const char of_class[] = "/sys/class/video4linux", of_number[] = "/sys/dev/char/81:";
    if (!path || !folder) return path;
    if (node_at(path)) return "/dev/null";
    const char *rest = path + sizeof of_class - 1, *number = path + sizeof of_number - 1;
    if (strncmp(path, of_class, sizeof of_class - 1) == 0 && (*rest == 0 || *rest == '/')) {
        snprintf(room, sizeof room, "%s/sys-%d%s", folder, count, rest);
    } else if (strncmp(path, of_number, sizeof of_number - 1) == 0 && *number >= '0' && *number <= '9') {
        snprintf(room, sizeof room, "%s/sys-%d/video%s", folder, count, number);
    } else {
        return path;
    }
    return room;
}

/* From here on stands what programs call. */
#define CALL(result, name, parameters, value) \
    result name parameters { \
        REAL(name); \
        return value; \
    }

int openat(int at, const char *path, int flags, ...) {
    REAL(openat);
    LAST_ARGUMENT(mode_t, mode, flags);
    const char *node = node_at(path);
    return node ? open_camera(node, flags) : real(at, place(path), flags, mode);
}

int fstatat(int at, const char *path, struct stat *out, int flags) {
    REAL(fstatat);
    if (camera_at(at) && *path == 0) path = camera_at(at)->node;
    const char *node = node_at(path);
    int result = real(at, place(path), out, flags);
    if (result == 0 && node) out->st_rdev = makedev(major_number, (unsigned)number_of(node));
    return result;
}
int stat(const char *path, struct stat *out) { return fstatat(AT_FDCWD, path, out, 0); }
int lstat(const char *path, struct stat *out) { return fstatat(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW); }
CALL(int, fstat, (int fd, struct stat *out), camera_at(fd) ? stat(camera_at(fd)->node, out) : real(fd, out))
int statx(int at, const char *path, int flags, unsigned mask, struct statx *out) {
    REAL(statx);
    if (camera_at(at) && *path == 0) path = camera_at(at)->node;
    const char *node = node_at(path);
    int result = real(at, place(path), flags, mask, out);
    if (result == 0 && node) out->stx_rdev_major = major_number, out->stx_rdev_minor = (unsigned)number_of(node);
    return result;
}

CALL(int, access, (const char *path, int mode), real(place(path), mode))
CALL(int, faccessat, (int at, const char *path, int mode, int flags), real(at, place(path), mode, flags))
CALL(ssize_t, readlink, (const char *path, char *out, size_t size), real(place(path), out, size))
CALL(DIR *, opendir, (const char *path), real(place(path)))
CALL(FILE *, fopen, (const char *path, const char *mode), real(place(path), mode))
CALL(char *, realpath, (const char *path, char *out),
    !node_at(path) ? real(path, out) : out ? strcpy(out, path) : strdup(path))

CALL(int, close, (int fd), real(forget(fd)))
CALL(int, dup, (int fd), share(fd, real(fd)))
CALL(int, dup2, (int from, int to), share(from, real(from, from == to ? to : forget(to))))
CALL(int, dup3, (int from, int to, int flags), share(from, real(from, from == to ? to : forget(to), flags)))
int fcntl(int fd, int command, ...) {
    REAL(fcntl);
    LAST_ARGUMENT(void *, argument, command);
    int result = real(fd, command, argument);
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? share(fd, result) : result;
}

int ioctl(int fd, unsigned long request, ...) {
    REAL(ioctl);
    LAST_ARGUMENT(void *, argument, request);
    if (!camera_at(fd) || _IOC_TYPE(request) != 'V') return real(fd, request, argument);
    pthread_mutex_lock(&lock);
    struct camera *camera = take(fd);
    int result = camera ? answer(camera, (uint32_t)request, argument) : fail(EBADF), reason = errno;
    release(camera);
    pthread_mutex_unlock(&lock);
    errno = reason;
    return result;
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    REAL(mmap);
    if (!camera_at(fd)) return real(address, length, protection, flags, fd, offset);
    pthread_mutex_lock(&lock);
    struct camera *camera = take(fd);
    uint32_t index = camera ? (uint32_t)((size_t)offset / slot_of(camera->mode)) : 0;
    struct buffer *buffer = camera && index < camera->count ? &camera->buffers[index] : NULL;
    void *result = MAP_FAILED;
    if (!buffer || camera->memory != V4L2_MEMORY_MMAP || length > slot_of(camera->mode)) {
        errno = EINVAL;
    } else if (buffer->exported >= 0) {
        result = real(address, length, protection, flags, buffer->exported, 0);
    } else {
        flags = (flags & ~MAP_TYPE) | MAP_PRIVATE;
        result = real(address, length, PROT_READ | PROT_WRITE, flags, camera->frames, place_of(camera, index));
    }
    if (result != MAP_FAILED) {
        if (buffer->exported < 0) buffer->picture = result;
        /* As with a driver's memory, reading it is never a page fault. */
        madvise(result, length < buffer->used ? length : buffer->used, MADV_POPULATE_READ);
    }
    release(camera);
    pthread_mutex_unlock(&lock);
    return result;
}

/* What a program asks libudev of the node. */
struct udev;
struct udev_device;
#define IS_NODE(device) \
    ((const char *)(device) >= nodes[0] && (const char *)(device) < nodes[sizeof nodes / sizeof *nodes])
CALL(struct udev_device *, udev_device_new_from_devnum, (struct udev *udev, char type, dev_t device),
    folder && type == 'c' && major(device) == major_number && (int)minor(device) < count
        ? (struct udev_device *)nodes[minor(device)]
        : real(udev, type, device))
CALL(struct udev_device *, udev_device_unref, (struct udev_device *device), IS_NODE(device) ? NULL : real(device))
CALL(int, udev_device_get_is_initialized, (struct udev_device *device), IS_NODE(device) ? 1 : real(device))
CALL(const char *, udev_device_get_property_value, (struct udev_device *device, const char *key),
    !IS_NODE(device) ? real(device, key) : strcmp(key, "ID_V4L_CAPABILITIES") == 0 ? ":capture:" : NULL)
CALL(struct udev_list_entry *, udev_device_get_devlinks_list_entry, (struct udev_device *device),
    IS_NODE(device) ? NULL : real(device))

ALSO(stat, stat64); ALSO(lstat, lstat64); ALSO(fstat, fstat64); ALSO(fstatat, fstatat64);
ALSO(fopen, fopen64); ALSO(fcntl, fcntl64); ALSO(mmap, mmap64);
