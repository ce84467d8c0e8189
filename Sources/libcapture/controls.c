/* Controls of a device. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct cap_arena arena;
    struct cap_pointers controls;
};

struct control_reading {
    struct cap_arena *arena;
    struct capture_control *control;
};

static int read_choices(struct control_reading *reading, sd_bus_message *message) {
    struct capture_choice *found = NULL;
    size_t count = 0, room = 0;
    int result = sd_bus_message_enter_container(message, 'a', "{xs}");
    int64_t value;
    const char *name;
    while (result >= 0 && (result = sd_bus_message_read(message, "{xs}", &value, &name)) > 0) {
        if (count == room) {
            room = room ? room * 2 : 8;
            struct capture_choice *more = cap_arena_take(reading->arena, room * sizeof *more);
            if (!more) return -ENOMEM;
            if (count) memcpy(more, found, count * sizeof *more);
            found = more;
        }
        const char *copy = cap_arena_text(reading->arena, name);
        if (!copy) return -ENOMEM;
        found[count++] = (struct capture_choice){value, copy};
    }
    if (result < 0 || (result = sd_bus_message_exit_container(message)) < 0) return result;
    reading->control->choices = found;
    reading->control->choice_count = count;
    return 1;
}

static int read_flags(struct control_reading *reading, sd_bus_message *message) {
    static const char *const names[] = {"read-only", "volatile", "inactive", "busy", "restricted"};
    int result = sd_bus_message_enter_container(message, 'a', "s");
    const char *name;
    while (result >= 0 && (result = sd_bus_message_read_basic(message, 's', &name)) > 0)
        for (unsigned i = 0; i < CAP_COUNT(names); i++)
            if (!strcmp(name, names[i])) reading->control->flags |= 1u << i;
    if (result < 0 || (result = sd_bus_message_exit_container(message)) < 0) return result;
    return 1;
}

static int read_kind(struct control_reading *reading, const char *type, sd_bus_message *message) {
    static const char *const names[] = {"integer", "boolean", "menu", "button", "rectangle"};
    const char *name;
    int result = cap_read_text(message, type, reading->arena, &name);
    if (result <= 0) return result;
    reading->control->kind = CAPTURE_CONTROL_OTHER;
    for (unsigned i = 0; i < CAP_COUNT(names); i++)
        if (!strcmp(name, names[i])) reading->control->kind = i + 1;
    return 1;
}

static int control_field(void *context, const char *key, const char *type, sd_bus_message *message) {
    struct control_reading *reading = context;
    struct capture_control *control = reading->control;
    struct {
        const char *key;
        int64_t *number;
    } numbers[] = {{"minimum", &control->minimum}, {"maximum", &control->maximum},       {"step", &control->step},
                   {"value", &control->value},     {"default", &control->default_value}};
    for (size_t i = 0; i < CAP_COUNT(numbers); i++)
        if (!strcmp(key, numbers[i].key)) return cap_read_i64(message, type, numbers[i].number);
    if (!strcmp(key, "id")) return cap_read_u32(message, type, &control->id);
    if (!strcmp(key, "name")) return cap_read_text(message, type, reading->arena, &control->name);
    if (!strcmp(key, "label")) return cap_read_text(message, type, reading->arena, &control->label);
    if (!strcmp(key, "unit")) return cap_read_text(message, type, reading->arena, &control->unit);
    if (!strcmp(key, "writable")) return cap_read_flag(message, type, &control->is_writable);
    if (!strcmp(key, "kind")) return read_kind(reading, type, message);
    if (!strcmp(key, "flags") && !strcmp(type, "as")) return read_flags(reading, message);
    if (!strcmp(key, "choices") && !strcmp(type, "a{xs}")) return read_choices(reading, message);
    return 0;
}

static int control_item(void *context, sd_bus_message *message) {
    struct reading *list = context;
    struct capture_control *control = cap_arena_take(&list->arena, sizeof *control);
    if (!control) return -ENOMEM;
    control->name = control->label = control->unit = "";
    int result = cap_read_table(message, control_field, &(struct control_reading){&list->arena, control});
    if (result < 0) return result;
    bool is_control = *control->name && control->kind;
    return is_control && cap_pointers_add(&list->arena, &list->controls, control) < 0 ? -ENOMEM : 0;
}

int cap_control_changed(sd_bus_message *message, struct capture_event *event) {
    struct reading reading = {0};
    int result = control_item(&reading, message);
    if (result == 0 && reading.controls.count == 1) {
        const struct capture_control *control = reading.controls.items[0];
        cap_copy_text(event->name, sizeof event->name, control->name);
        event->value = control->value;
    } else {
        result = -1;
    }
    cap_arena_free(&reading.arena);
    return result;
}

/* Locks the client, and finds the object of a device. */
static int begin(struct capture_client *client, const char *device, char **path) {
    if (!device || !*device)
        return cap_fail(CAPTURE_INVALID_ARGUMENT, "a device's id is needed; capture_devices has them");
    int result = cap_lock(client);
    if (result) return result;
    result = sd_bus_path_encode(CAP_DEVICES, device, path);
    result = result < 0 ? cap_fail_errno(CAPTURE_INTERNAL, -result, "name a device") : cap_need_daemon_locked(client);
    if (result == 0) return 0;
    free(*path);
    cap_unlock(client);
    return result;
}

static int end(struct capture_client *client, char *path, int result) {
    cap_unlock(client);
    free(path);
    return result;
}

int capture_controls(struct capture_client *client, const char *device,
                     const struct capture_control *const **controls) {
    struct reading reading = {0};
    sd_bus_message *reply = NULL;
    char *path = NULL;
    if (!controls) return cap_fail(CAPTURE_INVALID_ARGUMENT, "there is no place for the controls");
    *controls = NULL;
    int result = begin(client, device, &path);
    if (result) return result;
    result = cap_ask_locked(client, path, CAP_DEVICE, "GetControls", &reply, "");
    if (result == 0) {
        if (cap_read_tables(reply, control_item, &reading) < 0) result = cap_malformed("GetControls");
        sd_bus_message_unref(reply);
    }
    end(client, path, 0);
    if (result < 0) {
        cap_arena_free(&reading.arena);
        return result;
    }
    *controls = (const struct capture_control *const *)cap_list_make(&reading.arena, &reading.controls);
    return *controls ? 0 : cap_fail_errno(CAPTURE_INTERNAL, ENOMEM, "list controls");
}

void capture_controls_free(const struct capture_control *const *controls) {
    cap_list_free((const void *const *)controls);
}

int capture_control_get(struct capture_client *client, const char *device, const char *name, int64_t *value) {
    const struct capture_control *const *controls;
    if (!name || !value) return cap_fail(CAPTURE_INVALID_ARGUMENT, "a control has a name and a value");
    int result = capture_controls(client, device, &controls);
    if (result) return result;
    result = 1;
    for (size_t i = 0; controls[i]; i++)
        if (!strcmp(controls[i]->name, name)) {
            *value = controls[i]->value;
            result = 0;
        }
    capture_controls_free(controls);
    return result ? cap_fail(CAPTURE_INVALID_ARGUMENT, "%s has no control '%s'", device, name) : 0;
}

int capture_control_set(struct capture_client *client, const char *device, const char *name, int64_t value) {
    char *path = NULL;
    if (!name) return cap_fail(CAPTURE_INVALID_ARGUMENT, "a control has a name");
    int result = begin(client, device, &path);
    if (result) return result;
    return end(client, path, cap_ask_locked(client, path, CAP_DEVICE, "SetControl", NULL, "sx", name, value));
}

int capture_controls_watch(struct capture_client *client, const char *device, int on) {
    char *path = NULL;
    int result = begin(client, device, &path);
    if (result) return result;
    const char *member = on ? "WatchControls" : "UnwatchControls";
    return end(client, path, cap_ask_locked(client, path, CAP_DEVICE, member, NULL, ""));
}
