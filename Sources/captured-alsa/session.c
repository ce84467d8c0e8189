/* From the start of a stream to its end: consent is waited for here. */
#include "plugin.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

static const char input[] = "microphone";

/* The daemon says when a question has waited for too long: an hour is the most that its configuration takes. */
static const int64_t longest_question_ms = 3660 * 1000, longest_start_ms = 30 * 1000;

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int begin(struct stream *stream) {
    struct capture_audio_request request = {
        .size = sizeof request,
        .sample_format = stream->sample_format,
        .rate = stream->io.rate,
        .channels = stream->io.channels,
        .exact = 1,
    };
    /* In a child that could not connect yet. */
    if (!stream->client) return -CAPTURE_UNREACHABLE;
    int result = capture_session_new(stream->client, &stream->session);
    if (result < 0) return result;
    result = capture_session_add_microphone(stream->session, input, stream->device, &request);
    return result < 0 ? result : capture_session_begin(stream->session);
}

/* Begins, also after the bus went away and came back. */
static int begin_or_reconnect(struct stream *stream) {
    int result = begin(stream);
    if (result == -CAPTURE_UNREACHABLE) {
        stream_stop(stream);
        struct capture_client *client;
        if (capture_connect(CAPTURE_BUS_DEFAULT, &client) == 0) {
            capture_disconnect(stream->client);
            stream->client = client;
            capture_consent_explain(client, "bridge", "alsa");
        }
        result = begin(stream);
    }
    if (result < 0) {
        result = stream_complain(result);
        stream_stop(stream);
        return result;
    }
    stream_watch(stream, capture_fd(stream->client));
    return 0;
}

static int open_reader(struct stream *stream) {
    int result = capture_reader_new(stream->session, input, &stream->reader);
    if (result < 0) {
        stream->reader = NULL;
        return result;
    }
    result = capture_reader_fd(stream->reader);
    if (result < 0) return result;
    stream_watch(stream, result);
    stream_complain_no_more();
    return 1;
}

int stream_is_barred(struct stream *stream) {
    if (capture_session_state(stream->session) != CAPTURE_STATE_SUSPENDED) return 0;
    int reason = capture_session_reason(stream->session);
    return reason == -CAPTURE_SWITCHED_OFF || reason == -CAPTURE_USER_AWAY ? reason : 0;
}

int stream_advance(struct stream *stream) {
    if (stream->reader) return 1;
    struct capture_event event = {.size = sizeof event};
    int result = capture_dispatch(stream->client);
    while (result >= 0 && capture_next_event(stream->client, &event) == 1) event.size = sizeof event;
    int state = capture_session_state(stream->session);
    if (state == CAPTURE_STATE_RUNNING) {
        /* It may have ended since, and its state says why. */
        result = open_reader(stream);
        if (result > 0) return result;
        if (result < 0 && !capture_session_reason(stream->session)) return stream_complain(result);
    }
    if (state < 0) return stream_complain(state);
    result = state >= CAPTURE_STATE_INTERRUPTED ? capture_session_reason(stream->session) : stream_is_barred(stream);
    if (result < 0) return stream_complain(result);
    if (state >= CAPTURE_STATE_INTERRUPTED)
        return stream_complain_of(CAPTURE_DEVICE_LOST, "the session was stopped from outside");
    return 0;
}

static int wait_for_sound(struct stream *stream) {
    int64_t since = now_ms();
    int before = -1;
    while (true) {
        int result = stream_advance(stream);
        if (result) return result < 0 ? result : 0;
        int state = capture_session_state(stream->session);
        int64_t now = now_ms();
        if (state != before) since = now;
        before = state;
        if (now - since > (state == CAPTURE_STATE_AUTHORIZING ? longest_question_ms : longest_start_ms))
            return stream_complain_of(CAPTURE_UNREACHABLE, "captured does not start the microphone in time");
        /* snd_pcm_abort. */
        if (stream->io.nonblock == 2) return -EINTR;
        struct pollfd fd = {.fd = capture_fd(stream->client), .events = POLLIN};
        if (poll(&fd, 1, 500) < 0 && errno == EINTR) return -EINTR;
    }
}

static int start(struct stream *stream) {
    int result = stream_is_forked(stream) ? stream_renew(stream) : 0;
    if (result < 0) return result;
    stream->heard_until = 0;
    stream->period_left = 0;
    if (stream->reader) {
        /* After an overrun it goes on with what is recorded now, as the same use of the microphone. */
        struct capture_buffer buffer = {.size = sizeof buffer};
        result = capture_reader_newest(stream->reader, &buffer, 0);
        if (result == CAPTURE_BUFFER || result == CAPTURE_NOTHING) {
            stream_watch(stream, capture_reader_fd(stream->reader));
            return 0;
        }
        stream_stop(stream);
    }
    if (!stream->session && (result = begin_or_reconnect(stream)) < 0) return result;
    /* Who does not wait learns it from poll. */
    if (stream->io.nonblock == 1) result = stream_advance(stream);
    else result = wait_for_sound(stream);
    if (result < 0 && result != -EINTR) stream_stop(stream);
    return result < 0 ? result : 0;
}

/* A program that reads on after an error starts again with each read. The person is not asked each time, and the program
   gets the one error that GStreamer, too, does not take for silence. */
int stream_start(struct stream *stream) {
    if (stream->is_refused) return -ENODEV;
    int result = start(stream);
    stream->is_refused = result < 0 && result != -EINTR;
    return result;
}

void stream_stop(struct stream *stream) {
    stream_watch(stream, -1);
    stream->period_left = 0;
    capture_reader_free(stream->reader);
    stream->reader = NULL;
    if (stream->session && !stream_is_forked(stream)) capture_session_stop(stream->session);
    capture_session_free(stream->session);
    stream->session = NULL;
}
