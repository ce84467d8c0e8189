/* libav: encoding, muxing and looking into files, for the recorder alone. Its libraries are loaded when they are first
   needed (late.c). */
#pragma once
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/audio_fifo.h>
#include <libavutil/channel_layout.h>
#include <libavutil/crc.h>
#include <libavutil/dict.h>
#include <libavutil/display.h>
#include <libavutil/error.h>
#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
#include <libavutil/mathematics.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libavutil/spherical.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>
#include <string.h>

/* Loads the libraries, if they are not there yet. After that no call needs a file, so do this before a sandbox closes; else
   the first call does it, and ends the process where it fails. Thread-safe. Returns NULL, or why it failed. */
const char *cav_load(void);

/* Function-like and casting macros do not import. */
static const int cav_error_eagain = AVERROR(EAGAIN);
static const int cav_error_eof = AVERROR_EOF;
static const int64_t cav_no_pts = AV_NOPTS_VALUE;
static inline int cav_error_from_errno(int code) { return AVERROR(code); }

/* The matrix by which a stream's pictures are to be shown, NULL without one: its place moved with libavformat 61. */
static inline const int32_t *cav_display_matrix(const AVStream *stream) {
#if LIBAVFORMAT_VERSION_MAJOR >= 61
    const AVPacketSideData *side = av_packet_side_data_get(
        stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
    return side && side->size >= 9 * sizeof(int32_t) ? (const int32_t *)side->data : NULL;
#else
    size_t size = 0;
    const uint8_t *data = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    return data && size >= 9 * sizeof(int32_t) ? (const int32_t *)data : NULL;
#endif
}

static inline int cav_add_side_data(AVStream *stream, enum AVPacketSideDataType type, void *data, size_t size) {
#if LIBAVFORMAT_VERSION_MAJOR >= 61
    int result = av_packet_side_data_add(&stream->codecpar->coded_side_data, &stream->codecpar->nb_coded_side_data, type,
                                         data, size, 0) ? 0 : AVERROR(ENOMEM);
#else
    int result = av_stream_add_side_data(stream, type, data, size);
#endif
    if (result < 0) av_free(data);
    return result;
}

/* Has a stream's pictures shown by a matrix of nine numbers. */
static inline int cav_set_display_matrix(AVStream *stream, const int32_t *matrix) {
    int32_t *copy = av_malloc(9 * sizeof(int32_t));
    if (!copy) return AVERROR(ENOMEM);
    memcpy(copy, matrix, 9 * sizeof(int32_t));
    return cav_add_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, (uint8_t *)copy, 9 * sizeof(int32_t));
}

/* Gives a stream a pose in degrees, which libavformat has only for pictures that lie around the viewer. */
static inline int cav_set_pose(AVStream *stream, int32_t yaw, int32_t roll) {
    size_t size = 0;
    AVSphericalMapping *mapping = av_spherical_alloc(&size);
    if (!mapping) return AVERROR(ENOMEM);
    mapping->projection = AV_SPHERICAL_EQUIRECTANGULAR;
    mapping->yaw = yaw * 65536;
    mapping->roll = roll * 65536;
    return cav_add_side_data(stream, AV_PKT_DATA_SPHERICAL, (uint8_t *)mapping, size);
}

static inline int cav_open_nothing(AVFormatContext *context, AVIOContext **file, const char *name, int flags,
                                   AVDictionary **options) {
    (void)context, (void)file, (void)name, (void)flags, (void)options;
    return AVERROR(EPERM);
}
/* A file that names another, as a QuickTime movie may, opens none. */
static inline void cav_refuse_references(AVFormatContext *context) { context->io_open = cav_open_nothing; }

/* Adds a chapter of a file that is written, at nanoseconds of it; libavformat has no call for that. Returns a negative error. */
static inline int cav_add_chapter(AVFormatContext *context, int64_t start, int64_t end, const char *title) {
    AVChapter **chapters = av_realloc_array(context->chapters, context->nb_chapters + 1, sizeof *chapters);
    if (!chapters) return AVERROR(ENOMEM);
    context->chapters = chapters;
    AVChapter *chapter = av_mallocz(sizeof *chapter);
    if (!chapter) return AVERROR(ENOMEM);
    *chapter = (AVChapter){.id = context->nb_chapters + 1, .time_base = {1, 1000000000}, .start = start, .end = end};
    chapters[context->nb_chapters++] = chapter;
    return av_dict_set(&chapter->metadata, "title", title, 0);
}

/* Bit fields do not import. */
static inline int cav_index_size(const AVIndexEntry *entry) { return entry->size; }

static inline int cav_get_filled_buffer(AVCodecContext *context, AVFrame *frame, int flags) {
    int result = avcodec_default_get_buffer2(context, frame, flags);
    for (int i = 0; result >= 0 && i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++)
        memset(frame->buf[i]->data, (int)(intptr_t)context->opaque, frame->buf[i]->size);
    return result;
}
/* Fills the memory of frames with a value before they are decoded, so that what was not decoded shows. */
static inline void cav_fill_frames(AVCodecContext *context, unsigned char value) {
    context->opaque = (void *)(intptr_t)value;
    context->get_buffer2 = cav_get_filled_buffer;
}
