#define _GNU_SOURCE
#include "clinux_system.h"

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* A memory copy that is larger than this would drive out of the caches what its readers do not find there anyway. Tried
   with frames of 0.6 to 8 MB: smaller ones are better read from a cache. */
enum { large = 3 << 20, line = 64 };

#ifdef __SSE2__
/* Whole lines to an aligned place. Plain stores would first read the lines that they write. */
static void stream(__m128i *to, const __m128i *from, size_t lines) {
    for (; lines > 0; lines--, to += 4, from += 4) {
        _mm_prefetch((const char *)from + 8 * line, _MM_HINT_NTA);
        __m128i first = _mm_loadu_si128(from), second = _mm_loadu_si128(from + 1);
        __m128i third = _mm_loadu_si128(from + 2), fourth = _mm_loadu_si128(from + 3);
        _mm_stream_si128(to, first);
        _mm_stream_si128(to + 1, second);
        _mm_stream_si128(to + 2, third);
        _mm_stream_si128(to + 3, fourth);
    }
    /* Such stores keep no order with those that publish them. */
    _mm_sfence();
}
#endif

void clinux_copy_frame(void *to, const void *from, size_t size) {
#ifdef __SSE2__
    if (size >= large) {
        size_t head = -(uintptr_t)to % line, lines = (size - head) / line, done = head + lines * line;
        memcpy(to, from, head);
        stream((__m128i *)((char *)to + head), (const __m128i *)((const char *)from + head), lines);
        memcpy((char *)to + done, (const char *)from + done, size - done);
        return;
    }
#endif
    memcpy(to, from, size);
}
