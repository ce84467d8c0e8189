/* Formats of ports as nobody builds them: bytes of good ones are changed, and none may be read beyond its end. */
#include "bridge.h"

#include <linux/videodev2.h>
#include <spa/param/video/format-utils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct picture_kind kind = {V4L2_PIX_FMT_NV12, SPA_MEDIA_SUBTYPE_raw, SPA_VIDEO_FORMAT_NV12, 8, 1, 2, 2, true};
static const struct picture picture = {&kind, 640, 480, {30, 1}};

static const struct spa_pod *build(struct spa_pod_builder *builder, int which) {
    struct spa_rectangle size = SPA_RECTANGLE(640, 480), least = SPA_RECTANGLE(1, 1), most = SPA_RECTANGLE(4096, 4096);
    struct spa_fraction rate = SPA_FRACTION(30, 1), slow = SPA_FRACTION(0, 1), fast = SPA_FRACTION(120, 1);
    if (which == 0)
        return spa_pod_builder_add_object(
            builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType,
            SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw),
            SPA_FORMAT_VIDEO_format,
            SPA_POD_CHOICE_ENUM_Id(3, SPA_VIDEO_FORMAT_RGB, SPA_VIDEO_FORMAT_RGB, SPA_VIDEO_FORMAT_NV12),
            SPA_FORMAT_VIDEO_size, SPA_POD_CHOICE_RANGE_Rectangle(&size, &least, &most), SPA_FORMAT_VIDEO_framerate,
            SPA_POD_CHOICE_RANGE_Fraction(&rate, &slow, &fast));
    return spa_pod_builder_add_object(builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType,
                                      SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_VIDEO_size,
                                      SPA_POD_Rectangle(&size));
}

int main(void) {
    uint8_t space[1024];
    long fits = 0;
    srand(1);
    for (int which = 0; which < 2; which++) {
        struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(space, sizeof space);
        const struct spa_pod *good = build(&builder, which);
        if (!wishes_fit(good, &picture) || !wishes_name(good, &picture)) return 1;
        for (int i = 0; i < 200000; i++) {
            /* As heard_format keeps it: what its size says, and not a byte more. */
            uint32_t size = SPA_POD_SIZE(good);
            struct spa_pod *bad = malloc(size);
            memcpy(bad, good, size);
            for (int change = rand() % 4; change >= 0; change--)
                ((uint8_t *)bad)[sizeof *bad + (size_t)rand() % (size - sizeof *bad)] = (uint8_t)(rand() % 3 ? rand() % 24 : rand());
            if (spa_pod_is_object(bad)) fits += wishes_fit(bad, &picture) + wishes_name(bad, &picture);
            free(bad);
        }
    }
    printf("%s\n", fits > 0 ? "read" : "nothing fits any more");
    return 0;
}
