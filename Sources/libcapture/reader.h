/* A reader, and the thread that watches for it. */
#ifndef CAPTURE_READER_H
#define CAPTURE_READER_H

#include "internal.h"

struct capture_reader {
    struct capture_session *session;
    size_t input;
    uint64_t start; /* of which start of the session it is */
    uint64_t seen_moves, seen_interruptions, seen_changes;
    uint64_t missed, missed_since;
    uint32_t moves;
    int64_t looked_at;
    bool has_tried; /* to go on, since the ring moved */
    bool is_over;
    atomic_bool is_cancelled;

    /* Shared with the watching thread, and with those that cancel. */
    pthread_mutex_t guard;
    struct capture_ring *ring;
    struct cap_place place;
    int64_t ended_at; /* when the ring's end was seen */

    /* The watching thread's. */
    pthread_cond_t changed;
    pthread_t thread;
    int fd; /* -1: there is no thread */
    uint64_t watched_changes;
    bool is_to_watch;
    bool is_raised;
    atomic_bool is_to_end;
};

bool cap_reader_is_over_locked(const struct capture_reader *reader);
/* After a call of the reader's: its descriptor is readable if there is more to read, and watched if not. */
void cap_watch_again(struct capture_reader *reader);
void cap_watch_end(struct capture_reader *reader);

#endif
