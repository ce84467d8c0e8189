/* Scenes about frames and sound. */
#include "subject.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

/* Luma of the seven upper bars, as the synthetic camera draws them. */
static const unsigned char bars[] = {180, 162, 131, 112, 84, 65, 35};

/* Whether a frame shows the bars, or the flash of a full second. */
static int shows_bars(const struct capture_buffer *frame) {
    const struct capture_format *format = frame->format;
    const struct capture_plane *plane = &frame->planes[0];
    const unsigned char *row = (const unsigned char *)plane->data + format->height / 3 * plane->stride;
    int matches = 0, white = 0;
    for (unsigned i = 0; i < 7; i++) {
        unsigned char luma = row[(2 * i + 1) * format->width / 14 * 2];
        matches += luma == bars[i];
        white += luma == 235;
    }
    return matches == 7 || white == 7;
}

/* Whether an address is in a ring that is mapped read-only and shared. */
static int is_in_ring(const void *address) {
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    int found = 0;
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        char rights[8];
        if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 && (unsigned long)address >= from &&
            (unsigned long)address < to)
            found = !strcmp(rights, "r--s") && strstr(line, "memfd:captured:");
    }
    if (maps) fclose(maps);
    return found;
}

/* frames COUNT WIDTH HEIGHT */
int frames(char **arguments) {
    struct capture_video_request request = {.size = sizeof request,
                                            .pixel_format = 0x56595559,
                                            .width = (uint32_t)atoi(arguments[1]),
                                            .height = (uint32_t)atoi(arguments[2]),
                                            .frames_per_second = 60,
                                            .exact = 1};
    start_camera(&request);
    const struct capture_format *format = capture_reader_format(reader);
    say("%.4s %ux%u %u/%u", (const char *)&format->pixel_format, format->width, format->height,
        format->interval.numerator, format->interval.denominator);
    int wanted = atoi(arguments[0]), got = 0, torn = 0, pictures = 0;
    unsigned long long missed = 0, lost = 0;
    uint64_t last = 0;
    int64_t stamp = 0;
    uint32_t moves = 0;
    while (got < wanted) {
        struct capture_buffer frame = {.size = sizeof frame};
        int result = capture_reader_next(reader, &frame, 20000);
        need(result);
        if (result != CAPTURE_BUFFER) wrong(result == CAPTURE_END ? "it ended" : "no frame in 20 s");
        if (!got && !is_in_ring(frame.planes[0].data)) wrong("the frame is a copy");
        if (frame.planes[0].used != (size_t)format->width * format->height * 2) wrong("a frame of another size");
        int is_picture = shows_bars(&frame);
        if (!capture_buffer_is_intact(&frame)) {
            torn++;
            continue;
        }
        if (got && frame.moves == moves && frame.sequence != last + 1 + frame.missed) wrong("a gap that was not told");
        if (frame.timestamp <= stamp) wrong("time goes back");
        if (frame.published < frame.timestamp) wrong("it was published before it was captured");
        pictures += is_picture;
        missed += frame.missed;
        lost += frame.lost;
        last = frame.sequence;
        stamp = frame.timestamp;
        moves = frame.moves;
        format = frame.format;
        got++;
    }
    struct capture_counters counters = {.size = sizeof counters};
    need(capture_reader_counters(reader, &counters));
    if (counters.missed != missed || counters.moves != moves) wrong("the counters say something else");
    say("%d frames, %d with the bars, %d torn, %llu missed, %llu lost, %u moves", got, pictures, torn, missed, lost,
        moves);
    need(capture_session_stop(session));
    struct capture_buffer frame = {.size = sizeof frame};
    int result;
    while ((result = capture_reader_next(reader, &frame, 10000)) == CAPTURE_BUFFER) continue;
    need(result);
    say(result == CAPTURE_END ? "ended as asked" : "no end");
    say("state %d reason %d", capture_session_state(session), capture_session_reason(session));
    end();
    return 0;
}

/* slow COUNT PACE: uses each frame until PACE more are published, and counts the frames that are still whole then. */
int slow(char **arguments) {
    struct capture_video_request request = {.size = sizeof request, .width = 320, .height = 240, .frames_per_second = 60};
    start_camera(&request);
    int wanted = atoi(arguments[0]), pace = atoi(arguments[1]), whole = 0;
    for (int i = 0; i < wanted; i++) {
        struct capture_buffer frame = {.size = sizeof frame};
        struct capture_counters counters = {.size = sizeof counters};
        need(capture_reader_next(reader, &frame, 20000));
        need(capture_reader_counters(reader, &counters));
        uint64_t until = counters.published + (uint64_t)pace;
        while (counters.published < until) {
            usleep(2000);
            need(capture_reader_counters(reader, &counters));
        }
        whole += capture_buffer_is_intact(&frame);
    }
    /* A busy machine takes longer for some. */
    say(whole > wanted / 2 ? "most are whole" : "%d of %d are whole", whole, wanted);
    need(capture_session_stop(session));
    end();
    return 0;
}

/* sound SECONDS: 50 ms of 1 kHz at each full second, silence between. */
int sound(char **arguments) {
    struct capture_audio_request request = {
        .size = sizeof request, .sample_format = CAPTURE_S16_LE, .rate = 48000, .channels = 1, .exact = 1};
    need(capture_connect(CAPTURE_BUS_DEFAULT, &client));
    need(capture_session_new(client, &session));
    need(capture_session_add_microphone(session, "microphone", NULL, &request));
    need(capture_session_start(session, 30000, -1));
    need(capture_reader_new(session, "microphone", &reader));
    const struct capture_format *format = capture_reader_format(reader);
    say("format %u, %u Hz, %u channels, %u in a period", format->sample_format, format->rate, format->channels,
        format->period_frames);
    long wanted = atol(arguments[0]) * 48000, got = 0, loud = 0, crossings = 0, heard = 0, overwritten = 0;
    int16_t before = 0;
    uint64_t position = 0;
    while (got < wanted) {
        struct capture_buffer period = {.size = sizeof period};
        int result = capture_reader_next(reader, &period, 20000);
        need(result);
        if (result != CAPTURE_BUFFER) wrong("no sound in 20 s");
        const int16_t *samples = period.planes[0].data;
        long count = (long)(period.planes[0].used / 2);
        if (heard && period.position != position && !period.missed && !period.lost) wrong("a gap in the sound");
        /* A machine that is held up loses sound, and may have lost a beep: then it is counted anew. */
        if (period.missed || period.lost) got = loud = crossings = 0;
        for (long i = 0; i < count; i++) {
            loud += abs(samples[i]) > 1000;
            crossings += (before < 0) != (samples[i] < 0);
            before = samples[i];
        }
        position = period.position + (uint64_t)count;
        got += count;
        heard += count;
        int is_intact = capture_buffer_is_intact(&period);
        if (!is_intact && ++overwritten > 5) wrong("periods are overwritten again and again");
        if (!is_intact || period.flags & CAPTURE_SILENCE) got = loud = crossings = 0;
        if (heard > 50 * wanted) wrong("sound is lost again and again");
    }
    say("%ld samples, %ld of 1000 loud, %ld crossings a second", got, loud * 1000 / got, crossings * 48000 / got);
    end();
    return 0;
}

/* Camera and microphone in one session, until both have the flash and the beep of a full second. */
int together(char **arguments) {
    struct capture_video_request yuyv = {.size = sizeof yuyv, .pixel_format = 0x56595559, .width = 320, .height = 240};
    struct capture_audio_request s16 = {.size = sizeof s16, .sample_format = CAPTURE_S16_LE, .exact = 1};
    struct capture_reader *readers[2];
    struct capture_buffer buffer = {.size = sizeof buffer};
    /* How far each was read, and when its last signal began. */
    int64_t at[2] = {0}, signals[2] = {0}, first = 0, whole = 0;
    int was_loud = 0;
    (void)arguments;
    need(capture_connect(CAPTURE_BUS_DEFAULT, &client));
    need(capture_session_new(client, &session));
    need(capture_session_add_camera(session, "camera", "synthetic:camera", &yuyv));
    need(capture_session_add_microphone(session, "microphone", "synthetic:microphone", &s16));
    need(capture_session_start(session, 30000, -1));
    need(capture_reader_new(session, "camera", &readers[0]));
    need(capture_reader_new(session, "microphone", &readers[1]));
    while (!signals[0] || llabs(signals[0] - signals[1]) > 20000000) {
        int is_sound = at[1] < at[0], result;
        need(result = capture_reader_next(readers[is_sound], &buffer, 20000));
        if (result != CAPTURE_BUFFER) wrong("nothing in 20 s");
        at[is_sound] = buffer.timestamp;
        if (!first) first = buffer.timestamp;
        if (!whole || buffer.missed || buffer.lost) whole = buffer.timestamp;
        if (buffer.timestamp - whole > INT64_C(5000000000)) wrong("no flash with a beep in 5 s of which nothing was lost");
        if (buffer.timestamp - first > INT64_C(100000000000)) wrong("no flash with a beep in 100 s");
        const unsigned char *data = buffer.planes[0].data;
        int16_t sample;
        memcpy(&sample, data, sizeof sample);
        int is_loud = is_sound ? abs(sample) > 15000 : data[100] == 235;
        if (is_loud && !(is_sound && was_loud)) signals[is_sound] = buffer.timestamp;
        if (is_sound) was_loud = is_loud;
    }
    say("flash and beep are at one time");
    for (int i = 0; i < 2; i++) capture_reader_free(readers[i]);
    /* The readers went first; in any other order it is as good. */
    capture_disconnect(client);
    say("state %d: %s", capture_session_state(session), capture_code_name(capture_session_reason(session)));
    capture_session_free(session);
    return 0;
}

/* until SECONDS: reads until the stream ends, and shows that nothing comes after that. */
int until(char **arguments) {
    start_camera(NULL);
    struct capture_buffer frame = {.size = sizeof frame}, kept = {.size = sizeof kept};
    int64_t limit = now() + atoi(arguments[0]) * INT64_C(1000000000), waited = now();
    int result, count = 0, state = -1;
    uint32_t moves = 0;
    do {
        result = capture_reader_next(reader, &frame, 50);
        if (result == CAPTURE_BUFFER) {
            if (count) capture_buffer_release(&kept);
            capture_buffer_hold(&frame);
            kept = frame;
            waited = now();
            if (!count++ || frame.moves != moves)
                say("frames, moves %u, missed %llu", moves = frame.moves, (unsigned long long)frame.missed);
        }
        if (capture_session_state(session) != state) say("state %d", state = capture_session_state(session));
    } while (result >= 0 && result != CAPTURE_END && now() < limit);
    say("%s: %s", result < 0 ? capture_code_name(result) : "none", capture_message());
    say("%d ms since the last frame", (int)((now() - waited) / 1000000));
    if (count) {
        /* What is held stays mapped, whatever became of its ring. */
        unsigned char byte = *(const unsigned char *)kept.planes[0].data;
        capture_reader_free(reader);
        reader = NULL;
        if (byte != *(const unsigned char *)kept.planes[0].data && capture_buffer_is_intact(&kept))
            wrong("an intact frame changed");
        capture_buffer_release(&kept);
    }
    end();
    return 0;
}

/* Starts as a program with an event loop does. */
static void start_by_events(void) {
    need(capture_connect(CAPTURE_BUS_DEFAULT, &client));
    need(capture_session_new(client, &session));
    need(capture_session_add_camera(session, "camera", NULL, NULL));
    need(capture_session_begin(session));
    struct pollfd file = {.fd = capture_fd(client), .events = POLLIN};
    while (capture_session_state(session) != CAPTURE_STATE_RUNNING) {
        if (poll(&file, 1, 20000) <= 0) wrong("the client's descriptor is not readable in 20 s");
        need(capture_dispatch(client));
        need(capture_session_reason(session));
    }
    if (capture_session_begin(session) != -CAPTURE_WRONG_STATE) wrong("it starts twice");
    need(capture_reader_new(session, "camera", &reader));
}

/* polled COUNT: the same by descriptors. */
int polled(char **arguments) {
    start_by_events();
    int fd = capture_reader_fd(reader), wanted = atoi(arguments[0]), got = 0, idle = 0, result;
    need(fd);
    struct capture_buffer frame = {.size = sizeof frame};
    struct pollfd file = {.fd = dup(fd), .events = POLLIN};
    while (got < wanted) {
        if (poll(&file, 1, 20000) <= 0) wrong("the descriptor is not readable in 20 s");
        need(result = capture_reader_next(reader, &frame, 0));
        if (result == CAPTURE_BUFFER) got++;
        else idle++;
    }
    say("%d frames", got);
    if (idle > got / 4) wrong("woken for nothing");
    need(capture_session_stop(session));
    do {
        if (poll(&file, 1, 20000) <= 0) wrong("the descriptor does not tell of the end");
        need(result = capture_reader_next(reader, &frame, 0));
    } while (result != CAPTURE_END);
    if (poll(&file, 1, 0) != 1) wrong("the end is told once only");
    say("ended");
    end();
    return 0;
}

/* How many descriptors are open. */
static int files(void) {
    int count = 0;
    for (int fd = 0; fd < 256; fd++) count += lseek(fd, 0, SEEK_CUR) >= 0 || dup2(fd, fd) == fd;
    return count;
}

/* again COUNT: starts and stops, and leaves nothing behind. */
int again(char **arguments) {
    struct capture_video_request small = {.size = sizeof small, .width = 320, .height = 240};
    int before = files();
    need(capture_connect(CAPTURE_BUS_DEFAULT, &client));
    need(capture_session_new(client, &session));
    need(capture_session_add_camera(session, "camera", NULL, &small));
    for (int i = 0; i < atoi(arguments[0]); i++) {
        struct capture_buffer frame = {.size = sizeof frame};
        need(capture_session_start(session, 30000, -1));
        need(capture_reader_new(session, "camera", &reader));
        if (i % 2) need(capture_reader_fd(reader));
        if (capture_reader_next(reader, &frame, 20000) != CAPTURE_BUFFER) wrong("no frame");
        capture_buffer_hold(&frame);
        need(capture_session_stop(session));
        capture_reader_free(reader);
        capture_buffer_release(&frame);
    }
    capture_session_free(session);
    capture_disconnect(client);
    say("%s times, %d descriptors more", arguments[0], files() - before);
    return 0;
}
