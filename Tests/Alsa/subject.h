/* A program that knows ALSA alone. Prints what happened to it. */
#ifndef SUBJECT_H
#define SUBJECT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <alsa/asoundlib.h>
#include <stdbool.h>

/* 48000 Hz, stereo, 16 bits. */
enum { rate = 48000, channels = 2, frame_size = 4 };

/* Says on standard error what could not be done, and ends the program. */
void must(long result, const char *what);
/* A stream with periods of 10 ms and half a second of buffer, prepared. */
snd_pcm_t *opened(const char *name, int mode, snd_pcm_access_t access);
/* Reads that many frames; returns 0 or why not. */
int read_frames(snd_pcm_t *pcm, long frames);
/* The same, and goes on after an overrun, at most twenty times: a busy machine may keep this program away for longer than the
   buffer lasts. */
int read_on(snd_pcm_t *pcm, long frames);
long milliseconds(void);
void quit(int signal);

int polled(const char *name);
int impatient(const char *name);
int forks(const char *name);
int interrupted(const char *name);
int refused_later(const char *name);

#endif
