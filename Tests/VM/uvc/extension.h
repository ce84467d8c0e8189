/* The extension unit: what the camera has there, and what a program maps to V4L2. */
#pragma once

#define EXTENSION_GUID 0x1e, 0x5c, 0x9a, 0x63, 0x40, 0xd7, 0x4b, 0x2f, 0x8d, 0x11, 0x7a, 0x03, 0xc6, 0xe8, 0x52, 0xb4

enum extension {
    extension_flash_mode = 1, /* 0 off, 1 flash, 2 torch */
    extension_strobe,         /* one bright frame at each write, if the flash is on */
    extension_torch,          /* the torch's brightness in percent */
    extension_stabilization,  /* 0 or 1 */
    extension_bias,           /* of the automatic exposure, in 1/1000 EV */
    extension_wide_range,     /* 0 or 1 */
    extension_controls = extension_wide_range
};
