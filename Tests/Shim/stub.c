/* A libcapture that knows one camera, by the node /dev/video90: for the way from a node to its camera. */
#include "capture.h"

#include <stddef.h>

static const struct capture_fraction interval = {1, 30};
static const struct capture_frame_size size = {
    .width = {64, 64, 1}, .height = {48, 48, 1}, .interval_count = 1, .intervals = &interval};
static const struct capture_frame_size *const sizes[] = {&size, NULL};
static const struct capture_video_offer offer = {.pixel_format = 0x56595559, .name = "", .sizes = sizes};
static const struct capture_video_offer *const offers[] = {&offer, NULL};
static const char *const aliases[] = {"/dev/video90", "/dev/v4l/by-id/camera", NULL};
static const struct capture_device camera = {
    .id = "usb-camera", .name = "Stub", .media = CAPTURE_VIDEO, .bus = "usb-1", .aliases = aliases, .video = offers};
static const struct capture_device *const all[] = {&camera, NULL};

int capture_connect(enum capture_bus bus, struct capture_client **client) {
    static char one;
    (void)bus;
    *client = (struct capture_client *)&one;
    return 0;
}

int capture_devices(struct capture_client *client, const struct capture_device *const **devices) {
    (void)client;
    *devices = all;
    return 0;
}

int capture_consent_explain(struct capture_client *client, const char *service, const char *reason) {
    (void)client, (void)service, (void)reason;
    return 0;
}

void capture_disconnect(struct capture_client *client) { (void)client; }
void capture_devices_free(const struct capture_device *const *devices) { (void)devices; }

const char *capture_message(void) { return ""; }
int capture_controls(struct capture_client *client, const char *device, const struct capture_control *const **controls) {
    (void)client, (void)device, (void)controls;
    return -CAPTURE_DENIED;
}
