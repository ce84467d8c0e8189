/* Formats, sizes and rates: what the daemon lists, as V4L2 enumerates and negotiates it. */
#include "shim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { capture = V4L2_BUF_TYPE_VIDEO_CAPTURE, most_side = 1 << 15, most_pixels = 1 << 28 };

static const struct capture_video_offer *offer_at(const struct file *file, uint32_t index) {
    for (const struct capture_video_offer *const *offer = file->camera.device->video; *offer; offer++)
        if (shim_layout((*offer)->pixel_format) && !index--) return *offer;
    return NULL;
}

static const struct capture_video_offer *offer_of(const struct file *file, uint32_t code) {
    const struct capture_video_offer *offer;
    for (uint32_t i = 0; (offer = offer_at(file, i)) && offer->pixel_format != code;) i++;
    return offer;
}

int shim_enum_formats(struct file *file, struct v4l2_fmtdesc *argument) {
    const struct capture_video_offer *offer = argument->type == capture ? offer_at(file, argument->index) : NULL;
    if (!offer) return EINVAL;
    uint32_t index = argument->index, type = argument->type;
    memset(argument, 0, sizeof *argument);
    argument->index = index;
    argument->type = type;
    argument->pixelformat = offer->pixel_format;
    argument->flags = (shim_layout(offer->pixel_format)->bits ? 0 : V4L2_FMT_FLAG_COMPRESSED) |
                      (offer->is_emulated ? V4L2_FMT_FLAG_EMULATED : 0);
    if (*offer->name) snprintf((char *)argument->description, sizeof argument->description, "%s", offer->name);
    else memcpy(argument->description, &offer->pixel_format, 4);
    return 0;
}

static bool is_range(const struct capture_frame_size *size) {
    return size->width.least != size->width.most || size->height.least != size->height.most;
}

static uint32_t step_of(const struct capture_range *range) { return range->step ? range->step : 1; }

int shim_enum_sizes(struct file *file, struct v4l2_frmsizeenum *argument) {
    const struct capture_video_offer *offer = offer_of(file, argument->pixel_format);
    if (!offer) return EINVAL;
    const struct capture_frame_size *size = NULL;
    for (uint32_t i = 0; offer->sizes[i] && !size; i++)
        if (i == argument->index) size = offer->sizes[i];
    /* A range is alone in its list. */
    if (!size || (is_range(offer->sizes[0]) && argument->index)) return EINVAL;
    memset(argument->reserved, 0, sizeof argument->reserved);
    if (is_range(size)) {
        struct v4l2_frmsize_stepwise found = {size->width.least,  size->width.most,  step_of(&size->width),
                                              size->height.least, size->height.most, step_of(&size->height)};
        bool is_any = found.step_width == 1 && found.step_height == 1;
        argument->type = is_any ? V4L2_FRMSIZE_TYPE_CONTINUOUS : V4L2_FRMSIZE_TYPE_STEPWISE;
        argument->stepwise = found;
    } else {
        argument->type = V4L2_FRMSIZE_TYPE_DISCRETE;
        memset(&argument->stepwise, 0, sizeof argument->stepwise);
        argument->discrete.width = size->width.least;
        argument->discrete.height = size->height.least;
    }
    return 0;
}

static bool fits(const struct capture_range *range, uint32_t value) {
    return value >= range->least && value <= range->most && (value - range->least) % step_of(range) == 0;
}

static const struct capture_frame_size *size_of(const struct capture_video_offer *offer, uint32_t width,
                                                uint32_t height) {
    for (size_t i = 0; offer->sizes[i]; i++)
        if (fits(&offer->sizes[i]->width, width) && fits(&offer->sizes[i]->height, height)) return offer->sizes[i];
    return NULL;
}

static struct v4l2_fract fraction(struct capture_fraction from) {
    return (struct v4l2_fract){from.numerator ? from.numerator : 1, from.denominator ? from.denominator : 1};
}

int shim_enum_intervals(struct file *file, struct v4l2_frmivalenum *argument) {
    const struct capture_video_offer *offer = offer_of(file, argument->pixel_format);
    const struct capture_frame_size *size = offer ? size_of(offer, argument->width, argument->height) : NULL;
    if (!size) return EINVAL;
    memset(argument->reserved, 0, sizeof argument->reserved);
    if (size->interval_count) {
        if (argument->index >= size->interval_count) return EINVAL;
        argument->type = V4L2_FRMIVAL_TYPE_DISCRETE;
        memset(&argument->stepwise, 0, sizeof argument->stepwise);
        argument->discrete = fraction(size->intervals[argument->index]);
        return 0;
    }
    if (argument->index || !size->shortest.numerator) return EINVAL;
    bool is_any = !size->step.numerator;
    argument->type = is_any ? V4L2_FRMIVAL_TYPE_CONTINUOUS : V4L2_FRMIVAL_TYPE_STEPWISE;
    argument->stepwise.min = fraction(size->shortest);
    argument->stepwise.max = fraction(size->longest);
    argument->stepwise.step = is_any ? (struct v4l2_fract){1, 1} : fraction(size->step);
    return 0;
}

static uint64_t distance(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

static uint32_t nearest_side(const struct capture_range *range, uint32_t wish) {
    if (wish <= range->least) return range->least;
    if (wish >= range->most) return range->most;
    return range->least + (wish - range->least) / step_of(range) * step_of(range);
}

/* The size nearest to a wish, as drivers choose it. */
static void nearest_size(const struct capture_video_offer *offer, uint32_t *width, uint32_t *height) {
    uint64_t best = UINT64_MAX;
    uint32_t wide = *width, high = *height;
    *width = *height = 16;
    for (size_t i = 0; offer->sizes[i]; i++) {
        uint32_t its_width = nearest_side(&offer->sizes[i]->width, wide);
        uint32_t its_height = nearest_side(&offer->sizes[i]->height, high);
        uint64_t far = distance(its_width, wide) + distance(its_height, high);
        bool is_sane = its_width <= most_side && its_height <= most_side &&
                       (uint64_t)its_width * its_height <= most_pixels;
        if (far < best && is_sane) {
            best = far;
            *width = its_width;
            *height = its_height;
        }
    }
}

static double seconds(struct v4l2_fract interval) {
    return interval.denominator ? (double)interval.numerator / interval.denominator : 0;
}

static struct v4l2_fract nearest_interval(const struct capture_frame_size *size, struct v4l2_fract wish) {
    double wished = seconds(wish);
    if (!size->interval_count) {
        struct v4l2_fract shortest = fraction(size->shortest), longest = fraction(size->longest);
        if (!size->shortest.numerator) return (struct v4l2_fract){1, 30};
        if (wished <= 0 || wished < seconds(shortest)) return shortest;
        return wished > seconds(longest) ? longest : wish;
    }
    struct v4l2_fract best = fraction(size->intervals[0]);
    for (size_t i = 0; i < size->interval_count && wished > 0; i++) {
        struct v4l2_fract its = fraction(size->intervals[i]);
        double far = seconds(its) - wished, least = seconds(best) - wished;
        if (far * far < least * least) best = its;
    }
    return best;
}

/* Sizes in bytes, for one row and for all of it. */
static void measure(struct choice *choice) {
    const struct layout *layout = choice->layout;
    uint64_t pixels = (uint64_t)choice->width * choice->height;
    if (!layout->bits) {
        choice->stride = 0;
        choice->size = (uint32_t)(pixels * 2 < 65536 ? 65536 : pixels * 2);
        return;
    }
    choice->stride = (choice->width * layout->bits + 7) / 8;
    uint64_t size = (uint64_t)choice->stride * choice->height;
    if (layout->planes) {
        uint64_t columns = (choice->width + layout->across - 1u) / layout->across;
        uint64_t rows = (choice->height + layout->down - 1u) / layout->down;
        size += columns * rows * 2;
    }
    choice->size = (uint32_t)size;
}

static void choose(const struct file *file, struct choice *choice, uint32_t code, uint32_t width, uint32_t height) {
    const struct capture_video_offer *offer = offer_of(file, code);
    if (!offer) offer = offer_at(file, 0);
    choice->width = width;
    choice->height = height;
    nearest_size(offer, &choice->width, &choice->height);
    choice->layout = shim_layout(offer->pixel_format);
    bool is_jpeg = offer->pixel_format == V4L2_PIX_FMT_MJPEG || offer->pixel_format == V4L2_PIX_FMT_JPEG;
    choice->color_space = is_jpeg ? V4L2_COLORSPACE_JPEG : V4L2_COLORSPACE_SRGB;
    choice->transfer = choice->encoding = choice->quantization = 0;
    measure(choice);
    const struct capture_frame_size *size = size_of(offer, choice->width, choice->height);
    choice->has_rates = size && (size->interval_count || size->shortest.numerator);
    if (size) choice->interval = nearest_interval(size, choice->interval);
}

void shim_default_choice(struct file *file) {
    file->choice.interval = (struct v4l2_fract){1, 30};
    if (offer_at(file, 0)) choose(file, &file->choice, 0, 640, 480);
}

static void show(const struct choice *choice, struct v4l2_pix_format *format) {
    *format = (struct v4l2_pix_format){
        .width = choice->width,
        .height = choice->height,
        .pixelformat = choice->layout->code,
        .field = V4L2_FIELD_NONE,
        .bytesperline = choice->stride,
        .sizeimage = choice->size,
        .colorspace = choice->color_space,
        .priv = V4L2_PIX_FMT_PRIV_MAGIC,
        .ycbcr_enc = choice->encoding,
        .quantization = choice->quantization,
        .xfer_func = choice->transfer,
    };
}

int shim_get_format(struct file *file, struct v4l2_format *argument) {
    if (argument->type != capture) return EINVAL;
    memset(&argument->fmt, 0, sizeof argument->fmt);
    show(&file->choice, &argument->fmt.pix);
    return 0;
}

int shim_try_format(struct file *file, struct v4l2_format *argument, bool sets) {
    if (argument->type != capture) return EINVAL;
    const struct v4l2_pix_format wish = argument->fmt.pix;
    /* While buffers are there, their size is. */
    if (sets && (file->count || file->phase != phase_idle || shim_is_others(file))) return EBUSY;
    struct choice choice = file->choice;
    choose(file, &choice, wish.pixelformat, wish.width, wish.height);
    memset(&argument->fmt, 0, sizeof argument->fmt);
    show(&choice, &argument->fmt.pix);
    if (sets) {
        file->choice = choice;
        shim_share(file);
    }
    return 0;
}

static void show_parm(const struct file *file, struct v4l2_streamparm *argument) {
    memset(&argument->parm, 0, sizeof argument->parm);
    argument->parm.capture.capability = V4L2_CAP_TIMEPERFRAME;
    argument->parm.capture.timeperframe = file->choice.interval;
    argument->parm.capture.readbuffers = 4;
}

int shim_get_parm(struct file *file, struct v4l2_streamparm *argument) {
    if (argument->type != capture) return EINVAL;
    show_parm(file, argument);
    return 0;
}

int shim_set_parm(struct file *file, struct v4l2_streamparm *argument) {
    if (argument->type != capture) return EINVAL;
    if (file->phase != phase_idle || shim_is_others(file)) return EBUSY;
    const struct capture_video_offer *offer = offer_of(file, file->choice.layout->code);
    const struct capture_frame_size *size = offer ? size_of(offer, file->choice.width, file->choice.height) : NULL;
    struct v4l2_fract wish = argument->parm.capture.timeperframe;
    if (!wish.numerator) wish.denominator = 0;
    if (size && file->choice.has_rates) file->choice.interval = nearest_interval(size, wish);
    shim_share(file);
    show_parm(file, argument);
    return 0;
}
