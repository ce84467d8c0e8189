/* What the files of libcaptured-v4l2.so share. Nothing here is visible outside of it, except for the functions of libc
   that hooks.c and nodes.c stand before.

   A descriptor of a camera is one end of a pair of sockets, so that poll, select and epoll work on it by themselves.
   The library keeps the other end. Each open has a `struct file`; descriptors that were duplicated share it, as in the
   kernel. A thread for each stream copies frames from captured's ring into the program's buffers.

   Locks: that of a file, then that of the table (files.c). Neither is held across anything that waits. Who takes one
   must not be cancelled meanwhile (SHIM_UNCANCELLED). */
#ifndef SHIM_H
#define SHIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "capture.h"

#include <linux/videodev2.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* From here to the end of the block, a thread that is cancelled goes on: it would end with a lock, or a reference. */
#define SHIM_UNCANCELLED __attribute__((cleanup(shim_let_cancel), unused)) int uncancelled = shim_forbid_cancel()

static inline int shim_forbid_cancel(void) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void shim_let_cancel(const int *before) { pthread_setcancelstate(*before, NULL); }

#define SHIM_EXPORT __attribute__((visibility("default")))
#define SHIM_COUNT(array) (sizeof(array) / sizeof *(array))

enum {
    shim_most_buffers = 32,
    shim_most_events = 64,
    shim_most_subscriptions = 128,
    shim_question_ms = 600000, /* the daemon's own limit for a question comes first */
};

/* library.c: libcapture, which is loaded with the first camera. */

#define SHIM_FUNCTIONS(each)                                                                                       \
    each(message) each(connect) each(disconnect) each(fd) each(dispatch) each(next_event) each(devices)            \
    each(devices_free) each(consent_explain) each(session_new) each(session_free) each(session_add_camera)         \
    each(session_start) each(session_stop) each(session_state) each(session_reason) each(reader_new)               \
    each(reader_free) each(reader_format) each(reader_next) each(reader_cancel) each(buffer_is_intact)             \
    each(controls) each(controls_free) each(control_set) each(controls_watch)

struct shim_library {
#define SHIM_MEMBER(name) __typeof__(capture_##name) *name;
    SHIM_FUNCTIONS(SHIM_MEMBER)
#undef SHIM_MEMBER
};
extern struct shim_library lib;
bool shim_load(void);

/* Whether this program is one that the library leaves alone. */
bool shim_is_off(void);
/* A line for the person at the program, once for each of these. */
enum shim_notice { shim_notice_refused, shim_notice_ended, shim_notice_count };
void shim_tell(enum shim_notice notice, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The file of this program. */
const char *shim_program(void);

/* cameras.c: which node is which camera. */

struct stat64;

struct camera {
    struct capture_client *client;
    const struct capture_device *const *devices; /* the list that `device` is in */
    const struct capture_device *device;
    dev_t number;
};

/* The id of a camera that CAPTURE_V4L2_DEVICES names for a path. */
bool shim_mapped(const char *path, char *id, size_t size, dev_t *number);
/* Whether a path can lead to a capture node; costs at most one stat. */
bool shim_may_be_node(int folder, const char *path);
/* Connects and finds the camera of a path. False: it has none, or there is no daemon. */
bool shim_find(int folder, const char *path, struct camera *camera);
/* The same one, by a connection of this process's own. */
bool shim_find_again(const struct camera *was, struct camera *camera);
void shim_forget(struct camera *camera);

/* formats.c */

struct layout {
    uint32_t code;
    uint8_t bits; /* of the first plane's pixel; 0: compressed */
    /* Planes behind the first, in its memory: how many, and how their rows and columns are divided. */
    uint8_t planes, across, down;
    bool is_interleaved; /* chroma samples lie in pairs */
};
const struct layout *shim_layout(uint32_t code);

struct choice { /* what the program set */
    const struct layout *layout;
    uint32_t width, height, stride, size;
    uint32_t color_space, transfer, encoding, quantization;
    struct v4l2_fract interval;
    bool has_rates; /* else the driver lists none, and the device keeps its own */
};

struct file;
void shim_default_choice(struct file *file);
/* All opens of a camera in a process have one format, and one of them has the buffers, as with a driver. Takes the
   format that others chose meanwhile. */
void shim_sync(struct file *file);
/* Lets the others know this file's format. */
void shim_share(struct file *file);
/* Whether this file may have the buffers; if so, it has them now. */
bool shim_claim(struct file *file);
void shim_unclaim(struct file *file);
bool shim_is_others(struct file *file);
void shim_unclaim_all(void);
int shim_enum_formats(struct file *file, struct v4l2_fmtdesc *argument);
int shim_enum_sizes(struct file *file, struct v4l2_frmsizeenum *argument);
int shim_enum_intervals(struct file *file, struct v4l2_frmivalenum *argument);
int shim_get_format(struct file *file, struct v4l2_format *argument);
int shim_try_format(struct file *file, struct v4l2_format *argument, bool sets);
int shim_get_parm(struct file *file, struct v4l2_streamparm *argument);
int shim_set_parm(struct file *file, struct v4l2_streamparm *argument);

/* files.c */

enum buffer_state { buffer_idle, buffer_queued, buffer_filling, buffer_done };

struct buffer {
    enum buffer_state state;
    uint32_t length, offset, used, field, sequence, flags;
    int64_t timestamp;
    int memory_fd; /* V4L2_MEMORY_MMAP; else -1 */
    void *data;    /* where it is filled */
    bool is_mapped;
};

enum phase { phase_idle, phase_starting, phase_running, phase_ended };

struct file {
    atomic_uint references;
    struct file *next;
    pid_t pid;
    pthread_mutex_t lock;
    _Atomic(uint32_t) changes; /* what callers sleep on */
    struct camera camera;
    int flags; /* of the open */

    int inner, peer; /* a duplicate of the program's descriptor, and the other end */
    ino_t inner_inode, peer_inode;
    int level; /* bytes that lie in the program's end */
    bool is_urgent;
    bool is_dead; /* poll tells an error; until STREAMOFF */
    bool is_gone; /* the camera or the daemon is not there any more */
    int failure;  /* errno of DQBUF, once the stream ended by itself */

    enum v4l2_priority priority;
    struct shared *shared;
    struct choice choice;
    uint32_t memory, count;
    struct buffer buffers[shim_most_buffers];
    uint8_t queued[shim_most_buffers], done[shim_most_buffers]; /* oldest first */
    uint32_t queued_count, done_count;
    uint32_t room; /* the next buffer's offset */

    enum phase phase;
    bool is_to_stop, has_thread, is_in_transition, is_reading;
    int start_result; /* errno */
    int cancel_fd;
    pthread_t thread;
    struct capture_reader *reader;
    uint64_t sequence;
    uint32_t moved;              /* of read(): bytes of the present buffer that are read already */
    int current;                 /* that buffer, or -1 */

    const struct capture_control *const *controls;
    int64_t controls_at;
    struct v4l2_event_subscription subscriptions[shim_most_subscriptions];
    uint32_t subscription_count;
    struct v4l2_event events[shim_most_events];
    uint32_t event_count, event_sequence;
    bool is_watched;
    int watch_stop;
    pthread_t watcher;
    struct {
        uint32_t id;
        int64_t value, until;
    } echoes[8]; /* changes of its own that the daemon will tell */
};

/* Before the first connection: what happens at forks is in the order of its registration, and libcapture closes
   descriptors then. */
void shim_begin(void);
/* Opens a file at the number of `place`, which is a descriptor already: that number, or -1 and errno. Takes the
   camera. */
int shim_open(struct camera *camera, int flags, int place);
/* The file of a descriptor, with a reference; NULL if it is not one of ours. */
struct file *shim_file(int fd);
void shim_release(struct file *file);
/* Whether a number can be a camera's: a look at one word, until the first is opened. */
extern atomic_uint shim_used; /* places of the table that were ever used */
bool shim_has_place(int fd);
static inline bool shim_is_tracked(int fd) {
    return atomic_load_explicit(&shim_used, memory_order_acquire) && shim_has_place(fd);
}
/* A descriptor of the library's own, which the program must not close. */
bool shim_is_own(int fd);
void shim_duplicated(int from, int to);
void shim_closed(int fd);
int shim_close(int fd);
/* Before a range of descriptors is closed. */
void shim_close_range(unsigned first, unsigned last);
/* The highest priority of the opens of a camera. */
enum v4l2_priority shim_priority(const struct file *file);
/* How many descriptors still lead to a file. */
unsigned shim_users(struct file *file);
/* A socket pair in the place of the present one, whose error cannot be taken back. */
bool shim_renew_locked(struct file *file);
/* Moves one of the library's descriptors out of the way of the program's, if there is room: its number then. */
int shim_moved(int fd);
ino_t shim_inode(int fd);
int64_t shim_now(void);

/* ready.c */

/* Makes the descriptor's state what the file's is, and wakes those who sleep. */
void shim_settle_locked(struct file *file);
/* Has poll tell an error from now on. */
void shim_die_locked(struct file *file);
/* Sleeps until something changes, with the lock let go: 0, or EINTR as a system call would be interrupted. */
int shim_sleep_locked(struct file *file);

/* buffers.c */

int shim_reqbufs(struct file *file, struct v4l2_requestbuffers *argument);
int shim_create_bufs(struct file *file, struct v4l2_create_buffers *argument);
int shim_querybuf(struct file *file, struct v4l2_buffer *argument);
int shim_qbuf(struct file *file, struct v4l2_buffer *argument);
int shim_dqbuf(struct file *file, struct v4l2_buffer *argument, bool waits);
int shim_expbuf(struct file *file, struct v4l2_exportbuffer *argument);
int shim_add_buffers_locked(struct file *file, uint32_t memory, uint32_t count, uint32_t size);
void shim_free_buffers_locked(struct file *file);
void *shim_map(struct file *file, void *address, size_t length, int protection, int flags, off64_t offset);

/* stream.c and copy.c, read.c */

/* errno for a code of libcapture. */
int shim_error(int code);
int shim_stream_on(struct file *file);
/* Stops it and gives all buffers back. `waits`: until the camera is released. */
int shim_stream_off(struct file *file);
/* The camera is gone for this file, which has to be closed. */
void shim_lose(struct file *file);
/* Fills a buffer: 0, or EAGAIN if the frame was overwritten meanwhile. */
int shim_copy(const struct choice *choice, const struct capture_buffer *frame, struct buffer *buffer, bool is_user);
ssize_t shim_read(struct file *file, void *data, size_t size, bool waits);

/* controls.c and events.c */

/* All of these with the lock, which they let go of while they ask the daemon. */
int shim_query_control(struct file *file, struct v4l2_query_ext_ctrl *argument);
int shim_query_menu(struct file *file, struct v4l2_querymenu *argument);
int shim_get_control(struct file *file, uint32_t id, int64_t *value);
/* `sets`: or only looks whether it could be. */
int shim_set_control(struct file *file, uint32_t id, int64_t *value, bool sets);
int shim_default_control(struct file *file, uint32_t id, int64_t *value);
bool shim_has_class(struct file *file, uint32_t which);
int shim_ext_controls(struct file *file, struct v4l2_ext_controls *argument, unsigned long request);
/* What an event tells of a control, by its id or else its name; false if there is no such control. */
bool shim_describe(struct file *file, const char *name, uint32_t *id, struct v4l2_event_ctrl *event);
void shim_forget_controls(struct file *file);
int shim_subscribe(struct file *file, struct v4l2_event_subscription *argument);
int shim_unsubscribe(struct file *file, const struct v4l2_event_subscription *argument);
int shim_dequeue_event(struct file *file, struct v4l2_event *argument, bool waits);
void shim_watch_end(struct file *file);
void shim_expect_echo(struct file *file, uint32_t id, int64_t value);

/* ioctl.c: minus one and errno, as the system call does. */
int shim_ioctl(struct file *file, unsigned long request, void *argument);

/* hooks.c: libc's own. */

/* The next function of that name, looked for at its first call. */
#define NEXT(name)                                                                                                  \
    ({                                                                                                              \
        static _Atomic(void *) kept;                                                                                \
        void *found_next = atomic_load_explicit(&kept, memory_order_relaxed);                                       \
        if (!found_next) atomic_store_explicit(&kept, found_next = shim_next(#name), memory_order_relaxed);         \
        (__typeof__(&name))found_next;                                                                              \
    })
void *shim_next(const char *name);

int real_close(int fd);
int real_fcntl(int fd, int command, long argument);
/* A file's state; nodes.c. */
int real_stat(int folder, const char *path, struct stat64 *found, int flags);

#endif
