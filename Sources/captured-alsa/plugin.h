/* What the files of the ALSA plugin share: libasound_module_pcm_captured.so, for `type captured`.

   ioplug keeps the stream's buffer and its pointers; this takes sound from captured's ring into that buffer whenever
   the program calls. Nothing runs between such calls but libcapture's thread, which raises a descriptor.

   libasound calls start, stop, pointer, pause and delay with the stream's lock held, the others without it. */
#ifndef CAPTURED_ALSA_PLUGIN_H
#define CAPTURED_ALSA_PLUGIN_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture.h"

struct stream {
    snd_pcm_ioplug_t io;
    pid_t pid;    /* of the process that the handles below are of */
    char *device; /* the microphone's id */
    struct capture_client *client;
    struct capture_session *session; /* from start to stop */
    struct capture_reader *reader;   /* once sound flows */

    /* The program polls `poll_fd`. It is readable when `event_fd` is, or what `watched_fd` tells of: an answer of the
       daemon during a start, later sound. */
    int poll_fd, event_fd, watched_fd;
    bool is_raised;

    snd_pcm_uframes_t available_least, stop_threshold, boundary;
    size_t frame_bytes;
    uint32_t sample_format;
    /* The period of captured's that is taken just now, and how much of it is left; until the reader's next call. */
    struct capture_buffer period;
    snd_pcm_uframes_t period_frames, period_left;
    int64_t heard_until; /* when the last sample in the buffer was recorded, in ns of CLOCK_MONOTONIC; 0 for none */
    bool has_ended;      /* from outside; the program has to open it anew */
    bool is_refused;     /* a start failed; the program has to prepare it anew */
};

static inline struct stream *stream_of(snd_pcm_ioplug_t *io) { return io->private_data; }

/* plugin.c */

extern const snd_pcm_format_t alsa_formats[5]; /* by enum capture_sample_format */

/* connection.c */

/* Connects to the daemon and makes the descriptors. Below 0: an errno of ALSA's, after a line for the person. */
int stream_connect(struct stream *stream);
void stream_disconnect(struct stream *stream);
bool stream_is_forked(const struct stream *stream);
/* In the child of a fork: connects anew, with descriptors of the same numbers. */
int stream_renew(struct stream *stream);
/* Has `poll_fd` tell of this descriptor, in place of the one before; -1 for none. */
void stream_watch(struct stream *stream, int fd);
/* Makes `poll_fd` readable, or no longer so by itself. */
void stream_raise(struct stream *stream, bool is_raised);

/* microphone.c */

/* Finds a microphone by id or alias, or the first one, keeps its id, and restricts the stream to what it offers. */
int stream_choose(struct stream *stream, const char *device);
/* Whether the microphone offers just this. */
int stream_check_parameters(struct stream *stream);

/* session.c */

/* Starts to capture: 0, or why not. Waits for the person's answer and the first sound, unless the program does not
   want to wait. After -EINTR the question is still open, and the next start goes on with it. */
int stream_start(struct stream *stream);
/* Stops, and waits until the microphone is released. */
void stream_stop(struct stream *stream);
/* Goes on with a start: 1 if sound flows, 0 if not yet, else why not. */
int stream_advance(struct stream *stream);
/* The daemon takes the microphone away for as long as it likes: minus the code, and capture_message(). Else 0. */
int stream_is_barred(struct stream *stream);

/* transfer.c: the callbacks of a running stream. */

snd_pcm_sframes_t stream_pointer(snd_pcm_ioplug_t *io);
int stream_delay(snd_pcm_ioplug_t *io, snd_pcm_sframes_t *delay);
int stream_poll_revents(snd_pcm_ioplug_t *io, struct pollfd *fds, unsigned int count, unsigned short *revents);
/* Raises or lowers `event_fd` by what the program could read. */
void stream_settle(struct stream *stream, snd_pcm_uframes_t hw_ptr);

/* words.c */

/* A libcapture code as ALSA's programs understand it; says on stderr, once, why there is no sound and what helps. */
int stream_complain(int code);
/* The same with a sentence of the plugin's own. */
int stream_complain_of(int code, const char *sentence);
/* Sound flows: what stood in the way may be said again. */
void stream_complain_no_more(void);

#endif
