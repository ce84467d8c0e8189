/* V4L2 in flat structures. Swift imports neither the requests, which are function-like macros, nor the packed structures
   and unions of linux/videodev2.h in a form that reads well; here each call is one ioctl, single- and multi-planar alike,
   returning what the kernel returns, -1 with errno set on failure. `type` is an enum v4l2_buf_type. */
#pragma once
#include <linux/videodev2.h>
#include <stdint.h>

enum { clinux_v4l2_planes = 4 };

struct clinux_v4l2_capability {
    char driver[17], card[33], bus[33];
    uint32_t capabilities; /* of the node itself: device_caps */
};
int clinux_v4l2_capability(int fd, struct clinux_v4l2_capability *out);

struct clinux_v4l2_option {
    uint32_t pixelformat, flags;
    char name[33];
};
int clinux_v4l2_enum_format(int fd, uint32_t type, uint32_t index, struct clinux_v4l2_option *out);

/* Discrete values stand in the least alone. */
struct clinux_v4l2_size {
    uint32_t type; /* enum v4l2_frmsizetypes */
    uint32_t least_width, most_width, step_width, least_height, most_height, step_height;
};
int clinux_v4l2_enum_size(int fd, uint32_t pixelformat, uint32_t index, struct clinux_v4l2_size *out);

struct clinux_v4l2_interval {
    uint32_t type; /* enum v4l2_frmivaltypes */
    uint32_t least_numerator, least_denominator, most_numerator, most_denominator, step_numerator, step_denominator;
};
int clinux_v4l2_enum_interval(
    int fd, uint32_t pixelformat, uint32_t width, uint32_t height, uint32_t index, struct clinux_v4l2_interval *out);

struct clinux_v4l2_format {
    uint32_t pixelformat, width, height;
    uint32_t colorspace, transfer, encoding, quantization;
    uint32_t field; /* enum v4l2_field */
    uint32_t planes;
    uint32_t stride[clinux_v4l2_planes], size[clinux_v4l2_planes];
};
/* G_FMT, TRY_FMT and S_FMT. The two latter ask for progressive frames, and change `format` to what the driver made of
   it. ENOTSUP for a format of more than four memory planes. Metadata has a code and one size alone. */
int clinux_v4l2_get_format(int fd, uint32_t type, struct clinux_v4l2_format *format);
int clinux_v4l2_try_format(int fd, uint32_t type, struct clinux_v4l2_format *format);
int clinux_v4l2_set_format(int fd, uint32_t type, struct clinux_v4l2_format *format);

/* G_PARM and S_PARM; ENOTSUP where the driver answers without V4L2_CAP_TIMEPERFRAME and no interval. */
int clinux_v4l2_get_interval(int fd, uint32_t type, uint32_t *numerator, uint32_t *denominator);
int clinux_v4l2_set_interval(int fd, uint32_t type, uint32_t *numerator, uint32_t *denominator);

/* REQBUFS: `count` becomes what the driver allows. */
int clinux_v4l2_request_buffers(int fd, uint32_t type, uint32_t memory, uint32_t *count);
/* QUERYBUF: where each plane of a driver's buffer can be mapped. */
int clinux_v4l2_query_buffer(
    int fd, uint32_t type, uint32_t index, uint32_t planes, uint32_t offset[4], uint32_t length[4]);
/* QBUF; `address` and `length` are read for V4L2_MEMORY_USERPTR alone. */
int clinux_v4l2_queue(
    int fd, uint32_t type, uint32_t memory, uint32_t index, uint32_t planes, uintptr_t base, const uint32_t offset[4],
    const uint32_t length[4]);

struct clinux_v4l2_buffer {
    uint32_t index, flags, sequence;
    int64_t seconds, microseconds;
    uint32_t used[clinux_v4l2_planes];  /* data_offset included, as the kernel counts it */
    uint32_t start[clinux_v4l2_planes]; /* data_offset */
};
int clinux_v4l2_dequeue(int fd, uint32_t type, uint32_t memory, uint32_t planes, struct clinux_v4l2_buffer *out);

int clinux_v4l2_stream(int fd, uint32_t type, int on);

/* The input in use and its state: G_INPUT and ENUMINPUT. */
struct clinux_v4l2_input {
    uint32_t index, status; /* V4L2_IN_ST_* */
    int is_cable;           /* A tuner, or a signal with timings or a television standard: no sensor of its own. */
    char name[33];
};
int clinux_v4l2_input(int fd, struct clinux_v4l2_input *out);
/* SUBSCRIBE_EVENT: changes of what an input is fed with. */
int clinux_v4l2_watch_input(int fd, uint32_t input);
/* DQEVENT: takes one event of any kind; ENOENT when no event waits. */
int clinux_v4l2_take_event(int fd);

struct clinux_v4l2_signal {
    uint32_t width, height, is_interlaced;
    uint64_t pixel_clock;
};
/* QUERY_DV_TIMINGS of what comes in, or G_DV_TIMINGS of what the driver is set to. */
int clinux_v4l2_signal(int fd, int is_set, struct clinux_v4l2_signal *out);
/* S_DV_TIMINGS to what comes in. */
int clinux_v4l2_adopt_signal(int fd);

struct clinux_v4l2_control {
    uint32_t id, type, flags, elements; /* enum v4l2_ctrl_type, V4L2_CTRL_FLAG_* */
    char name[33];
    int64_t minimum, maximum, standard;
    uint64_t step;
};
/* QUERY_EXT_CTRL of the first control after `id`; EINVAL at the end. */
int clinux_v4l2_next_control(int fd, uint32_t id, struct clinux_v4l2_control *out);
/* QUERYMENU; an integer menu's entry is written out as a number. EINVAL for an entry that is not there. */
int clinux_v4l2_menu_entry(int fd, uint32_t id, uint32_t index, int is_integer, char name[33]);
int clinux_v4l2_get_control(int fd, uint32_t id, int is_64_bit, int64_t *value);
/* V4L2_CID_CAMERA_ORIENTATION: V4L2_CAMERA_ORIENTATION_*, or -1 where the driver does not say. */
int clinux_v4l2_orientation(int fd);
int clinux_v4l2_set_control(int fd, uint32_t id, int is_64_bit, int64_t value);

/* The part of what a camera sees that becomes its picture: G_SELECTION and S_SELECTION of V4L2_SEL_TGT_CROP, or of
   V4L2_SEL_TGT_CROP_BOUNDS and _DEFAULT, which are only read. The driver may write another one than it was given. */
struct clinux_v4l2_rectangle {
    int32_t left, top;
    uint32_t width, height;
};
int clinux_v4l2_crop(int fd, uint32_t target, struct clinux_v4l2_rectangle *out);
int clinux_v4l2_set_crop(int fd, struct clinux_v4l2_rectangle *rectangle);

/* SUBSCRIBE_EVENT: changes of a control. */
int clinux_v4l2_watch_control(int fd, uint32_t id);
struct clinux_v4l2_control_event {
    uint32_t id, changes, type, flags, is_64_bit; /* id 0: an event of another kind. changes: V4L2_EVENT_CTRL_CH_* */
    int64_t value, minimum, maximum, step, standard;
};
/* DQEVENT; ENOENT when no event waits. */
int clinux_v4l2_take_control_event(int fd, struct clinux_v4l2_control_event *out);
