#include "camera.h"
#include <string.h>

enum { can_get = 1, can_set = 2, is_moving = 8, tells = 16 }; /* GET_INFO: autoupdate, asynchronous */
enum { both = can_get | can_set, follows = both | is_moving | tells };
enum { mode_manual = 1, mode_auto = 2, mode_shutter = 4, mode_aperture = 8 };
enum { set_cur = 0x01, get_cur = 0x81, get_min, get_max, get_res, get_len, get_info, get_def };
enum { error_none, error_wrong_state = 2, error_out_of_range = 4, error_unit, error_control, error_request };
enum { error_selector = 2, usual_exposure = 156, usual_iris = 28 };

const struct control_kind control_kinds[controls] = {
    [control_exposure_mode] = {entity_camera, 0x02, 1, 1, both, 1, 8, 15, mode_aperture},
    [control_exposure_priority] = {entity_camera, 0x03, 2, 1, both, 0, 1, 1, 0},
    [control_exposure] = {entity_camera, 0x04, 3, 4, follows, 1, 5000, 1, usual_exposure},
    [control_focus] = {entity_camera, 0x06, 5, 2, follows, 0, 250, 5, 30},
    [control_focus_auto] = {entity_camera, 0x08, 17, 1, both, 0, 1, 1, 1},
    [control_iris] = {entity_camera, 0x09, 7, 2, both, 14, 160, 2, usual_iris},
    [control_zoom] = {entity_camera, 0x0b, 9, 2, both, 100, 400, 10, 100},
    [control_pan_tilt] = {entity_camera, 0x0d, 11, 8, both, -36000, 36000, 3600, 0},
    [control_roll] = {entity_camera, 0x0f, 13, 2, both, -90, 90, 1, 0},
    [control_privacy] = {entity_camera, 0x11, 18, 1, both | tells, 0, 1, 1, 0},
    [control_backlight] = {entity_processing, 0x01, 8, 2, both, 0, 2, 1, 0},
    [control_brightness] = {entity_processing, 0x02, 0, 2, both, -64, 64, 1, 0},
    [control_contrast] = {entity_processing, 0x03, 1, 2, both, 0, 64, 1, 32},
    [control_gain] = {entity_processing, 0x04, 9, 2, both, 0, 100, 1, 0},
    [control_power_line] = {entity_processing, 0x05, 10, 1, both, 0, 2, 1, 1},
    [control_hue] = {entity_processing, 0x06, 2, 2, both, -180, 180, 1, 0},
    [control_saturation] = {entity_processing, 0x07, 3, 2, both, 0, 128, 1, 64},
    [control_sharpness] = {entity_processing, 0x08, 4, 2, both, 0, 6, 1, 3},
    [control_gamma] = {entity_processing, 0x09, 5, 2, both, 72, 500, 1, 100},
    [control_temperature] = {entity_processing, 0x0a, 6, 2, follows, 2800, 6500, 1, 4600},
    [control_temperature_auto] = {entity_processing, 0x0b, 12, 1, both, 0, 1, 1, 1},
    [control_flash_mode] = {entity_extension, extension_flash_mode, 0, 1, both, 0, 2, 1, 0},
    [control_strobe] = {entity_extension, extension_strobe, 1, 1, can_set, 0, 1, 1, 0},
    [control_torch] = {entity_extension, extension_torch, 2, 1, both, 1, 100, 1, 50},
    [control_stabilization] = {entity_extension, extension_stabilization, 3, 1, both, 0, 1, 1, 0},
    [control_bias] = {entity_extension, extension_bias, 4, 2, both, -2000, 2000, 500, 0},
    [control_wide_range] = {entity_extension, extension_wide_range, 5, 1, both, 0, 1, 1, 0},
};

void controls_reset(struct control_state *state) {
    *state = (struct control_state){0};
    for (int i = 0; i < controls; i++) state->value[i] = control_kinds[i].standard;
}

/* Whether the camera sets it by itself at present. */
static bool is_automatic(const struct control_state *state, int index) {
    int mode = state->value[control_exposure_mode];
    switch (index) {
        case control_exposure: return mode == mode_auto || mode == mode_aperture;
        case control_iris: return mode == mode_auto || mode == mode_shutter;
        case control_focus: return state->value[control_focus_auto];
        case control_temperature: return state->value[control_temperature_auto];
        default: return false;
    }
}

static void put_number(uint8_t *to, int32_t value, int size) {
    for (int i = 0; i < size; i++) to[i] = (uint32_t)value >> 8 * i;
}
static int32_t number_of(const uint8_t *from, int size, bool is_signed) {
    uint32_t value = 0;
    for (int i = 0; i < size; i++) value |= (uint32_t)from[i] << 8 * i;
    if (is_signed && size < 4 && value >> (8 * size - 1)) value |= UINT32_MAX << 8 * size;
    return (int32_t)value;
}

void send_status(struct camera *camera, const uint8_t *bytes, size_t length) {
    int room = sizeof camera->status / sizeof *camera->status;
    /* What nobody reads makes room for what is newer. */
    if (camera->status_count == room) {
        camera->status_first = (camera->status_first + 1) % room;
        camera->status_count--;
    }
    struct status_message *message = &camera->status[(camera->status_first + camera->status_count++) % room];
    message->length = length;
    memcpy(message->bytes, bytes, length);
}

static void tell_value(struct camera *camera, int index) {
    const struct control_kind *kind = &control_kinds[index];
    uint8_t bytes[16] = {1, kind->entity, 0, kind->selector, 0};
    put_number(bytes + 5, camera->control.value[index], kind->size);
    send_status(camera, bytes, 5 + kind->size);
}

static bool in_range(const struct control_kind *kind, int32_t value) {
    return value >= kind->minimum && value <= kind->maximum;
}

static uint8_t set(struct camera *camera, int index, const uint8_t *data) {
    const struct control_kind *kind = &control_kinds[index];
    struct control_state *state = &camera->control;
    int size = kind->size == 8 ? 4 : kind->size;
    int32_t value = number_of(data, size, kind->minimum < 0), tilt = number_of(data + 4, 4, true);
    if (is_automatic(state, index)) return error_wrong_state;
    if (!in_range(kind, value) || (kind->size == 8 && !in_range(kind, tilt))) return error_out_of_range;
    if (index == control_exposure_mode && value & (value - 1)) return error_out_of_range;
    state->value[index] = value;
    if (kind->size == 8) state->tilt = tilt;
    if (index == control_strobe && state->value[control_flash_mode] == 1) state->strobe = true;
    if (kind->info & tells) tell_value(camera, index);
    return error_none;
}

static int get(const struct control_state *state, int index, uint8_t request, uint8_t *answer) {
    const struct control_kind *kind = &control_kinds[index];
    int32_t value, second;
    switch (request) {
        case get_len: return put_number(answer, kind->size, 2), 2;
        case get_info: return *answer = kind->info | (is_automatic(state, index) ? 4 : 0), 1;
        case get_cur: value = state->value[index], second = state->tilt; break;
        case get_min: value = second = kind->minimum; break;
        case get_max: value = second = kind->maximum; break;
        case get_res: value = second = kind->step; break;
        case get_def: value = second = kind->standard; break;
        default: return -1;
    }
    put_number(answer, value, kind->size == 8 ? 4 : kind->size);
    if (kind->size == 8) put_number(answer + 4, second, 4);
    return kind->size;
}

/* The host asks with setup {type, request, 0, selector, interface, entity, length}. */
int control_request(struct camera *camera, const struct request *request, uint8_t *answer) {
    struct control_state *state = &camera->control;
    uint8_t code = request->setup[1], selector = request->setup[3], entity = request->setup[5];
    if (!entity) {
        if (selector != error_selector || (code != get_cur && code != get_info && code != get_len)) return -1;
        if (code == get_len) return put_number(answer, 1, 2), 2;
        return *answer = code == get_info ? can_get : state->error, 1;
    }
    int found = -1;
    for (int i = 0; i < controls; i++)
        if (control_kinds[i].entity == entity && control_kinds[i].selector == selector) found = i;
    state->error = entity > entity_output ? error_unit : found < 0 ? error_control : error_none;
    if (state->error) return -1;
    const struct control_kind *kind = &control_kinds[found];
    if (code == set_cur && !request->is_in && kind->info & can_set && request->length >= kind->size) {
        state->error = set(camera, found, request->data);
        return state->error ? -1 : 0;
    }
    int length = code == get_cur && !(kind->info & can_get) ? -1 : get(state, found, code, answer);
    if (length < 0) state->error = error_request;
    return length;
}

/* A fifth of the way at a time, so that a program sees it move. */
static bool approach(struct camera *camera, int index, int target) {
    const struct control_kind *kind = &control_kinds[index];
    if (!is_automatic(&camera->control, index)) return false;
    target = target < kind->minimum ? kind->minimum : target > kind->maximum ? kind->maximum : target;
    target = kind->minimum + (target - kind->minimum) / kind->step * kind->step;
    int32_t *value = &camera->control.value[index], step = (target - *value) / 5 / kind->step * kind->step;
    if (*value == target) return false;
    *value += step ? step : target > *value ? kind->step : -kind->step;
    if (!step && (target > *value ? target - *value : *value - target) < kind->step) *value = target;
    tell_value(camera, index);
    return *value != target;
}

static double power_of_two(double exponent) {
    double result = 1;
    for (; exponent >= 1; exponent--) result *= 2;
    for (; exponent < 0; exponent++) result /= 2;
    /* Between whole numbers, within a thousandth: by the polynomial of least error. */
    return result * (1 + exponent * (0.6961 + exponent * (0.2253 + exponent * 0.0786)));
}

bool controls_follow(struct camera *camera) {
    double bias = power_of_two(camera->control.value[control_bias] / 1000.0);
    bool moves = approach(camera, control_exposure, usual_exposure * 100 * bias / camera->scene.light + 0.5);
    moves |= approach(camera, control_focus, camera->scene.distance);
    return approach(camera, control_temperature, camera->scene.temperature) || moves;
}

/* Of the stream, in units of the exposure. */
static int camera_interval(const struct camera *camera) { return stream_interval(&camera->stream) / 1000; }

/* An exposure that is longer than the interval costs frames, if it may. */
unsigned frames_per_exposure(const struct camera *camera) {
    int interval = camera_interval(camera), exposure = camera->control.value[control_exposure];
    return camera->control.value[control_exposure_priority] ? (exposure + interval - 1) / interval : 1;
}

struct effects effects_of(const struct camera *camera) {
    const int32_t *value = camera->control.value;
    double exposure = value[control_exposure], most = camera_interval(camera);
    double iris = (double)usual_iris / value[control_iris];
    if (!value[control_exposure_priority] && exposure > most) exposure = most;
    double light = camera->scene.light / 100.0 * exposure / usual_exposure * iris * iris *
                   (1 + value[control_gain] / 50.0) * (1 + value[control_backlight] * 0.1);
    if (value[control_flash_mode] == 2) light *= 1 + value[control_torch] / 100.0;
    if (camera->control.strobe) light *= 2;
    return (struct effects){
        .light = light,
        .contrast = value[control_contrast] / 32.0,
        .saturation = value[control_saturation] / 64.0,
        .offset = value[control_brightness] * 2,
        .warmth = (double)value[control_temperature] / camera->scene.temperature,
        .zoom = value[control_zoom],
        .pan = value[control_pan_tilt] / 360,
        .is_covered = value[control_privacy],
    };
}
