#include "camera.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { set_cur = 0x01, get_cur = 0x81, get_min, get_max, get_res, get_len, get_info, get_def };
enum { selector_probe = 1, selector_commit };
/* Of the header before the data of a frame. */
enum { bit_frame = 1, bit_end = 2, bit_time = 4, bit_clock = 8, bit_error = 64, bit_header_ends = 128 };

static void put32(uint8_t *to, uint32_t value) {
    for (int i = 0; i < 4; i++) to[i] = value >> 8 * i;
}
static uint32_t get32(const uint8_t *from) {
    return from[0] | from[1] << 8 | from[2] << 16 | (uint32_t)from[3] << 24;
}

static const struct format *format_of(const uint8_t *probe) { return &formats[probe[2] - 1]; }
static const struct size *size_of(const uint8_t *probe) { return &format_of(probe)->sizes[probe[3] - 1]; }

/* Makes a proposal one that can be kept: the nearest rate, and the lengths that follow from it. */
static void negotiate(uint8_t *probe) {
    if (probe[2] < 1 || probe[2] > codecs) probe[2] = 1;
    if (probe[3] < 1 || probe[3] > format_of(probe)->count) probe[3] = 1;
    const struct size *size = size_of(probe);
    uint32_t wanted = get32(probe + 4), chosen = frame_interval(size->rates[0]);
    for (int i = 0; wanted && i < rates_of(size); i++) {
        uint32_t interval = frame_interval(size->rates[i]);
        int64_t distance = llabs((int64_t)interval - wanted), best = llabs((int64_t)chosen - wanted);
        if (distance < best) chosen = interval;
    }
    uint32_t largest = largest_frame(format_of(probe)->codec, size);
    put32(probe + 4, chosen);
    memset(probe + 8, 0, 8);
    probe[16] = 32; /* delay in ms */
    probe[17] = 0;
    put32(probe + 18, largest);
    /* A frame is one payload over many transfers, and ends with a short one. */
    put32(probe + 22, largest * 2 + header_length);
    put32(probe + 26, clock_frequency);
    probe[30] = 3; /* the bits for frame and end are used */
    memset(probe + 31, 0, 17);
}

void stream_init(struct stream *stream) {
    stream->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    negotiate(stream->probe);
    memcpy(stream->committed, stream->probe, sizeof stream->committed);
}

void stream_end(struct stream *stream) {
    stream_stop(stream);
    close(stream->timer);
    free(stream->payload);
    picture_free(&stream->picture);
    free(stream->h264.before);
    free(stream->h264.raw);
}

uint32_t stream_interval(const struct stream *stream) { return get32(stream->committed + 4); }

void stream_stop(struct stream *stream) {
    stream->runs = stream->is_sending = false;
    timerfd_settime(stream->timer, 0, &(struct itimerspec){0}, NULL);
}

static bool start(struct stream *stream) {
    const struct size *size = size_of(stream->committed);
    /* Room for a frame that is longer than it may be. */
    size_t capacity = header_length + (size_t)largest_frame(format_of(stream->committed)->codec, size) * 2 + 4096;
    uint8_t *payload = realloc(stream->payload, capacity);
    if (!payload) return false;
    stream->payload = payload;
    stream->capacity = capacity;
    if (!picture_size(&stream->picture, size->width, size->height)) return false;
    h264_begin(&stream->h264);
    stream->frame = stream->exposed = 0;
    stream->is_sending = false;
    stream->runs = true;
    struct timespec interval = {0, (long)stream_interval(stream) * 100};
    return timerfd_settime(stream->timer, 0, &(struct itimerspec){interval, interval}, NULL) == 0;
}

int stream_request(struct camera *camera, const struct request *request, uint8_t *answer) {
    struct stream *stream = &camera->stream;
    uint8_t code = request->setup[1], selector = request->setup[3], entity = request->setup[5];
    if (entity || (selector != selector_probe && selector != selector_commit)) return -1;
    uint8_t *state = selector == selector_probe ? stream->probe : stream->committed;
    size_t length = sizeof stream->probe;
    switch (code) {
        case set_cur:
            if (request->is_in || request->length < 8) return -1;
            memset(state, 0, length);
            memcpy(state, request->data, request->length < length ? request->length : length);
            negotiate(state);
            return selector == selector_commit && !start(stream) ? -1 : 0;
        case get_len: return memcpy(answer, (uint8_t[]){length, 0}, 2), 2;
        case get_info: return *answer = 3, 1;
        case get_cur: break;
        case get_min: case get_max: case get_def:
            if (selector == selector_commit) return -1;
            memcpy(answer, state, length);
            /* The longest interval is the last rate's; 0 becomes the default. */
            put32(answer + 4, code == get_max ? UINT32_MAX : code == get_min ? 1 : 0);
            negotiate(answer);
            return length;
        case get_res: memset(answer, 0, length); return length;
        default: return -1;
    }
    memcpy(answer, state, length);
    return length;
}

static size_t draw(struct camera *camera, uint8_t *to) {
    struct stream *stream = &camera->stream;
    enum codec codec = format_of(stream->committed)->codec;
    struct effects effects = effects_of(camera);
    camera->control.strobe = false;
    picture_draw(&stream->picture, stream->frame, &effects, codec == codec_mjpeg);
    switch (codec) {
        case codec_mjpeg: return picture_jpeg(&stream->picture, to, !camera->faults.no_tables);
        case codec_yuyv: return picture_yuyv(&stream->picture, to);
        case codec_nv12: return picture_nv12(&stream->picture, to);
        default: return picture_h264(&stream->h264, &stream->picture, to);
    }
}

static void prepare(struct camera *camera) {
    struct stream *stream = &camera->stream;
    struct faults *faults = &camera->faults;
    uint8_t *header = stream->payload, *data = header + header_length;
    uint8_t flags = bit_header_ends | bit_end | bit_time | bit_clock;
    size_t length = draw(camera, data), largest = get32(stream->committed + 18);
    uint32_t ticks = now() * clock_frequency;
    if (use_up(&faults->cut)) length /= 2;
    if (use_up(&faults->garble))
        for (size_t i = length / 2; i < length; i += 7) data[i] = i * 2654435761u >> 13;
    if (use_up(&faults->oversize)) {
        memset(data + length, 0x55, largest + 4096 - length);
        length = largest + 4096;
    }
    if (use_up(&faults->empty)) length = 0;
    if (use_up(&faults->error_bit)) flags |= bit_error;
    stream->toggle = !stream->toggle;
    header[0] = header_length;
    header[1] = flags | (stream->toggle ? bit_frame : 0);
    put32(header + 2, ticks);
    put32(header + 6, ticks);
    /* The bus' millisecond. */
    header[10] = ticks / 1000 & 0xff;
    header[11] = ticks / 1000 >> 8 & 7;
    stream->length = header_length + length;
    stream->sent = 0;
    stream->is_sending = true;
}

void stream_tick(struct camera *camera) {
    struct stream *stream = &camera->stream;
    uint64_t due = 0;
    if (read(stream->timer, &due, sizeof due) != sizeof due || !stream->runs) return;
    stream->frame += due;
    if (now() < camera->faults.stalled_until || stream->frame - stream->exposed < frames_per_exposure(camera)) return;
    stream->exposed = stream->frame;
    if (stream->is_sending) {
        stream->late += due;
        return;
    }
    stream->late += due - 1;
    prepare(camera);
}

bool stream_feed(struct camera *camera) {
    struct stream *stream = &camera->stream;
    struct pending transfer;
    if (camera->faults.halt && take_pending(camera, endpoint_video, &transfer)) {
        camera->faults.halt--;
        return usb_answer(camera->usb, transfer.number, -EPIPE, NULL, 0);
    }
    while (stream->is_sending && take_pending(camera, endpoint_video, &transfer)) {
        size_t left = stream->length - stream->sent, part = left < transfer.length ? left : transfer.length;
        if (!usb_answer(camera->usb, transfer.number, 0, stream->payload + stream->sent, part)) return false;
        stream->sent += part;
        /* A full transfer at the very end is followed by an empty one. */
        if (part < transfer.length) {
            stream->is_sending = false;
            stream->delivered++;
        }
    }
    return true;
}
