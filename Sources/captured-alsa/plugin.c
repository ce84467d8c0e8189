/* `type captured`: the microphones of captured, for programs that know ALSA alone. */
#include "plugin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const snd_pcm_format_t alsa_formats[5] = {
    [0] = SND_PCM_FORMAT_UNKNOWN,
    [CAPTURE_S16_LE] = SND_PCM_FORMAT_S16_LE,
    [CAPTURE_S24_3LE] = SND_PCM_FORMAT_S24_3LE,
    [CAPTURE_S32_LE] = SND_PCM_FORMAT_S32_LE,
    [CAPTURE_FLOAT_LE] = SND_PCM_FORMAT_FLOAT_LE,
};

/* Programs set parameters to look what a device can do. Nobody is asked for that: only `start` does. */
static int set_parameters(snd_pcm_ioplug_t *io, snd_pcm_hw_params_t *parameters) {
    (void)parameters;
    stream_of(io)->is_refused = false;
    stream_stop(stream_of(io));
    return stream_check_parameters(stream_of(io));
}

static int free_parameters(snd_pcm_ioplug_t *io) {
    stream_stop(stream_of(io));
    return 0;
}

static int set_software(snd_pcm_ioplug_t *io, snd_pcm_sw_params_t *parameters) {
    struct stream *stream = stream_of(io);
    int result = snd_pcm_sw_params_get_avail_min(parameters, &stream->available_least);
    if (result == 0) result = snd_pcm_sw_params_get_stop_threshold(parameters, &stream->stop_threshold);
    if (result == 0) result = snd_pcm_sw_params_get_boundary(parameters, &stream->boundary);
    if (result == 0) stream_settle(stream, io->hw_ptr);
    return result;
}

/* After an overrun the session goes on. A new one would be another use of the microphone, and a consent for this time
   would be over. */
static int prepare(snd_pcm_ioplug_t *io) {
    struct stream *stream = stream_of(io);
    if (stream->has_ended) return -ENODEV;
    stream->is_refused = false;
    stream_watch(stream, -1);
    stream_raise(stream, false);
    return 0;
}

static int start(snd_pcm_ioplug_t *io) { return stream_start(stream_of(io)); }

static int stop(snd_pcm_ioplug_t *io) {
    stream_stop(stream_of(io));
    stream_raise(stream_of(io), false);
    return 0;
}

/* A paused stream does not hold the microphone. */
static int pause_or_resume(snd_pcm_ioplug_t *io, int enable) {
    if (!enable) return stream_start(stream_of(io));
    return stop(io);
}

/* ioplug would wait until the buffer is full. It stops the stream after this. */
static int drain(snd_pcm_ioplug_t *io) {
    (void)io;
    return 0;
}

static int count_descriptors(snd_pcm_ioplug_t *io) {
    (void)io;
    return 1;
}

static int descriptors(snd_pcm_ioplug_t *io, struct pollfd *fds, unsigned int space) {
    struct stream *stream = stream_of(io);
    if (!space) return 0;
    /* A program that went back in the buffer has something to read again. */
    stream_settle(stream, io->hw_ptr);
    fds[0] = (struct pollfd){.fd = stream->poll_fd, .events = POLLIN | POLLERR | POLLNVAL};
    return 1;
}

static void dispose(struct stream *stream) {
    stream_stop(stream);
    stream_disconnect(stream);
    free(stream->device);
    free(stream);
}

static int close_stream(snd_pcm_ioplug_t *io) {
    dispose(stream_of(io));
    return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {
    .start = start,
    .stop = stop,
    .pointer = stream_pointer,
    .close = close_stream,
    .hw_params = set_parameters,
    .hw_free = free_parameters,
    .sw_params = set_software,
    .prepare = prepare,
    .drain = drain,
    .pause = pause_or_resume,
    .poll_descriptors_count = count_descriptors,
    .poll_descriptors = descriptors,
    .poll_revents = stream_poll_revents,
    .delay = stream_delay,
};

static int open_stream(snd_pcm_t **pcm, const char *name, const char *device, snd_pcm_stream_t direction, int mode) {
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream) return -ENOMEM;
    stream->poll_fd = stream->event_fd = stream->watched_fd = -1;
    stream->io = (snd_pcm_ioplug_t){
        .version = SND_PCM_IOPLUG_VERSION,
        .name = "Microphone of captured",
        .flags = SND_PCM_IOPLUG_FLAG_MONOTONIC | SND_PCM_IOPLUG_FLAG_BOUNDARY_WA,
        .callback = &callbacks,
        .private_data = stream,
        .mmap_rw = 1,
        /* ioplug does not take it from the mode. */
        .nonblock = (mode & SND_PCM_NONBLOCK) != 0,
    };
    int result = stream_connect(stream);
    if (result < 0) {
        dispose(stream);
        return result;
    }
    stream->io.poll_fd = stream->poll_fd;
    stream->io.poll_events = POLLIN;
    result = snd_pcm_ioplug_create(&stream->io, name, direction, mode);
    if (result < 0) {
        dispose(stream);
        return result;
    }
    result = stream_choose(stream, device && *device ? device : NULL);
    if (result < 0) {
        /* This calls close_stream. */
        snd_pcm_ioplug_delete(&stream->io);
        return result;
    }
    *pcm = stream->io.pcm;
    return 0;
}

static bool is_of_every_type(const char *id) {
    return !strcmp(id, "comment") || !strcmp(id, "type") || !strcmp(id, "hint");
}

/* libasound finds these by their names. */
#pragma GCC visibility push(default)
SND_PCM_PLUGIN_DEFINE_FUNC(captured);
SND_PCM_PLUGIN_SYMBOL(captured)
#pragma GCC visibility pop

SND_PCM_PLUGIN_DEFINE_FUNC(captured) {
    snd_config_iterator_t at, next;
    const char *device = NULL, *id;
    (void)root;
    snd_config_for_each(at, next, conf) {
        snd_config_t *field = snd_config_iterator_entry(at);
        if (snd_config_get_id(field, &id) < 0 || is_of_every_type(id)) continue;
        if (strcmp(id, "device")) {
            SNDERR("type captured knows no field %s", id);
            return -EINVAL;
        }
        if (snd_config_get_string(field, &device) < 0) {
            SNDERR("device is a microphone's id, as a text in quotes");
            return -EINVAL;
        }
    }
    if (stream != SND_PCM_STREAM_CAPTURE) {
        SNDERR("type captured is for capture alone");
        return -EINVAL;
    }
    return open_stream(pcmp, name, device, stream, mode);
}
