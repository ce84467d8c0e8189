/* Prints how bright each of some frames of the first camera is.

       cc frames.c $(pkg-config --cflags --libs libcapture) -o frames
       ./frames FRAMES

   The frames stay in shared memory: nothing is copied. captured asks the first time: answer in the desktop's dialog, or
   in a terminal with `capturectl agent`. */
#include <capture.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints why the program cannot go on. Returns its exit code. */
static int fail(int result) {
    fprintf(stderr, "%s\n", capture_message());
    return capture_exit_code(result);
}

/* The mean of a frame's luma: every other byte of YUYV. */
static unsigned brightness(const struct capture_buffer *frame) {
    const struct capture_format *format = frame->format;
    const struct capture_plane *plane = &frame->planes[0];
    unsigned long long sum = 0, count = 0;
    for (size_t y = 0; y < format->height && (y + 1) * plane->stride <= plane->used; y++) {
        const unsigned char *row = (const unsigned char *)plane->data + y * plane->stride;
        for (size_t x = 0; x < format->width && x * 2 < plane->stride; x++) sum += row[x * 2];
        count += format->width;
    }
    return count ? (unsigned)(sum / count) : 0;
}

int main(int count, char **arguments) {
    long frames = count == 2 ? strtol(arguments[1], NULL, 10) : 0;
    if (frames < 1) {
        fputs("usage: frames FRAMES\n", stderr);
        return 64;
    }
    struct capture_client *client;
    struct capture_session *session;
    struct capture_reader *reader;
    struct capture_video_request yuyv = {.size = sizeof yuyv, .pixel_format = 0x56595559 /* YUYV */, .exact = 1};
    int result;
    if ((result = capture_connect(CAPTURE_BUS_DEFAULT, &client)) < 0 ||
        (result = capture_consent_explain(client, "camera", "Measures how bright it is")) < 0 ||
        (result = capture_session_new(client, &session)) < 0 ||
        (result = capture_session_add_camera(session, "camera", NULL, &yuyv)) < 0 ||
        (result = capture_session_start(session, -1, -1)) < 0 ||
        (result = capture_reader_new(session, "camera", &reader)) < 0)
        return fail(result);
    while (frames > 0) {
        struct capture_buffer frame = {.size = sizeof frame};
        if ((result = capture_reader_next(reader, &frame, -1)) != CAPTURE_BUFFER) break;
        unsigned mean = brightness(&frame);
        /* The camera may have overwritten it meanwhile. */
        if (!capture_buffer_is_intact(&frame)) continue;
        printf("frame %llu: %u of 255\n", (unsigned long long)frame.sequence, mean);
        frames--;
    }
    if (result < 0) return fail(result);
    capture_reader_free(reader);
    capture_session_free(session);
    capture_disconnect(client);
    return 0;
}
