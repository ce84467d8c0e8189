/* A microphone by PulseAudio. */
#include "starts.h"

#include <pulse/error.h>
#include <pulse/simple.h>

/* It may come from the microphone that is shown while captured asks. */
static int is_silent(const char *sound, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (sound[i]) return 0;
    return 1;
}

void start_and_stop(int number) {
    static char sound[1920];
    const pa_sample_spec form = {.format = PA_SAMPLE_S16LE, .rate = 48000, .channels = 2};
    const pa_buffer_attr lengths = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, .fragsize = sizeof sound};
    int error = 0;
    (void)number;
    pa_simple *record = pa_simple_new(NULL, "starts", PA_STREAM_RECORD, NULL, "starts", &form, NULL, &lengths, &error);
    if (!record) failed("open", pa_strerror(error));
    do if (pa_simple_read(record, sound, sizeof sound, &error) < 0) failed("read", pa_strerror(error));
    while (is_silent(sound, sizeof sound));
    pa_simple_free(record);
}
