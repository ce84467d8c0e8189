#define _GNU_SOURCE
#include "clinux_v4l2.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

static int is_multiplanar(uint32_t type) { return type == V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE; }

/* A driver's string need not end in a zero. */
static void copy_text(char *to, const void *from, size_t size) {
    memcpy(to, from, size);
    to[size] = 0;
}

int clinux_v4l2_capability(int fd, struct clinux_v4l2_capability *out) {
    struct v4l2_capability caps = {0};
    if (ioctl(fd, VIDIOC_QUERYCAP, &caps) == -1) return -1;
    copy_text(out->driver, caps.driver, sizeof caps.driver);
    copy_text(out->card, caps.card, sizeof caps.card);
    copy_text(out->bus, caps.bus_info, sizeof caps.bus_info);
    out->capabilities = caps.capabilities & V4L2_CAP_DEVICE_CAPS ? caps.device_caps : caps.capabilities;
    return 0;
}

int clinux_v4l2_enum_format(int fd, uint32_t type, uint32_t index, struct clinux_v4l2_option *out) {
    struct v4l2_fmtdesc desc = {.index = index, .type = type};
    if (ioctl(fd, VIDIOC_ENUM_FMT, &desc) == -1) return -1;
    out->pixelformat = desc.pixelformat;
    out->flags = desc.flags;
    copy_text(out->name, desc.description, sizeof desc.description);
    return 0;
}

int clinux_v4l2_enum_size(int fd, uint32_t pixelformat, uint32_t index, struct clinux_v4l2_size *out) {
    struct v4l2_frmsizeenum size = {.index = index, .pixel_format = pixelformat};
    if (ioctl(fd, VIDIOC_ENUM_FRAMESIZES, &size) == -1) return -1;
    memset(out, 0, sizeof *out);
    out->type = size.type;
    if (size.type == V4L2_FRMSIZE_TYPE_DISCRETE) {
        out->least_width = size.discrete.width;
        out->least_height = size.discrete.height;
    } else {
        out->least_width = size.stepwise.min_width;
        out->most_width = size.stepwise.max_width;
        out->step_width = size.stepwise.step_width;
        out->least_height = size.stepwise.min_height;
        out->most_height = size.stepwise.max_height;
        out->step_height = size.stepwise.step_height;
    }
    return 0;
}

int clinux_v4l2_enum_interval(
    int fd, uint32_t pixelformat, uint32_t width, uint32_t height, uint32_t index, struct clinux_v4l2_interval *out) {
    struct v4l2_frmivalenum interval = {
        .index = index, .pixel_format = pixelformat, .width = width, .height = height};
    if (ioctl(fd, VIDIOC_ENUM_FRAMEINTERVALS, &interval) == -1) return -1;
    memset(out, 0, sizeof *out);
    out->type = interval.type;
    if (interval.type == V4L2_FRMIVAL_TYPE_DISCRETE) {
        out->least_numerator = interval.discrete.numerator;
        out->least_denominator = interval.discrete.denominator;
    } else {
        out->least_numerator = interval.stepwise.min.numerator;
        out->least_denominator = interval.stepwise.min.denominator;
        out->most_numerator = interval.stepwise.max.numerator;
        out->most_denominator = interval.stepwise.max.denominator;
        out->step_numerator = interval.stepwise.step.numerator;
        out->step_denominator = interval.stepwise.step.denominator;
    }
    return 0;
}

static int format_call(int fd, unsigned long request, uint32_t type, struct clinux_v4l2_format *format) {
    struct v4l2_format raw = {.type = type};
    if (type == V4L2_BUF_TYPE_META_CAPTURE) {
        raw.fmt.meta.dataformat = format->pixelformat;
        if (ioctl(fd, request, &raw) == -1) return -1;
        memset(format, 0, sizeof *format);
        format->pixelformat = raw.fmt.meta.dataformat;
        format->planes = 1;
        format->size[0] = raw.fmt.meta.buffersize;
        return 0;
    }
    if (request != VIDIOC_G_FMT && is_multiplanar(type)) {
        raw.fmt.pix_mp.width = format->width;
        raw.fmt.pix_mp.height = format->height;
        raw.fmt.pix_mp.pixelformat = format->pixelformat;
        raw.fmt.pix_mp.field = V4L2_FIELD_NONE;
    } else if (request != VIDIOC_G_FMT) {
        raw.fmt.pix.width = format->width;
        raw.fmt.pix.height = format->height;
        raw.fmt.pix.pixelformat = format->pixelformat;
        raw.fmt.pix.field = V4L2_FIELD_NONE;
    }
    if (ioctl(fd, request, &raw) == -1) return -1;
    memset(format, 0, sizeof *format);
    if (is_multiplanar(type)) {
        const struct v4l2_pix_format_mplane *pix = &raw.fmt.pix_mp;
        if (pix->num_planes > clinux_v4l2_planes) {
            errno = ENOTSUP;
            return -1;
        }
        format->pixelformat = pix->pixelformat;
        format->width = pix->width;
        format->height = pix->height;
        format->colorspace = pix->colorspace;
        format->transfer = pix->xfer_func;
        format->encoding = pix->ycbcr_enc;
        format->quantization = pix->quantization;
        format->field = pix->field;
        format->planes = pix->num_planes;
        for (unsigned i = 0; i < pix->num_planes; i++) {
            format->stride[i] = pix->plane_fmt[i].bytesperline;
            format->size[i] = pix->plane_fmt[i].sizeimage;
        }
    } else {
        const struct v4l2_pix_format *pix = &raw.fmt.pix;
        format->pixelformat = pix->pixelformat;
        format->width = pix->width;
        format->height = pix->height;
        format->colorspace = pix->colorspace;
        format->field = pix->field;
        /* Behind `priv`: without its magic these fields are a driver's private matter. */
        if (pix->priv == V4L2_PIX_FMT_PRIV_MAGIC) {
            format->transfer = pix->xfer_func;
            format->encoding = pix->ycbcr_enc;
            format->quantization = pix->quantization;
        }
        format->planes = 1;
        format->stride[0] = pix->bytesperline;
        format->size[0] = pix->sizeimage;
    }
    return 0;
}

int clinux_v4l2_get_format(int fd, uint32_t type, struct clinux_v4l2_format *format) {
    return format_call(fd, VIDIOC_G_FMT, type, format);
}
int clinux_v4l2_try_format(int fd, uint32_t type, struct clinux_v4l2_format *format) {
    return format_call(fd, VIDIOC_TRY_FMT, type, format);
}
int clinux_v4l2_set_format(int fd, uint32_t type, struct clinux_v4l2_format *format) {
    return format_call(fd, VIDIOC_S_FMT, type, format);
}

static int interval_call(int fd, unsigned long request, uint32_t type, uint32_t *numerator, uint32_t *denominator) {
    struct v4l2_streamparm parm = {.type = type};
    parm.parm.capture.timeperframe.numerator = *numerator;
    parm.parm.capture.timeperframe.denominator = *denominator;
    if (ioctl(fd, request, &parm) == -1) return -1;
    const struct v4l2_fract *time = &parm.parm.capture.timeperframe;
    if (time->numerator == 0 || time->denominator == 0) {
        errno = ENOTSUP;
        return -1;
    }
    *numerator = time->numerator;
    *denominator = time->denominator;
    return 0;
}

int clinux_v4l2_get_interval(int fd, uint32_t type, uint32_t *numerator, uint32_t *denominator) {
    *numerator = *denominator = 0;
    return interval_call(fd, VIDIOC_G_PARM, type, numerator, denominator);
}
int clinux_v4l2_set_interval(int fd, uint32_t type, uint32_t *numerator, uint32_t *denominator) {
    return interval_call(fd, VIDIOC_S_PARM, type, numerator, denominator);
}

int clinux_v4l2_request_buffers(int fd, uint32_t type, uint32_t memory, uint32_t *count) {
    struct v4l2_requestbuffers request = {.count = *count, .type = type, .memory = memory};
    if (ioctl(fd, VIDIOC_REQBUFS, &request) == -1) return -1;
    *count = request.count;
    return 0;
}

int clinux_v4l2_query_buffer(
    int fd, uint32_t type, uint32_t index, uint32_t planes, uint32_t offset[4], uint32_t length[4]) {
    struct v4l2_plane plane[VIDEO_MAX_PLANES] = {0};
    struct v4l2_buffer buffer = {.index = index, .type = type, .memory = V4L2_MEMORY_MMAP};
    if (is_multiplanar(type)) {
        buffer.m.planes = plane;
        buffer.length = VIDEO_MAX_PLANES;
    }
    if (ioctl(fd, VIDIOC_QUERYBUF, &buffer) == -1) return -1;
    if (is_multiplanar(type)) {
        for (uint32_t i = 0; i < planes && i < clinux_v4l2_planes; i++) {
            offset[i] = plane[i].m.mem_offset;
            length[i] = plane[i].length;
        }
    } else {
        offset[0] = buffer.m.offset;
        length[0] = buffer.length;
    }
    return 0;
}

int clinux_v4l2_queue(
    int fd, uint32_t type, uint32_t memory, uint32_t index, uint32_t planes, uintptr_t base, const uint32_t offset[4],
    const uint32_t length[4]) {
    struct v4l2_plane plane[clinux_v4l2_planes] = {0};
    struct v4l2_buffer buffer = {.index = index, .type = type, .memory = memory};
    if (is_multiplanar(type)) {
        buffer.m.planes = plane;
        buffer.length = planes;
        for (uint32_t i = 0; memory == V4L2_MEMORY_USERPTR && i < planes && i < clinux_v4l2_planes; i++) {
            plane[i].m.userptr = base + offset[i];
            plane[i].length = length[i];
        }
    } else if (memory == V4L2_MEMORY_USERPTR) {
        buffer.m.userptr = base + offset[0];
        buffer.length = length[0];
    }
    return ioctl(fd, VIDIOC_QBUF, &buffer);
}

int clinux_v4l2_dequeue(int fd, uint32_t type, uint32_t memory, uint32_t planes, struct clinux_v4l2_buffer *out) {
    struct v4l2_plane plane[clinux_v4l2_planes] = {0};
    struct v4l2_buffer buffer = {.type = type, .memory = memory};
    if (is_multiplanar(type)) {
        buffer.m.planes = plane;
        buffer.length = clinux_v4l2_planes;
    }
    if (ioctl(fd, VIDIOC_DQBUF, &buffer) == -1) return -1;
    out->index = buffer.index;
    out->flags = buffer.flags;
    out->sequence = buffer.sequence;
    out->seconds = buffer.timestamp.tv_sec;
    out->microseconds = buffer.timestamp.tv_usec;
    for (uint32_t i = 0; i < clinux_v4l2_planes; i++) {
        int used = is_multiplanar(type) && i < planes;
        out->used[i] = used ? plane[i].bytesused : 0;
        out->start[i] = used ? plane[i].data_offset : 0;
    }
    if (!is_multiplanar(type)) out->used[0] = buffer.bytesused;
    return 0;
}

int clinux_v4l2_input(int fd, struct clinux_v4l2_input *out) {
    int index = 0;
    if (ioctl(fd, VIDIOC_G_INPUT, &index) == -1) return -1;
    struct v4l2_input input = {.index = (uint32_t)index};
    if (ioctl(fd, VIDIOC_ENUMINPUT, &input) == -1) return -1;
    out->index = input.index;
    out->status = input.status;
    out->is_cable = input.type == V4L2_INPUT_TYPE_TUNER || input.std != 0
        || (input.capabilities & (V4L2_IN_CAP_DV_TIMINGS | V4L2_IN_CAP_STD)) != 0;
    copy_text(out->name, input.name, sizeof input.name);
    return 0;
}

int clinux_v4l2_watch_input(int fd, uint32_t input) {
    struct v4l2_event_subscription subscription = {.type = V4L2_EVENT_SOURCE_CHANGE, .id = input};
    return ioctl(fd, VIDIOC_SUBSCRIBE_EVENT, &subscription);
}

int clinux_v4l2_take_event(int fd) {
    struct v4l2_event event;
    return ioctl(fd, VIDIOC_DQEVENT, &event);
}

int clinux_v4l2_signal(int fd, int is_set, struct clinux_v4l2_signal *out) {
    struct v4l2_dv_timings timings = {0};
    if (ioctl(fd, is_set ? VIDIOC_G_DV_TIMINGS : VIDIOC_QUERY_DV_TIMINGS, &timings) == -1) return -1;
    if (timings.type != V4L2_DV_BT_656_1120) {
        errno = ENODATA;
        return -1;
    }
    out->width = timings.bt.width;
    out->height = timings.bt.height;
    out->is_interlaced = timings.bt.interlaced != 0;
    out->pixel_clock = timings.bt.pixelclock;
    return 0;
}

int clinux_v4l2_adopt_signal(int fd) {
    struct v4l2_dv_timings timings = {0};
    if (ioctl(fd, VIDIOC_QUERY_DV_TIMINGS, &timings) == -1) return -1;
    return ioctl(fd, VIDIOC_S_DV_TIMINGS, &timings);
}

int clinux_v4l2_stream(int fd, uint32_t type, int on) {
    int raw = (int)type;
    return ioctl(fd, on ? VIDIOC_STREAMON : VIDIOC_STREAMOFF, &raw);
}

int clinux_v4l2_next_control(int fd, uint32_t id, struct clinux_v4l2_control *out) {
    struct v4l2_query_ext_ctrl query = {.id = id | V4L2_CTRL_FLAG_NEXT_CTRL};
    if (ioctl(fd, VIDIOC_QUERY_EXT_CTRL, &query) == -1) return -1;
    out->id = query.id;
    out->type = query.type;
    out->flags = query.flags;
    out->elements = query.elems;
    copy_text(out->name, query.name, sizeof query.name);
    out->minimum = query.minimum;
    out->maximum = query.maximum;
    out->standard = query.default_value;
    out->step = query.step;
    return 0;
}

int clinux_v4l2_menu_entry(int fd, uint32_t id, uint32_t index, int is_integer, char name[33]) {
    struct v4l2_querymenu entry = {.id = id, .index = index};
    if (ioctl(fd, VIDIOC_QUERYMENU, &entry) == -1) return -1;
    if (is_integer) {
        snprintf(name, 33, "%" PRId64, (int64_t)entry.value);
    } else {
        copy_text(name, entry.name, sizeof entry.name);
    }
    return 0;
}

static int control_call(int fd, unsigned long request, uint32_t id, int is_64_bit, int64_t *value) {
    struct v4l2_ext_control control = {.id = id};
    if (is_64_bit) {
        control.value64 = *value;
    } else {
        control.value = (int32_t)*value;
    }
    struct v4l2_ext_controls set = {.which = V4L2_CTRL_WHICH_CUR_VAL, .count = 1, .controls = &control};
    if (ioctl(fd, request, &set) == -1) return -1;
    *value = is_64_bit ? control.value64 : control.value;
    return 0;
}

int clinux_v4l2_get_control(int fd, uint32_t id, int is_64_bit, int64_t *value) {
    *value = 0;
    return control_call(fd, VIDIOC_G_EXT_CTRLS, id, is_64_bit, value);
}

int clinux_v4l2_orientation(int fd) {
    int64_t value;
    if (clinux_v4l2_get_control(fd, V4L2_CID_CAMERA_ORIENTATION, 0, &value) == -1) return -1;
    return value >= V4L2_CAMERA_ORIENTATION_FRONT && value <= V4L2_CAMERA_ORIENTATION_EXTERNAL ? (int)value : -1;
}

int clinux_v4l2_set_control(int fd, uint32_t id, int is_64_bit, int64_t value) {
    return control_call(fd, VIDIOC_S_EXT_CTRLS, id, is_64_bit, &value);
}

/* Of multi-planar devices, too, the type is the plain one: kernels before 4.13 took no other. */
static int selection_call(int fd, unsigned long request, uint32_t target, struct clinux_v4l2_rectangle *rectangle) {
    struct v4l2_selection selection = {
        .type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
        .target = target,
        .r = {rectangle->left, rectangle->top, rectangle->width, rectangle->height},
    };
    if (ioctl(fd, request, &selection) == -1) return -1;
    *rectangle = (struct clinux_v4l2_rectangle){
        selection.r.left, selection.r.top, selection.r.width, selection.r.height};
    return 0;
}

int clinux_v4l2_crop(int fd, uint32_t target, struct clinux_v4l2_rectangle *out) {
    *out = (struct clinux_v4l2_rectangle){0};
    return selection_call(fd, VIDIOC_G_SELECTION, target, out);
}

int clinux_v4l2_set_crop(int fd, struct clinux_v4l2_rectangle *rectangle) {
    return selection_call(fd, VIDIOC_S_SELECTION, V4L2_SEL_TGT_CROP, rectangle);
}

int clinux_v4l2_watch_control(int fd, uint32_t id) {
    struct v4l2_event_subscription subscription = {.type = V4L2_EVENT_CTRL, .id = id};
    return ioctl(fd, VIDIOC_SUBSCRIBE_EVENT, &subscription);
}

int clinux_v4l2_take_control_event(int fd, struct clinux_v4l2_control_event *out) {
    struct v4l2_event event = {0};
    if (ioctl(fd, VIDIOC_DQEVENT, &event) == -1) return -1;
    const struct v4l2_event_ctrl *control = &event.u.ctrl;
    *out = (struct clinux_v4l2_control_event){
        .id = event.type == V4L2_EVENT_CTRL ? event.id : 0,
        .changes = control->changes,
        .type = control->type,
        .flags = control->flags,
        .is_64_bit = control->type == V4L2_CTRL_TYPE_INTEGER64,
        .value = control->type == V4L2_CTRL_TYPE_INTEGER64 ? control->value64 : control->value,
        .minimum = control->minimum,
        .maximum = control->maximum,
        .step = control->step,
        .standard = control->default_value,
    };
    return 0;
}
