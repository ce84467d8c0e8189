/* What the camera shows: vivid's eight color bars, and the frame's number in large digits, in squares of 16 pixels. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct color {
    uint8_t y, u, v;
};
enum { square = 16, bars = 8, ink = bars, paper, colors };

/* What controls do to a picture. */
struct effects {
    double light;             /* 1: as it is */
    double contrast, saturation;
    int offset;               /* of brightness, -255 to 255 */
    double warmth;            /* red over blue, 1: neutral */
    int zoom, pan;            /* percent; thousandths of the picture */
    bool is_covered;
};

struct picture {
    int width, height, columns, rows;
    uint8_t *squares; /* indices into the palette */
    struct color palette[colors];
};

/* False: no memory. */
bool picture_size(struct picture *picture, int width, int height);
void picture_free(struct picture *picture);
/* `is_full`: the range of JPEG, else that of video. */
void picture_draw(struct picture *picture, uint32_t number, const struct effects *effects, bool is_full);

/* Each writes to `to`, which has room for `largest_frame`, and returns the length. */
size_t picture_yuyv(const struct picture *picture, uint8_t *to);
size_t picture_nv12(const struct picture *picture, uint8_t *to);
size_t picture_jpeg(const struct picture *picture, uint8_t *to, bool has_tables);

/* Each key frame begins anew; what is between has the squares that have changed. */
struct h264 {
    uint8_t *before; /* the squares of the last frame, and their colors */
    struct color palette[colors];
    int columns, rows;
    unsigned number, key_number;
    uint8_t *raw; /* before escaping */
};
size_t picture_h264(struct h264 *h264, const struct picture *picture, uint8_t *to);
/* The next one is a key frame. */
void h264_begin(struct h264 *h264);
