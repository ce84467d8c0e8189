#define _GNU_SOURCE
#include "lying_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { buffers = 32, line = 256 };
static const char node_prefix[] = "/dev/video-lies-";

struct driver {
    int pipe[2], memory;
    struct stat identity;
    struct lying_answers say;
    struct lying_frame frames[line];
    unsigned first, last;
    uint32_t order[buffers], waiting, queued, memory_type;
    uintptr_t address[buffers];
    uint32_t length[buffers];
    int is_streaming, is_gone;
    _Atomic uint64_t calls;
};

static struct driver drivers[lying_most_drivers];
static _Atomic int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int lying_driver_new(const struct lying_answers *answers) {
    pthread_mutex_lock(&lock);
    int number = count;
    struct driver *driver = number < lying_most_drivers ? &drivers[number] : NULL;
    if (!driver || pipe2(driver->pipe, O_CLOEXEC | O_NONBLOCK) || fstat(driver->pipe[0], &driver->identity) ||
        (driver->memory = memfd_create("lies", MFD_CLOEXEC)) < 0 || ftruncate(driver->memory, 64 << 20)) {
        number = -1;
    } else {
        driver->say = *answers;
        count = number + 1;
    }
    pthread_mutex_unlock(&lock);
    return number;
}

void lying_driver_answer(int number, const struct lying_answers *answers) {
    pthread_mutex_lock(&lock);
    drivers[number].say = *answers;
    pthread_mutex_unlock(&lock);
}

static void wake(const struct driver *driver) {
    if (write(driver->pipe[1], "f", 1) != 1) abort();
}

void lying_driver_deliver(int number, const struct lying_frame *frame) {
    pthread_mutex_lock(&lock);
    struct driver *driver = &drivers[number];
    /* One that is turned off has no buffer to fill. */
    if (driver->is_streaming) {
        driver->frames[driver->last++ % line] = *frame;
        wake(driver);
    }
    pthread_mutex_unlock(&lock);
}

void lying_driver_unplug(int number) {
    pthread_mutex_lock(&lock);
    drivers[number].is_gone = 1;
    wake(&drivers[number]);
    pthread_mutex_unlock(&lock);
}

uint64_t lying_driver_calls(int number) { return drivers[number].calls; }

uint32_t lying_driver_queued(int number) {
    pthread_mutex_lock(&lock);
    uint32_t queued = drivers[number].queued;
    pthread_mutex_unlock(&lock);
    return queued;
}

static struct driver *driver_of(int fd) {
    struct stat status;
    if (count == 0 || fstat(fd, &status) || !S_ISFIFO(status.st_mode)) return NULL;
    for (int i = 0; i < count; i++)
        if (drivers[i].identity.st_ino == status.st_ino && drivers[i].identity.st_dev == status.st_dev)
            return &drivers[i];
    return NULL;
}

static void say_text(const struct driver *driver, void *to, size_t size, const char *text) {
    memset(to, driver->say.has_no_terminators ? 'x' : 0, size);
    if (!driver->say.has_no_terminators) snprintf(to, size, "%s", text);
}

static int refuse(int code) {
    errno = code;
    return -1;
}

static int say_format(const struct driver *driver, struct v4l2_format *to, int is_question) {
    const struct lying_format *format = &driver->say.format;
    if (is_question && driver->is_streaming && driver->say.late.width) format = &driver->say.late;
    memset(&to->fmt, 0, sizeof to->fmt);
    if (driver->say.is_metadata) {
        to->fmt.meta.dataformat = format->pixelformat;
        to->fmt.meta.buffersize = format->size;
        return 0;
    }
    to->fmt.pix = (struct v4l2_pix_format){
        .pixelformat = format->pixelformat,
        .width = format->width,
        .height = format->height,
        .bytesperline = format->stride,
        .sizeimage = format->size,
        .field = V4L2_FIELD_NONE};
    return 0;
}

static int say_timings(const struct driver *driver, struct v4l2_dv_timings *to, uint32_t height, uint64_t clock) {
    if (!driver->say.signal_height) return refuse(ENODATA);
    memset(to, 0, sizeof *to);
    to->type = V4L2_DV_BT_656_1120;
    to->bt.width = driver->say.format.width;
    to->bt.height = height;
    to->bt.pixelclock = clock ? clock : 1000000;
    return 0;
}

static int list_formats(const struct driver *driver, struct v4l2_fmtdesc *entry) {
    if (entry->index > 0 && !driver->say.has_endless_lists) return refuse(EINVAL);
    entry->pixelformat = driver->say.format.pixelformat + entry->index;
    say_text(driver, entry->description, sizeof entry->description, "lies");
    return 0;
}

static int list_sizes(const struct driver *driver, struct v4l2_frmsizeenum *entry) {
    if (entry->index > 0 && !driver->say.has_endless_lists) return refuse(EINVAL);
    entry->type = V4L2_FRMSIZE_TYPE_DISCRETE;
    entry->discrete.width = driver->say.format.width + entry->index;
    entry->discrete.height = driver->say.format.height;
    return 0;
}

static int list_intervals(const struct driver *driver, struct v4l2_frmivalenum *entry) {
    if (entry->index > 0 && !driver->say.has_endless_lists) return refuse(EINVAL);
    entry->type = V4L2_FRMIVAL_TYPE_DISCRETE;
    entry->discrete.numerator = driver->say.numerator;
    entry->discrete.denominator = driver->say.denominator + entry->index;
    return 0;
}

static int next_control(const struct driver *driver, struct v4l2_query_ext_ctrl *entry) {
    uint32_t after = entry->id & ~V4L2_CTRL_FLAG_NEXT_CTRL;
    memset(entry, 0, sizeof *entry);
    if (driver->say.has_stuck_controls) {
        entry->id = V4L2_CID_BASE;
        entry->type = V4L2_CTRL_TYPE_CTRL_CLASS;
        return 0;
    }
    if (!driver->say.has_endless_lists) return refuse(EINVAL);
    entry->id = after + 1;
    entry->type = V4L2_CTRL_TYPE_MENU;
    entry->elems = 1;
    entry->minimum = driver->say.least;
    entry->maximum = driver->say.most;
    say_text(driver, entry->name, sizeof entry->name, "Lie");
    return 0;
}

static int say_crop(const struct driver *driver, struct v4l2_selection *to) {
    if (!driver->say.has_crop) return refuse(ENOTTY);
    const struct lying_rectangle *part = to->target == V4L2_SEL_TGT_CROP          ? &driver->say.crop
                                         : to->target == V4L2_SEL_TGT_CROP_BOUNDS ? &driver->say.bounds
                                                                                  : &driver->say.standard;
    to->r = (struct v4l2_rect){part->left, part->top, part->width, part->height};
    return 0;
}

static int take_crop(struct driver *driver, struct v4l2_selection *wanted) {
    if (!driver->say.has_crop) return refuse(ENOTTY);
    if (driver->say.crop_error) return refuse(driver->say.crop_error);
    const struct v4l2_rect *r = &wanted->r;
    driver->say.crop = (struct lying_rectangle){r->left, r->top, r->width, r->height};
    if (driver->say.taken.width) driver->say.crop = driver->say.taken;
    return say_crop(driver, wanted);
}

static int request_buffers(struct driver *driver, struct v4l2_requestbuffers *request) {
    if (driver->say.refuses_user_pointers && request->memory == V4L2_MEMORY_USERPTR) return refuse(EINVAL);
    if (driver->say.has_no_memory && request->memory == V4L2_MEMORY_MMAP && request->count) return refuse(ENOMEM);
    driver->memory_type = request->memory;
    driver->waiting = driver->queued = 0;
    if (request->count && driver->say.granted) request->count = driver->say.granted;
    return 0;
}

static int queue(struct driver *driver, const struct v4l2_buffer *buffer) {
    if (buffer->index >= buffers || driver->queued & 1u << buffer->index) return refuse(EINVAL);
    driver->address[buffer->index] = buffer->m.userptr;
    driver->length[buffer->index] = buffer->length;
    driver->order[driver->waiting++] = buffer->index;
    driver->queued |= 1u << buffer->index;
    return 0;
}

static int dequeue(struct driver *driver, struct v4l2_buffer *buffer) {
    char byte;
    if (driver->say.is_fruitless) return refuse(EAGAIN);
    if (driver->first == driver->last || read(driver->pipe[0], &byte, 1) != 1) return refuse(EAGAIN);
    struct lying_frame frame = driver->frames[driver->first++ % line];
    if (frame.index == lying_oldest) {
        if (driver->waiting == 0) return refuse(EAGAIN);
        frame.index = driver->order[0];
        memmove(driver->order, driver->order + 1, --driver->waiting * sizeof *driver->order);
        driver->queued &= ~(1u << frame.index);
        if (driver->memory_type == V4L2_MEMORY_USERPTR)
            memset((void *)driver->address[frame.index], (int)frame.sequence, driver->length[frame.index]);
    }
    buffer->index = frame.index;
    buffer->bytesused = frame.used;
    buffer->flags = frame.flags;
    buffer->sequence = frame.sequence;
    buffer->timestamp = (struct timeval){.tv_sec = frame.seconds, .tv_usec = frame.microseconds};
    return 0;
}

static int call(struct driver *driver, unsigned long request, void *argument) {
    driver->calls++;
    if (driver->is_gone) return refuse(ENODEV);
    switch (request) {
    case VIDIOC_QUERYCAP: {
        struct v4l2_capability *to = argument;
        memset(to, 0, sizeof *to);
        say_text(driver, to->driver, sizeof to->driver, "lies");
        say_text(driver, to->card, sizeof to->card, "Lies");
        say_text(driver, to->bus_info, sizeof to->bus_info, "platform:lies");
        to->device_caps = V4L2_CAP_STREAMING;
        to->device_caps |= driver->say.is_metadata ? V4L2_CAP_META_CAPTURE : V4L2_CAP_VIDEO_CAPTURE;
        to->capabilities = to->device_caps | V4L2_CAP_DEVICE_CAPS;
        return 0;
    }
    case VIDIOC_ENUM_FMT: return list_formats(driver, argument);
    case VIDIOC_ENUM_FRAMESIZES: return list_sizes(driver, argument);
    case VIDIOC_ENUM_FRAMEINTERVALS: return list_intervals(driver, argument);
    case VIDIOC_G_FMT: return say_format(driver, argument, 1);
    case VIDIOC_S_FMT:
    case VIDIOC_TRY_FMT: return say_format(driver, argument, 0);
    case VIDIOC_G_PARM:
    case VIDIOC_S_PARM: {
        struct v4l2_fract *time = &((struct v4l2_streamparm *)argument)->parm.capture.timeperframe;
        *time = (struct v4l2_fract){driver->say.numerator, driver->say.denominator};
        return 0;
    }
    case VIDIOC_G_INPUT: *(int *)argument = 0; return 0;
    case VIDIOC_ENUMINPUT: {
        struct v4l2_input *entry = argument;
        if (entry->index) return refuse(EINVAL);
        entry->status = driver->say.status;
        say_text(driver, entry->name, sizeof entry->name, "HDMI");
        return 0;
    }
    case VIDIOC_G_DV_TIMINGS: return say_timings(driver, argument, driver->say.format.height, 0);
    case VIDIOC_QUERY_DV_TIMINGS:
        if (driver->say.signal_height && driver->say.status) return refuse(ENOLINK);
        return say_timings(driver, argument, driver->say.signal_height, driver->say.pixel_clock);
    case VIDIOC_QUERY_EXT_CTRL: return next_control(driver, argument);
    case VIDIOC_QUERYMENU: {
        struct v4l2_querymenu *entry = argument;
        say_text(driver, entry->name, sizeof entry->name, "lie");
        return 0;
    }
    case VIDIOC_G_SELECTION: return say_crop(driver, argument);
    case VIDIOC_S_SELECTION: return take_crop(driver, argument);
    case VIDIOC_REQBUFS: return request_buffers(driver, argument);
    case VIDIOC_QUERYBUF: {
        struct v4l2_buffer *buffer = argument;
        buffer->length = driver->say.mapped ? driver->say.mapped : driver->say.format.size;
        buffer->m.offset = buffer->index << 20;
        return 0;
    }
    case VIDIOC_QBUF: return queue(driver, argument);
    case VIDIOC_DQBUF: return dequeue(driver, argument);
    case VIDIOC_STREAMON: driver->is_streaming = 1; return 0;
    case VIDIOC_DQEVENT: return driver->say.has_endless_events ? 0 : refuse(ENOENT);
    case VIDIOC_STREAMOFF:
        if (driver->say.stop_error) return refuse(driver->say.stop_error);
        driver->is_streaming = 0;
        while (driver->first != driver->last) {
            char byte;
            driver->first++;
            if (read(driver->pipe[0], &byte, 1) != 1) abort();
        }
        driver->waiting = driver->queued = 0;
        return 0;
    default: return refuse(ENOTTY);
    }
}

int ioctl(int fd, unsigned long request, ...) {
    va_list rest;
    va_start(rest, request);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    struct driver *driver = driver_of(fd);
    if (!driver) return (int)syscall(SYS_ioctl, fd, request, argument);
    pthread_mutex_lock(&lock);
    int result = call(driver, request, argument);
    pthread_mutex_unlock(&lock);
    return result;
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    unsigned mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, unsigned) : 0;
    va_end(rest);
    if (strncmp(path, node_prefix, strlen(node_prefix)))
        return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode);
    int number = atoi(path + strlen(node_prefix));
    if (number >= count) return refuse(ENOENT);
    return fcntl(drivers[number].pipe[0], F_DUPFD_CLOEXEC, 0);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    struct driver *driver = fd < 0 ? NULL : driver_of(fd);
    if (driver) fd = driver->memory;
    return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}
