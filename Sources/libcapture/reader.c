/* Readers: the next buffer of a stream, in whichever ring it goes on. */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long the reason of an end is waited for; it comes over the bus, a moment after the ring's end. */
static const int64_t patience = 5 * CAP_SECOND;

int capture_reader_new(struct capture_session *session, const char *input, struct capture_reader **made) {
    if (!input || !made)
        return cap_fail(CAPTURE_INVALID_ARGUMENT, "an input's name and a place for the reader are needed");
    *made = NULL;
    struct capture_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return cap_fail_errno(CAPTURE_INTERNAL, ENOMEM, "make a reader");
    int fd = -1, result = cap_lock(session->client);
    if (result == 0) {
        struct cap_input *from = cap_session_input(session, input);
        cap_pump_locked(session->client);
        if (!from) {
            result = cap_fail(CAPTURE_INVALID_ARGUMENT, "the session has no input '%s'", input);
        } else if (!session->path) {
            result = cap_fail(CAPTURE_WRONG_STATE, "the session has not started");
        } else {
            reader->input = (size_t)(from - session->inputs);
            reader->seen_moves = from->moves;
            reader->seen_interruptions = session->interruptions;
            reader->start = session->starts;
            result = fd = cap_session_open_ring_locked(session, input);
        }
        cap_unlock(session->client);
    }
    if (result >= 0) result = cap_ring_map(fd, &reader->ring);
    if (fd >= 0) close(fd);
    if (result < 0) {
        free(reader);
        return result;
    }
    reader->place.next = cap_ring_word64(reader->ring, CAP_PUBLISHED);
    reader->session = session;
    reader->fd = -1;
    reader->looked_at = cap_now();
    pthread_mutex_init(&reader->guard, NULL);
    pthread_cond_init(&reader->changed, NULL);
    atomic_fetch_add(&session->references, 1);
    *made = reader;
    return 0;
}

void capture_reader_free(struct capture_reader *reader) {
    if (!reader) return;
    bool is_here = !cap_is_forked(reader->session->client);
    if (is_here) cap_watch_end(reader);
    if (reader->fd >= 0) close(reader->fd);
    cap_ring_release(reader->ring);
    if (is_here) {
        pthread_mutex_destroy(&reader->guard);
        pthread_cond_destroy(&reader->changed);
    }
    cap_session_release(reader->session);
    free(reader);
}

const struct capture_format *capture_reader_format(struct capture_reader *reader) { return &reader->ring->format; }

/* Whether this reader's session is over: it may have started again since, as another one. */
bool cap_reader_is_over_locked(const struct capture_reader *reader) {
    const struct capture_session *session = reader->session;
    return session->starts != reader->start || cap_state_is_final(session->state);
}

/* What the end of the session is to its reader. */
static int ended_locked(struct capture_reader *reader) {
    struct capture_session *session = reader->session;
    if (session->starts != reader->start) return CAPTURE_END;
    cap_session_settle_locked(session);
    return session->state == CAPTURE_STATE_STOPPED && !session->code ? CAPTURE_END : cap_session_fault_locked(session);
}

/* Looks now and then whether the session ended: the ring of a device that others use, too, may go on. Returns 0, or
   the end; `*since` is when it was heard. */
static int look_at_session(struct capture_reader *reader, int64_t now, int64_t *since) {
    struct capture_client *client = reader->session->client;
    if (!reader->is_over && now - reader->looked_at < cap_look_ms * INT64_C(1000000)) return 0;
    reader->looked_at = now;
    int result = cap_lock_open_or_not(client);
    if (result) return result;
    cap_pump_locked(client);
    if (cap_reader_is_over_locked(reader)) {
        reader->is_over = true;
        *since = reader->session->starts == reader->start ? reader->session->ended_at : 0;
        result = ended_locked(reader);
    }
    cap_unlock(client);
    return result;
}

struct change {
    const struct capture_reader *reader;
    uint64_t changes;
};

static bool has_changed(void *context) {
    const struct change *change = context;
    return change->reader->session->changes != change->changes;
}

/* Goes on in the ring that there is now, if it is another one: 1, or 0, or why the stream ended. */
static int switch_locked(struct capture_reader *reader) {
    struct capture_session *session = reader->session;
    struct cap_input *input = &session->inputs[reader->input];
    struct capture_ring *ring = NULL;
    reader->seen_moves = input->moves;
    reader->has_tried = true;
    int fd = cap_session_open_ring_locked(session, input->name);
    /* Interrupted meanwhile; the session's state and a move tell when that is over. */
    if (fd == -CAPTURE_WRONG_STATE || fd == -CAPTURE_SWITCHED_OFF || fd == -CAPTURE_USER_AWAY) return 0;
    if (fd < 0) return cap_reader_is_over_locked(reader) ? 0 : fd;
    uint64_t device, inode;
    int result = cap_ring_identity(fd, &device, &inode);
    bool is_same = result == 0 && device == reader->ring->device && inode == reader->ring->inode;
    if (result == 0 && !is_same) result = cap_ring_map(fd, &ring);
    close(fd);
    if (result < 0 || is_same) return result;
    bool is_fresh = reader->seen_interruptions != session->interruptions;
    reader->seen_interruptions = session->interruptions;
    uint64_t published = cap_ring_word64(ring, CAP_PUBLISHED), oldest = cap_ring_word64(ring, CAP_OLDEST);
    uint64_t start = is_fresh || oldest > published ? published : oldest;
    if (!is_fresh) {
        /* Overwritten before this reader came. */
        reader->missed += start;
        reader->missed_since += start;
    }
    pthread_mutex_lock(&reader->guard);
    cap_ring_release(reader->ring);
    reader->ring = ring;
    reader->place = (struct cap_place){.next = start};
    reader->ended_at = 0;
    pthread_mutex_unlock(&reader->guard);
    reader->has_tried = false;
    reader->moves++;
    return 1;
}

/* What a ring's end means when the daemon says nothing of the session's. */
static int ring_end(uint32_t end) {
    if (end == cap_stopped) return CAPTURE_END;
    if (end == cap_revoked) return cap_fail(CAPTURE_REVOKED, "the consent was withdrawn");
    return cap_fail(CAPTURE_DEVICE_LOST, "the device went away");
}

/* The ring is at its end: 1 if the stream goes on in another one, 0 if nothing came in time, else what the reader
   returns. */
static int follow(struct capture_reader *reader, uint32_t end, int64_t deadline) {
    struct capture_session *session = reader->session;
    if (end > cap_revoked) return cap_fail(CAPTURE_BAD_DATA, "a ring's header is damaged: its end cannot be %u", end);
    int result = cap_lock_open_or_not(session->client);
    if (result) return result;
    if (!reader->ended_at) {
        pthread_mutex_lock(&reader->guard);
        reader->ended_at = cap_now();
        pthread_mutex_unlock(&reader->guard);
    }
    int64_t limit = end == cap_moved ? CAP_FOREVER : reader->ended_at + patience;
    while (true) {
        cap_pump_locked(session->client);
        uint64_t changes = session->changes;
        bool is_over = cap_reader_is_over_locked(reader);
        bool is_new = session->inputs[reader->input].moves != reader->seen_moves;
        if (is_over) {
            reader->is_over = true;
            result = ended_locked(reader);
            /* An end without more to say counts as the ring has it. */
            if (result == CAPTURE_END) result = end == cap_moved ? CAPTURE_END : ring_end(end);
            break;
        }
        if (is_new || (end == cap_moved && !reader->has_tried)) {
            if ((result = switch_locked(reader)) != 0) break;
            continue;
        }
        if (cap_now() >= limit) {
            result = ring_end(end);
            break;
        }
        reader->seen_changes = changes;
        struct change change = {reader, changes};
        result = cap_wait_locked(session->client, has_changed, &change, deadline < limit ? deadline : limit, -1,
                                 &reader->is_cancelled);
        if (result == -CAPTURE_DISMISSED || (result < 0 && deadline <= limit)) {
            result = 0;
            break;
        }
    }
    cap_unlock(session->client);
    return result;
}

static int take(struct capture_reader *reader, bool newest, struct capture_buffer *buffer) {
    uint64_t missed = 0;
    pthread_mutex_lock(&reader->guard);
    int result = cap_ring_take(reader->ring, &reader->place, &missed, newest, buffer);
    pthread_mutex_unlock(&reader->guard);
    reader->missed += missed;
    reader->missed_since += missed;
    if (result == 1) {
        buffer->missed = reader->missed_since;
        buffer->moves = reader->moves;
        reader->missed_since = 0;
    }
    return result;
}

static int next(struct capture_reader *reader, bool newest, struct capture_buffer *buffer, int timeout_ms) {
    int64_t deadline = cap_deadline(timeout_ms);
    while (true) {
        /* The word first: what happens after this load ends the sleep below at once. The end before the count: once an
           end is seen, every publication before it is seen, too. */
        uint32_t word = cap_ring_word32(reader->ring, CAP_FUTEX_WORD);
        uint32_t end = cap_ring_word32(reader->ring, CAP_RING_END);
        int64_t now = cap_now(), since = 0;
        int over = look_at_session(reader, now, &since), result = take(reader, newest, buffer);
        if (result < 0) return result;
        if (result == 1) {
            if (!over || buffer->published <= since) return CAPTURE_BUFFER;
            /* Of others' session. */
            result = 0;
        }
        if (end) {
            result = follow(reader, end, deadline);
            if (result == 1) continue;
            if (result == 0) atomic_store(&reader->is_cancelled, false);
            return result;
        }
        if (over) return over;
        if (atomic_exchange(&reader->is_cancelled, false)) return CAPTURE_NOTHING;
        int64_t rest = deadline == CAP_FOREVER ? CAP_FOREVER : deadline - now;
        if (rest <= 0) return CAPTURE_NOTHING;
        /* Another reader can move sleepers to another word, by FUTEX_REQUEUE: so nobody sleeps for long. */
        if (rest > cap_look_ms * INT64_C(1000000)) rest = cap_look_ms * INT64_C(1000000);
        result = cap_ring_sleep(reader->ring, word, rest);
        if (result < 0) return result;
    }
}

static int next_for(struct capture_reader *reader, bool newest, struct capture_buffer *buffer, int timeout_ms) {
    struct capture_buffer found;
    if (!buffer || buffer->size < sizeof found)
        return cap_fail(CAPTURE_INVALID_ARGUMENT, "there is no place for the buffer; set its size");
    if (cap_is_forked(reader->session->client))
        return cap_fail(CAPTURE_WRONG_STATE, "this reader is of the process that forked; connect anew");
    int result = next(reader, newest, &found, timeout_ms);
    if (result == CAPTURE_BUFFER) cap_export(&found, sizeof found, buffer, buffer->size);
    cap_watch_again(reader);
    return result;
}

int capture_reader_next(struct capture_reader *reader, struct capture_buffer *buffer, int timeout_ms) {
    return next_for(reader, false, buffer, timeout_ms);
}

int capture_reader_newest(struct capture_reader *reader, struct capture_buffer *buffer, int timeout_ms) {
    return next_for(reader, true, buffer, timeout_ms);
}

void capture_reader_cancel(struct capture_reader *reader) {
    struct capture_client *client = reader->session->client;
    atomic_store(&reader->is_cancelled, true);
    if (cap_is_forked(client)) return;
    pthread_mutex_lock(&reader->guard);
    cap_ring_wake(reader->ring);
    pthread_mutex_unlock(&reader->guard);
    pthread_mutex_lock(&client->lock);
    cap_wake_locked(client);
    pthread_mutex_unlock(&client->lock);
}

int capture_reader_counters(struct capture_reader *reader, struct capture_counters *counters) {
    if (!counters || counters->size < sizeof counters->size)
        return cap_fail(CAPTURE_INVALID_ARGUMENT, "there is no place for the counters; set its size");
    if (cap_is_forked(reader->session->client))
        return cap_fail(CAPTURE_WRONG_STATE, "this reader is of the process that forked; connect anew");
    struct capture_counters found = {.moves = reader->moves, .missed = reader->missed};
    found.published = cap_ring_word64(reader->ring, CAP_PUBLISHED);
    found.pending = found.published > reader->place.next ? found.published - reader->place.next : 0;
    for (unsigned i = 0; i < 8; i++) found.drops[i] = cap_ring_word64(reader->ring, CAP_DROPS + i * 8);
    cap_export(&found, sizeof found, counters, counters->size);
    return 0;
}
