/* `type captured_hw`: a card's own microphone, as `type hw` has it. While the lockdown hides it, this says so. */
#include "plugin.h"

#include <alsa/pcm_plugin.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef HIDDEN_NODES
#define HIDDEN_NODES "/dev/captured/snd"
#endif

static long number_of(snd_config_t *conf, const char *key, long otherwise) {
    snd_config_t *field;
    long number;
    char *text, *end;
    if (snd_config_search(conf, key, &field) < 0) return otherwise;
    if (snd_config_get_integer(field, &number) >= 0) return number;
    if (snd_config_get_ascii(field, &text) < 0) return otherwise;
    number = strtol(text, &end, 10);
    if (end == text || *end) number = snd_card_get_index(text);
    free(text);
    return number;
}

static bool is_hidden(long card, long device) {
    char shown[80], hidden[80];
    if (card < 0 || device < 0) return false;
    snprintf(shown, sizeof shown, "/dev/snd/pcmC%ldD%ldc", card, device);
    snprintf(hidden, sizeof hidden, HIDDEN_NODES "/pcmC%ldD%ldc", card, device);
    return access(hidden, F_OK) == 0 && access(shown, F_OK) < 0;
}

/* libasound finds these by the names that the configuration has. */
#pragma GCC visibility push(default)
SND_PCM_PLUGIN_DEFINE_FUNC(captured_hw);
SND_PCM_PLUGIN_SYMBOL(captured_hw)
#pragma GCC visibility pop

SND_PCM_PLUGIN_DEFINE_FUNC(captured_hw) {
    int result = _snd_pcm_hw_open(pcmp, name, root, conf, stream, mode);
    if (result >= 0 || stream != SND_PCM_STREAM_CAPTURE) return result;
    long card = number_of(conf, "card", -1), device = number_of(conf, "device", 0);
    if (!is_hidden(card, device)) return result;
    char sentence[200];
    snprintf(sentence, sizeof sentence,
             "hw:%ld,%ld is open to captured alone while the lockdown is on; record from 'captured' or 'default' "
             "instead, and see capturectl lockdown status", card, device);
    stream_complain_of(CAPTURE_NOT_PERMITTED, sentence);
    return result;
}
