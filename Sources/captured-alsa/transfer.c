/* A running stream: sound comes from captured's ring into ioplug's buffer. */
#include "plugin.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static snd_pcm_uframes_t available(const struct stream *stream, snd_pcm_uframes_t hw_ptr) {
    snd_pcm_uframes_t applied = stream->io.appl_ptr;
    return hw_ptr >= applied ? hw_ptr - applied : hw_ptr + stream->boundary - applied;
}

void stream_settle(struct stream *stream, snd_pcm_uframes_t hw_ptr) {
    stream_raise(stream, stream->has_ended || stream->io.state == SND_PCM_STATE_XRUN ||
                             (stream->io.state == SND_PCM_STATE_RUNNING &&
                              available(stream, hw_ptr) >= stream->available_least));
}

/* The end came from outside. Other than after an overrun, preparing it does not help. */
static void end(struct stream *stream) {
    stream->has_ended = true;
    stream_stop(stream);
    snd_pcm_ioplug_set_state(&stream->io, SND_PCM_STATE_DISCONNECTED);
    stream_raise(stream, true);
}

/* Whether the format is still the one that the program was promised. */
static bool is_expected(const struct stream *stream, const struct capture_format *format) {
    return format->media == CAPTURE_AUDIO && format->sample_format == stream->sample_format &&
           format->rate == stream->io.rate && format->channels == stream->io.channels;
}

/* Copies frames to a place of the buffer, around its end. */
static void copy(const struct stream *stream, const snd_pcm_channel_area_t *area, snd_pcm_uframes_t at,
                 const char *from, snd_pcm_uframes_t frames) {
    char *to = (char *)area->addr + area->first / 8;
    size_t size = stream->frame_bytes;
    snd_pcm_uframes_t length = stream->io.buffer_size;
    /* A free-running program gets the newest. */
    if (frames > length) {
        snd_pcm_uframes_t passed = frames - length;
        at += passed;
        from += passed * size;
        frames = length;
    }
    at %= length;
    snd_pcm_uframes_t first = frames < length - at ? frames : length - at;
    memcpy(to + at * size, from, first * size);
    memcpy(to, from + first * size, (frames - first) * size);
}

static int64_t nanoseconds(const struct stream *stream, snd_pcm_uframes_t frames) {
    return (int64_t)(frames * UINT64_C(1000000000) / stream->io.rate);
}

/* How long ago the last sample in the buffer was recorded. */
static int64_t lateness(const struct stream *stream) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - stream->heard_until;
}

enum taken { taken_nothing, taken_sound, taken_overrun, taken_end };

/* Gets the next period from captured. */
static enum taken fetch(struct stream *stream) {
    if (stream_is_forked(stream)) {
        stream_complain_of(CAPTURE_WRONG_STATE, "the stream is its parent's; start it after the fork");
        return taken_end;
    }
    struct capture_buffer *period = &stream->period;
    period->size = sizeof *period;
    int result = capture_reader_next(stream->reader, period, 0);
    if (result == CAPTURE_NOTHING) {
        result = stream_is_barred(stream);
        if (result < 0) stream_complain(result);
        return result < 0 ? taken_end : taken_nothing;
    }
    if (result < 0) stream_complain(result);
    else if (result == CAPTURE_END) stream_complain_of(CAPTURE_DEVICE_LOST, "the session was stopped from outside");
    if (result != CAPTURE_BUFFER) return taken_end;
    if (!is_expected(stream, period->format)) {
        stream_complain_of(CAPTURE_DEVICE_LOST, "the microphone's format changed");
        return taken_end;
    }
    if (period->missed) return taken_overrun;
    stream->period_frames = stream->period_left = period->planes[0].used / stream->frame_bytes;
    return taken_sound;
}

/* Takes what there is room for, to the hardware pointer, and moves that.

   captured's periods are as long as some programs want their whole buffer. If it is shorter than a tenth of a second,
   captured's ring is what holds the rest, up to that time; a longer one overruns when it is full. */
static enum taken take(struct stream *stream, const snd_pcm_channel_area_t *area, snd_pcm_uframes_t *hw_ptr) {
    enum taken fetched = stream->period_left ? taken_sound : fetch(stream);
    if (fetched != taken_sound) return fetched;
    snd_pcm_uframes_t frames = stream->period_left, done = stream->period_frames - frames;
    snd_pcm_uframes_t ready = available(stream, *hw_ptr);
    if (ready + frames >= stream->stop_threshold) {
        if (stream->stop_threshold >= stream->io.rate / 10) return taken_overrun;
        if (stream->heard_until && lateness(stream) > 150000000) return taken_overrun;
        frames = ready < stream->stop_threshold ? stream->stop_threshold - ready : 0;
        if (frames > stream->period_left) frames = stream->period_left;
        if (!frames) return taken_nothing;
    }
    const char *from = stream->period.planes[0].data;
    copy(stream, area, *hw_ptr % stream->io.buffer_size, from + done * stream->frame_bytes, frames);
    /* The memory is captured's: it may have been written again meanwhile. */
    if (!capture_buffer_is_intact(&stream->period)) return taken_overrun;
    stream->period_left -= frames;
    *hw_ptr = (*hw_ptr + frames) % stream->boundary;
    stream->heard_until = stream->period.timestamp + nanoseconds(stream, done + frames);
    return taken_sound;
}

snd_pcm_sframes_t stream_pointer(snd_pcm_ioplug_t *io) {
    struct stream *stream = stream_of(io);
    snd_pcm_uframes_t hw_ptr = io->hw_ptr;
    const snd_pcm_channel_area_t *area = snd_pcm_ioplug_mmap_areas(io);
    bool is_running = io->state == SND_PCM_STATE_RUNNING && !stream->has_ended;
    if (!is_running || !area || !stream->boundary || !stream->session) return (snd_pcm_sframes_t)hw_ptr;
    if (!stream->reader) {
        /* The start goes on while the program polls. */
        int result = stream_advance(stream);
        if (result < 0) end(stream);
        if (result <= 0) return (snd_pcm_sframes_t)hw_ptr;
    }
    enum taken taken;
    /* No more than a ring holds, however fast it comes. */
    int most = 4096;
    do taken = take(stream, area, &hw_ptr);
    while (taken == taken_sound && most-- > 0);
    if (taken == taken_overrun) {
        stream_watch(stream, -1);
        stream_raise(stream, true);
        return -EPIPE;
    }
    if (taken == taken_end) end(stream);
    else stream_settle(stream, hw_ptr);
    return (snd_pcm_sframes_t)hw_ptr;
}

/* What is recorded and not read yet includes what is still under way from the microphone. */
int stream_delay(snd_pcm_ioplug_t *io, snd_pcm_sframes_t *delay) {
    struct stream *stream = stream_of(io);
    snd_pcm_sframes_t ready = snd_pcm_avail_update(io->pcm);
    if (ready < 0) return (int)ready;
    if (stream->has_ended) return -ENODEV;
    *delay = ready;
    if (io->state == SND_PCM_STATE_RUNNING && stream->heard_until) {
        int64_t late = lateness(stream);
        if (late > 1000000000) late = 1000000000;
        if (late > 0) *delay += (snd_pcm_sframes_t)(late * io->rate / 1000000000);
    }
    return 0;
}

int stream_poll_revents(snd_pcm_ioplug_t *io, struct pollfd *fds, unsigned int count, unsigned short *revents) {
    struct stream *stream = stream_of(io);
    (void)fds;
    (void)count;
    *revents = 0;
    snd_pcm_sframes_t ready = snd_pcm_avail_update(io->pcm);
    switch (snd_pcm_state(io->pcm)) {
    case SND_PCM_STATE_RUNNING:
        if (ready >= 0 && (snd_pcm_uframes_t)ready >= stream->available_least) *revents = POLLIN;
        break;
    case SND_PCM_STATE_PREPARED:
    case SND_PCM_STATE_PAUSED: break;
    default: *revents = POLLIN | POLLERR;
    }
    return 0;
}
