/* read(): frames one after the other, without buffers of the program's. */
#include "shim.h"

#include <errno.h>
#include <string.h>

enum { read_buffers = 4 };

static int begin_locked(struct file *file) {
    if (file->is_reading) return file->phase == phase_idle ? shim_stream_on(file) : 0;
    if (file->count || file->phase != phase_idle) return EBUSY;
    int error = shim_add_buffers_locked(file, V4L2_MEMORY_MMAP, read_buffers, file->choice.size);
    if (error) return error;
    for (uint32_t i = 0; i < file->count; i++) {
        file->buffers[i].state = buffer_queued;
        file->queued[file->queued_count++] = (uint8_t)i;
    }
    file->is_reading = true;
    error = shim_stream_on(file);
    if (error) {
        shim_free_buffers_locked(file);
        file->is_reading = false;
        shim_settle_locked(file);
    }
    return error;
}

static void put_back_locked(struct file *file) {
    file->buffers[file->current].state = buffer_queued;
    file->queued[file->queued_count++] = (uint8_t)file->current;
    file->current = -1;
    file->moved = 0;
}

/* The next frame that is whole. */
static int next_locked(struct file *file, bool waits) {
    while (file->current < 0) {
        if (file->is_gone) return ENODEV;
        if (file->done_count) {
            file->current = file->done[0];
            file->moved = 0;
            memmove(file->done, file->done + 1, --file->done_count);
            if (file->buffers[file->current].flags & V4L2_BUF_FLAG_ERROR) put_back_locked(file);
            continue;
        }
        if (file->failure) return file->failure;
        if (!waits) return EAGAIN;
        int error = shim_sleep_locked(file);
        if (error) return error;
        if (!file->is_reading) return EIO;
    }
    return 0;
}

ssize_t shim_read(struct file *file, void *data, size_t size, bool waits) {
    ssize_t result = -1;
    pthread_mutex_lock(&file->lock);
    shim_sync(file);
    int error = file->is_gone ? ENODEV : begin_locked(file);
    if (!error) error = next_locked(file, waits);
    if (!error) {
        const struct buffer *buffer = &file->buffers[file->current];
        size_t rest = buffer->used - file->moved, count = size < rest ? size : rest;
        memcpy(data, (const unsigned char *)buffer->data + file->moved, count);
        file->moved += (uint32_t)count;
        result = (ssize_t)count;
        if (file->moved == buffer->used) put_back_locked(file);
        shim_settle_locked(file);
    }
    pthread_mutex_unlock(&file->lock);
    errno = error ? error : errno;
    return result;
}
