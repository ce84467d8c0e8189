/* libyuv: vectorized conversion of common raw formats. */
#pragma once
#include <libyuv.h>

/* Vectors are read from these, so their place must not be a copy's. */
static inline const struct YuvConstants *cyuv_bt601(int is_full) {
    return is_full ? &kYuvJPEGConstants : &kYuvI601Constants;
}
static inline const struct YuvConstants *cyuv_bt709(int is_full) {
    return is_full ? &kYuvF709Constants : &kYuvH709Constants;
}
static inline const struct YuvConstants *cyuv_bt2020(int is_full) {
    return is_full ? &kYuvV2020Constants : &kYuv2020Constants;
}
