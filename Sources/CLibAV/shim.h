/* libav: encoding and muxing, linked by the recorder alone. */
#pragma once
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/audio_fifo.h>
#include <libavutil/channel_layout.h>
#include <libavutil/error.h>
#include <libavutil/hwcontext.h>
#include <libavutil/imgutils.h>
#include <libavutil/mathematics.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

/* Function-like and casting macros do not import. */
static const int cav_error_eagain = AVERROR(EAGAIN);
static const int cav_error_eof = AVERROR_EOF;
static const int64_t cav_no_pts = AV_NOPTS_VALUE;
static inline int cav_error_from_errno(int code) { return AVERROR(code); }
