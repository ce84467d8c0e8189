/* A descriptor that tells of buffers. Linux has none for a futex, so a thread sleeps there and raises it.

   The thread sleeps only while the reader has read everything, because the writer takes a sleeper for one that has. */
#include "reader.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void raise_guarded(struct capture_reader *reader) {
    uint64_t one = 1;
    if (reader->is_raised) return;
    reader->is_raised = true;
    ssize_t written = write(reader->fd, &one, sizeof one);
    (void)written;
}

static void lower_guarded(struct capture_reader *reader) {
    uint64_t count;
    if (!reader->is_raised) return;
    reader->is_raised = false;
    ssize_t got = read(reader->fd, &count, sizeof count);
    (void)got;
}

struct watched {
    struct capture_reader *reader;
    uint64_t changes;
};

static bool has_news(void *context) {
    struct watched *watched = context;
    return watched->reader->session->changes != watched->changes || cap_reader_is_over_locked(watched->reader);
}

/* Waits for the session to change, at most that long. */
static bool session_changes(struct capture_reader *reader, uint64_t seen, int64_t deadline) {
    struct capture_client *client = reader->session->client;
    struct watched watched = {reader, seen};
    pthread_mutex_lock(&client->lock);
    int result = cap_wait_locked(client, has_news, &watched, deadline, -1, &reader->is_to_end);
    pthread_mutex_unlock(&client->lock);
    return result == 0;
}

static bool is_over(struct capture_reader *reader) {
    struct capture_client *client = reader->session->client;
    pthread_mutex_lock(&client->lock);
    cap_pump_locked(client);
    bool is_over = cap_reader_is_over_locked(reader);
    pthread_mutex_unlock(&client->lock);
    return is_over;
}

/* Waits until the reader has something to see: a buffer, an end, or a change after an end. */
static void wait_for_news(struct capture_reader *reader, struct capture_ring *ring, uint64_t next, int64_t ended_at,
                          uint64_t changes) {
    int64_t looked_at = 0;
    while (!atomic_load(&reader->is_to_end)) {
        uint32_t word = cap_ring_word32(ring, CAP_FUTEX_WORD), end = cap_ring_word32(ring, CAP_RING_END);
        if (cap_ring_word64(ring, CAP_PUBLISHED) != next) return;
        if (end) {
            /* The reader looks at the end once; after that, only news of the session helps. */
            if (!ended_at || session_changes(reader, changes, cap_now() + CAP_SECOND)) return;
            if (end != cap_moved && cap_now() > ended_at + 6 * CAP_SECOND) return;
        } else {
            int64_t now = cap_now();
            if (now - looked_at >= cap_look_ms * INT64_C(1000000)) {
                if (is_over(reader)) return;
                looked_at = now;
            }
            if (cap_ring_sleep(ring, word, cap_look_ms * INT64_C(1000000)) < 0) return;
        }
    }
}

static void *watch(void *context) {
    struct capture_reader *reader = context;
    pthread_mutex_lock(&reader->guard);
    while (!atomic_load(&reader->is_to_end)) {
        if (!reader->is_to_watch) {
            pthread_cond_wait(&reader->changed, &reader->guard);
            continue;
        }
        struct capture_ring *ring = cap_ring_keep(reader->ring);
        uint64_t next = reader->place.next, changes = reader->watched_changes;
        int64_t ended_at = reader->ended_at;
        pthread_mutex_unlock(&reader->guard);
        wait_for_news(reader, ring, next, ended_at, changes);
        cap_ring_release(ring);
        pthread_mutex_lock(&reader->guard);
        /* Unless the reader read meanwhile: then it says what comes next. */
        if (reader->place.next == next && reader->is_to_watch) {
            reader->is_to_watch = false;
            raise_guarded(reader);
        }
    }
    pthread_mutex_unlock(&reader->guard);
    return NULL;
}

/* What the reader can see at once. */
static bool has_more(const struct capture_reader *reader) {
    return reader->is_over || cap_ring_word64(reader->ring, CAP_PUBLISHED) != reader->place.next ||
           (!reader->ended_at && cap_ring_word32(reader->ring, CAP_RING_END));
}

void cap_watch_again(struct capture_reader *reader) {
    if (reader->fd < 0) return;
    pthread_mutex_lock(&reader->guard);
    if (has_more(reader)) {
        raise_guarded(reader);
        reader->is_to_watch = false;
    } else {
        lower_guarded(reader);
        reader->watched_changes = reader->seen_changes;
        reader->is_to_watch = true;
        pthread_cond_signal(&reader->changed);
    }
    pthread_mutex_unlock(&reader->guard);
}

void cap_watch_end(struct capture_reader *reader) {
    struct capture_client *client = reader->session->client;
    if (reader->fd < 0) return;
    atomic_store(&reader->is_to_end, true);
    pthread_mutex_lock(&reader->guard);
    cap_ring_wake(reader->ring);
    pthread_cond_signal(&reader->changed);
    pthread_mutex_unlock(&reader->guard);
    pthread_mutex_lock(&client->lock);
    cap_wake_locked(client);
    pthread_mutex_unlock(&client->lock);
    pthread_join(reader->thread, NULL);
}

int capture_reader_fd(struct capture_reader *reader) {
    if (cap_is_forked(reader->session->client))
        return cap_fail(CAPTURE_WRONG_STATE, "this reader is of the process that forked; connect anew");
    if (reader->fd >= 0) return reader->fd;
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) return cap_fail_errno(CAPTURE_INTERNAL, errno, "make a descriptor for a reader");
    reader->fd = fd;
    /* The program's signals are for its own threads. */
    sigset_t every, before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    int result = pthread_create(&reader->thread, NULL, watch, reader);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result) {
        close(fd);
        reader->fd = -1;
        return cap_fail_errno(CAPTURE_INTERNAL, result, "start a thread for a reader");
    }
    pthread_setname_np(reader->thread, "capture-reader");
    cap_watch_again(reader);
    return fd;
}
