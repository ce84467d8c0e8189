/* libyuv: vectorized conversion of common raw formats. */
#pragma once
#include <libyuv.h>
