#include "picture.h"
#include <stdlib.h>
#include <string.h>

/* 75 % bars, in vivid's order. */
static const uint8_t bar_colors[bars][3] = {{191, 191, 191}, {191, 191, 0}, {0, 191, 191}, {0, 191, 0},
                                            {191, 0, 191},   {191, 0, 0},   {0, 0, 191},   {0, 0, 0}};
/* Rows of three squares, the top one in the highest bits. */
static const uint16_t digits[10] = {075557, 026227, 071747, 071717, 055711, 074717, 074757, 071111, 075757, 075717};

bool picture_size(struct picture *picture, int width, int height) {
    int columns = (width + square - 1) / square, rows = (height + square - 1) / square;
    uint8_t *squares = realloc(picture->squares, (size_t)columns * rows);
    if (!squares) return false;
    *picture = (struct picture){.width = width, .height = height, .columns = columns, .rows = rows, .squares = squares};
    return true;
}

void picture_free(struct picture *picture) {
    free(picture->squares);
    *picture = (struct picture){0};
}

static uint8_t clamp(double value) { return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)(value + 0.5); }

static struct color convert(const uint8_t rgb[3], bool is_full) {
    double r = rgb[0], g = rgb[1], b = rgb[2], y = 0.299 * r + 0.587 * g + 0.114 * b;
    double u = (b - y) * 0.564, v = (r - y) * 0.713;
    if (is_full) return (struct color){clamp(y), clamp(u + 128), clamp(v + 128)};
    return (struct color){clamp(y * 219 / 255 + 16), clamp(u * 224 / 255 + 128), clamp(v * 224 / 255 + 128)};
}

static struct color seen(const uint8_t rgb[3], const struct effects *effects, bool is_full) {
    double gray = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
    uint8_t result[3];
    for (int i = 0; i < 3; i++) {
        double tint = i == 0 ? effects->warmth : i == 2 ? 1 / effects->warmth : 1;
        double value = (gray + (rgb[i] - gray) * effects->saturation) * effects->light * tint;
        result[i] = effects->is_covered ? 0 : clamp((value - 128) * effects->contrast + 128 + effects->offset);
    }
    return convert(result, is_full);
}

static void draw_digit(struct picture *picture, int digit, int left, int top, int scale) {
    for (int y = 0; y < 5 * scale; y++)
        for (int x = 0; x < 3 * scale; x++) {
            int row = top + y, column = left + x;
            if (row >= picture->rows || column >= picture->columns) continue;
            if (digits[digit] >> (14 - y / scale * 3 - x / scale) & 1)
                picture->squares[row * picture->columns + column] = ink;
        }
}

static void draw_number(struct picture *picture, uint32_t number) {
    /* A small picture would be nothing else. */
    if (picture->rows < 10) return;
    int scale = picture->columns / 30 ? picture->columns / 30 : 1, count = (picture->columns / scale - 1) / 4;
    if (count > 6) count = 6;
    for (int y = 0; y < 7 * scale && y < picture->rows; y++)
        memset(picture->squares + y * picture->columns, paper, (size_t)(count * 4 + 1) * scale);
    for (int place = count - 1; place >= 0; place--, number /= 10)
        draw_digit(picture, number % 10, (1 + place * 4) * scale, scale, scale);
}

void picture_draw(struct picture *picture, uint32_t number, const struct effects *effects, bool is_full) {
    static const uint8_t white[3] = {235, 235, 235}, black[3] = {16, 16, 16};
    for (int i = 0; i < bars; i++) picture->palette[i] = seen(bar_colors[i], effects, is_full);
    /* Legible whatever the light. */
    picture->palette[ink] = convert(white, is_full);
    picture->palette[paper] = convert(black, is_full);
    for (int column = 0; column < picture->columns; column++) {
        int middle = picture->width / 2, x = (column * square + square / 2 - middle) * 100 / effects->zoom + middle +
                                             picture->width * effects->pan / 1000;
        int bar = x * bars / picture->width;
        picture->squares[column] = bar < 0 ? 0 : bar >= bars ? bars - 1 : bar;
    }
    for (int row = 1; row < picture->rows; row++)
        memcpy(picture->squares + row * picture->columns, picture->squares, picture->columns);
    draw_number(picture, number);
}

static struct color at(const struct picture *picture, int x, int y) {
    return picture->palette[picture->squares[y / square * picture->columns + x / square]];
}

/* Rows of one row of squares are alike. */
size_t picture_yuyv(const struct picture *picture, uint8_t *to) {
    size_t stride = (size_t)picture->width * 2;
    for (int y = 0; y < picture->height; y++) {
        uint8_t *row = to + y * stride;
        if (y % square) {
            memcpy(row, row - stride, stride);
            continue;
        }
        for (int x = 0; x < picture->width; x += 2) {
            struct color color = at(picture, x, y);
            memcpy(row + x * 2, (uint8_t[]){color.y, color.u, color.y, color.v}, 4);
        }
    }
    return stride * picture->height;
}

size_t picture_nv12(const struct picture *picture, uint8_t *to) {
    size_t stride = picture->width;
    uint8_t *chroma = to + stride * picture->height;
    for (int y = 0; y < picture->height; y++)
        for (int x = 0; x < picture->width; x += square)
            memset(to + y * stride + x, at(picture, x, y).y, picture->width - x < square ? picture->width - x : square);
    for (int y = 0; y < picture->height; y += 2)
        for (int x = 0; x < picture->width; x += 2) {
            struct color color = at(picture, x, y);
            memcpy(chroma + y / 2 * stride + x, (uint8_t[]){color.u, color.v}, 2);
        }
    return stride * picture->height * 3 / 2;
}
