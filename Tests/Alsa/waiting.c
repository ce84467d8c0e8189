/* The scenes that poll, do not wait, fork and get signals. */
#include "subject.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char sound[rate * frame_size];

/* Waits for the stream with its descriptors, taken once before the start. Returns its events. */
static unsigned short wait_for(snd_pcm_t *pcm, struct pollfd *fds, unsigned count, int *wakes) {
    unsigned short events = 0;
    while (!events) {
        if (poll(fds, count, 10000) <= 0) {
            printf("nothing comes\n");
            exit(1);
        }
        ++*wakes;
        must(snd_pcm_poll_descriptors_revents(pcm, fds, count, &events), "events");
    }
    return events;
}

int polled(const char *name) {
    snd_pcm_t *pcm = opened(name, SND_PCM_NONBLOCK, SND_PCM_ACCESS_RW_INTERLEAVED);
    struct pollfd fds[4];
    int count = snd_pcm_poll_descriptors(pcm, fds, 4), wakes = 0;
    must(count, "descriptors");
    printf("%s\n", poll(fds, (nfds_t)count, 0) ? "ready too early" : "not ready before the start");
    must(snd_pcm_start(pcm), "start");
    long sum = 0;
    while (sum < 2 * rate) {
        unsigned short events = wait_for(pcm, fds, (unsigned)count, &wakes);
        if (events & POLLERR) {
            /* An overrun says so here, and this program is run again. */
            must(snd_pcm_avail_update(pcm), "available");
            must(-EIO, "poll");
        }
        /* Half of what is there: what is left is told, too. */
        long ready = snd_pcm_avail_update(pcm);
        must(ready, "available");
        long got = snd_pcm_readi(pcm, sound, (snd_pcm_uframes_t)(ready > 1 ? ready / 2 : 1));
        must(got, "read");
        sum += got;
    }
    printf("%s\n", wakes < 2500 ? "polled" : "polled far too often");
    return snd_pcm_close(pcm);
}

int impatient(const char *name) {
    snd_pcm_t *pcm = opened(name, SND_PCM_NONBLOCK, SND_PCM_ACCESS_RW_INTERLEAVED);
    long sum = 0, refused = 0, until = milliseconds() + 20000;
    while (sum < rate && milliseconds() < until) {
        long got = snd_pcm_readi(pcm, sound, rate);
        if (got == -EAGAIN) {
            refused++;
            usleep(5000);
            continue;
        }
        must(got, "read");
        sum += got;
    }
    printf("%s\n", sum >= rate && refused > 5 ? "reads without waiting" : "waits or gets nothing");
    must(snd_pcm_drop(pcm), "drop");
    return snd_pcm_close(pcm);
}

static int waited(pid_t child) {
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int forks(const char *name) {
    snd_pcm_t *pcm = opened(name, 0, SND_PCM_ACCESS_RW_INTERLEAVED);
    fflush(stdout);
    /* As a program does that goes into the background: opened before, used after. */
    pid_t child = fork();
    if (!child) {
        must(read_on(pcm, rate / 5), "read in the child");
        snd_pcm_close(pcm);
        _exit(7);
    }
    printf("the child exits with %d\n", waited(child));
    must(read_on(pcm, rate / 5), "read in the parent");
    fflush(stdout);
    /* While it runs: it is the parent's. */
    child = fork();
    if (!child) {
        int result = read_frames(pcm, 2 * rate);
        snd_pcm_close(pcm);
        _exit(result == -ENODEV ? 8 : 9);
    }
    must(read_on(pcm, rate / 5), "read beside the child");
    printf("the child exits with %d\n", waited(child));
    must(read_on(pcm, rate / 5), "read after the child");
    printf("the parent reads on\n");
    return snd_pcm_close(pcm);
}

static snd_pcm_t *to_abort;

void quit(int signal) {
    (void)signal;
    if (to_abort) snd_pcm_abort(to_abort);
}

/* Nobody answers. A signal gives the program back its time; the question stays until it stops. */
int interrupted(const char *name) {
    snd_pcm_t *pcm = opened(name, 0, SND_PCM_ACCESS_RW_INTERLEAVED);
    struct sigaction action = {.sa_handler = quit, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < 3; i++) {
        if (i == 2) to_abort = pcm;
        alarm(1);
        long began = milliseconds();
        int result = snd_pcm_start(pcm);
        long lasted = milliseconds() - began;
        printf("start: %s%s\n", snd_strerror(result), lasted < 700 ? ", too early" : lasted > 8000 ? ", late" : "");
    }
    return snd_pcm_close(pcm);
}

/* A start that does not wait learns of the refusal by poll. If the program was held up, the start itself may tell it. */
int refused_later(const char *name) {
    snd_pcm_t *pcm = opened(name, SND_PCM_NONBLOCK, SND_PCM_ACCESS_RW_INTERLEAVED);
    struct pollfd fds[4];
    int count = snd_pcm_poll_descriptors(pcm, fds, 4), wakes = 0;
    int result = snd_pcm_start(pcm);
    if (result != -EACCES) {
        must(result, "a start that does not wait");
        unsigned short events = wait_for(pcm, fds, (unsigned)count, &wakes);
        printf("%s", events & POLLERR ? "" : "no error: ");
        result = (int)snd_pcm_readi(pcm, sound, 1);
    }
    printf("refused: %s\n", result == -EACCES || result == -ENODEV ? "yes" : snd_strerror(result));
    return snd_pcm_close(pcm);
}
