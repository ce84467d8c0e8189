#include "camera.h"
#include <string.h>

/* The first rate is the default. The largest size is for photos: uvcvideo passes over still image descriptors. */
static const struct size compressed_sizes[] = {
    {640, 480, {30, 15, 10, 5}}, {320, 180, {30, 15, 10, 5}}, {320, 240, {30, 15, 10, 5}}, {1280, 720, {30, 15, 10, 5}},
    {1920, 1080, {30, 15, 5}},   {2592, 1944, {5, 2}},
};
static const struct size raw_sizes[] = {
    {640, 480, {30, 15, 10, 5}}, {160, 120, {30, 15, 10, 5}}, {320, 240, {30, 15, 10, 5}},
    {1280, 720, {10, 5}},        {1920, 1080, {5, 2}},
};
static const struct size planar_sizes[] = {
    {640, 480, {30, 15, 10, 5}}, {320, 240, {30, 15, 10, 5}}, {1280, 720, {10, 5}},
};
static const struct size h264_sizes[] = {
    {640, 480, {30, 15, 10, 5}}, {320, 240, {30, 15, 10, 5}}, {1280, 720, {30, 15}}, {1920, 1080, {30, 15}},
};
#define SIZES(list) sizeof list / sizeof *list, list
const struct format formats[codecs] = {
    {codec_mjpeg, SIZES(compressed_sizes)},
    {codec_yuyv, SIZES(raw_sizes)},
    {codec_nv12, SIZES(planar_sizes)},
    {codec_h264, SIZES(h264_sizes)},
};

int rates_of(const struct size *size) {
    int count = 0;
    while (count < (int)sizeof size->rates && size->rates[count]) count++;
    return count;
}
uint32_t frame_interval(unsigned rate) { return 10000000 / rate; }
uint32_t largest_frame(enum codec codec, const struct size *size) {
    uint32_t area = (uint32_t)size->width * size->height;
    return codec == codec_mjpeg ? area : codec == codec_nv12 ? area * 3 / 2 : area * 2;
}

struct bytes {
    uint8_t *to;
    size_t length, room;
};
static void append(struct bytes *bytes, const void *from, size_t length) {
    if (length > bytes->room - bytes->length) length = bytes->room - bytes->length;
    memcpy(bytes->to + bytes->length, from, length);
    bytes->length += length;
}
#define PUT(bytes, ...) append(bytes, (uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))
#define U16(value) (value) & 0xff, (value) >> 8 & 0xff
#define U24(value) U16(value), (value) >> 16 & 0xff
#define U32(value) U24(value), (value) >> 24 & 0xff

enum { text_maker = 1, text_name, text_serial };
enum { class_video = 0x0e, class_specific = 0x24 };
enum { vendor = 0x1d6b, product = 0x0102 };

size_t device_descriptor(uint8_t *to, const struct camera *camera) {
    struct bytes bytes = {to, 0, 18};
    PUT(&bytes, 18, 1, U16(0x0200), 0xef, 2, 1, 64, U16(vendor), U16(product), U16(0x0100), text_maker, text_name,
        camera->serial ? text_serial : 0, 1);
    return bytes.length;
}

/* Of another speed, at which there is nothing. */
size_t qualifier_descriptor(uint8_t *to) {
    struct bytes bytes = {to, 0, 10};
    PUT(&bytes, 10, 6, U16(0x0200), 0xef, 2, 1, 64, 0, 0);
    return bytes.length;
}

size_t string_descriptor(uint8_t *to, size_t room, int index, const struct camera *camera) {
    const char *text = index == text_maker ? "Captured" : index == text_name ? camera->name : camera->serial;
    if (index == 0) return memcpy(to, (uint8_t[]){4, 3, 0x09, 0x04}, 4), 4;
    if (index > text_serial || !text) return 0;
    size_t length = 2;
    for (; *text && length + 2 <= room && length < 254; text++, length += 2) {
        to[length] = *text;
        to[length + 1] = 0;
    }
    to[0] = length;
    to[1] = 3;
    return length;
}

static const char *const lies[] = {"total",       "frame-length", "zero-length", "intervals",
                                   "frame-count", "endpoint",     "size",        NULL};
bool is_lie(const char *name) {
    for (int i = 0; lies[i]; i++)
        if (!strcmp(lies[i], name)) return true;
    return false;
}

static uint32_t control_bits(int entity) {
    uint32_t bits = 0;
    for (int i = 0; i < controls; i++)
        if (control_kinds[i].entity == entity) bits |= 1u << control_kinds[i].bit;
    return bits;
}

static void put_control_interface(struct bytes *bytes) {
    PUT(bytes, 9, 4, interface_control, 0, 1, class_video, 1, 0, text_name);
    size_t start = bytes->length;
    PUT(bytes, 13, class_specific, 1, U16(0x0150), U16(0), U32(clock_frequency), 1, interface_streaming);
    PUT(bytes, 18, class_specific, 2, entity_camera, U16(0x0201), 0, 0, U16(0), U16(0), U16(0), 3,
        U24(control_bits(entity_camera)));
    PUT(bytes, 13, class_specific, 5, entity_processing, entity_camera, U16(400), 3,
        U24(control_bits(entity_processing)), 0, 0);
    PUT(bytes, 26, class_specific, 6, entity_extension, EXTENSION_GUID, extension_controls, 1, entity_processing, 1,
        control_bits(entity_extension), 0);
    PUT(bytes, 9, class_specific, 3, entity_output, U16(0x0101), 0, entity_extension, 0);
    uint16_t total = bytes->length - start;
    memcpy(bytes->to + start + 5, (uint8_t[]){U16(total)}, 2);
    PUT(bytes, 7, 5, 0x80 | endpoint_status, 3, U16(16), 8);
    PUT(bytes, 5, 0x25, 3, U16(16));
}

static void put_guid(struct bytes *bytes, const char *code) {
    append(bytes, code, 4);
    PUT(bytes, 0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0xaa, 0x00, 0x38, 0x9b, 0x71);
}

static void put_format(struct bytes *bytes, int index, const struct format *format, const char *lie) {
    int count = format->count + (!strcmp(lie, "frame-count") ? 20 : 0);
    switch (format->codec) {
        case codec_mjpeg: PUT(bytes, 11, class_specific, 6, index, count, 1, 1, 0, 0, 0, 0); break;
        case codec_h264:
            PUT(bytes, 28, class_specific, 16, index, count);
            put_guid(bytes, "H264");
            PUT(bytes, 16, 1, 0, 0, 0, 0, 1);
            break;
        default:
            PUT(bytes, 27, class_specific, 4, index, count);
            put_guid(bytes, format->codec == codec_yuyv ? "YUY2" : "NV12");
            PUT(bytes, format->codec == codec_yuyv ? 16 : 12, 1, 0, 0, 0, 0);
    }
}

static void put_frame(struct bytes *bytes, int index, enum codec codec, const struct size *size, const char *lie) {
    int rates = rates_of(size);
    uint32_t largest = largest_frame(codec, size), most = largest * 8 > largest ? largest * 8 : UINT32_MAX;
    int length = !strcmp(lie, "zero-length") ? 0 : 26 + 4 * rates + (!strcmp(lie, "frame-length") ? 200 : 0);
    int told = rates + (!strcmp(lie, "intervals") ? 50 : 0);
    uint16_t width = !strcmp(lie, "size") ? 0xffff : size->width, height = !strcmp(lie, "size") ? 0xffff : size->height;
    PUT(bytes, length, class_specific, codec == codec_mjpeg ? 7 : codec == codec_h264 ? 17 : 5, index, 0, U16(width),
        U16(height), U32(most / 4), U32(most));
    if (codec == codec_h264) {
        PUT(bytes, U32(frame_interval(size->rates[0])), told, U32(0));
    } else {
        PUT(bytes, U32(largest), U32(frame_interval(size->rates[0])), told);
    }
    for (int i = 0; i < rates; i++) PUT(bytes, U32(frame_interval(size->rates[i])));
}

static void put_streaming_interface(struct bytes *bytes, const char *lie) {
    int endpoint = 0x80 | (!strcmp(lie, "endpoint") ? 7 : endpoint_video);
    PUT(bytes, 9, 4, interface_streaming, 0, 1, class_video, 2, 0, text_name);
    size_t start = bytes->length;
    PUT(bytes, 13 + codecs, class_specific, 1, codecs, U16(0), endpoint, 0, entity_output, 0, 1, 1, 1, 0, 0, 0, 0);
    for (int i = 0; i < codecs; i++) {
        put_format(bytes, i + 1, &formats[i], lie);
        for (int j = 0; j < formats[i].count; j++) put_frame(bytes, j + 1, formats[i].codec, &formats[i].sizes[j], lie);
        PUT(bytes, 6, class_specific, 13, 1, 1, 4);
    }
    uint16_t total = bytes->length - start;
    memcpy(bytes->to + start + 4, (uint8_t[]){U16(total)}, 2);
    /* Without other settings it is a bulk endpoint. */
    PUT(bytes, 7, 5, endpoint, 2, U16(512), 0);
}

size_t configuration_descriptor(uint8_t *to, size_t room, const char *lie) {
    struct bytes bytes = {to, 0, room};
    PUT(&bytes, 9, 2, U16(0), interfaces, 1, 0, 0x80, 250);
    PUT(&bytes, 8, 11, interface_control, interfaces, class_video, 3, 0, text_name);
    put_control_interface(&bytes);
    put_streaming_interface(&bytes, lie);
    size_t total = bytes.length + (!strcmp(lie, "total") ? 5000 : 0);
    memcpy(to + 2, (uint8_t[]){U16(total)}, 2);
    return bytes.length;
}
