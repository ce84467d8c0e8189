/* What a program's port takes, by its own words. They come from another process, through PipeWire's server: every size in
   them is looked at before it is used, which SPA's own filter does not do. */
#include "bridge.h"

#include <spa/param/video/format-utils.h>
#include <spa/pod/iter.h>
#include <string.h>

/* The values of a property; the first is what the program likes best. */
struct alternatives {
    uint32_t kind, count, size;
    const uint8_t *values;
};

/* 1: it has the property; 0: it has not; -1: it makes no sense. */
static int read_property(const struct spa_pod *format, uint32_t key, uint32_t type, uint32_t size,
                         struct alternatives *found) {
    const struct spa_pod_object *object = (const struct spa_pod_object *)format;
    const struct spa_pod_prop *property;
    SPA_POD_OBJECT_FOREACH(object, property) {
        if (property->key != key) continue;
        const struct spa_pod *pod = &property->value;
        *found = (struct alternatives){SPA_CHOICE_None, 1, size, SPA_POD_BODY_CONST(pod)};
        if (pod->type != SPA_TYPE_Choice) return pod->type == type && pod->size >= size ? 1 : -1;
        const struct spa_pod_choice_body *body = SPA_POD_BODY_CONST(pod);
        if (pod->size < sizeof *body || body->child.type != type || body->child.size != size) return -1;
        found->kind = body->type;
        found->count = (uint32_t)((pod->size - sizeof *body) / size);
        found->values = (const uint8_t *)(body + 1);
        bool is_range = found->kind == SPA_CHOICE_Range || found->kind == SPA_CHOICE_Step;
        return found->count >= (is_range ? 3u : 1u) ? 1 : -1;
    }
    return 0;
}

/* Whether a is at most b. */
typedef bool is_most(const void *a, const void *b);

static bool id_is_most(const void *a, const void *b) {
    uint32_t one, other;
    memcpy(&one, a, sizeof one);
    memcpy(&other, b, sizeof other);
    return one <= other;
}

static bool size_is_most(const void *a, const void *b) {
    struct spa_rectangle one, other;
    memcpy(&one, a, sizeof one);
    memcpy(&other, b, sizeof other);
    return one.width <= other.width && one.height <= other.height;
}

static bool rate_is_most(const void *a, const void *b) {
    struct spa_fraction one, other;
    memcpy(&one, a, sizeof one);
    memcpy(&other, b, sizeof other);
    return (uint64_t)one.num * other.denom <= (uint64_t)other.num * one.denom;
}

static bool is_same(const void *a, const void *b, is_most *most) { return most(a, b) && most(b, a); }

static bool takes(const struct spa_pod *format, uint32_t key, uint32_t type, const void *own, uint32_t size,
                  is_most *most) {
    struct alternatives given;
    int result = read_property(format, key, type, size, &given);
    if (result <= 0) return result == 0;
    if (given.kind == SPA_CHOICE_Range || given.kind == SPA_CHOICE_Step)
        return most(given.values + size, own) && most(own, given.values + 2 * (size_t)size);
    /* The first of several is one of the others again. */
    for (uint32_t i = 0; i < given.count; i++)
        if (is_same(given.values + (size_t)i * size, own, most)) return true;
    return false;
}

bool wishes_fit(const struct spa_pod *format, const struct picture *picture) {
    uint32_t video = SPA_MEDIA_TYPE_video, subtype = picture->kind->subtype, raw = picture->kind->format;
    struct spa_rectangle size = SPA_RECTANGLE(picture->width, picture->height);
    return takes(format, SPA_FORMAT_mediaType, SPA_TYPE_Id, &video, sizeof video, id_is_most) &&
           takes(format, SPA_FORMAT_mediaSubtype, SPA_TYPE_Id, &subtype, sizeof subtype, id_is_most) &&
           (!raw || takes(format, SPA_FORMAT_VIDEO_format, SPA_TYPE_Id, &raw, sizeof raw, id_is_most)) &&
           takes(format, SPA_FORMAT_VIDEO_size, SPA_TYPE_Rectangle, &size, sizeof size, size_is_most) &&
           takes(format, SPA_FORMAT_VIDEO_framerate, SPA_TYPE_Fraction, &picture->rate, sizeof picture->rate,
                 rate_is_most);
}

bool wishes_name(const struct spa_pod *format, const struct picture *picture) {
    struct alternatives given;
    struct spa_rectangle size = SPA_RECTANGLE(picture->width, picture->height);
    return read_property(format, SPA_FORMAT_VIDEO_size, SPA_TYPE_Rectangle, sizeof size, &given) == 1 &&
           is_same(given.values, &size, size_is_most);
}
