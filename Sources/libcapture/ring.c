/* The ring in shared memory, as docs/ring.md has it. Each word is read once, checked, and only then used: whatever
   its writer puts there, the library stays within its mapping. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

enum { header_size = 4096, descriptor_size = 128, most_slots = 4096 };
static const uint64_t most_bytes = UINT64_C(1) << 36, magic = UINT64_C(0x00474e4952504143);

uint32_t cap_ring_word32(const struct capture_ring *ring, uint64_t offset) {
    return __atomic_load_n((const uint32_t *)(const void *)(ring->base + offset), __ATOMIC_ACQUIRE);
}

uint64_t cap_ring_word64(const struct capture_ring *ring, uint64_t offset) {
    return __atomic_load_n((const uint64_t *)(const void *)(ring->base + offset), __ATOMIC_ACQUIRE);
}

static int bad(const char *field, uint64_t value) {
    return cap_fail(CAPTURE_BAD_DATA, "a ring's header is damaged: its %s cannot be %llu", field,
                    (unsigned long long)value);
}

/* A field that lies in a range. */
static int read32(const struct capture_ring *ring, uint64_t offset, const char *name, uint32_t least, uint32_t most,
                  uint32_t *value) {
    *value = cap_ring_word32(ring, offset);
    return *value < least || *value > most ? bad(name, *value) : 0;
}

static int read64(const struct capture_ring *ring, uint64_t offset, const char *name, uint64_t least, uint64_t most,
                  uint64_t *value) {
    *value = cap_ring_word64(ring, offset);
    return *value < least || *value > most ? bad(name, *value) : 0;
}

static int read_layout(struct capture_ring *ring) {
    uint32_t number;
    uint64_t size;
    if (cap_ring_word64(ring, 0) != magic)
        return cap_fail(CAPTURE_BAD_DATA, "this is not a ring: its magic is missing");
    if (read32(ring, 8, "layout version", 1, 1, &number) || read32(ring, 12, "header size", 4096, 4096, &number) ||
        read32(ring, 64, "descriptor size", 128, 128, &number) ||
        read64(ring, 56, "file size", header_size, ring->size, &size) ||
        read32(ring, 20, "slot count", 2, most_slots, &ring->slot_count) ||
        read32(ring, 68, "kept slots", 1, ring->slot_count - 1, &number) ||
        read64(ring, 24, "slot stride", 4096, most_bytes, &ring->slot_stride) ||
        read64(ring, 32, "order offset", header_size, size, &ring->order_offset) ||
        read64(ring, 40, "descriptors offset", header_size, size, &ring->descriptors_offset) ||
        read64(ring, 48, "data offset", header_size, size, &ring->data_offset))
        return -CAPTURE_BAD_DATA;
    /* None of these sums overflows: offsets are within the file, counts at most 4096, a stride at most 2^36. */
    if (ring->slot_stride % 4096) return bad("slot stride", ring->slot_stride);
    if (ring->order_offset % 4 || ring->order_offset + ring->slot_count * UINT64_C(4) > ring->descriptors_offset)
        return bad("order offset", ring->order_offset);
    if (ring->descriptors_offset % 8 ||
        ring->descriptors_offset + ring->slot_count * UINT64_C(128) > ring->data_offset)
        return bad("descriptors offset", ring->descriptors_offset);
    if (ring->data_offset % 4096) return bad("data offset", ring->data_offset);
    if (ring->slot_stride * ring->slot_count > size - ring->data_offset) return bad("slot stride", ring->slot_stride);
    return 0;
}

static int read_video(struct capture_ring *ring) {
    struct capture_format *format = &ring->format;
    format->media = CAPTURE_VIDEO;
    if (read32(ring, 132, "width", 1, 65536, &format->width) ||
        read32(ring, 136, "height", 1, 65536, &format->height) ||
        read32(ring, 144, "interval denominator", 1, UINT32_MAX, &format->interval.denominator) ||
        read32(ring, 164, "plane count", 1, 4, &format->plane_count) ||
        read32(ring, 264, "fields", 0, 2, &format->field))
        return -CAPTURE_BAD_DATA;
    format->pixel_format = cap_ring_word32(ring, 128);
    format->interval.numerator = cap_ring_word32(ring, 140);
    format->color_space = cap_ring_word32(ring, 148);
    format->transfer = cap_ring_word32(ring, 152);
    format->encoding = cap_ring_word32(ring, 156);
    format->quantization = cap_ring_word32(ring, 160);
    for (uint32_t i = 0; i < format->plane_count; i++) {
        uint64_t offset, stride;
        struct capture_format_plane *plane = &format->planes[i];
        if (read64(ring, 168 + i * 24, "plane offset", 0, UINT32_MAX, &offset) ||
            read64(ring, 176 + i * 24, "plane stride", 0, INT32_MAX, &stride) ||
            read64(ring, 184 + i * 24, "plane size", 1, UINT32_MAX, &plane->size))
            return -CAPTURE_BAD_DATA;
        plane->offset = (uint32_t)offset;
        plane->stride = (uint32_t)stride;
    }
    return 0;
}

static int read_audio(struct capture_ring *ring) {
    static const uint32_t bytes[] = {0, 2, 3, 4, 4};
    struct capture_format *format = &ring->format;
    format->media = CAPTURE_AUDIO;
    if (read32(ring, 320, "sample format", 1, 4, &format->sample_format) ||
        read32(ring, 324, "sample rate", 1, 10000000, &format->rate) ||
        read32(ring, 328, "number of channels", 1, 1024, &format->channels) ||
        read32(ring, 332, "period", 1, 1000000, &format->period_frames))
        return -CAPTURE_BAD_DATA;
    format->plane_count = 1;
    format->planes[0].stride = bytes[format->sample_format] * format->channels;
    format->planes[0].size = (uint64_t)format->planes[0].stride * format->period_frames;
    return 0;
}

static int read_metadata(struct capture_ring *ring) {
    uint32_t capacity;
    ring->format.media = CAPTURE_METADATA;
    ring->format.pixel_format = cap_ring_word32(ring, 384);
    if (read32(ring, 388, "capacity", 1, 1 << 20, &capacity)) return -CAPTURE_BAD_DATA;
    ring->format.plane_count = 1;
    ring->format.planes[0].size = capacity;
    return 0;
}

static int read_format(struct capture_ring *ring) {
    uint32_t kind;
    int result = read32(ring, 16, "kind", 1, 3, &kind);
    if (result) return result;
    ring->format.interval.denominator = 1;
    result = kind == 1 ? read_video(ring) : kind == 2 ? read_audio(ring) : read_metadata(ring);
    for (uint32_t i = 0; result == 0 && i < ring->format.plane_count; i++)
        if (ring->format.planes[i].offset + ring->format.planes[i].size > ring->slot_stride)
            result = bad("slot stride", ring->slot_stride);
    return result;
}

int cap_ring_identity(int fd, uint64_t *device, uint64_t *inode) {
    struct stat file;
    if (fstat(fd, &file) < 0) return cap_fail_errno(CAPTURE_BAD_DATA, errno, "look at a ring");
    *device = file.st_dev;
    *inode = file.st_ino;
    return 0;
}

int cap_ring_map(int fd, struct capture_ring **mapped) {
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
    int found = fcntl(fd, F_GET_SEALS);
    if (found < 0 || (found & seals) != seals)
        return cap_fail(CAPTURE_BAD_DATA, "a ring's memory is not sealed: its owner could take it away");
    struct stat file;
    if (fstat(fd, &file) < 0 || file.st_size < header_size)
        return cap_fail(CAPTURE_BAD_DATA, "a ring's memory is smaller than its header");
    struct capture_ring *ring = calloc(1, sizeof *ring);
    if (!ring) return cap_fail_errno(CAPTURE_INTERNAL, ENOMEM, "map a ring");
    void *base = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
        free(ring);
        return cap_fail_errno(CAPTURE_INTERNAL, errno, "map a ring");
    }
    ring->references = 1;
    ring->base = base;
    ring->size = (size_t)file.st_size;
    ring->device = file.st_dev;
    ring->inode = file.st_ino;
    int result = read_layout(ring);
    if (result == 0) result = read_format(ring);
    if (result < 0) cap_ring_release(ring);
    else *mapped = ring;
    return result;
}

struct capture_ring *cap_ring_keep(struct capture_ring *ring) {
    atomic_fetch_add(&ring->references, 1);
    return ring;
}

void cap_ring_release(struct capture_ring *ring) {
    if (!ring || atomic_fetch_sub(&ring->references, 1) != 1) return;
    munmap((void *)(uintptr_t)ring->base, ring->size);
    free(ring);
}

int cap_ring_sleep(const struct capture_ring *ring, uint32_t word, int64_t nanoseconds) {
    struct timespec time = {.tv_sec = nanoseconds / CAP_SECOND, .tv_nsec = nanoseconds % CAP_SECOND};
    long result = syscall(SYS_futex, ring->base + CAP_FUTEX_WORD, FUTEX_WAIT, word, &time, NULL, 0);
    if (result == 0 || errno == EAGAIN || errno == EINTR || errno == ETIMEDOUT) return 0;
    return cap_fail_errno(CAPTURE_INTERNAL, errno, "wait for a ring");
}

/* Readers of other processes wake, too, and look once more. */
void cap_ring_wake(const struct capture_ring *ring) {
    syscall(SYS_futex, ring->base + CAP_FUTEX_WORD, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

int capture_buffer_is_intact(const struct capture_buffer *buffer) {
    /* Reads of the bytes stay before the second look at the generation. */
    atomic_thread_fence(memory_order_acquire);
    return __atomic_load_n(buffer->generation_word, __ATOMIC_RELAXED) == buffer->generation;
}

void capture_buffer_hold(const struct capture_buffer *buffer) { cap_ring_keep(buffer->ring); }

void capture_buffer_release(const struct capture_buffer *buffer) { cap_ring_release(buffer->ring); }

/* The buffer of a sequence: 1; 0 if its slot is being written again. */
static int look(struct capture_ring *ring, uint64_t sequence, struct capture_buffer *buffer) {
    uint32_t slot = cap_ring_word32(ring, ring->order_offset + sequence % ring->slot_count * 4);
    if (slot >= ring->slot_count) return bad("order table", slot);
    uint64_t at = ring->descriptors_offset + (uint64_t)slot * descriptor_size;
    uint64_t generation = cap_ring_word64(ring, at);
    if (generation & 1 || cap_ring_word64(ring, at + 8) != sequence) return 0;
    const struct capture_format *format = &ring->format;
    const unsigned char *data = ring->base + ring->data_offset + slot * ring->slot_stride;
    *buffer = (struct capture_buffer){
        .size = sizeof *buffer,
        .flags = cap_ring_word32(ring, at + 56),
        .format = format,
        .sequence = sequence,
        .timestamp = (int64_t)cap_ring_word64(ring, at + 16),
        .published = (int64_t)cap_ring_word64(ring, at + 64),
        .device_sequence = cap_ring_word64(ring, at + 24),
        .position = cap_ring_word64(ring, at + 32),
        .lost = cap_ring_word32(ring, at + 60),
        .plane_count = format->plane_count,
        .ring = ring,
        .generation = generation,
        .generation_word = (const uint64_t *)(const void *)(ring->base + at),
    };
    for (uint32_t i = 0; i < format->plane_count; i++) {
        uint32_t used = cap_ring_word32(ring, at + 40 + i * 4);
        buffer->planes[i] = (struct capture_plane){
            .data = data + format->planes[i].offset,
            .used = used < format->planes[i].size ? used : (size_t)format->planes[i].size,
            .stride = format->planes[i].stride,
        };
    }
    /* The descriptor itself may have been torn. */
    return capture_buffer_is_intact(buffer);
}

static void skip(uint64_t *next, uint64_t to, uint64_t *missed) {
    *missed += to - *next;
    *next = to;
}

/* How many published buffers are still there, at most one for each slot. */
static uint64_t present(struct capture_ring *ring, uint64_t published) {
    uint64_t oldest = cap_ring_word64(ring, CAP_OLDEST);
    uint64_t count = published - (oldest < published ? oldest : published);
    return count < ring->slot_count ? count : ring->slot_count;
}

/* Counts what was published while the last buffer was in use, once. A reader that was held up once is not slow. */
static void count_use(struct capture_ring *ring, struct cap_place *place, uint64_t published) {
    if (!place->generation_word) return;
    uint64_t used = published - place->given_at;
    if (used > ring->slot_count) used = ring->slot_count;
    place->need = used < place->pace ? used : place->pace;
    place->pace = used;
    /* While the writer has unused slots it overwrites nothing unread, however few buffers are there. */
    if (__atomic_load_n(place->generation_word, __ATOMIC_RELAXED) != place->generation)
        place->staying = present(ring, published);
    place->generation_word = NULL;
}

int cap_ring_take(struct capture_ring *ring, struct cap_place *place, uint64_t *missed, bool newest,
                  struct capture_buffer *buffer) {
    uint64_t *next = &place->next;
    /* With an honest writer the second look finds a buffer, unless the writer overtook it again. */
    for (uint32_t i = 0; i < ring->slot_count + 2; i++) {
        uint64_t published = cap_ring_word64(ring, CAP_PUBLISHED);
        if (published < *next) return bad("published count", published);
        count_use(ring, place, published);
        if (published == *next) return 0;
        if (newest && published - *next > 1) skip(next, published - 1, missed);
        if (place->need && place->staying) {
            uint64_t room = place->staying > place->need + 1 ? place->staying - place->need - 1 : 1;
            if (published - *next > room) skip(next, published - room, missed);
        }
        int result = look(ring, *next, buffer);
        if (result < 0) return result;
        if (result) {
            ++*next;
            place->given_at = published;
            place->generation = buffer->generation;
            place->generation_word = buffer->generation_word;
            return 1;
        }
        /* Overtaken: goes on a quarter into what can still be there, whatever the ring says is its oldest. */
        uint64_t count = cap_ring_word64(ring, CAP_PUBLISHED);
        if (count <= *next) return bad("published count", count);
        uint64_t there = present(ring, count), target = count - there + there / 4;
        skip(next, target > *next ? target : *next + 1, missed);
    }
    return 0;
}
