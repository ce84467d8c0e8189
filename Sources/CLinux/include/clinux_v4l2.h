/* V4L2 requests and formats: function-like macros, which Swift does not import. From linux/videodev2.h. */
#pragma once
#include <linux/videodev2.h>
