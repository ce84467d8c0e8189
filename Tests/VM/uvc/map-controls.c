/* map-controls NODE: the extension unit's controls as those of V4L2, until the camera goes. It may run again. */
#include "extension.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/usb/video.h>
#include <linux/uvcvideo.h>
#include <linux/v4l2-controls.h>
#include <linux/videodev2.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct uvc_menu_info flash_modes[] = {{0, "Off"}, {1, "Flash"}, {2, "Torch"}};

static struct uvc_xu_control_mapping mappings[] = {
    {.id = V4L2_CID_FLASH_LED_MODE, .name = "LED Mode", .selector = extension_flash_mode, .size = 8,
     .v4l2_type = V4L2_CTRL_TYPE_MENU, .data_type = UVC_CTRL_DATA_TYPE_ENUM, .menu_info = flash_modes, .menu_count = 3},
    {.id = V4L2_CID_FLASH_STROBE, .name = "Strobe", .selector = extension_strobe, .size = 8,
     .v4l2_type = V4L2_CTRL_TYPE_BUTTON, .data_type = UVC_CTRL_DATA_TYPE_UNSIGNED},
    {.id = V4L2_CID_FLASH_TORCH_INTENSITY, .name = "Intensity, Torch Mode", .selector = extension_torch, .size = 8,
     .v4l2_type = V4L2_CTRL_TYPE_INTEGER, .data_type = UVC_CTRL_DATA_TYPE_UNSIGNED},
    {.id = V4L2_CID_IMAGE_STABILIZATION, .name = "Image Stabilization", .selector = extension_stabilization, .size = 8,
     .v4l2_type = V4L2_CTRL_TYPE_BOOLEAN, .data_type = UVC_CTRL_DATA_TYPE_BOOLEAN},
    /* Elsewhere a menu of numbers, which this driver cannot map. */
    {.id = V4L2_CID_AUTO_EXPOSURE_BIAS, .name = "Auto Exposure, Bias", .selector = extension_bias, .size = 16,
     .v4l2_type = V4L2_CTRL_TYPE_INTEGER, .data_type = UVC_CTRL_DATA_TYPE_SIGNED},
    {.id = V4L2_CID_WIDE_DYNAMIC_RANGE, .name = "Wide Dynamic Range", .selector = extension_wide_range, .size = 8,
     .v4l2_type = V4L2_CTRL_TYPE_BOOLEAN, .data_type = UVC_CTRL_DATA_TYPE_BOOLEAN},
};

int main(int count, char **words) {
    static const __u8 guid[16] = {EXTENSION_GUID};
    int node = count == 2 ? open(words[1], O_RDWR | O_CLOEXEC) : -1, failed = 0;
    if (node < 0) {
        perror(count == 2 ? words[1] : "map-controls NODE");
        return 64;
    }
    for (size_t i = 0; i < sizeof mappings / sizeof *mappings; i++) {
        for (int byte = 0; byte < 16; byte++) mappings[i].entity[byte] = guid[byte];
        if (ioctl(node, UVCIOC_CTRL_MAP, &mappings[i]) == 0 || errno == EEXIST) continue;
        perror((char *)mappings[i].name);
        failed = 1;
    }
    close(node);
    return failed;
}
