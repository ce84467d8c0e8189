/* What poll, select and epoll tell of a descriptor, and how callers sleep.

   A byte in the program's end of the pair stands for each buffer that can be dequeued, and urgent data for an event.
   The pair's other end is closed over unread data when the stream fails: that is an error to the program's end. */
#include "shim.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_whole(const struct file *file) {
    /* The program may have closed whatever it found, and opened something else in its place. */
    return file->inner >= 0 && file->peer >= 0 && shim_inode(file->inner) == file->inner_inode &&
           shim_inode(file->peer) == file->peer_inode;
}

static int wanted_level(const struct file *file) {
    if (file->is_reading) return file->current >= 0 || file->done_count || file->failure;
    /* Programs that wait before their first read are told to read, which starts the stream. */
    if (!file->count) return 1;
    return (int)file->done_count + (file->failure != 0);
}

static void urge(struct file *file, bool is_urgent) {
    char byte = '!';
    if (file->is_urgent == is_urgent) return;
    file->is_urgent = is_urgent;
    if (is_urgent) {
        if (send(file->peer, &byte, 1, MSG_OOB | MSG_DONTWAIT | MSG_NOSIGNAL) < 0) file->is_urgent = false;
    } else {
        ssize_t got = recv(file->inner, &byte, 1, MSG_OOB | MSG_DONTWAIT);
        (void)got;
    }
}

static void settle_pair(struct file *file) {
    int level = wanted_level(file);
    bool is_urgent = file->event_count > 0;
    char byte = 0;
    /* Bytes before and after urgent data are told apart by old kernels only if it is out of the way. */
    if (level != file->level) urge(file, false);
    for (; file->level < level; file->level++)
        if (send(file->peer, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1) break;
    for (; file->level > level; file->level--)
        if (recv(file->inner, &byte, 1, MSG_DONTWAIT) != 1) break;
    urge(file, is_urgent);
}

void shim_settle_locked(struct file *file) {
    int saved = errno;
    if (!file->is_dead && is_whole(file)) settle_pair(file);
    atomic_fetch_add(&file->changes, 1);
    syscall(SYS_futex, &file->changes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    errno = saved;
}

void shim_die_locked(struct file *file) {
    if (!file->is_dead && is_whole(file)) {
        char byte = 0;
        ssize_t sent = send(file->inner, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
        (void)sent;
        /* A child of a fork may hold a copy: a close alone would not be told. */
        shutdown(file->peer, SHUT_RDWR);
        real_close(file->peer);
        file->peer = -1;
        file->is_dead = true;
    }
    shim_settle_locked(file);
}

int shim_sleep_locked(struct file *file) {
    uint32_t seen = atomic_load(&file->changes);
    pthread_mutex_unlock(&file->lock);
    /* A sleep without a limit goes on after a signal whose handler restarts system calls, and only then. */
    long result = syscall(SYS_futex, &file->changes, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    int error = result < 0 && errno == EINTR ? EINTR : 0;
    pthread_mutex_lock(&file->lock);
    return error;
}
