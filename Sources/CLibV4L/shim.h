/* libv4lconvert: formats of unusual webcams. */
#pragma once
#include <linux/videodev2.h>
#include <libv4lconvert.h>
#include <libv4l-plugin.h>
