/* How frames lie in PipeWire's memory: plane after plane, each row at a multiple of four bytes. */
#include "bridge.h"

#include <string.h>

uint32_t pictures_stride(const struct picture *picture) {
    return SPA_ROUND_UP_N(picture->width * picture->kind->bits / 8, 4);
}

static uint32_t chroma_stride(const struct picture *picture, uint32_t stride) {
    const struct picture_kind *kind = picture->kind;
    return kind->is_joined ? stride : stride / kind->across;
}

static uint32_t chroma_rows(const struct picture *picture) {
    return (picture->height + picture->kind->down - 1) / picture->kind->down;
}

uint32_t pictures_size(const struct picture *picture) {
    const struct picture_kind *kind = picture->kind;
    /* A compressed frame has no size of its own; captured keeps them below that. */
    if (!kind->bits) return picture->width * picture->height * 2 + 65536;
    uint32_t stride = pictures_stride(picture), size = stride * picture->height;
    if (kind->chroma_planes) size += kind->chroma_planes * chroma_stride(picture, stride) * chroma_rows(picture);
    return size;
}

static void copy_rows(uint8_t *to, uint32_t to_stride, const uint8_t *from, uint32_t from_stride, uint32_t rows) {
    if (to_stride == from_stride) {
        memcpy(to, from, (size_t)to_stride * rows);
        return;
    }
    for (uint32_t row = 0; row < rows; row++)
        memcpy(to + (size_t)row * to_stride, from + (size_t)row * from_stride, SPA_MIN(to_stride, from_stride));
}

static uint32_t copy_compressed(const struct capture_buffer *buffer, void *to, uint32_t room) {
    size_t used = buffer->planes[0].used;
    if (used > room) return 0;
    memcpy(to, buffer->planes[0].data, used);
    return (uint32_t)used;
}

uint32_t pictures_copy(const struct picture *picture, const struct capture_buffer *buffer, void *to, uint32_t room) {
    const struct capture_format *format = buffer->format;
    const struct picture_kind *kind = picture->kind;
    if (format->pixel_format != kind->code || format->width != picture->width || format->height != picture->height ||
        buffer->plane_count != 1)
        return 0;
    if (!kind->bits) return copy_compressed(buffer, to, room);
    uint32_t stride = pictures_stride(picture), from_stride = (uint32_t)buffer->planes[0].stride;
    uint32_t least = picture->width * kind->bits / 8, size = pictures_size(picture);
    if (from_stride < least || size > room) return 0;
    const uint8_t *from = buffer->planes[0].data;
    /* All of the source that is read below. */
    uint64_t needed = (uint64_t)from_stride * picture->height;
    if (kind->chroma_planes)
        needed += (uint64_t)kind->chroma_planes * chroma_stride(picture, from_stride) * chroma_rows(picture);
    if (needed > buffer->planes[0].used) return 0;
    copy_rows(to, stride, from, from_stride, picture->height);
    uint8_t *target = (uint8_t *)to + (size_t)stride * picture->height;
    from += (size_t)from_stride * picture->height;
    for (uint8_t plane = 0; plane < kind->chroma_planes; plane++) {
        uint32_t own = chroma_stride(picture, stride), theirs = chroma_stride(picture, from_stride);
        copy_rows(target, own, from, theirs, chroma_rows(picture));
        target += (size_t)own * chroma_rows(picture);
        from += (size_t)theirs * chroma_rows(picture);
    }
    return size;
}
