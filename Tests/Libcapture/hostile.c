/* A ring whose writer lies: memory of an honest one is changed at random places, before it is mapped and while it is
   read. The library must not fall, whatever it finds. Prints what it tried and `N passed, N failed`.

   hostile COUNT SEED */
#include "../../Sources/libcapture/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { slots = 4, stride = 8192, order = 4096, descriptors = 4608, data = 8192, size = data + slots * stride };

static unsigned passed, failed;

static void it(const char *what, bool holds) {
    if (holds) passed++;
    else {
        failed++;
        printf("not ok: %s: %s\n", what, capture_message());
    }
}

static uint64_t state;

static uint64_t some(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void put32(unsigned char *ring, size_t at, uint32_t value) { memcpy(ring + at, &value, 4); }

static void put64(unsigned char *ring, size_t at, uint64_t value) { memcpy(ring + at, &value, 8); }

/* Three published frames of 32x64 YUYV; or sound, or metadata. */
static void fill(unsigned char *ring, unsigned kind) {
    memset(ring, 0, size);
    memcpy(ring, "CAPRING", 8);
    put32(ring, 8, 1), put32(ring, 12, 4096), put32(ring, 16, kind), put32(ring, 20, slots);
    put64(ring, 24, stride), put64(ring, 32, order), put64(ring, 40, descriptors), put64(ring, 48, data);
    put64(ring, 56, size), put32(ring, 64, 128), put32(ring, 68, 1);
    put32(ring, 128, 0x56595559), put32(ring, 132, 32), put32(ring, 136, 64), put32(ring, 140, 1), put32(ring, 144, 30);
    put32(ring, 164, 1), put64(ring, 176, 64), put64(ring, 184, 4096);
    put32(ring, 320, 1), put32(ring, 324, 48000), put32(ring, 328, 2), put32(ring, 332, 480);
    put32(ring, 384, 0x48435655), put32(ring, 388, 1024);
    put64(ring, 1024, 3);
    for (uint32_t i = 0; i < slots; i++) {
        size_t at = descriptors + i * 128;
        put32(ring, order + i * 4, i);
        put64(ring, at, i < 3 ? 2 : 1), put64(ring, at + 8, i), put64(ring, at + 16, 1000 + i);
        put32(ring, at + 40, kind == 3 ? 1024 : kind == 2 ? 1920 : 4096);
    }
}

/* The memory, with a writable mapping that its writer keeps. */
static int make(const unsigned char *ring, size_t length, int seals, unsigned char **writable) {
    int fd = memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, (off_t)length) < 0) abort();
    *writable = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (*writable == MAP_FAILED || fcntl(fd, F_ADD_SEALS, seals) < 0) abort();
    memcpy(*writable, ring, length < size ? length : size);
    return fd;
}

/* Reads every byte that the library says may be read. */
static uint64_t touch(const struct capture_buffer *buffer) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < buffer->plane_count; i++)
        for (size_t j = 0; j < buffer->planes[i].used; j++) sum += ((const unsigned char *)buffer->planes[i].data)[j];
    return sum + (uint64_t)capture_buffer_is_intact(buffer);
}

/* A value that is wrong in an interesting way. */
static uint64_t wrong(void) {
    static const uint64_t values[] = {0, 1, 2, 3, 4, 5, 127, 4095, 4096, 4097, 65536, 65537, INT32_MAX,
                                      UINT32_MAX, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1,
                                      UINT64_C(1) << 36, (UINT64_C(1) << 36) + 4096, UINT64_MAX - 4095, size, size + 1};
    return some() % 3 ? values[some() % CAP_COUNT(values)] : some();
}

/* A word that somebody reads. */
static size_t place(void) {
    static const size_t fixed[] = {0,   8,   12,  16,  20,  24,  32,  40,  48,  56,  64,  68,  128, 132,
                                   136, 140, 144, 164, 168, 176, 184, 192, 264, 320, 324, 328, 332, 384,
                                   388, 1024, 1032, 1036, 1040};
    switch (some() % 3) {
    case 0: return fixed[some() % CAP_COUNT(fixed)];
    case 1: return descriptors + some() % (slots * 128) / 4 * 4;
    default: return order + some() % (slots * 4) / 4 * 4;
    }
}

static void mutate(unsigned char *ring) {
    size_t at = place();
    uint64_t value = wrong();
    if (some() % 2) put32(ring, at, (uint32_t)value);
    else put64(ring, at, value);
}

static unsigned accepted, refused, taken;
static uint64_t sum;

/* One ring: lies before it is mapped, and others while it is read. */
static void read_lies(unsigned kind, unsigned before, unsigned during) {
    unsigned char ring[size], *writable;
    struct capture_ring *mapped;
    fill(ring, kind);
    for (unsigned i = 0; i < before; i++) mutate(ring);
    int fd = make(ring, size, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL, &writable);
    int result = cap_ring_map(fd, &mapped);
    if (result < 0) {
        refused++;
        it("a refused ring is called damaged", result == -CAPTURE_BAD_DATA);
    } else {
        accepted++;
        struct cap_place place = {.next = before ? some() % 4 : 0};
        uint64_t missed = 0;
        for (unsigned i = 0; i < 12; i++) {
            struct capture_buffer buffer;
            result = cap_ring_take(mapped, &place, &missed, some() % 4 == 0, &buffer);
            if (result == 1) sum += touch(&buffer), taken++;
            if (during) mutate(writable);
        }
        cap_ring_release(mapped);
        it("reading ends", true);
    }
    munmap(writable, size);
    close(fd);
}

static void refuses(const char *what, int fd) {
    struct capture_ring *mapped;
    int result = cap_ring_map(fd, &mapped);
    it(what, result == -CAPTURE_BAD_DATA);
    if (result == 0) cap_ring_release(mapped);
}

static void refusals(void) {
    const int all[] = {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_FUTURE_WRITE, F_SEAL_SEAL};
    unsigned char ring[size], *writable;
    fill(ring, 1);
    for (unsigned i = 0; i < 4; i++) {
        int seals = 0;
        for (unsigned j = 0; j < 4; j++) seals |= i == j ? 0 : all[j];
        int fd = make(ring, size, seals, &writable);
        refuses("a ring that misses a seal", fd);
        munmap(writable, size);
        close(fd);
    }
    int every = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
    int fd = make(ring, 100, every, &writable);
    refuses("a ring without room for a header", fd);
    close(fd);
    fd = make(ring, 8192, every, &writable);
    refuses("a ring that is cut off", fd);
    close(fd);
    int ends[2];
    if (pipe(ends)) abort();
    refuses("a pipe", ends[0]);
    refuses("no descriptor", -1);
    int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    refuses("a device", zero);
}

static void honest(void) {
    for (unsigned kind = 1; kind <= 3; kind++) {
        unsigned before = taken;
        read_lies(kind, 0, 0);
        it("an honest ring is read", accepted == kind && taken >= before + 1);
    }
}

int main(int count, char **arguments) {
    unsigned rounds = count > 1 ? (unsigned)atoi(arguments[1]) : 6000;
    state = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
    state += 0x9e3779b97f4a7c15;
    honest();
    refusals();
    for (unsigned i = 0; i < rounds; i++) read_lies(1 + (unsigned)(some() % 3), (unsigned)(some() % 4), i % 2);
    printf("%u rings refused, %u read, %u buffers of them (%llu)\n", refused, accepted, taken,
           (unsigned long long)sum);
    printf("%u passed, %u failed\n", passed, failed);
    return failed > 0;
}
