/* What the files of libcapture share. Nothing here is visible outside of the library.

   One lock a client guards all that its bus, sessions and events are: sd-bus is not thread-safe, not even its
   messages. A function of a name with `_locked` is called with the lock held; cap_wait lets go of it while it polls. */
#ifndef CAPTURE_INTERNAL_H
#define CAPTURE_INTERNAL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "capture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#define CAP_SERVICE "org.capturekit.Capture1"
#define CAP_ROOT "/org/capturekit/Capture1"
#define CAP_MANAGER CAP_SERVICE ".Manager"
#define CAP_CONSENT CAP_SERVICE ".Authorization"
#define CAP_SESSION CAP_SERVICE ".Session"
#define CAP_DEVICE CAP_SERVICE ".Device"
#define CAP_SESSIONS CAP_ROOT "/sessions/"
#define CAP_DEVICES CAP_ROOT "/devices"

enum {
    cap_call_seconds = 25, /* as long as a call of D-Bus waits */
    cap_most_events = 256,
    cap_most_inputs = 16,
    cap_look_ms = 100, /* how often a reader that waits looks by itself */
};

#define CAP_FOREVER INT64_MAX
#define CAP_SECOND INT64_C(1000000000)
#define CAP_COUNT(array) (sizeof(array) / sizeof *(array))

/* errors.c */

/* Notes the sentence of a failure. Returns -code. */
int cap_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for what the system said. */
int cap_fail_errno(int code, int number, const char *what);
int cap_code_named(const char *name);
/* -code of an error reply; its sentence is noted. */
int cap_fail_bus(const sd_bus_error *error, const char *path);
int cap_malformed(const char *what);

/* memory.c: what belongs to one list is freed at once. */

struct cap_arena {
    struct cap_block *blocks;
};
/* Copies as much of a text as there is room for. */
void cap_copy_text(char *to, size_t size, const char *from);
void *cap_arena_take(struct cap_arena *arena, size_t size);
char *cap_arena_text(struct cap_arena *arena, const char *text);
void cap_arena_free(struct cap_arena *arena);
/* Pointers that grow in an arena; there is always a NULL behind the last. */
struct cap_pointers {
    const void **items;
    size_t count, room;
};
int cap_pointers_add(struct cap_arena *arena, struct cap_pointers *pointers, const void *item);
/* A list for the caller, with its arena before it; NULL when memory ran out. Takes the arena's memory either way. */
const void *const *cap_list_make(struct cap_arena *arena, const struct cap_pointers *pointers);
void cap_list_free(const void *const *list);
/* Copies a structure from or to a caller of another version. `own` is as large as this version has it. */
void cap_import(void *own, size_t own_size, const void *theirs, uint32_t their_size);
void cap_export(const void *own, size_t own_size, void *theirs, uint32_t their_size);

/* tables.c: a{sv} */

/* Reads the value of a key: 1 if it did, 0 for what it does not know, below 0 for what is malformed. `type` is the
   value's signature. */
typedef int cap_field(void *context, const char *key, const char *type, sd_bus_message *message);
int cap_read_table(sd_bus_message *message, cap_field *field, void *context);
/* Calls `item` for each element of an aa{sv}. */
int cap_read_tables(sd_bus_message *message, int (*item)(void *context, sd_bus_message *message), void *context);
/* 1 and the value, if the type is the right one; else 0. */
int cap_read_text(sd_bus_message *message, const char *type, struct cap_arena *arena, const char **text);
int cap_read_u32(sd_bus_message *message, const char *type, uint32_t *value);
int cap_read_i64(sd_bus_message *message, const char *type, int64_t *value);
int cap_read_flag(sd_bus_message *message, const char *type, int *value);
/* Four-character code, by the names that the bus has for it. */
uint32_t cap_pixel_format(const char *name);
void cap_pixel_format_name(uint32_t code, char name[16]);
extern const char *const cap_sample_format_names[5];
int cap_append_text(sd_bus_message *message, const char *key, const char *value);
int cap_append_u32(sd_bus_message *message, const char *key, uint32_t value);
int cap_append_flag(sd_bus_message *message, const char *key, int value);

/* client.c */

/* A thread that polls, to be woken when another one has taken in what came for it. */
struct cap_waiter {
    int fd;
    struct cap_waiter *next;
};

struct cap_event_node {
    struct capture_event event;
    struct cap_event_node *next;
};

/* A question that waits for its answer; on the stack of the one who asks. */
struct cap_request {
    uint32_t number; /* 0: not known yet */
    bool is_done;
    int code;
    char message[512];
    struct cap_request *next;
};

struct cap_usage {
    char *service, *reason;
    struct cap_usage *next;
};

struct capture_client {
    atomic_uint references;
    pid_t pid;
    pthread_mutex_t lock;
    sd_bus *bus;
    int bus_fd;
    int poll_fd, event_fd;
    bool is_closed;
    bool is_to_look; /* event_fd was raised */
    /* The unique name of the daemon; NULL while there is none. `life` counts its changes. */
    char *owner;
    uint64_t life;
    struct cap_waiter *waiters;
    struct capture_session *sessions;
    struct cap_request *requests;
    struct cap_request *early; /* decided before their numbers were known */
    struct cap_usage *usages;
    uint64_t told_usages; /* the life in which the daemon was told them */
    struct cap_event_node *first_event, **last_event;
    size_t event_count;
    bool watches_devices;
    struct capture_client *next_of_all;
};

int64_t cap_now(void);
int64_t cap_deadline(int timeout_ms);
/* Locks a client that may be used here; below 0 after a fork or the end of the connection. */
int cap_lock(struct capture_client *client);
/* The same, without looking whether the connection is at its end. */
int cap_lock_open_or_not(struct capture_client *client);
void cap_unlock(struct capture_client *client);
bool cap_is_forked(const struct capture_client *client);
struct capture_client *cap_client_keep(struct capture_client *client);
void cap_client_release(struct capture_client *client);
/* Takes in all that has come. */
void cap_pump_locked(struct capture_client *client);
void cap_wake_locked(struct capture_client *client);
/* Raises the descriptor of capture_fd. */
void cap_raise_locked(struct capture_client *client);
void cap_close_locked(struct capture_client *client);

/* fork.c: in the child of a fork, the copies of bus sockets are replaced, so that they keep no connection alive. */
int cap_fork_watch(struct capture_client *client);
void cap_fork_forget(struct capture_client *client);
/* No fork between the two: around what may close a bus socket. Never around anything that waits. */
void cap_fork_hold(void);
void cap_fork_let(void);

/* wait.c */

/* Waits until `is_done`, which is called with the lock held, as is this function. Returns 0, or -TimedOut, or
   -Dismissed when cancel_fd is readable or `*cancelled` is set; without a noted sentence. The end of the connection is
   the condition's to notice. */
int cap_wait_locked(struct capture_client *client, bool (*is_done)(void *), void *context, int64_t deadline,
                    int cancel_fd, const atomic_bool *cancelled);

/* calls.c */

/* Makes a call. `starts`: has the bus start the daemon. */
int cap_call_new_locked(struct capture_client *client, const char *path, const char *interface, const char *member,
                        sd_bus_message **message);
/* Calls and waits. Takes the message. reply: may be NULL; else the caller's, to be released with the lock held. */
int cap_call_locked(struct capture_client *client, sd_bus_message *message, sd_bus_message **reply);
/* Both, with simple arguments as for sd_bus_message_append. */
int cap_ask_locked(struct capture_client *client, const char *path, const char *interface, const char *member,
                   sd_bus_message **reply, const char *types, ...);
/* Makes sure that the daemon is there and was told why the program captures. */
int cap_need_daemon_locked(struct capture_client *client);

/* events.c */

int cap_heard(sd_bus_message *message, void *client, sd_bus_error *error);
void cap_event_locked(struct capture_client *client, const struct capture_event *event);
void cap_set_owner_locked(struct capture_client *client, const char *owner);

/* devices.c and controls.c: what their signals bring. */

int cap_device_id(sd_bus_message *message, char *id, size_t size);
int cap_control_changed(sd_bus_message *message, struct capture_event *event);

/* consent.c */

void cap_access_decided_locked(struct capture_client *client, sd_bus_message *message);
int cap_tell_usages_locked(struct capture_client *client);

/* session.c */

struct cap_input {
    char *name, *device;
    enum capture_media media;
    struct capture_video_request video;
    struct capture_audio_request audio;
    uint64_t moves; /* how often BufferMoved named it */
};

struct capture_session {
    atomic_uint references;
    struct capture_client *client;
    struct capture_session *next;
    struct cap_input inputs[cap_most_inputs];
    size_t input_count;
    uint32_t process; /* for which another captures; 0: it is this program's own */
    uint64_t process_start;
    uint32_t process_said;
    struct capture_connections *connections; /* of all processes */
    size_t connection_count;
    char bridge[16];
    char *path; /* NULL: not made yet */
    enum capture_state state;
    int code;
    char message[512];
    uint64_t changes;        /* of anything that a reader waits for */
    uint64_t interruptions;  /* in which others may have captured */
    uint64_t starts;         /* in the daemon each start is a session of its own */
    int64_t ended_at;        /* when its end was heard; 0: it has none yet */
    bool needs_reason;       /* its end was told before its reason */
    bool is_beginning;       /* a thread waits for the daemon to make it */
    bool is_stopping;        /* the daemon was told to stop it */
};

/* Makes it in the daemon, unstarted (description.c). */
int cap_session_make_locked(struct capture_session *session);
void cap_session_heard_locked(struct capture_session *session, sd_bus_message *message);
void cap_session_lost_locked(struct capture_session *session, int code, const char *why);
bool cap_state_is_final(enum capture_state state);
void cap_session_release(struct capture_session *session);
/* Notes why it stands as it does. Returns minus its code. */
int cap_session_fault_locked(const struct capture_session *session);
/* The descriptor of an input's present ring. */
int cap_session_open_ring_locked(struct capture_session *session, const char *input);
struct cap_input *cap_session_input(struct capture_session *session, const char *name);
/* Asks for the reason of an end that came without one. */
void cap_session_settle_locked(struct capture_session *session);

/* ring.c: the memory. Nothing in it is believed. */

struct capture_ring {
    atomic_uint references;
    const unsigned char *base;
    size_t size;
    uint64_t device, inode; /* which memfd it is */
    uint32_t slot_count;
    uint64_t slot_stride, order_offset, descriptors_offset, data_offset;
    struct capture_format format;
};

enum cap_end { cap_streaming, cap_stopped, cap_device_lost, cap_moved, cap_revoked };

/* Maps the ring of a descriptor, which stays the caller's. */
int cap_ring_map(int fd, struct capture_ring **ring);
int cap_ring_identity(int fd, uint64_t *device, uint64_t *inode);
struct capture_ring *cap_ring_keep(struct capture_ring *ring);
void cap_ring_release(struct capture_ring *ring);
uint32_t cap_ring_word32(const struct capture_ring *ring, uint64_t offset);
uint64_t cap_ring_word64(const struct capture_ring *ring, uint64_t offset);
#define CAP_PUBLISHED 1024
#define CAP_FUTEX_WORD 1032
#define CAP_RING_END 1036
#define CAP_OLDEST 1040
#define CAP_DROPS 1088
/* Where a reader is in a ring. */
struct cap_place {
    /* The sequence to read next. */
    uint64_t next;
    /* The last buffer, until its use is counted: the published count when it was given, and its generation. */
    uint64_t given_at, generation;
    const uint64_t *generation_word; /* NULL once it is counted */
    /* How many buffers were published while the last one was in use, and the smaller such number of the last two. */
    uint64_t pace, need;
    /* How many buffers were there when one was overwritten in use: as many as stay. 0 before that. */
    uint64_t staying;
};
/* Looks for the next buffer, or the newest. Skips those that are gone, or would be overwritten while this reader uses them,
   and counts them in `*missed`. Returns 1 with the buffer and the place behind it, 0 for none, or -BadData. */
int cap_ring_take(struct capture_ring *ring, struct cap_place *place, uint64_t *missed, bool newest,
                  struct capture_buffer *buffer);
/* Sleeps until the futex word is no longer `word`, at most that long. */
int cap_ring_sleep(const struct capture_ring *ring, uint32_t word, int64_t nanoseconds);
void cap_ring_wake(const struct capture_ring *ring);

#endif
