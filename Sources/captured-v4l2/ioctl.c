/* The system calls of V4L2: which function does what. */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

enum { capture = V4L2_BUF_TYPE_VIDEO_CAPTURE };

static int query_capabilities(struct file *file, struct v4l2_capability *argument) {
    const struct capture_device *device = file->camera.device;
    struct utsname system;
    unsigned major = 6, minor = 0, patch = 0;
    memset(argument, 0, sizeof *argument);
    strcpy((char *)argument->driver, "captured");
    snprintf((char *)argument->card, sizeof argument->card, "%s", *device->name ? device->name : device->id);
    /* Programs look at how it begins. */
    static const char *const known[] = {"usb-", "PCI:", "platform:"};
    bool is_known = false;
    for (size_t i = 0; i < SHIM_COUNT(known); i++) is_known |= !strncmp(device->bus, known[i], strlen(known[i]));
    snprintf((char *)argument->bus_info, sizeof argument->bus_info, "%s%s", is_known ? "" : "platform:",
             is_known ? device->bus : device->id);
    if (uname(&system) == 0) sscanf(system.release, "%u.%u.%u", &major, &minor, &patch);
    argument->version = major << 16 | (minor & 255) << 8 | (patch < 255 ? patch : 255);
    argument->device_caps =
        V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING | V4L2_CAP_READWRITE | V4L2_CAP_EXT_PIX_FORMAT;
    argument->capabilities = argument->device_caps | V4L2_CAP_DEVICE_CAPS;
    return 0;
}

static int enum_input(struct v4l2_input *argument) {
    uint32_t index = argument->index;
    if (index) return EINVAL;
    memset(argument, 0, sizeof *argument);
    strcpy((char *)argument->name, "Camera 1");
    argument->type = V4L2_INPUT_TYPE_CAMERA;
    return 0;
}

static struct v4l2_rect whole(const struct file *file) {
    return (struct v4l2_rect){0, 0, file->choice.width, file->choice.height};
}

static int crop_capability(struct file *file, struct v4l2_cropcap *argument) {
    if (argument->type != capture) return EINVAL;
    argument->bounds = argument->defrect = whole(file);
    argument->pixelaspect = (struct v4l2_fract){1, 1};
    return 0;
}

static int get_selection(struct file *file, struct v4l2_selection *argument) {
    bool is_one = argument->target == V4L2_SEL_TGT_CROP_DEFAULT || argument->target == V4L2_SEL_TGT_CROP_BOUNDS;
    if (argument->type != capture || !is_one) return EINVAL;
    argument->flags = 0;
    memset(argument->reserved, 0, sizeof argument->reserved);
    argument->r = whole(file);
    return 0;
}

static int query_old(struct file *file, struct v4l2_queryctrl *argument) {
    struct v4l2_query_ext_ctrl found = {.id = argument->id};
    /* What does not fit into this older call is not shown by it. */
    do {
        int error = shim_query_control(file, &found);
        if (error) return error;
        if (found.type != V4L2_CTRL_TYPE_INTEGER64) break;
        if (!(argument->id & V4L2_CTRL_FLAG_NEXT_CTRL)) {
            found.minimum = found.maximum = found.default_value = found.step = 0;
            break;
        }
        found.id |= V4L2_CTRL_FLAG_NEXT_CTRL;
    } while (true);
    *argument = (struct v4l2_queryctrl){.id = found.id,
                                        .type = found.type,
                                        .minimum = (int32_t)found.minimum,
                                        .maximum = (int32_t)found.maximum,
                                        .step = (int32_t)found.step,
                                        .default_value = (int32_t)found.default_value,
                                        .flags = found.flags};
    memcpy(argument->name, found.name, sizeof argument->name);
    argument->name[sizeof argument->name - 1] = 0;
    return 0;
}

static int get_control(struct file *file, struct v4l2_control *argument) {
    int64_t value;
    int error = shim_get_control(file, argument->id, &value);
    if (!error) argument->value = (int32_t)value;
    return error;
}

static int set_control(struct file *file, struct v4l2_control *argument) {
    int64_t value = argument->value;
    int error = shim_set_control(file, argument->id, &value, true);
    if (!error) argument->value = (int32_t)value;
    return error;
}

static int set_priority(struct file *file, uint32_t priority) {
    if (priority < V4L2_PRIORITY_BACKGROUND || priority > V4L2_PRIORITY_RECORD) return EINVAL;
    __atomic_store_n(&file->priority, (enum v4l2_priority)priority, __ATOMIC_RELAXED);
    return 0;
}

/* Which calls an open of higher priority forbids. */
static bool is_ruled_out(const struct file *file, uint32_t request) {
    switch (request) {
    case (uint32_t)VIDIOC_S_FMT:
    case (uint32_t)VIDIOC_S_PARM:
    case (uint32_t)VIDIOC_S_INPUT:
    case (uint32_t)VIDIOC_S_CTRL:
    case (uint32_t)VIDIOC_S_EXT_CTRLS:
    case (uint32_t)VIDIOC_S_PRIORITY:
    case (uint32_t)VIDIOC_REQBUFS:
    case (uint32_t)VIDIOC_CREATE_BUFS:
    case (uint32_t)VIDIOC_STREAMON:
    case (uint32_t)VIDIOC_STREAMOFF: return shim_priority(file) > file->priority;
    default: return false;
    }
}

static int stream_off(struct file *file, const int *type) {
    if (*type != capture) return EINVAL;
    if (file->is_reading) return EBUSY;
    pthread_mutex_unlock(&file->lock);
    int error = shim_stream_off(file);
    pthread_mutex_lock(&file->lock);
    return error;
}

static int stream_on(struct file *file, const int *type) {
    if (*type != capture) return EINVAL;
    return file->is_reading ? EBUSY : shim_stream_on(file);
}

static int run(struct file *file, bool waits, uint32_t request, void *argument) {
    switch (request) {
    case (uint32_t)VIDIOC_QUERYCAP: return query_capabilities(file, argument);
    case (uint32_t)VIDIOC_ENUM_FMT: return shim_enum_formats(file, argument);
    case (uint32_t)VIDIOC_ENUM_FRAMESIZES: return shim_enum_sizes(file, argument);
    case (uint32_t)VIDIOC_ENUM_FRAMEINTERVALS: return shim_enum_intervals(file, argument);
    case (uint32_t)VIDIOC_G_FMT: return shim_get_format(file, argument);
    case (uint32_t)VIDIOC_S_FMT: return shim_try_format(file, argument, true);
    case (uint32_t)VIDIOC_TRY_FMT: return shim_try_format(file, argument, false);
    case (uint32_t)VIDIOC_G_PARM: return shim_get_parm(file, argument);
    case (uint32_t)VIDIOC_S_PARM: return shim_set_parm(file, argument);
    case (uint32_t)VIDIOC_ENUMINPUT: return enum_input(argument);
    case (uint32_t)VIDIOC_G_INPUT: *(int *)argument = 0; return 0;
    case (uint32_t)VIDIOC_S_INPUT: return *(int *)argument ? EINVAL : 0;
    case (uint32_t)VIDIOC_CROPCAP: return crop_capability(file, argument);
    case (uint32_t)VIDIOC_G_SELECTION: return get_selection(file, argument);
    case (uint32_t)VIDIOC_REQBUFS: return shim_reqbufs(file, argument);
    case (uint32_t)VIDIOC_CREATE_BUFS: return shim_create_bufs(file, argument);
    case (uint32_t)VIDIOC_QUERYBUF: return shim_querybuf(file, argument);
    case (uint32_t)VIDIOC_QBUF: return shim_qbuf(file, argument);
    case (uint32_t)VIDIOC_DQBUF: return shim_dqbuf(file, argument, waits);
    case (uint32_t)VIDIOC_EXPBUF: return shim_expbuf(file, argument);
    case (uint32_t)VIDIOC_STREAMON: return stream_on(file, argument);
    case (uint32_t)VIDIOC_STREAMOFF: return stream_off(file, argument);
    case (uint32_t)VIDIOC_G_PRIORITY: *(uint32_t *)argument = shim_priority(file); return 0;
    case (uint32_t)VIDIOC_S_PRIORITY: return set_priority(file, *(uint32_t *)argument);
    case (uint32_t)VIDIOC_QUERYCTRL: return query_old(file, argument);
    case (uint32_t)VIDIOC_QUERY_EXT_CTRL: return shim_query_control(file, argument);
    case (uint32_t)VIDIOC_QUERYMENU: return shim_query_menu(file, argument);
    case (uint32_t)VIDIOC_G_CTRL: return get_control(file, argument);
    case (uint32_t)VIDIOC_S_CTRL: return set_control(file, argument);
    case (uint32_t)VIDIOC_G_EXT_CTRLS: return shim_ext_controls(file, argument, VIDIOC_G_EXT_CTRLS);
    case (uint32_t)VIDIOC_S_EXT_CTRLS: return shim_ext_controls(file, argument, VIDIOC_S_EXT_CTRLS);
    case (uint32_t)VIDIOC_TRY_EXT_CTRLS: return shim_ext_controls(file, argument, VIDIOC_TRY_EXT_CTRLS);
    case (uint32_t)VIDIOC_SUBSCRIBE_EVENT: return shim_subscribe(file, argument);
    case (uint32_t)VIDIOC_UNSUBSCRIBE_EVENT: return shim_unsubscribe(file, argument);
    case (uint32_t)VIDIOC_DQEVENT: return shim_dequeue_event(file, argument, waits);
    default: return ENOTTY;
    }
}

int shim_ioctl(struct file *file, unsigned long request, void *argument) {
    int saved = errno, error;
    /* In the place of an argument that is missing: which error that is depends on the call. */
    _Alignas(16) unsigned char nothing[1024] = {0};
    /* By the library's own number: the program's may be closed meanwhile. */
    bool waits = !(real_fcntl(file->inner, F_GETFL, 0) & O_NONBLOCK);
    pthread_mutex_lock(&file->lock);
    shim_sync(file);
    if (!argument) error = run(file, false, (uint32_t)request, nothing) == ENOTTY ? ENOTTY : EFAULT;
    else if (is_ruled_out(file, (uint32_t)request)) error = EBUSY;
    else error = run(file, waits, (uint32_t)request, argument);
    pthread_mutex_unlock(&file->lock);
    errno = error ? error : saved;
    return error ? -1 : 0;
}
