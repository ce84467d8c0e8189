/* A libcapture that knows a few cameras by their nodes: for the way from a node to its camera. Nobody may use them. */
#include "capture.h"

#include <stddef.h>

static const struct capture_fraction interval = {1, 30};
static const struct capture_frame_size size = {
    .width = {64, 64, 1}, .height = {48, 48, 1}, .interval_count = 1, .intervals = &interval};
static const struct capture_frame_size *const sizes[] = {&size, NULL};
/* As a driver that lists no rates. */
static const struct capture_frame_size some_size = {.width = {64, 64, 1}, .height = {48, 48, 1}};
static const struct capture_frame_size *const some_sizes[] = {&some_size, NULL};
static const struct capture_video_offer offer = {.pixel_format = 0x56595559, .name = "", .sizes = sizes};
static const struct capture_video_offer *const offers[] = {&offer, NULL};
static const struct capture_video_offer some_offer = {.pixel_format = 0x56595559, .name = "", .sizes = some_sizes};
static const struct capture_video_offer *const some_offers[] = {&some_offer, NULL};
/* 'MPEG', of which the library makes nothing. */
static const struct capture_video_offer stream = {.pixel_format = 0x4745504d, .name = "", .sizes = sizes};
static const struct capture_video_offer *const streams[] = {&stream, NULL};
static const char *const aliases[] = {"/dev/video90", "/dev/v4l/by-id/camera", NULL};
static const char *const encoder_aliases[] = {"/dev/video92", NULL}, *const grabber_aliases[] = {"/dev/video93", NULL};
static const struct capture_device camera = {
    .id = "usb-camera", .name = "Stub", .media = CAPTURE_VIDEO, .bus = "usb-1", .aliases = aliases, .video = offers};
static const struct capture_device encoder = {
    .id = "pci-encoder", .name = "Stub", .media = CAPTURE_VIDEO, .bus = "PCI:1", .aliases = encoder_aliases, .video = streams};
static const struct capture_device grabber = {
    .id = "usb-grabber", .name = "Stub", .media = CAPTURE_VIDEO, .bus = "usb-2", .aliases = grabber_aliases, .video = some_offers};
static const struct capture_device *const all[] = {&camera, &encoder, &grabber, NULL};

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

int capture_session_new(struct capture_client *client, struct capture_session **session) {
    *session = (struct capture_session *)client;
    return 0;
}

int capture_session_add_camera(struct capture_session *session, const char *name, const char *device,
                               const struct capture_video_request *request) {
    (void)session, (void)name, (void)device;
    return request->frames_per_second > 0 ? -CAPTURE_NO_SUCH_FORMAT : -CAPTURE_DENIED;
}

const char *capture_message(void) { return ""; }
int capture_controls(struct capture_client *client, const char *device, const struct capture_control *const **controls) {
    (void)client, (void)device, (void)controls;
    return -CAPTURE_DENIED;
}
