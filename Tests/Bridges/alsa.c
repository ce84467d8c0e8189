/* A microphone by ALSA. */
#include "starts.h"

#include <alsa/asoundlib.h>

enum { rate = 48000, channels = 2, frame_count = 480 };

static void need(long result, const char *what) {
    if (result < 0) failed(what, snd_strerror((int)result));
}

void start_and_stop(int number) {
    static short sound[frame_count * channels];
    snd_pcm_t *pcm;
    need(snd_pcm_open(&pcm, "captured", SND_PCM_STREAM_CAPTURE, 0), "open");
    /* Every other time it is converted. */
    need(snd_pcm_set_params(pcm, SND_PCM_FORMAT_S16_LE, SND_PCM_ACCESS_RW_INTERLEAVED, channels,
                            number % 2 ? rate : 44100, 1, 500000), "parameters");
    need(snd_pcm_readi(pcm, sound, frame_count), "read");
    if (number % 3) need(snd_pcm_drop(pcm), "drop");
    need(snd_pcm_close(pcm), "close");
}
