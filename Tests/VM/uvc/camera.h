/* A USB video camera in user space. It attaches itself to the kernel's vhci-hcd and answers the USB/IP protocol. One
   thread does everything: requests, frames, and the commands of tests. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include "extension.h"
#include "picture.h"

enum { entity_camera = 1, entity_processing, entity_extension, entity_output };
enum { interface_control, interface_streaming, interfaces };
enum { endpoint_video = 1, endpoint_status = 2 };
enum { clock_frequency = 1000000, header_length = 12, most_pending = 64 };

/* What the camera offers. */
enum codec { codec_mjpeg, codec_yuyv, codec_nv12, codec_h264, codecs };
struct size {
    uint16_t width, height;
    uint8_t rates[6]; /* the first one is the default */
};
struct format {
    enum codec codec;
    int count;
    const struct size *sizes;
};
extern const struct format formats[codecs];
int rates_of(const struct size *size);
uint32_t frame_interval(unsigned rate);
uint32_t largest_frame(enum codec codec, const struct size *size);

/* A control of the camera terminal, the processing unit or the extension unit. */
enum control_index {
    control_exposure_mode, control_exposure_priority, control_exposure, control_focus, control_focus_auto, control_iris,
    control_zoom, control_pan_tilt, control_roll, control_privacy,
    control_backlight, control_brightness, control_contrast, control_gain, control_power_line, control_hue,
    control_saturation, control_sharpness, control_gamma, control_temperature, control_temperature_auto,
    control_flash_mode, control_strobe, control_torch, control_stabilization, control_bias, control_wide_range,
    controls
};
struct control_kind {
    uint8_t entity, selector, bit, size, info;
    int32_t minimum, maximum, step, standard;
};
extern const struct control_kind control_kinds[controls];
/* What the camera sees, which tests set; its automatic controls follow that. */
struct scene {
    int light, distance, temperature; /* percent, of the focus' range, kelvin */
};
struct control_state {
    int32_t value[controls], tilt; /* pan_tilt has two */
    uint8_t error;                 /* of the last request: VC_REQUEST_ERROR_CODE_CONTROL */
    bool strobe;
};

/* What goes wrong on request. Counters go down by one each time. */
struct faults {
    unsigned cut, error_bit, garble, oversize, empty, halt;
    unsigned stall_requests, hang_requests, stall_settings, hang_settings;
    bool no_tables;
    double stalled_until; /* seconds of the monotonic clock */
    char descriptors[24]; /* which lie at the next plug */
};

static inline bool use_up(unsigned *count) { return *count && (*count)--; }

struct pending {
    uint32_t number, length;
    uint8_t endpoint; /* 0: a control request that is never answered */
};
struct status_message {
    uint8_t length, bytes[16];
};

struct stream {
    uint8_t probe[48], committed[48];
    bool runs;
    int timer;
    uint32_t frame, exposed; /* how many were due since the stream began, and when the last one was taken */
    uint8_t *payload;
    size_t capacity, length, sent;
    bool is_sending, toggle;
    unsigned long delivered, late;
    struct picture picture;
    struct h264 h264;
};

struct camera {
    const char *name, *serial;
    int port; /* of vhci-hcd; -1: any */
    int usb;  /* our end of the connection, -1 while unplugged */
    struct pending pending[most_pending];
    int pending_count;
    struct status_message status[32];
    int status_first, status_count;
    uint8_t configuration;
    struct control_state control;
    struct scene scene;
    struct faults faults;
    struct stream stream;
    unsigned long requests;
};

/* usbip.c. False: the connection is gone. */
struct request {
    uint32_t number, length;
    uint8_t endpoint; /* without the direction */
    bool is_in;
    uint8_t setup[8];
    uint8_t data[512]; /* of what the host sent, as much as fits */
};
enum received { received_nothing, received_request, received_unlink };
int usb_attach(int port, int *chosen);
enum received usb_receive(int usb, struct request *request);
bool usb_answer(int usb, uint32_t number, int status, const void *data, size_t length);
bool usb_acknowledge(int usb, uint32_t number, size_t length);
bool usb_unlinked(int usb, uint32_t number, bool was_pending);

/* descriptors.c */
size_t device_descriptor(uint8_t *to, const struct camera *camera);
size_t qualifier_descriptor(uint8_t *to);
size_t configuration_descriptor(uint8_t *to, size_t room, const char *lie);
size_t string_descriptor(uint8_t *to, size_t room, int index, const struct camera *camera);
bool is_lie(const char *name);

/* controls.c. A negative length is a refusal. */
void controls_reset(struct control_state *state);
int control_request(struct camera *camera, const struct request *request, uint8_t *answer);
/* Moves automatic values a step towards the scene. True: there is more to do. */
bool controls_follow(struct camera *camera);
struct effects effects_of(const struct camera *camera);
unsigned frames_per_exposure(const struct camera *camera);
void send_status(struct camera *camera, const uint8_t *bytes, size_t length);

/* stream.c */
void stream_init(struct stream *stream);
void stream_end(struct stream *stream);
int stream_request(struct camera *camera, const struct request *request, uint8_t *answer);
void stream_stop(struct stream *stream);
uint32_t stream_interval(const struct stream *stream);
void stream_tick(struct camera *camera);
/* Fills waiting transfers with what there is of the frame. */
bool stream_feed(struct camera *camera);

/* camera.c */
bool plug(struct camera *camera);
void unplug(struct camera *camera);
bool take_pending(struct camera *camera, uint8_t endpoint, struct pending *taken);
double now(void);

/* faults.c: one command of a test. Writes the answer; false: it was refused. `ends` is set by `quit`. */
bool obey(struct camera *camera, const char *command, char *answer, size_t room, bool *ends);

/* tell.c: the socket for commands, and its other end. */
int listen_at(const char *path);
void serve_command(int listener, struct camera *camera, bool *ends);
int tell(const char *path, int count, char **words);
