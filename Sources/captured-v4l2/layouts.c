/* How the formats lie in memory, for those that V4L2 keeps in one piece. */
#include "shim.h"

#define PACKED(code, bits) {V4L2_PIX_FMT_##code, bits, 0, 0, 0, false}

static const struct layout layouts[] = {
    PACKED(YUYV, 16),    PACKED(UYVY, 16),    PACKED(YVYU, 16),    PACKED(VYUY, 16),    PACKED(RGB565, 16),
    PACKED(RGB565X, 16), PACKED(RGB555, 16),  PACKED(RGB24, 24),   PACKED(BGR24, 24),   PACKED(XBGR32, 32),
    PACKED(XRGB32, 32),  PACKED(ABGR32, 32),  PACKED(ARGB32, 32),  PACKED(RGBX32, 32),  PACKED(BGRX32, 32),
    PACKED(RGBA32, 32),  PACKED(BGRA32, 32),  PACKED(RGB32, 32),   PACKED(BGR32, 32),   PACKED(GREY, 8),
    PACKED(Y10, 16),     PACKED(Y12, 16),     PACKED(Y16, 16),     PACKED(Y16_BE, 16),  PACKED(Z16, 16),
    PACKED(SBGGR8, 8),   PACKED(SGBRG8, 8),   PACKED(SGRBG8, 8),   PACKED(SRGGB8, 8),   PACKED(SBGGR10, 16),
    PACKED(SGBRG10, 16), PACKED(SGRBG10, 16), PACKED(SRGGB10, 16), PACKED(SBGGR12, 16), PACKED(SGBRG12, 16),
    PACKED(SGRBG12, 16), PACKED(SRGGB12, 16), PACKED(SBGGR16, 16), PACKED(SGBRG16, 16), PACKED(SGRBG16, 16),
    PACKED(SRGGB16, 16), PACKED(SBGGR10P, 10), PACKED(SGBRG10P, 10), PACKED(SGRBG10P, 10), PACKED(SRGGB10P, 10),
    PACKED(SBGGR12P, 12), PACKED(SGBRG12P, 12), PACKED(SGRBG12P, 12), PACKED(SRGGB12P, 12),
    {V4L2_PIX_FMT_NV12, 8, 1, 2, 2, true},     {V4L2_PIX_FMT_NV21, 8, 1, 2, 2, true},
    {V4L2_PIX_FMT_NV16, 8, 1, 2, 1, true},     {V4L2_PIX_FMT_NV61, 8, 1, 2, 1, true},
    {V4L2_PIX_FMT_NV24, 8, 1, 1, 1, true},     {V4L2_PIX_FMT_NV42, 8, 1, 1, 1, true},
    {V4L2_PIX_FMT_YUV420, 8, 2, 2, 2, false},  {V4L2_PIX_FMT_YVU420, 8, 2, 2, 2, false},
    {V4L2_PIX_FMT_YUV422P, 8, 2, 2, 1, false},
    PACKED(MJPEG, 0), PACKED(JPEG, 0), PACKED(H264, 0), PACKED(HEVC, 0),
};

const struct layout *shim_layout(uint32_t code) {
    for (size_t i = 0; i < SHIM_COUNT(layouts); i++)
        if (layouts[i].code == code) return &layouts[i];
    return NULL;
}
