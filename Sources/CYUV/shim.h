/* libyuv: vectorized conversion of common raw formats. */
#pragma once
#include <libyuv.h>

/* The matrices are extern constants that Swift 6 takes for shared mutable state. 0 is BT.601, 1 and 2 BT.709 limited
   and full, 3 and 4 BT.2020 limited and full, 5 BT.601 full (JPEG). libyuv calls the order red, green, blue "RAW": the
   mirrored matrix with U and V changed over. */
static inline int cyuv_i420_to_rgb(
    const uint8_t *y, int stride_y, const uint8_t *u, const uint8_t *v, int stride_uv, uint8_t *rgb, int stride_rgb,
    int matrix, int width, int height) {
    const struct YuvConstants *mirrored[] = {
        &kYvuI601Constants, &kYvuH709Constants, &kYvuF709Constants,
        &kYvu2020Constants, &kYvuV2020Constants, &kYvuJPEGConstants,
    };
    return I420ToRGB24Matrix(
        y, stride_y, v, stride_uv, u, stride_uv, rgb, stride_rgb, mirrored[matrix], width, height);
}
