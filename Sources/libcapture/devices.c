/* Devices and what they offer. */
#include "internal.h"

#include <errno.h>
#include <string.h>

struct reading {
    struct cap_arena arena;
    struct cap_pointers devices;
};

/* Fractions: "a(uu)". */
static int read_intervals(struct cap_arena *arena, sd_bus_message *message, struct capture_frame_size *size) {
    struct capture_fraction *found = NULL;
    size_t count = 0, room = 0;
    int result = sd_bus_message_enter_container(message, 'a', "(uu)");
    if (result < 0) return result;
    struct capture_fraction one;
    while ((result = sd_bus_message_read(message, "(uu)", &one.numerator, &one.denominator)) > 0) {
        if (!one.denominator) continue;
        if (count == room) {
            room = room ? room * 2 : 8;
            struct capture_fraction *more = cap_arena_take(arena, room * sizeof *more);
            if (!more) return -ENOMEM;
            if (count) memcpy(more, found, count * sizeof *more);
            found = more;
        }
        found[count++] = one;
    }
    if (result < 0) return result;
    size->interval_count = count;
    size->intervals = found;
    return sd_bus_message_exit_container(message) < 0 ? -EBADMSG : 1;
}

static int read_fraction(sd_bus_message *message, const char *type, struct capture_fraction *fraction) {
    struct capture_fraction found;
    if (strcmp(type, "(uu)")) return 0;
    int result = sd_bus_message_read(message, "(uu)", &found.numerator, &found.denominator);
    if (result > 0 && found.denominator) *fraction = found;
    return result;
}

static int interval_range(void *context, const char *key, const char *type, sd_bus_message *message) {
    struct capture_frame_size *size = context;
    if (!strcmp(key, "shortest")) return read_fraction(message, type, &size->shortest);
    if (!strcmp(key, "longest")) return read_fraction(message, type, &size->longest);
    if (!strcmp(key, "step")) return read_fraction(message, type, &size->step);
    return 0;
}

struct size_reading {
    struct cap_arena *arena;
    struct capture_frame_size *size;
};

/* A number, or least, most and step. */
static int read_side(sd_bus_message *message, const char *type, struct capture_range *range) {
    if (!strcmp(type, "(uuu)"))
        return sd_bus_message_read(message, "(uuu)", &range->least, &range->most, &range->step);
    int result = cap_read_u32(message, type, &range->least);
    if (result > 0) {
        range->most = range->least;
        range->step = 1;
    }
    return result;
}

static int size_field(void *context, const char *key, const char *type, sd_bus_message *message) {
    struct size_reading *reading = context;
    if (!strcmp(key, "width")) return read_side(message, type, &reading->size->width);
    if (!strcmp(key, "height")) return read_side(message, type, &reading->size->height);
    if (!strcmp(key, "intervals") && !strcmp(type, "a(uu)"))
        return read_intervals(reading->arena, message, reading->size);
    if (!strcmp(key, "interval-range") && !strcmp(type, "a{sv}")) {
        int result = cap_read_table(message, interval_range, reading->size);
        return result < 0 ? result : 1;
    }
    return 0;
}

struct video_reading {
    struct cap_arena *arena;
    struct capture_video_offer *offer;
    struct cap_pointers sizes;
};

static int size_item(void *context, sd_bus_message *message) {
    struct video_reading *reading = context;
    struct capture_frame_size *size = cap_arena_take(reading->arena, sizeof *size);
    if (!size) return -ENOMEM;
    size->shortest.denominator = size->longest.denominator = size->step.denominator = 1;
    int result = cap_read_table(message, size_field, &(struct size_reading){reading->arena, size});
    if (result < 0) return result;
    bool is_size = size->width.least && size->width.least <= size->width.most && size->height.least &&
                   size->height.least <= size->height.most;
    return is_size && cap_pointers_add(reading->arena, &reading->sizes, size) < 0 ? -ENOMEM : 0;
}

static int video_field(void *context, const char *key, const char *type, sd_bus_message *message) {
    struct video_reading *reading = context;
    if (!strcmp(key, "pixel-format")) {
        const char *name;
        int result = cap_read_text(message, type, reading->arena, &name);
        if (result > 0) reading->offer->pixel_format = cap_pixel_format(name);
        return result;
    }
    if (!strcmp(key, "name")) return cap_read_text(message, type, reading->arena, &reading->offer->name);
    if (!strcmp(key, "emulated")) return cap_read_flag(message, type, &reading->offer->is_emulated);
    int result = 0;
    if (!strcmp(key, "sizes") && !strcmp(type, "aa{sv}")) result = cap_read_tables(message, size_item, reading);
    else if (!strcmp(key, "size-range") && !strcmp(type, "a{sv}")) result = size_item(reading, message);
    else return 0;
    return result < 0 ? result : 1;
}

static int audio_field(void *context, const char *key, const char *type, sd_bus_message *message) {
    struct capture_audio_offer *offer = context;
    bool is_rates = !strcmp(key, "rates");
    if ((is_rates || !strcmp(key, "channels")) && !strcmp(type, "(uu)")) {
        struct capture_range *range = is_rates ? &offer->rate : &offer->channels;
        range->step = 1;
        return sd_bus_message_read(message, "(uu)", &range->least, &range->most);
    }
    if (strcmp(key, "sample-formats") || strcmp(type, "as")) return 0;
    int result = sd_bus_message_enter_container(message, 'a', "s");
    const char *name;
    while (result >= 0 && (result = sd_bus_message_read_basic(message, 's', &name)) > 0)
        for (unsigned i = 1; i < 5; i++)
            if (!strcmp(name, cap_sample_format_names[i])) offer->sample_formats |= 1u << i;
    if (result < 0 || (result = sd_bus_message_exit_container(message)) < 0) return result;
    return 1;
}

struct device_reading {
    struct cap_arena *arena;
    struct capture_device *device;
    struct cap_pointers aliases, video, audio;
};

static int video_item(void *context, sd_bus_message *message) {
    struct device_reading *reading = context;
    struct capture_video_offer *offer = cap_arena_take(reading->arena, sizeof *offer);
    if (!offer) return -ENOMEM;
    struct video_reading inner = {.arena = reading->arena, .offer = offer};
    offer->name = "";
    if (cap_pointers_add(reading->arena, &inner.sizes, NULL) < 0) return -ENOMEM;
    int result = cap_read_table(message, video_field, &inner);
    if (result < 0) return result;
    offer->sizes = (const struct capture_frame_size *const *)inner.sizes.items;
    bool is_offer = offer->pixel_format && inner.sizes.count;
    return is_offer && cap_pointers_add(reading->arena, &reading->video, offer) < 0 ? -ENOMEM : 0;
}

static int audio_item(void *context, sd_bus_message *message) {
    struct device_reading *reading = context;
    struct capture_audio_offer *offer = cap_arena_take(reading->arena, sizeof *offer);
    if (!offer) return -ENOMEM;
    int result = cap_read_table(message, audio_field, offer);
    if (result < 0) return result;
    bool is_offer = offer->rate.least <= offer->rate.most && offer->channels.least <= offer->channels.most;
    return is_offer && cap_pointers_add(reading->arena, &reading->audio, offer) < 0 ? -ENOMEM : 0;
}

static int read_aliases(struct device_reading *reading, sd_bus_message *message) {
    int result = sd_bus_message_enter_container(message, 'a', "s");
    const char *name;
    while (result >= 0 && (result = sd_bus_message_read_basic(message, 's', &name)) > 0) {
        const char *copy = cap_arena_text(reading->arena, name);
        if (!copy || cap_pointers_add(reading->arena, &reading->aliases, copy) < 0) return -ENOMEM;
    }
    if (result < 0 || (result = sd_bus_message_exit_container(message)) < 0) return result;
    return 1;
}

static int read_media(struct device_reading *reading, const char *type, sd_bus_message *message) {
    const char *word;
    int result = cap_read_text(message, type, reading->arena, &word);
    if (result > 0) reading->device->media = !strcmp(word, "video")   ? CAPTURE_VIDEO
                                             : !strcmp(word, "audio") ? CAPTURE_AUDIO
                                                                      : 0;
    return result;
}

static int device_field(void *context, const char *key, const char *type, sd_bus_message *message) {
    struct device_reading *reading = context;
    struct capture_device *device = reading->device;
    struct {
        const char *key, **text;
    } texts[] = {{"id", &device->id},   {"name", &device->name},               {"driver", &device->driver},
                 {"bus", &device->bus}, {"device-type", &device->device_type}, {"position", &device->position}};
    for (size_t i = 0; i < CAP_COUNT(texts); i++)
        if (!strcmp(key, texts[i].key)) return cap_read_text(message, type, reading->arena, texts[i].text);
    if (!strcmp(key, "media-type")) return read_media(reading, type, message);
    if (!strcmp(key, "aliases") && !strcmp(type, "as")) return read_aliases(reading, message);
    int result = 0;
    if (!strcmp(key, "video-formats") && !strcmp(type, "aa{sv}"))
        result = cap_read_tables(message, video_item, reading);
    else if (!strcmp(key, "audio-formats") && !strcmp(type, "aa{sv}"))
        result = cap_read_tables(message, audio_item, reading);
    else return 0;
    return result < 0 ? result : 1;
}

static int device_item(void *context, sd_bus_message *message) {
    struct reading *list = context;
    struct capture_device *device = cap_arena_take(&list->arena, sizeof *device);
    if (!device) return -ENOMEM;
    struct device_reading reading = {.arena = &list->arena, .device = device};
    device->id = device->name = device->driver = device->bus = device->device_type = device->position = "";
    if (cap_pointers_add(reading.arena, &reading.aliases, NULL) < 0 ||
        cap_pointers_add(reading.arena, &reading.video, NULL) < 0 ||
        cap_pointers_add(reading.arena, &reading.audio, NULL) < 0)
        return -ENOMEM;
    int result = cap_read_table(message, device_field, &reading);
    if (result < 0) return result;
    device->aliases = (const char *const *)reading.aliases.items;
    device->video = (const struct capture_video_offer *const *)reading.video.items;
    device->audio = (const struct capture_audio_offer *const *)reading.audio.items;
    /* Other kinds are of a newer daemon. */
    bool is_device = *device->id && device->media;
    return is_device && cap_pointers_add(&list->arena, &list->devices, device) < 0 ? -ENOMEM : 0;
}

int capture_devices(struct capture_client *client, const struct capture_device *const **devices) {
    struct reading reading = {0};
    sd_bus_message *reply = NULL;
    if (!devices) return cap_fail(CAPTURE_INVALID_ARGUMENT, "there is no place for the devices");
    *devices = NULL;
    int result = cap_lock(client);
    if (result) return result;
    result = cap_need_daemon_locked(client);
    if (result == 0) result = cap_ask_locked(client, CAP_ROOT, CAP_MANAGER, "ListDevices", &reply, "");
    if (result == 0) {
        if (cap_read_tables(reply, device_item, &reading) < 0) result = cap_malformed("ListDevices");
        sd_bus_message_unref(reply);
    }
    cap_unlock(client);
    if (result < 0) {
        cap_arena_free(&reading.arena);
        return result;
    }
    *devices = (const struct capture_device *const *)cap_list_make(&reading.arena, &reading.devices);
    return *devices ? 0 : cap_fail_errno(CAPTURE_INTERNAL, ENOMEM, "list devices");
}

void capture_devices_free(const struct capture_device *const *devices) {
    cap_list_free((const void *const *)devices);
}

int cap_device_id(sd_bus_message *message, char *id, size_t size) {
    struct reading reading = {0};
    int result = device_item(&reading, message);
    if (result == 0 && reading.devices.count == 1) {
        const struct capture_device *device = reading.devices.items[0];
        cap_copy_text(id, size, device->id);
    } else {
        result = -1;
    }
    cap_arena_free(&reading.arena);
    return result;
}

int capture_devices_watch(struct capture_client *client, int on) {
    static const char match[] =
        "type='signal',sender='" CAP_SERVICE "',path='" CAP_ROOT "',interface='" CAP_MANAGER "'";
    int result = cap_lock(client);
    if (result) return result;
    if (client->watches_devices != !!on) {
        result = cap_ask_locked(client, "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                on ? "AddMatch" : "RemoveMatch", NULL, "s", match);
        if (result == 0) client->watches_devices = on;
    }
    /* Without knowing who is the daemon, nothing of it would be heard. */
    if (result == 0 && on) result = cap_need_daemon_locked(client);
    cap_unlock(client);
    return result;
}
