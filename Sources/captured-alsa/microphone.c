/* Which microphone, and what it offers. Everything else is what `plug` is for. */
#include "plugin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const unsigned most_channels = 1024, least_rate = 1000, most_rate = 10000000;
enum { most_rates = 64 };

static bool is_named(const struct capture_device *device, const char *name) {
    if (!strcmp(device->id, name)) return true;
    for (const char *const *alias = device->aliases; alias && *alias; alias++)
        if (!strcmp(*alias, name)) return true;
    return false;
}

static const struct capture_device *find(const struct capture_device *const *devices, const char *name) {
    for (; *devices; devices++)
        if ((*devices)->media == CAPTURE_AUDIO && (!name || is_named(*devices, name))) return *devices;
    return NULL;
}

/* What ioplug can say of an offer: any of these together. */
struct choice {
    uint32_t formats;
    struct capture_range channels;
    unsigned rates[most_rates], rate_count; /* 0: the range */
    struct capture_range rate;
};

static bool is_sane(const struct capture_audio_offer *offer) {
    return offer->sample_formats & 0x1e && offer->rate.least >= least_rate && offer->rate.most <= most_rate &&
           offer->rate.least <= offer->rate.most && offer->channels.least >= 1 &&
           offer->channels.least <= offer->channels.most && offer->channels.most <= most_channels;
}

static bool is_alike(const struct capture_audio_offer *one, const struct capture_audio_offer *other) {
    return one->sample_formats == other->sample_formats && one->channels.least == other->channels.least &&
           one->channels.most == other->channels.most;
}

/* How good an offer is to begin with: with a usual rate, and with many formats. */
static int rank(const struct capture_audio_offer *offer) {
    int points = __builtin_popcount(offer->sample_formats & 0x1e);
    if (offer->rate.least <= 48000 && offer->rate.most >= 48000) points += 32;
    if (offer->rate.least <= 44100 && offer->rate.most >= 44100) points += 16;
    if (offer->channels.most >= 2) points += 8;
    return points;
}

static int by_size(const void *one, const void *other) {
    unsigned a = *(const unsigned *)one, b = *(const unsigned *)other;
    return (a > b) - (a < b);
}

/* The best offer, and the rates of those that differ from it in nothing else: every combination is then one that the
   microphone has. */
static bool choose(const struct capture_audio_offer *const *offers, struct choice *choice) {
    const struct capture_audio_offer *best = NULL;
    for (const struct capture_audio_offer *const *at = offers; at && *at; at++)
        if (is_sane(*at) && (!best || rank(*at) > rank(best))) best = *at;
    if (!best) return false;
    *choice = (struct choice){.formats = best->sample_formats, .channels = best->channels, .rate = best->rate};
    if (best->rate.least != best->rate.most) return true;
    for (const struct capture_audio_offer *const *at = offers; *at; at++)
        if (is_sane(*at) && is_alike(*at, best) && (*at)->rate.least == (*at)->rate.most &&
            choice->rate_count < most_rates)
            choice->rates[choice->rate_count++] = (*at)->rate.least;
    qsort(choice->rates, choice->rate_count, sizeof *choice->rates, by_size);
    choice->rate.least = choice->rates[0];
    choice->rate.most = choice->rates[choice->rate_count - 1];
    return true;
}

static unsigned bytes_of(uint32_t format) {
    return (unsigned)snd_pcm_format_physical_width(alsa_formats[format]) / 8;
}

static int restrict_to(snd_pcm_ioplug_t *io, const struct choice *choice) {
    static const unsigned accesses[] = {SND_PCM_ACCESS_RW_INTERLEAVED, SND_PCM_ACCESS_MMAP_INTERLEAVED};
    unsigned formats[4], count = 0, narrow = 8, wide = 0;
    for (uint32_t format = CAPTURE_S16_LE; format <= CAPTURE_FLOAT_LE; format++) {
        if (!(choice->formats >> format & 1)) continue;
        formats[count++] = (unsigned)alsa_formats[format];
        if (bytes_of(format) < narrow) narrow = bytes_of(format);
        if (bytes_of(format) > wide) wide = bytes_of(format);
    }
    /* captured's ring holds two seconds and more. ioplug has limits in bytes alone: a buffer is not longer than that if
       it is narrow and slow, but a quarter of a second is never too long. */
    static const unsigned least_period = 128;
    uint64_t most = (uint64_t)choice->rate.least * 2 * narrow * choice->channels.least;
    uint64_t quarter = (uint64_t)choice->rate.most * wide * choice->channels.most / 4;
    if (most < quarter) most = quarter;
    if (most > INT32_MAX) return -EINVAL;
    int result = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_ACCESS, 2, accesses);
    if (result == 0) result = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, count, formats);
    if (result == 0)
        result = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_CHANNELS, choice->channels.least,
                                                 choice->channels.most);
    if (result == 0)
        result = choice->rate_count
                     ? snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_RATE, choice->rate_count, choice->rates)
                     : snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_RATE, choice->rate.least,
                                                       choice->rate.most);
    if (result == 0)
        result = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, least_period, (unsigned)most / 2);
    if (result == 0)
        result = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_BUFFER_BYTES, 2 * least_period, (unsigned)most);
    if (result == 0) result = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIODS, 2, 1024);
    return result;
}

int stream_choose(struct stream *stream, const char *name) {
    const struct capture_device *const *devices;
    char sentence[400];
    int result = capture_devices(stream->client, &devices);
    if (result < 0) return stream_complain(result);
    const struct capture_device *device = find(devices, name);
    struct choice choice;
    if (!device) {
        if (name) snprintf(sentence, sizeof sentence, "no microphone has the id or alias '%.256s'", name);
        result = stream_complain_of(CAPTURE_NO_SUCH_DEVICE, name ? sentence : "there is no microphone");
    } else if (!choose(device->audio, &choice)) {
        snprintf(sentence, sizeof sentence, "%.256s offers no sound that ALSA knows", device->name);
        result = stream_complain_of(CAPTURE_NO_SUCH_FORMAT, sentence);
    } else {
        stream->device = strdup(device->id);
        result = stream->device ? restrict_to(&stream->io, &choice) : -ENOMEM;
    }
    capture_devices_free(devices);
    return result;
}

int stream_check_parameters(struct stream *stream) {
    const snd_pcm_ioplug_t *io = &stream->io;
    stream->sample_format = 0;
    for (uint32_t format = CAPTURE_S16_LE; format <= CAPTURE_FLOAT_LE; format++)
        if (alsa_formats[format] == io->format) stream->sample_format = format;
    if (!stream->sample_format) return -EINVAL;
    stream->frame_bytes = (size_t)bytes_of(stream->sample_format) * io->channels;
    return 0;
}
