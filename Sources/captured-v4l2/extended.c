/* G, S and TRY_EXT_CTRLS. */
#include "shim.h"

#include <errno.h>

static bool is_wide(struct file *file, uint32_t id) {
    struct v4l2_event_ctrl event;
    return shim_describe(file, "", &id, &event) && event.type == V4L2_CTRL_TYPE_INTEGER64;
}

static int64_t value_of(struct file *file, const struct v4l2_ext_control *control) {
    return is_wide(file, control->id) ? control->value64 : control->value;
}

static void put_value(struct file *file, struct v4l2_ext_control *control, int64_t value) {
    if (is_wide(file, control->id)) control->value64 = value;
    else control->value = (int32_t)value;
}

/* Whether all of them exist and may be read or written, before the first is. */
static int check(struct file *file, struct v4l2_ext_controls *argument, unsigned long request) {
    uint32_t which = argument->which;
    bool is_class = which != V4L2_CTRL_WHICH_CUR_VAL && which != V4L2_CTRL_WHICH_DEF_VAL;
    for (uint32_t i = 0; i < argument->count; i++) {
        struct v4l2_ext_control *control = &argument->controls[i];
        int64_t value;
        int error;
        argument->error_idx = i;
        if (is_class && V4L2_CTRL_ID2WHICH(control->id) != which) return EINVAL;
        if (request == VIDIOC_G_EXT_CTRLS) {
            error = which == V4L2_CTRL_WHICH_DEF_VAL ? shim_default_control(file, control->id, &value)
                                                     : shim_get_control(file, control->id, &value);
        } else {
            value = value_of(file, control);
            error = shim_set_control(file, control->id, &value, false);
            if (error == EINVAL && shim_default_control(file, control->id, &value) == 0) error = ERANGE;
        }
        if (error) return error;
    }
    return 0;
}

int shim_ext_controls(struct file *file, struct v4l2_ext_controls *argument, unsigned long request) {
    uint32_t which = argument->which;
    bool is_class = which != V4L2_CTRL_WHICH_CUR_VAL && which != V4L2_CTRL_WHICH_DEF_VAL;
    bool is_get = request == VIDIOC_G_EXT_CTRLS;
    argument->reserved[0] = 0;
    argument->error_idx = argument->count;
    if (which == V4L2_CTRL_WHICH_REQUEST_VAL) return EINVAL;
    if (which == V4L2_CTRL_WHICH_DEF_VAL && !is_get) return EINVAL;
    if (argument->count > 1024) return EINVAL;
    if (!argument->count) return is_class && !shim_has_class(file, which) ? EINVAL : 0;
    if (!argument->controls) return EFAULT;
    int error = check(file, argument, request);
    if (error) {
        /* Nothing was done yet. */
        if (request != VIDIOC_TRY_EXT_CTRLS) argument->error_idx = argument->count;
        return error;
    }
    for (uint32_t i = 0; i < argument->count; i++) {
        struct v4l2_ext_control *control = &argument->controls[i];
        int64_t value = 0;
        argument->error_idx = i;
        if (!is_get) {
            value = value_of(file, control);
            error = shim_set_control(file, control->id, &value, request == VIDIOC_S_EXT_CTRLS);
        } else if (which == V4L2_CTRL_WHICH_DEF_VAL) {
            error = shim_default_control(file, control->id, &value);
        } else {
            error = shim_get_control(file, control->id, &value);
        }
        if (error) return error;
        put_value(file, control, value);
    }
    argument->error_idx = argument->count;
    return 0;
}
