/* Buffers of the program, and the queue that they go through. */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    capture = V4L2_BUF_TYPE_VIDEO_CAPTURE,
    capabilities = V4L2_BUF_CAP_SUPPORTS_MMAP | V4L2_BUF_CAP_SUPPORTS_USERPTR | V4L2_BUF_CAP_SUPPORTS_ORPHANED_BUFS,
};

static uint32_t paged(uint32_t size) { return (uint32_t)((size + 4095ull) / 4096 * 4096); }

static int make_memory(struct file *file, struct buffer *buffer) {
    buffer->memory_fd = memfd_create("captured-v4l2", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (buffer->memory_fd < 0) return ENOMEM;
    buffer->memory_fd = shim_moved(buffer->memory_fd);
    if (ftruncate(buffer->memory_fd, paged(buffer->length)) < 0) return ENOMEM;
    /* Nobody may shorten what is mapped here. */
    real_fcntl(buffer->memory_fd, F_ADD_SEALS, F_SEAL_SHRINK);
    buffer->data = mmap(NULL, paged(buffer->length), PROT_READ | PROT_WRITE, MAP_SHARED, buffer->memory_fd, 0);
    if (buffer->data == MAP_FAILED) {
        buffer->data = NULL;
        return ENOMEM;
    }
    buffer->offset = file->room;
    file->room += paged(buffer->length);
    return 0;
}

static void free_buffer(struct file *file, struct buffer *buffer) {
    if (file->memory == V4L2_MEMORY_MMAP && buffer->data) munmap(buffer->data, paged(buffer->length));
    if (buffer->memory_fd >= 0) real_close(buffer->memory_fd);
    *buffer = (struct buffer){.memory_fd = -1};
}

void shim_free_buffers_locked(struct file *file) {
    for (uint32_t i = 0; i < file->count; i++) free_buffer(file, &file->buffers[i]);
    file->count = file->queued_count = file->done_count = file->room = 0;
    file->current = -1;
    shim_unclaim(file);
}

int shim_add_buffers_locked(struct file *file, uint32_t memory, uint32_t count, uint32_t size) {
    uint32_t first = file->count;
    if (!shim_claim(file)) return EBUSY;
    file->memory = memory;
    if ((uint64_t)file->room + (uint64_t)paged(size) * count > UINT32_MAX) return ENOMEM;
    while (count-- && file->count < shim_most_buffers) {
        struct buffer *buffer = &file->buffers[file->count];
        *buffer = (struct buffer){.memory_fd = -1, .length = size};
        int error = memory == V4L2_MEMORY_MMAP ? make_memory(file, buffer) : 0;
        if (error) {
            free_buffer(file, buffer);
            return file->count > first ? 0 : error;
        }
        file->count++;
    }
    return file->count > first ? 0 : ENOBUFS;
}

static bool is_memory(uint32_t memory) { return memory == V4L2_MEMORY_MMAP || memory == V4L2_MEMORY_USERPTR; }

int shim_reqbufs(struct file *file, struct v4l2_requestbuffers *argument) {
    memset(argument->reserved, 0, sizeof argument->reserved);
    argument->flags = 0;
    if (argument->type != capture) return EINVAL;
    argument->capabilities = capabilities;
    if (!is_memory(argument->memory)) return EINVAL;
    if (file->phase != phase_idle || file->is_reading || shim_is_others(file)) return EBUSY;
    shim_free_buffers_locked(file);
    int error = 0;
    if (argument->count) {
        uint32_t wish = argument->count < 2 ? 2 : argument->count;
        error = shim_add_buffers_locked(file, argument->memory, wish, file->choice.size);
    }
    argument->count = file->count;
    shim_settle_locked(file);
    return error;
}

int shim_create_bufs(struct file *file, struct v4l2_create_buffers *argument) {
    memset(argument->reserved, 0, sizeof argument->reserved);
    argument->flags = 0;
    argument->capabilities = capabilities;
    argument->index = file->count;
    if (argument->format.type != capture || !is_memory(argument->memory)) return EINVAL;
    if (file->is_reading || shim_is_others(file)) return EBUSY;
    if (!argument->count) return 0;
    if (file->count && argument->memory != file->memory) return EINVAL;
    uint32_t size = argument->format.fmt.pix.sizeimage;
    if (size < file->choice.size) return EINVAL;
    int error = shim_add_buffers_locked(file, argument->memory, argument->count, size);
    if (!error) argument->count = file->count - argument->index;
    shim_settle_locked(file);
    return error;
}

static void show(const struct file *file, uint32_t index, struct v4l2_buffer *argument) {
    const struct buffer *buffer = &file->buffers[index];
    static const uint32_t flags[] = {0, V4L2_BUF_FLAG_QUEUED, V4L2_BUF_FLAG_QUEUED, V4L2_BUF_FLAG_DONE};
    memset(argument, 0, sizeof *argument);
    argument->index = index;
    argument->type = capture;
    argument->memory = file->memory;
    argument->length = buffer->length;
    argument->flags = buffer->flags | V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC | flags[buffer->state] |
                      (buffer->is_mapped ? V4L2_BUF_FLAG_MAPPED : 0);
    argument->field = buffer->field;
    argument->sequence = buffer->sequence;
    argument->bytesused = buffer->used;
    argument->timestamp.tv_sec = buffer->timestamp / 1000000000;
    argument->timestamp.tv_usec = buffer->timestamp % 1000000000 / 1000;
    if (file->memory == V4L2_MEMORY_MMAP) argument->m.offset = buffer->offset;
    else argument->m.userptr = (unsigned long)buffer->data;
}

int shim_querybuf(struct file *file, struct v4l2_buffer *argument) {
    if (argument->type != capture || argument->index >= file->count || file->is_reading) return EINVAL;
    show(file, argument->index, argument);
    return 0;
}

/* Whether memory of the program's can be written, without the crash that a try would be. */
static bool is_there(unsigned long address, size_t size) {
    char byte;
    struct iovec here = {&byte, 1};
    for (int i = 0; i < 2; i++) {
        struct iovec there = {(void *)(address + (i ? size - 1 : 0)), 1};
        if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) < 0 && errno == EFAULT) return false;
    }
    return true;
}

int shim_qbuf(struct file *file, struct v4l2_buffer *argument) {
    if (file->is_reading) return EBUSY;
    if (argument->type != capture || argument->index >= file->count || argument->memory != file->memory) return EINVAL;
    if (argument->flags & V4L2_BUF_FLAG_REQUEST_FD) return EBADR;
    struct buffer *buffer = &file->buffers[argument->index];
    if (buffer->state != buffer_idle) return EINVAL;
    if (file->memory == V4L2_MEMORY_USERPTR) {
        unsigned long address = argument->m.userptr;
        if (argument->length < file->choice.size) return EINVAL;
        if (!address || address + argument->length < address || !is_there(address, argument->length)) return EFAULT;
        buffer->data = (void *)address;
        buffer->length = argument->length;
    }
    buffer->state = buffer_queued;
    buffer->flags = buffer->used = buffer->sequence = 0;
    buffer->timestamp = 0;
    buffer->field = V4L2_FIELD_NONE;
    file->queued[file->queued_count++] = (uint8_t)argument->index;
    show(file, argument->index, argument);
    return 0;
}

int shim_dqbuf(struct file *file, struct v4l2_buffer *argument, bool waits) {
    if (argument->type != capture || file->is_reading) return file->is_reading ? EBUSY : EINVAL;
    while (true) {
        if (file->is_gone) return ENODEV;
        if (file->phase == phase_idle || file->phase == phase_starting) return EINVAL;
        if (file->done_count) break;
        if (file->failure) return file->failure;
        if (!waits) return EAGAIN;
        int error = shim_sleep_locked(file);
        if (error) return error;
    }
    if (argument->memory != file->memory) return EINVAL;
    uint32_t index = file->done[0];
    memmove(file->done, file->done + 1, --file->done_count);
    file->buffers[index].state = buffer_idle;
    show(file, index, argument);
    shim_settle_locked(file);
    return 0;
}

/* A dmabuf, where the kernel makes one of a memfd. Other descriptors would be refused by whom they are meant for. */
int shim_expbuf(struct file *file, struct v4l2_exportbuffer *argument) {
    memset(argument->reserved, 0, sizeof argument->reserved);
    int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
    if (device < 0) return ENOTTY;
    int error = EINVAL, fd = -1;
    if (argument->type == capture && !argument->plane && argument->index < file->count && !file->is_reading &&
        file->memory == V4L2_MEMORY_MMAP && !(argument->flags & ~(uint32_t)(O_CLOEXEC | O_ACCMODE))) {
        const struct buffer *buffer = &file->buffers[argument->index];
        struct udmabuf_create create = {.memfd = (uint32_t)buffer->memory_fd,
                                        .flags = argument->flags & O_CLOEXEC ? UDMABUF_FLAGS_CLOEXEC : 0,
                                        .size = paged(buffer->length)};
        fd = (int)syscall(SYS_ioctl, device, UDMABUF_CREATE, &create);
        error = fd < 0 ? errno : 0;
    }
    real_close(device);
    argument->fd = fd;
    return error;
}

void *shim_map(struct file *file, void *address, size_t length, int protection, int flags, off64_t offset) {
    int fd = -1;
    pthread_mutex_lock(&file->lock);
    for (uint32_t i = 0; i < file->count && file->memory == V4L2_MEMORY_MMAP && !file->is_reading; i++) {
        struct buffer *buffer = &file->buffers[i];
        if (buffer->offset != offset || length > paged(buffer->length) || !(flags & MAP_SHARED)) continue;
        /* The mapping keeps the memory; the number may be closed meanwhile. */
        fd = real_fcntl(buffer->memory_fd, F_DUPFD_CLOEXEC, 128);
        if (fd >= 0) buffer->is_mapped = true;
        break;
    }
    pthread_mutex_unlock(&file->lock);
    if (fd < 0) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    void *result = (void *)syscall(SYS_mmap, address, length, protection, flags, fd, 0);
    int saved = errno;
    real_close(fd);
    errno = saved;
    return result;
}
