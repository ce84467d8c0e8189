/* Controls: those of the daemon's that have a number of V4L2's. */
#include "shim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_views = 256, fresh_ms = 50 };

/* A control, or the heading of a class, which has none. */
struct view {
    uint32_t id;
    const struct capture_control *control;
};

static int by_number(const void *a, const void *b) {
    uint32_t one = ((const struct view *)a)->id, other = ((const struct view *)b)->id;
    return one < other ? -1 : one > other;
}

static bool is_shown(const struct capture_control *control) {
    return control->id && V4L2_CTRL_DRIVER_PRIV(control->id) == 0 && control->kind <= CAPTURE_CONTROL_BUTTON &&
           (control->id & V4L2_CTRL_ID_MASK) == control->id && (control->id & 0xffff) > 1;
}

static size_t list(const struct file *file, struct view views[most_views]) {
    size_t count = 0;
    for (size_t i = 0; file->controls && file->controls[i] && count + 2 <= most_views; i++) {
        const struct capture_control *control = file->controls[i];
        bool has_heading = false, is_double = false;
        if (!is_shown(control)) continue;
        uint32_t heading = V4L2_CTRL_ID2WHICH(control->id) | 1;
        for (size_t j = 0; j < count; j++) {
            has_heading |= views[j].id == heading;
            is_double |= views[j].id == control->id;
        }
        if (is_double) continue;
        if (!has_heading) views[count++] = (struct view){heading, NULL};
        views[count++] = (struct view){control->id, control};
    }
    qsort(views, count, sizeof *views, by_number);
    return count;
}

/* Asks the daemon, unless it has just answered. Programs that may not use the camera yet see no controls. */
static void refresh(struct file *file) {
    if (file->is_gone || (file->controls_at && shim_now() - file->controls_at < fresh_ms * INT64_C(1000000))) return;
    const struct capture_control *const *found = NULL;
    pthread_mutex_unlock(&file->lock);
    int result = lib.controls(file->camera.client, file->camera.device->id, &found);
    pthread_mutex_lock(&file->lock);
    shim_forget_controls(file);
    file->controls = result == 0 ? found : NULL;
    file->controls_at = shim_now();
}

void shim_forget_controls(struct file *file) {
    if (file->controls) lib.controls_free(file->controls);
    file->controls = NULL;
    file->controls_at = 0;
}

static bool find(struct file *file, uint32_t id, struct view *found) {
    struct view views[most_views];
    size_t count = list(file, views);
    for (size_t i = 0; i < count; i++)
        if (views[i].id == id) {
            *found = views[i];
            return true;
        }
    return false;
}

/* Menus whose entries are numbers to V4L2. */
static bool is_integer_menu(const struct capture_control *control) {
    return control->id == V4L2_CID_AUTO_EXPOSURE_BIAS || control->id == V4L2_CID_ISO_SENSITIVITY ||
           control->id == V4L2_CID_LINK_FREQ;
}

static uint32_t type_of(const struct capture_control *control) {
    switch (control->kind) {
    case CAPTURE_CONTROL_BOOLEAN: return V4L2_CTRL_TYPE_BOOLEAN;
    case CAPTURE_CONTROL_MENU:
        return is_integer_menu(control) ? V4L2_CTRL_TYPE_INTEGER_MENU : V4L2_CTRL_TYPE_MENU;
    case CAPTURE_CONTROL_BUTTON: return V4L2_CTRL_TYPE_BUTTON;
    default: break;
    }
    bool is_wide = control->minimum < INT32_MIN || control->maximum > INT32_MAX;
    return is_wide ? V4L2_CTRL_TYPE_INTEGER64 : V4L2_CTRL_TYPE_INTEGER;
}

static uint32_t flags_of(const struct capture_control *control) {
    return (control->flags & CAPTURE_CONTROL_READ_ONLY ? V4L2_CTRL_FLAG_READ_ONLY : 0) |
           (control->flags & CAPTURE_CONTROL_VOLATILE ? V4L2_CTRL_FLAG_VOLATILE : 0) |
           (control->flags & CAPTURE_CONTROL_INACTIVE ? V4L2_CTRL_FLAG_INACTIVE : 0) |
           (control->flags & CAPTURE_CONTROL_IN_USE ? V4L2_CTRL_FLAG_GRABBED : 0) |
           (control->kind == CAPTURE_CONTROL_BUTTON ? V4L2_CTRL_FLAG_WRITE_ONLY | V4L2_CTRL_FLAG_EXECUTE_ON_WRITE : 0);
}

static const char *heading(uint32_t id) {
    switch (V4L2_CTRL_ID2WHICH(id)) {
    case V4L2_CTRL_CLASS_USER: return "User Controls";
    case V4L2_CTRL_CLASS_CAMERA: return "Camera Controls";
    case V4L2_CTRL_CLASS_FLASH: return "Flash Controls";
    case V4L2_CTRL_CLASS_JPEG: return "JPEG Compression Controls";
    case V4L2_CTRL_CLASS_IMAGE_SOURCE: return "Image Source Controls";
    case V4L2_CTRL_CLASS_IMAGE_PROC: return "Image Processing Controls";
    default: return "Other Controls";
    }
}

int shim_query_control(struct file *file, struct v4l2_query_ext_ctrl *argument) {
    uint32_t next = argument->id & (V4L2_CTRL_FLAG_NEXT_CTRL | V4L2_CTRL_FLAG_NEXT_COMPOUND);
    uint32_t id = argument->id & V4L2_CTRL_ID_MASK;
    struct view views[most_views], *view = NULL;
    refresh(file);
    size_t count = list(file, views);
    for (size_t i = 0; i < count && !view && next != V4L2_CTRL_FLAG_NEXT_COMPOUND; i++)
        if (next ? views[i].id > id : views[i].id == id) view = &views[i];
    if (!view) return EINVAL;
    memset(argument, 0, sizeof *argument);
    argument->id = view->id;
    const struct capture_control *control = view->control;
    if (!control) {
        argument->type = V4L2_CTRL_TYPE_CTRL_CLASS;
        argument->flags = V4L2_CTRL_FLAG_READ_ONLY | V4L2_CTRL_FLAG_WRITE_ONLY;
        snprintf(argument->name, sizeof argument->name, "%s", heading(view->id));
        return 0;
    }
    argument->type = type_of(control);
    argument->flags = flags_of(control);
    argument->elems = 1;
    argument->elem_size = argument->type == V4L2_CTRL_TYPE_INTEGER64 ? 8 : 4;
    snprintf(argument->name, sizeof argument->name, "%s", *control->label ? control->label : control->name);
    if (argument->type == V4L2_CTRL_TYPE_BUTTON) return 0;
    argument->minimum = control->minimum;
    argument->maximum = control->maximum;
    argument->step = control->step > 0 ? (uint64_t)control->step : 1;
    if (control->kind >= CAPTURE_CONTROL_BOOLEAN) argument->step = 1;
    argument->default_value = control->default_value;
    return 0;
}

int shim_query_menu(struct file *file, struct v4l2_querymenu *argument) {
    struct view view;
    refresh(file);
    if (!find(file, argument->id, &view) || !view.control || view.control->kind != CAPTURE_CONTROL_MENU) return EINVAL;
    argument->reserved = 0;
    for (size_t i = 0; i < view.control->choice_count; i++) {
        const struct capture_choice *choice = &view.control->choices[i];
        if (choice->value != argument->index) continue;
        memset(argument->name, 0, sizeof argument->name);
        if (is_integer_menu(view.control)) argument->value = strtoll(choice->name, NULL, 10);
        else snprintf((char *)argument->name, sizeof argument->name, "%s", choice->name);
        return 0;
    }
    return EINVAL;
}

int shim_get_control(struct file *file, uint32_t id, int64_t *value) {
    struct view view;
    refresh(file);
    if (!find(file, id, &view)) return EINVAL;
    if (!view.control || view.control->kind == CAPTURE_CONTROL_BUTTON) return EACCES;
    *value = view.control->value;
    return 0;
}

int shim_default_control(struct file *file, uint32_t id, int64_t *value) {
    struct view view;
    refresh(file);
    if (!find(file, id, &view) || !view.control) return EINVAL;
    *value = view.control->default_value;
    return 0;
}

bool shim_has_class(struct file *file, uint32_t which) {
    struct view view;
    refresh(file);
    return find(file, which | 1, &view);
}

/* As the kernel does it: numbers are brought into range, choices are refused. */
static int adjust(const struct capture_control *control, int64_t *value) {
    if (control->kind == CAPTURE_CONTROL_BOOLEAN) *value = *value != 0;
    if (control->kind == CAPTURE_CONTROL_BUTTON) *value = 1;
    if (control->kind == CAPTURE_CONTROL_MENU) {
        for (size_t i = 0; i < control->choice_count; i++)
            if (control->choices[i].value == *value) return 0;
        return *value < control->minimum || *value > control->maximum ? ERANGE : EINVAL;
    }
    if (control->kind != CAPTURE_CONTROL_INTEGER) return 0;
    if (*value <= control->minimum || control->maximum <= control->minimum) *value = control->minimum;
    else if (*value > control->maximum) *value = control->maximum;
    uint64_t step = control->step > 0 ? (uint64_t)control->step : 1;
    uint64_t above = (uint64_t)*value - (uint64_t)control->minimum;
    uint64_t rounded = (above + step / 2) / step * step;
    if (rounded > (uint64_t)control->maximum - (uint64_t)control->minimum) rounded -= step;
    *value = (int64_t)((uint64_t)control->minimum + rounded);
    return 0;
}

int shim_set_control(struct file *file, uint32_t id, int64_t *value, bool sets) {
    struct view view;
    refresh(file);
    if (!find(file, id, &view)) return EINVAL;
    if (!view.control || view.control->flags & CAPTURE_CONTROL_READ_ONLY) return EACCES;
    int error = adjust(view.control, value);
    if (error || !sets) return error;
    if (file->is_gone) return ENODEV;
    if (view.control->flags & CAPTURE_CONTROL_IN_USE) return EBUSY;
    char name[128];
    snprintf(name, sizeof name, "%s", view.control->name);
    int64_t wish = *value;
    shim_expect_echo(file, id, wish);
    pthread_mutex_unlock(&file->lock);
    int result = lib.control_set(file->camera.client, file->camera.device->id, name, wish);
    pthread_mutex_lock(&file->lock);
    file->controls_at = 0;
    if (result == 0) return 0;
    return result == -CAPTURE_INVALID_ARGUMENT ? ERANGE : shim_error(result);
}

bool shim_describe(struct file *file, const char *name, uint32_t *id, struct v4l2_event_ctrl *event) {
    struct view views[most_views], *view = NULL;
    refresh(file);
    size_t count = list(file, views);
    for (size_t i = 0; i < count && !view; i++)
        if (*id ? views[i].id == *id : views[i].control && !strcmp(views[i].control->name, name)) view = &views[i];
    if (!view) return false;
    memset(event, 0, sizeof *event);
    *id = view->id;
    event->type = V4L2_CTRL_TYPE_CTRL_CLASS;
    event->flags = V4L2_CTRL_FLAG_READ_ONLY | V4L2_CTRL_FLAG_WRITE_ONLY;
    if (!view->control) return true;
    const struct capture_control *control = view->control;
    event->type = type_of(control);
    event->flags = flags_of(control);
    event->value64 = control->value;
    event->minimum = (int32_t)control->minimum;
    event->maximum = (int32_t)control->maximum;
    event->step = (int32_t)control->step;
    event->default_value = (int32_t)control->default_value;
    return true;
}
