/* H.264 of squares of one color each, Constrained Baseline: a square is a macroblock, copied from a neighbor, left as
   it was, or sent as it is. */
#include "picture.h"
#include <stdlib.h>
#include <string.h>

enum { key_every = 30 };

struct bits {
    uint8_t *to;
    size_t count;
};

static void put(struct bits *bits, uint32_t value, int length) {
    while (length--) {
        size_t byte = bits->count / 8, bit = 7 - bits->count % 8;
        if (bit == 7) bits->to[byte] = 0;
        bits->to[byte] |= (value >> length & 1) << bit;
        bits->count++;
    }
}
/* The standard's ue(v). */
static void put_unsigned(struct bits *bits, uint32_t value) {
    int length = 32 - __builtin_clz(value + 1);
    put(bits, 0, length - 1);
    put(bits, value + 1, length);
}
static void put_signed(struct bits *bits, int value) { put_unsigned(bits, value > 0 ? 2 * value - 1 : -2 * value); }
static void close_unit(struct bits *bits) {
    put(bits, 1, 1);
    while (bits->count % 8) put(bits, 0, 1);
}

/* With the start code, and with what keeps that from appearing inside. */
static uint8_t *write_unit(uint8_t *to, uint8_t type, const struct bits *bits) {
    to = mempcpy(to, (uint8_t[]){0, 0, 0, 1, type}, 5);
    int zeros = 0;
    for (size_t i = 0; i < bits->count / 8; i++) {
        uint8_t byte = bits->to[i];
        if (zeros == 2 && byte <= 3) {
            *to++ = 3;
            zeros = 0;
        }
        *to++ = byte;
        zeros = byte ? 0 : zeros + 1;
    }
    return to;
}

static uint8_t *write_parameters(uint8_t *to, const struct picture *picture, uint8_t *room) {
    int right = picture->columns * square - picture->width, bottom = picture->rows * square - picture->height;
    struct bits bits = {.to = room};
    put(&bits, 0x42c028, 24); /* profile 66 with its constraints, level 4 */
    put_unsigned(&bits, 0);
    put_unsigned(&bits, 4); /* 8 bits of frame_num */
    put_unsigned(&bits, 2); /* pictures in their order */
    put_unsigned(&bits, 1); /* one reference */
    put(&bits, 0, 1);
    put_unsigned(&bits, picture->columns - 1);
    put_unsigned(&bits, picture->rows - 1);
    put(&bits, 1, 1); /* frames only */
    put(&bits, 1, 1);
    put(&bits, right || bottom, 1);
    if (right || bottom) {
        put_unsigned(&bits, 0);
        put_unsigned(&bits, right / 2);
        put_unsigned(&bits, 0);
        put_unsigned(&bits, bottom / 2);
    }
    put(&bits, 0, 1);
    close_unit(&bits);
    to = write_unit(to, 0x67, &bits);
    bits.count = 0;
    put_unsigned(&bits, 0);
    put_unsigned(&bits, 0);
    put(&bits, 0, 2); /* CAVLC */
    put_unsigned(&bits, 0);
    put_unsigned(&bits, 0);
    put_unsigned(&bits, 0);
    put(&bits, 0, 3);
    put_signed(&bits, 0);
    put_signed(&bits, 0);
    put_signed(&bits, 0);
    put(&bits, 1, 1); /* slices say how they are deblocked */
    put(&bits, 0, 2);
    close_unit(&bits);
    return write_unit(to, 0x68, &bits);
}

static void put_samples(struct bits *bits, struct color color) {
    while (bits->count % 8) put(bits, 0, 1);
    uint8_t *at = bits->to + bits->count / 8;
    memset(at, color.y, 256);
    memset(at + 256, color.u, 64);
    memset(at + 320, color.v, 64);
    bits->count += 384 * 8;
}

static void put_header(struct bits *bits, const struct h264 *h264, bool is_key) {
    put_unsigned(bits, 0);
    put_unsigned(bits, is_key ? 7 : 5);
    put_unsigned(bits, 0);
    put(bits, h264->number & 0xff, 8);
    if (is_key) put_unsigned(bits, h264->key_number & 1);
    if (!is_key) put(bits, 0, 2); /* the usual references, in their order */
    put(bits, 0, is_key ? 2 : 1);
    put_signed(bits, 0);
    put_unsigned(bits, 1); /* no deblocking */
}

static bool is_same(struct color one, struct color other) {
    return one.y == other.y && one.u == other.u && one.v == other.v;
}

static void put_key(struct bits *bits, const struct picture *picture, bool *sent) {
    for (int i = 0; i < picture->columns * picture->rows; i++) {
        struct color color = picture->palette[picture->squares[i]];
        bool has_left = i % picture->columns, has_top = i >= picture->columns;
        bool as_left = has_left && is_same(color, picture->palette[picture->squares[i - 1]]);
        bool as_top = has_top && is_same(color, picture->palette[picture->squares[i - picture->columns]]);
        sent[i] = !as_left && !as_top;
        if (sent[i]) {
            put_unsigned(bits, 25);
            put_samples(bits, color);
            continue;
        }
        /* Predicted from there, luma and chroma, without a difference. The code for "no coefficients" goes by how many
           the neighbors have, and one that was sent as it is counts as full. */
        put_unsigned(bits, as_left ? 2 : 1);
        put_unsigned(bits, as_left ? 1 : 2);
        put_signed(bits, 0);
        bool is_full = (has_left && sent[i - 1]) || (has_top && sent[i - picture->columns]);
        if (is_full) put(bits, 3, 6); else put(bits, 1, 1);
    }
}

static void put_changes(struct bits *bits, const struct h264 *h264, const struct picture *picture) {
    unsigned skipped = 0;
    for (int i = 0; i < picture->columns * picture->rows; i++) {
        struct color color = picture->palette[picture->squares[i]];
        if (is_same(color, h264->palette[h264->before[i]])) {
            skipped++;
            continue;
        }
        put_unsigned(bits, skipped);
        put_unsigned(bits, 5 + 25);
        put_samples(bits, color);
        skipped = 0;
    }
    if (skipped) put_unsigned(bits, skipped);
}

size_t picture_h264(struct h264 *h264, const struct picture *picture, uint8_t *to) {
    size_t count = (size_t)picture->columns * picture->rows;
    if (!h264->before || h264->columns != picture->columns || h264->rows != picture->rows) {
        uint8_t *before = realloc(h264->before, count), *raw = before ? realloc(h264->raw, count * 400 + 64) : NULL;
        if (before) h264->before = before;
        if (raw) h264->raw = raw;
        if (!raw) return 0;
        *h264 = (struct h264){.before = before, .raw = raw, .columns = picture->columns, .rows = picture->rows};
    }
    bool is_key = h264->number % key_every == 0;
    uint8_t *start = to;
    struct bits bits = {.to = h264->raw};
    if (is_key) {
        to = write_parameters(to, picture, h264->raw);
        h264->number = 0;
        put_header(&bits, h264, true);
        /* What was before does not matter any more: it notes for a moment what was sent as it is. */
        put_key(&bits, picture, (bool *)h264->before);
        h264->key_number++;
    } else {
        put_header(&bits, h264, false);
        put_changes(&bits, h264, picture);
    }
    close_unit(&bits);
    to = write_unit(to, is_key ? 0x65 : 0x41, &bits);
    memcpy(h264->before, picture->squares, count);
    memcpy(h264->palette, picture->palette, sizeof h264->palette);
    h264->number++;
    return to - start;
}

void h264_begin(struct h264 *h264) { h264->number = 0; }
