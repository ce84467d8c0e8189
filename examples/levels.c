/* Shows how loud the first microphone is, ten times a second.

       cc levels.c $(pkg-config --cflags --libs libcapture) -lm -o levels
       ./levels SECONDS

   captured asks the first time: answer in the desktop's dialog, or in a terminal with `capturectl agent`. */
#include <capture.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints why the program cannot go on. Returns its exit code. */
static int fail(int result) {
    fprintf(stderr, "%s\n", capture_message());
    return capture_exit_code(result);
}

/* The loudest sample of a period, 0 to 32768. */
static int loudest(const struct capture_buffer *period) {
    const int16_t *samples = period->planes[0].data;
    int peak = 0;
    for (size_t i = 0; i < period->planes[0].used / sizeof *samples; i++) {
        int now = abs(samples[i]);
        if (now > peak) peak = now;
    }
    return peak;
}

int main(int count, char **arguments) {
    long lines = count == 2 ? strtol(arguments[1], NULL, 10) * 10 : 0;
    if (lines < 1) {
        fputs("usage: levels SECONDS\n", stderr);
        return 64;
    }
    struct capture_client *client;
    struct capture_session *session;
    struct capture_reader *reader;
    struct capture_audio_request s16 = {.size = sizeof s16, .sample_format = CAPTURE_S16_LE, .exact = 1};
    int result;
    if ((result = capture_connect(CAPTURE_BUS_DEFAULT, &client)) < 0 ||
        (result = capture_consent_explain(client, "microphone", "Shows how loud it is")) < 0 ||
        (result = capture_session_new(client, &session)) < 0 ||
        (result = capture_session_add_microphone(session, "microphone", NULL, &s16)) < 0 ||
        (result = capture_session_start(session, -1, -1)) < 0 ||
        (result = capture_reader_new(session, "microphone", &reader)) < 0)
        return fail(result);
    int64_t told = 0;
    int peak = 1;
    while (lines > 0) {
        struct capture_buffer period = {.size = sizeof period};
        if ((result = capture_reader_next(reader, &period, -1)) != CAPTURE_BUFFER) break;
        int now = loudest(&period);
        if (capture_buffer_is_intact(&period) && now > peak) peak = now;
        if (!told) told = period.timestamp;
        if (period.timestamp - told < 100000000) continue;
        int decibels = (int)lround(20 * log10(peak / 32768.0));
        printf("%d dB %.*s\n", decibels, decibels > -60 ? 60 + decibels : 0,
               "############################################################");
        told = period.timestamp, peak = 1, lines--;
    }
    if (result < 0) return fail(result);
    capture_reader_free(reader);
    capture_session_free(session);
    capture_disconnect(client);
    return 0;
}
