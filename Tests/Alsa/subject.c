#include "subject.h"

#include <dirent.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void must(long result, const char *what) {
    if (result >= 0) return;
    fprintf(stderr, "%s: %s\n", what, snd_strerror((int)result));
    exit(1);
}

long milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

snd_pcm_t *opened(const char *name, int mode, snd_pcm_access_t access) {
    snd_pcm_t *pcm;
    snd_pcm_hw_params_t *hardware;
    snd_pcm_uframes_t period = rate / 100, buffer = rate / 2;
    must(snd_pcm_open(&pcm, name, SND_PCM_STREAM_CAPTURE, mode), "open");
    snd_pcm_hw_params_alloca(&hardware);
    must(snd_pcm_hw_params_any(pcm, hardware), "any");
    must(snd_pcm_hw_params_set_access(pcm, hardware, access), "access");
    must(snd_pcm_hw_params_set_format(pcm, hardware, SND_PCM_FORMAT_S16_LE), "format");
    must(snd_pcm_hw_params_set_rate(pcm, hardware, rate, 0), "rate");
    must(snd_pcm_hw_params_set_channels(pcm, hardware, channels), "channels");
    must(snd_pcm_hw_params_set_period_size_near(pcm, hardware, &period, NULL), "period");
    must(snd_pcm_hw_params_set_buffer_size_near(pcm, hardware, &buffer), "buffer");
    must(snd_pcm_hw_params(pcm, hardware), "parameters");
    return pcm;
}

int read_frames(snd_pcm_t *pcm, long frames) {
    static char sound[rate / 10 * frame_size];
    while (frames > 0) {
        long count = snd_pcm_readi(pcm, sound, (snd_pcm_uframes_t)(frames < rate / 10 ? frames : rate / 10));
        if (count < 0) return (int)count;
        frames -= count;
    }
    return 0;
}

int read_on(snd_pcm_t *pcm, long frames) {
    int result, tries = 20;
    while ((result = read_frames(pcm, frames)) == -EPIPE && tries--)
        if ((result = snd_pcm_prepare(pcm)) < 0) break;
    return result;
}

/* Until it ends, which is not before something happens. */
static int until(const char *name) {
    snd_pcm_t *pcm = opened(name, 0, SND_PCM_ACCESS_RW_INTERLEAVED);
    must(read_on(pcm, rate / 10), "read");
    printf("reads\n");
    fflush(stdout);
    int result;
    do result = read_on(pcm, rate / 10);
    while (result == 0);
    long began = milliseconds();
    printf("read: %s\n", snd_strerror(result));
    printf("prepare: %s\n", snd_strerror(snd_pcm_prepare(pcm)));
    printf("again: %s\n", snd_strerror(read_frames(pcm, 1)));
    snd_pcm_close(pcm);
    printf(milliseconds() - began < 5000 ? "at once\n" : "after a while\n");
    return 0;
}

static int slow(const char *name) {
    snd_pcm_t *pcm = opened(name, 0, SND_PCM_ACCESS_RW_INTERLEAVED);
    for (int i = 0; i < 2; i++) {
        must(read_on(pcm, rate / 10), "read");
        int result, tries = 10;
        /* A microphone that was held up has not filled the buffer. */
        do usleep(i ? 4000000 : 1000000);
        while (!(result = read_frames(pcm, 1)) && --tries);
        printf("%s, state %s\n", snd_strerror(result), snd_pcm_state_name(snd_pcm_state(pcm)));
        must(snd_pcm_recover(pcm, result, 1), "recover");
    }
    must(read_on(pcm, rate / 2), "read");
    printf("goes on\n");
    return snd_pcm_close(pcm);
}

/* One that wants the newest, and no end at an overrun. */
static int free_running(const char *name) {
    snd_pcm_t *pcm = opened(name, 0, SND_PCM_ACCESS_RW_INTERLEAVED);
    snd_pcm_sw_params_t *software;
    snd_pcm_uframes_t boundary;
    snd_pcm_sw_params_alloca(&software);
    must(snd_pcm_sw_params_current(pcm, software), "current");
    must(snd_pcm_sw_params_get_boundary(software, &boundary), "boundary");
    must(snd_pcm_sw_params_set_stop_threshold(pcm, software, boundary), "threshold");
    must(snd_pcm_sw_params(pcm, software), "software");
    must(read_frames(pcm, rate / 10), "read");
    long began = milliseconds(), ready;
    int tries = 10;
    /* A microphone that was held up has not filled the buffer. */
    do usleep(1200000);
    while ((ready = snd_pcm_avail(pcm)) >= 0 && ready <= rate && --tries);
    long most = (milliseconds() - began + 1800) * rate / 1000;
    must(read_frames(pcm, rate / 10), "read");
    printf("%s\n", ready > rate && ready < most ? "more than a buffer" : "too little or too much");
    return snd_pcm_close(pcm);
}

/* A buffer that is shorter than captured's periods. */
static int brief(const char *name) {
    snd_pcm_t *pcm;
    snd_pcm_uframes_t buffer, period;
    must(snd_pcm_open(&pcm, name, SND_PCM_STREAM_CAPTURE, 0), "open");
    must(snd_pcm_set_params(pcm, SND_PCM_FORMAT_S16_LE, SND_PCM_ACCESS_RW_INTERLEAVED, channels, rate, 0, 6000), "set");
    must(snd_pcm_get_params(pcm, &buffer, &period), "get");
    /* A busy machine may keep this program away for longer than the buffer lasts, but not in each tenth of a second. */
    int result;
    for (int i = 0; (result = read_frames(pcm, rate / 10)) == -EPIPE && i < 100; i++)
        must(snd_pcm_recover(pcm, result, 1), "recover");
    must(result, "read");
    printf("%s\n", buffer < rate / 100 ? "brief" : "not brief");
    return snd_pcm_close(pcm);
}

static int descriptors(void) {
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

static int again(const char *name) {
    int before = 0;
    size_t used = 0;
    for (int i = 0; i < 55; i++) {
        if (i == 5) {
            before = descriptors();
            used = mallinfo2().uordblks;
        }
        snd_pcm_t *pcm = opened(name, 0, SND_PCM_ACCESS_RW_INTERLEAVED);
        for (int j = 0; j < 2; j++) {
            must(read_on(pcm, 100), "read");
            must(snd_pcm_drop(pcm), "drop");
            must(snd_pcm_prepare(pcm), "prepare");
        }
        must(snd_pcm_close(pcm), "close");
    }
    long more = (long)(mallinfo2().uordblks - used);
    printf("%d descriptors more, memory %s\n", descriptors() - before, more < 10000 ? "the same" : "more");
    return 0;
}

static int twice(const char *name) {
    snd_pcm_t *one = opened(name, 0, SND_PCM_ACCESS_RW_INTERLEAVED);
    snd_pcm_t *other = opened(name, 0, SND_PCM_ACCESS_RW_INTERLEAVED);
    for (int i = 0; i < 20; i++) {
        must(read_on(one, rate / 50), "one");
        must(read_on(other, rate / 50), "other");
    }
    must(snd_pcm_close(one), "close");
    must(read_on(other, rate / 5), "other alone");
    printf("both read\n");
    return snd_pcm_close(other);
}

static int mapped(const char *name) {
    snd_pcm_t *pcm = opened(name, 0, SND_PCM_ACCESS_MMAP_INTERLEAVED);
    must(snd_pcm_start(pcm), "start");
    snd_pcm_uframes_t sum = 0;
    while (sum < rate) {
        must(snd_pcm_wait(pcm, 5000), "wait");
        must(snd_pcm_avail_update(pcm), "available");
        const snd_pcm_channel_area_t *areas;
        snd_pcm_uframes_t offset, frames = rate;
        must(snd_pcm_mmap_begin(pcm, &areas, &offset, &frames), "begin");
        long done = snd_pcm_mmap_commit(pcm, offset, frames);
        must(done, "commit");
        sum += (snd_pcm_uframes_t)done;
    }
    printf("mapped\n");
    return snd_pcm_close(pcm);
}

static int paused(const char *name) {
    snd_pcm_t *pcm = opened(name, 0, SND_PCM_ACCESS_RW_INTERLEAVED);
    snd_pcm_sframes_t delay = 0, ready;
    int result = 0, tries = 20;
    /* Once more where the program or the microphone was held up in between. */
    do must(read_on(pcm, rate / 10), "read");
    while (((ready = snd_pcm_avail(pcm)) == -EPIPE || (result = snd_pcm_delay(pcm, &delay)) == -EPIPE ||
            (!result && delay >= rate / 2)) && --tries);
    must(ready, "available");
    must(result, "delay");
    printf("%s\n", delay >= ready && delay < rate / 2 ? "delay holds" : "delay does not hold");
    must(snd_pcm_pause(pcm, 1), "pause");
    printf("paused\n");
    fflush(stdout);
    getchar();
    must(snd_pcm_pause(pcm, 0), "go on");
    must(read_on(pcm, rate / 2), "read on");
    must(snd_pcm_drain(pcm), "drain");
    printf("%s\n", snd_pcm_state_name(snd_pcm_state(pcm)));
    fflush(stdout);
    getchar();
    return snd_pcm_close(pcm);
}

/* What a program does that only looks: nobody is asked, and nothing is captured. */
static int looks(const char *name) {
    snd_pcm_close(opened(name, SND_PCM_NONBLOCK, SND_PCM_ACCESS_RW_INTERLEAVED));
    snd_pcm_t *pcm;
    printf("playback: %s\n", snd_strerror(snd_pcm_open(&pcm, name, SND_PCM_STREAM_PLAYBACK, 0)));
    return 0;
}

static int opens(const char *name) {
    snd_pcm_t *pcm;
    int result = snd_pcm_open(&pcm, name, SND_PCM_STREAM_CAPTURE, 0);
    printf("open: %s\n", snd_strerror(result));
    return result < 0 ? 0 : snd_pcm_close(pcm);
}

static int reads(const char *name) {
    snd_pcm_t *pcm = opened(name, 0, SND_PCM_ACCESS_RW_INTERLEAVED);
    for (int i = 0; i < 3; i++) {
        if (i == 2) must(snd_pcm_prepare(pcm), "prepare");
        printf("read: %s\n", snd_strerror(read_frames(pcm, 1000)));
    }
    return snd_pcm_close(pcm);
}

static void silent(const char *file, int line, const char *function, int code, const char *format, ...) {
    (void)file, (void)line, (void)function, (void)code, (void)format;
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        int (*run)(const char *);
    } scenes[] = {
        {"until", until},         {"slow", slow},     {"free", free_running}, {"again", again},
        {"twice", twice},         {"mapped", mapped}, {"paused", paused},     {"looks", looks},
        {"opens", opens},         {"reads", reads},   {"polled", polled},     {"impatient", impatient},
        {"forks", forks},         {"interrupted", interrupted},               {"later", refused_later},
        {"brief", brief},
    };
    if (count < 2) return 2;
    snd_lib_error_set_handler(silent);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        if (!strcmp(scenes[i].name, arguments[1])) {
            int result = scenes[i].run(count > 2 ? arguments[2] : "captured");
            snd_config_update_free_global();
            return result < 0;
        }
    return 2;
}
