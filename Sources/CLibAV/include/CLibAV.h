/* libav: encoding, muxing and looking into files for the recorder, and conversions for programs, too. Its libraries are
   loaded when they are first needed (late.c). */
#pragma once
#include "CLibAVNames.h"
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

#if LIBAVFORMAT_VERSION_MAJOR >= 61
#define CAV_MOVED(X) X(av_packet_side_data_get, 3) X(av_packet_side_data_add, 6)
#else
#define CAV_MOVED(X) X(av_stream_get_side_data, 3) X(av_stream_add_side_data, 4)
#endif
/* What is called anywhere here, with the number of its parameters; the linker names one that is missing. */
#define CAV_FUNCTIONS(X) \
    X(av_audio_fifo_alloc, 3) X(av_audio_fifo_free, 1) X(av_audio_fifo_read, 3) X(av_audio_fifo_size, 1) \
    X(av_audio_fifo_write, 3) X(av_buffer_create, 5) X(av_buffer_ref, 1) X(av_buffer_unref, 1) \
    X(av_channel_layout_copy, 2) X(av_channel_layout_default, 2) X(av_crc, 4) X(av_crc_get_table, 1) \
    X(av_dict_free, 1) X(av_dict_get, 4) X(av_dict_set, 4) X(av_display_matrix_flip, 3) \
    X(av_display_rotation_get, 1) X(av_find_input_format, 1) X(av_frame_alloc, 0) X(av_frame_copy_props, 2) \
    X(av_frame_free, 1) X(av_frame_get_buffer, 2) X(av_frame_unref, 1) X(av_free, 1) X(av_get_packed_sample_fmt, 1) \
    X(av_guess_sample_aspect_ratio, 3) X(av_hwdevice_ctx_create, 5) X(av_hwframe_ctx_alloc, 1) \
    X(av_hwframe_ctx_init, 1) X(av_hwframe_get_buffer, 3) X(av_hwframe_transfer_data, 3) X(av_image_check_size, 4) \
    X(av_image_get_linesize, 3) X(av_log_set_level, 1) X(av_malloc, 1) X(av_mallocz, 1) X(av_new_packet, 2) \
    X(av_opt_set_int, 4) X(av_packet_alloc, 0) X(av_packet_free, 1) X(av_packet_unref, 1) X(av_read_frame, 2) \
    X(av_realloc_array, 3) X(av_rescale, 3) X(av_rescale_q, 3) X(av_rescale_q_rnd, 4) X(av_sample_fmt_is_planar, 1) \
    X(av_seek_frame, 4) X(av_spherical_alloc, 1) X(av_strerror, 3) X(av_write_frame, 2) X(av_write_trailer, 1) \
    X(avcodec_alloc_context3, 1) X(avcodec_default_get_buffer2, 3) X(avcodec_find_decoder, 1) \
    X(avcodec_find_encoder, 1) X(avcodec_find_encoder_by_name, 1) X(avcodec_flush_buffers, 1) \
    X(avcodec_free_context, 1) X(avcodec_get_name, 1) X(avcodec_open2, 3) X(avcodec_parameters_from_context, 2) \
    X(avcodec_parameters_to_context, 2) X(avcodec_receive_frame, 2) X(avcodec_receive_packet, 2) \
    X(avcodec_send_frame, 2) X(avcodec_send_packet, 2) X(avformat_alloc_context, 0) \
    X(avformat_alloc_output_context2, 4) X(avformat_close_input, 1) X(avformat_find_stream_info, 2) \
    X(avformat_free_context, 1) X(avformat_index_get_entries_count, 1) X(avformat_index_get_entry, 2) \
    X(avformat_new_stream, 2) X(avformat_open_input, 4) X(avformat_write_header, 2) X(avio_alloc_context, 7) \
    X(avio_context_free, 1) X(avio_flush, 1) X(swr_alloc_set_opts2, 9) X(swr_convert, 5) X(swr_free, 1) \
    X(swr_get_delay, 2) X(swr_get_out_samples, 2) X(swr_init, 1) X(swr_set_compensation, 3) X(swr_set_matrix, 3) \
    X(sws_freeContext, 1) X(sws_getCoefficients, 1) X(sws_getContext, 10) X(sws_isSupportedInput, 1) X(sws_scale, 7) \
    X(sws_scale_frame, 3) X(sws_setColorspaceDetails, 8) \
    CAV_MOVED(X)

/* Swift has libav's own names. */
#define CAV_LABELS_0 ""
#define CAV_LABELS_1 "_:"
#define CAV_LABELS_2 "_:_:"
#define CAV_LABELS_3 "_:_:_:"
#define CAV_LABELS_4 "_:_:_:_:"
#define CAV_LABELS_5 "_:_:_:_:_:"
#define CAV_LABELS_6 "_:_:_:_:_:_:"
#define CAV_LABELS_7 "_:_:_:_:_:_:_:"
#define CAV_LABELS_8 "_:_:_:_:_:_:_:_:"
#define CAV_LABELS_9 "_:_:_:_:_:_:_:_:_:"
#define CAV_LABELS_10 "_:_:_:_:_:_:_:_:_:_:"
#define CAV_SWIFT(name, count) \
    extern __typeof__(name) name __attribute__((swift_name(#name "(" CAV_LABELS_##count ")")));
CAV_FUNCTIONS(CAV_SWIFT)

/* Loads the libraries, if they are not there yet. After that no call needs a file, so do this before a sandbox closes; else
   the first call does it, and ends the process where it fails: a program's first call is this one. Thread-safe. Returns
   NULL, or why it failed. */
const char *cav_load(void);

/* Has the libraries write their errors, and nothing else, once they are loaded: for a process of our own, since it is one
   setting for all that use them. Not thread-safe: call it before the libraries are loaded. */
void cav_log_errors_only(void);

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
