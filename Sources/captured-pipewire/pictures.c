/* Formats of cameras: how captured, PipeWire and programs call them, which one a program takes, and how it lies. */
#include "bridge.h"

#include <linux/videodev2.h>
#include <spa/param/video/format-utils.h>

#define RAW(code, format, ...) {V4L2_PIX_FMT_##code, SPA_MEDIA_SUBTYPE_raw, SPA_VIDEO_FORMAT_##format, __VA_ARGS__}
#define CODED(code, subtype) {V4L2_PIX_FMT_##code, SPA_MEDIA_SUBTYPE_##subtype, 0, 0, 0, 0, 0, false}

/* The first that a program takes is chosen. */
static const struct picture_kind kinds[] = {
    RAW(NV12, NV12, 8, 1, 2, 2, true),    RAW(YUV420, I420, 8, 2, 2, 2, false), RAW(YUYV, YUY2, 16, 0, 0, 0, false),
    RAW(UYVY, UYVY, 16, 0, 0, 0, false),  RAW(YVYU, YVYU, 16, 0, 0, 0, false),  RAW(NV21, NV21, 8, 1, 2, 2, true),
    RAW(YVU420, YV12, 8, 2, 2, 2, false), RAW(XBGR32, BGRx, 32, 0, 0, 0, false), RAW(ABGR32, BGRA, 32, 0, 0, 0, false),
    RAW(RGB24, RGB, 24, 0, 0, 0, false),  RAW(BGR24, BGR, 24, 0, 0, 0, false),  RAW(RGBA32, RGBA, 32, 0, 0, 0, false),
    RAW(GREY, GRAY8, 8, 0, 0, 0, false),  CODED(MJPEG, mjpg),                   CODED(JPEG, mjpg),
    CODED(H264, h264),
};

static const struct picture_kind *kind_of(uint32_t code) {
    for (size_t i = 0; i < BRIDGE_COUNT(kinds); i++)
        if (kinds[i].code == code) return &kinds[i];
    return NULL;
}

static struct spa_fraction rate_of(struct capture_fraction interval) {
    return SPA_FRACTION(interval.denominator, interval.numerator);
}

/* The sizes of a range that are listed: the largest and those that programs ask for. */
static const struct capture_fraction usual_sizes[] = {{320, 240}, {640, 360}, {640, 480}, {1280, 720}, {1920, 1080}};

typedef void each_picture(void *context, const struct picture *picture);

static bool is_in(const struct capture_range *range, uint32_t value) {
    return value >= range->least && value <= range->most && (!range->step || !((value - range->least) % range->step));
}

static void each_rate(const struct capture_frame_size *size, struct picture picture, each_picture *each,
                      void *context) {
    for (size_t i = 0; i < size->interval_count; i++) {
        if (!size->intervals[i].numerator) continue;
        picture.rate = rate_of(size->intervals[i]);
        each(context, &picture);
    }
    if (size->interval_count || !size->shortest.numerator || !size->longest.numerator) return;
    double fastest = (double)size->shortest.denominator / size->shortest.numerator;
    double slowest = (double)size->longest.denominator / size->longest.numerator;
    static const uint32_t rates[] = {60, 30, 25, 15};
    for (size_t i = 0; i < BRIDGE_COUNT(rates); i++)
        if (rates[i] <= fastest && rates[i] >= slowest) {
            picture.rate = SPA_FRACTION(rates[i], 1);
            each(context, &picture);
        }
}

static void each_size(const struct capture_frame_size *size, struct picture picture, each_picture *each,
                      void *context) {
    picture.width = size->width.most;
    picture.height = size->height.most;
    each_rate(size, picture, each, context);
    if (size->width.least == size->width.most && size->height.least == size->height.most) return;
    for (size_t i = 0; i < BRIDGE_COUNT(usual_sizes); i++) {
        picture.width = usual_sizes[i].numerator;
        picture.height = usual_sizes[i].denominator;
        if (is_in(&size->width, picture.width) && is_in(&size->height, picture.height))
            each_rate(size, picture, each, context);
    }
}

static void each_of(const struct capture_device *device, each_picture *each, void *context) {
    for (const struct capture_video_offer *const *offer = device->video; offer && *offer; offer++) {
        struct picture picture = {.kind = kind_of((*offer)->pixel_format)};
        if (!picture.kind || (*offer)->is_emulated) continue;
        for (const struct capture_frame_size *const *size = (*offer)->sizes; size && *size; size++)
            each_size(*size, picture, each, context);
    }
}

const struct spa_pod *pictures_pod(const struct picture *picture, struct spa_pod_builder *builder, uint32_t id) {
    struct spa_pod_frame frame;
    spa_pod_builder_push_object(builder, &frame, SPA_TYPE_OBJECT_Format, id);
    spa_pod_builder_add(builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
                        SPA_POD_Id(picture->kind->subtype), 0);
    if (picture->kind->format)
        spa_pod_builder_add(builder, SPA_FORMAT_VIDEO_format, SPA_POD_Id(picture->kind->format), 0);
    struct spa_rectangle size = SPA_RECTANGLE(picture->width, picture->height);
    spa_pod_builder_add(builder, SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&size), SPA_FORMAT_VIDEO_framerate,
                        SPA_POD_Fraction(&picture->rate), 0);
    return spa_pod_builder_pop(builder, &frame);
}

struct listing {
    struct spa_pod_builder *builder;
    const struct spa_pod **pods;
    uint32_t count, most;
};

static void list_one(void *context, const struct picture *picture) {
    struct listing *listing = context;
    if (listing->count == listing->most || listing->builder->state.offset + 256 > listing->builder->size) return;
    listing->pods[listing->count++] = pictures_pod(picture, listing->builder, SPA_PARAM_EnumFormat);
}

uint32_t pictures_list(const struct capture_device *device, struct spa_pod_builder *builder, const struct spa_pod **pods,
                       uint32_t most) {
    struct listing listing = {.builder = builder, .pods = pods, .most = most};
    each_of(device, list_one, &listing);
    return listing.count;
}

struct choice {
    const struct spa_pod *const *pods;
    size_t count;
    struct picture best;
    int64_t cost;
    bool is_found;
};

/* Less is better: the size that is wished, else near to 1280 x 720; then 30 frames a second; then an early kind. */
static int64_t cost_of(const struct picture *picture, bool is_wished_size) {
    int64_t pixels = (int64_t)picture->width * picture->height, usual = 1280 * 720;
    int64_t size = is_wished_size ? 0 : 1 + (pixels > usual ? 4 * (pixels - usual) : usual - pixels);
    double rate = (double)picture->rate.num / picture->rate.denom;
    int64_t pace = (int64_t)(rate < 30 ? 30 - rate : (rate - 30) / 4);
    return ((size << 8) + SPA_MIN(pace, 255)) * 32 + (picture->kind - kinds);
}

static void consider(void *context, const struct picture *picture) {
    struct choice *choice = context;
    for (size_t i = 0; i < choice->count; i++) {
        if (!wishes_fit(choice->pods[i], picture)) continue;
        int64_t cost = cost_of(picture, wishes_name(choice->pods[i], picture));
        if (choice->is_found && cost >= choice->cost) continue;
        choice->is_found = true;
        choice->cost = cost;
        choice->best = *picture;
    }
}

int pictures_take(const struct capture_format *format, const struct spa_pod *const *pods, size_t count,
                  struct picture *picture) {
    struct choice choice = {.pods = pods, .count = count};
    struct picture given = {.kind = kind_of(format->pixel_format), .width = format->width, .height = format->height};
    if (!given.kind || !given.width || !given.height) return -1;
    /* A camera that does not say is taken at its word of before. */
    given.rate = format->interval.numerator ? rate_of(format->interval) : picture->rate;
    consider(&choice, &given);
    if (!choice.is_found) return -1;
    *picture = given;
    return 0;
}

int pictures_choose(const struct capture_device *device, const struct spa_pod *const *pods, size_t count,
                    struct picture *picture) {
    struct choice choice = {.pods = pods, .count = count};
    each_of(device, consider, &choice);
    if (!choice.is_found) return -1;
    *picture = choice.best;
    return 0;
}
