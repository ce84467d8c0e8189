/* A frame, from captured's ring into a buffer of the program's: once, and row by row where rows differ. */
#include "shim.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

struct target {
    unsigned char *data;
    size_t room, used;
    bool is_user, is_lost;
};

/* Memory that the program gave can be gone. Then the call fails, where a copy would end the program. */
static void put(struct target *target, const unsigned char *from, size_t size) {
    if (size > target->room - target->used) {
        size = target->room - target->used;
        target->is_lost = true;
    }
    unsigned char *to = target->data + target->used;
    target->used += size;
    if (!size) return;
    if (target->is_user) {
        struct iovec here = {(void *)from, size}, there = {to, size};
        ssize_t written = process_vm_writev(getpid(), &here, 1, &there, 1, 0);
        if (written == (ssize_t)size) return;
        if (written >= 0 || (errno != ENOSYS && errno != EPERM)) {
            target->is_lost = true;
            return;
        }
    }
    memcpy(to, from, size);
}

/* One plane; `at` is where it begins in the ring's memory plane, and moves on. */
static void put_rows(struct target *target, const struct capture_plane *plane, size_t *at, size_t stride, size_t bytes,
                     size_t rows) {
    for (size_t i = 0; i < rows; i++, *at += stride) {
        if (*at + bytes > plane->used) {
            target->is_lost = true;
            return;
        }
        put(target, (const unsigned char *)plane->data + *at, bytes);
    }
}

int shim_copy(const struct choice *choice, const struct capture_buffer *frame, struct buffer *buffer, bool is_user) {
    const struct capture_plane *plane = &frame->planes[0];
    const struct layout *layout = choice->layout;
    struct target target = {buffer->data, buffer->length, 0, is_user, false};
    bool is_same = !layout->bits || plane->stride == choice->stride || !plane->stride;
    if (is_same) {
        put(&target, plane->data, plane->used < choice->size || !layout->bits ? plane->used : choice->size);
    } else {
        size_t at = 0, bytes = choice->stride, stride = plane->stride;
        put_rows(&target, plane, &at, stride, bytes < stride ? bytes : stride, choice->height);
        size_t rows = layout->planes ? (choice->height + layout->down - 1u) / layout->down : 0;
        for (unsigned i = 0; i < layout->planes; i++) {
            size_t columns = (choice->width + layout->across - 1u) / layout->across;
            size_t its = layout->is_interleaved ? stride * 2 / layout->across : stride / layout->across;
            put_rows(&target, plane, &at, its, layout->is_interleaved ? columns * 2 : columns, rows);
        }
    }
    if (!lib.buffer_is_intact(frame)) return EAGAIN;
    static const uint32_t fields[] = {V4L2_FIELD_NONE, V4L2_FIELD_INTERLACED_TB, V4L2_FIELD_INTERLACED_BT};
    bool is_short = layout->bits ? target.used < choice->size : !target.used;
    buffer->used = (uint32_t)target.used;
    buffer->field = frame->format->field < 3 ? fields[frame->format->field] : V4L2_FIELD_NONE;
    buffer->timestamp = frame->timestamp;
    buffer->flags = (target.is_lost || is_short ? V4L2_BUF_FLAG_ERROR : 0) |
                    (frame->flags & CAPTURE_START_OF_EXPOSURE ? V4L2_BUF_FLAG_TSTAMP_SRC_SOE : 0) |
                    (!layout->bits && frame->flags & CAPTURE_KEYFRAME ? V4L2_BUF_FLAG_KEYFRAME : 0);
    return 0;
}
