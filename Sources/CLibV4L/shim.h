/* libv4lconvert: formats of unusual webcams. */
#pragma once
#include <linux/videodev2.h>
#include <libv4lconvert.h>
#include <libv4l-plugin.h>

/* Macros that do not import. */
static const unsigned long clibv4l_query_capabilities = VIDIOC_QUERYCAP;
static const unsigned long clibv4l_query_control = VIDIOC_QUERYCTRL;
