/* libjpeg-turbo: JPEG to and from planar YUV. */
#pragma once
#include <turbojpeg.h>
