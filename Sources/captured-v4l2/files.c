/* Open files and the descriptors that lead to them.

   A descriptor can go without the library's knowledge, by closefrom or fclose. So the socket behind a number is
   compared before it is taken for a camera. */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { most_descriptors = 256, own_least = 128 };

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
/* -1: free. Read without the lock to pass over other descriptors quickly. */
static atomic_int numbers[most_descriptors];
static struct file *files[most_descriptors];
atomic_uint shim_used;
static struct file *all;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pid_t own_pid;

int64_t shim_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

ino_t shim_inode(int fd) {
    struct stat64 found;
    int saved = errno;
    bool is_socket = real_stat(fd, "", &found, AT_EMPTY_PATH) == 0 && S_ISSOCK(found.st_mode);
    errno = saved;
    return is_socket ? found.st_ino : 0;
}

static void before_fork(void) { pthread_mutex_lock(&table_lock); }
static void in_parent(void) { pthread_mutex_unlock(&table_lock); }

/* Files are made anew when the child uses them (adopt). */
static void in_child(void) {
    own_pid = getpid();
    for (struct file *file = all; file; file = file->next) pthread_mutex_init(&file->lock, NULL);
    shim_unclaim_all();
    pthread_mutex_unlock(&table_lock);
}

static void prepare(void) {
    own_pid = getpid();
    pthread_atfork(before_fork, in_parent, in_child);
}

void shim_begin(void) { pthread_once(&once, prepare); }

/* The place of a number in the table, or -1. */
static int place_of(int fd) {
    unsigned count = atomic_load_explicit(&shim_used, memory_order_acquire);
    for (unsigned i = 0; fd >= 0 && i < count; i++)
        if (atomic_load_explicit(&numbers[i], memory_order_relaxed) == fd) return (int)i;
    return -1;
}

bool shim_has_place(int fd) { return place_of(fd) >= 0; }

static struct file *take_out_locked(int place) {
    struct file *file = files[place];
    files[place] = NULL;
    atomic_store(&numbers[place], -1);
    return file;
}

/* `before`: the file that had this number until it was closed, to be released. */
static bool put_locked(int fd, struct file *file, struct file **before) {
    unsigned place = 0, count = atomic_load(&shim_used);
    int old = place_of(fd);
    *before = old >= 0 ? take_out_locked(old) : NULL;
    while (place < count && atomic_load(&numbers[place]) >= 0) place++;
    if (place == most_descriptors) return false;
    files[place] = file;
    atomic_store(&numbers[place], fd);
    if (place == count) atomic_store_explicit(&shim_used, count + 1, memory_order_release);
    atomic_fetch_add(&file->references, 1);
    return true;
}

bool shim_is_own(int fd) {
    bool is_own = false;
    if (!atomic_load_explicit(&shim_used, memory_order_acquire) || own_pid != getpid()) return false;
    pthread_mutex_lock(&table_lock);
    for (struct file *file = fd >= 0 ? all : NULL; file && !is_own; file = file->next)
        is_own = fd == file->cancel_fd || (fd == file->inner && shim_inode(fd) == file->inner_inode) ||
                 (fd == file->peer && shim_inode(fd) == file->peer_inode);
    pthread_mutex_unlock(&table_lock);
    return is_own;
}

int shim_moved(int fd) {
    int high = real_fcntl(fd, F_DUPFD_CLOEXEC, own_least);
    if (high < 0) high = real_fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (high < 0) return fd;
    real_close(fd);
    return high;
}

/* A pair for a file. Returns the program's end. */
static int make_pair(struct file *file, int flags) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return -1;
    file->peer = shim_moved(ends[1]);
    file->inner = real_fcntl(ends[0], F_DUPFD_CLOEXEC, own_least);
    if (file->inner < 0) file->inner = real_fcntl(ends[0], F_DUPFD_CLOEXEC, 3);
    if (file->peer < 0 || file->inner < 0) {
        int saved = errno;
        real_close(ends[0]);
        if (file->peer >= 0) real_close(file->peer);
        if (file->inner >= 0) real_close(file->inner);
        file->peer = file->inner = -1;
        errno = saved;
        return -1;
    }
    if (!(flags & O_CLOEXEC)) real_fcntl(ends[0], F_SETFD, 0);
    if (flags & O_NONBLOCK) real_fcntl(ends[0], F_SETFL, O_RDWR | O_NONBLOCK);
    file->inner_inode = shim_inode(file->inner);
    file->peer_inode = shim_inode(file->peer);
    file->level = 0;
    file->is_urgent = file->is_dead = false;
    return ends[0];
}

bool shim_renew_locked(struct file *file) {
    /* Until the descriptors lead to the new socket, shim_file would take them for stale. */
    pthread_mutex_lock(&table_lock);
    int old_inner = file->inner, old_peer = file->peer;
    ino_t before = file->inner_inode;
    int blocking = old_inner >= 0 ? real_fcntl(old_inner, F_GETFL, 0) : 0;
    int fresh = make_pair(file, O_CLOEXEC | (blocking >= 0 ? blocking & O_NONBLOCK : 0));
    if (fresh < 0) {
        file->inner = old_inner;
        file->peer = old_peer;
        pthread_mutex_unlock(&table_lock);
        return false;
    }
    unsigned count = atomic_load(&shim_used);
    for (unsigned i = 0; i < count; i++) {
        int fd = atomic_load(&numbers[i]);
        if (fd < 0 || files[i] != file || shim_inode(fd) != before) continue;
        int kept = real_fcntl(fd, F_GETFD, 0);
        syscall(SYS_dup3, fresh, fd, kept & FD_CLOEXEC ? O_CLOEXEC : 0);
    }
    pthread_mutex_unlock(&table_lock);
    real_close(fresh);
    if (old_inner >= 0) real_close(old_inner);
    if (old_peer >= 0) real_close(old_peer);
    return true;
}

int shim_open(struct camera *camera, int flags, int place) {
    struct file *file = calloc(1, sizeof *file), *before = NULL;
    if (!file) {
        shim_forget(camera);
        errno = ENOMEM;
        return -1;
    }
    file->references = 1;
    file->pid = getpid();
    pthread_mutex_init(&file->lock, NULL);
    file->camera = *camera;
    file->flags = flags;
    file->priority = V4L2_PRIORITY_DEFAULT;
    file->current = file->watch_stop = file->cancel_fd = file->inner = file->peer = -1;
    for (int i = 0; i < shim_most_buffers; i++) file->buffers[i].memory_fd = -1;
    shim_default_choice(file);
    shim_sync(file);
    file->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (file->cancel_fd >= 0) file->cancel_fd = shim_moved(file->cancel_fd);
    int fd = file->cancel_fd < 0 ? -1 : make_pair(file, flags);
    int saved = errno;
    if (fd >= 0) {
        syscall(SYS_dup3, fd, place, flags & O_CLOEXEC);
        real_close(fd);
        fd = place;
    }
    pthread_mutex_lock(&table_lock);
    file->next = all;
    all = file;
    if (fd >= 0 && !put_locked(fd, file, &before)) {
        saved = ENFILE;
        fd = -1;
    }
    pthread_mutex_unlock(&table_lock);
    pthread_mutex_lock(&file->lock);
    shim_settle_locked(file);
    pthread_mutex_unlock(&file->lock);
    shim_release(before);
    shim_release(file);
    errno = saved;
    return fd;
}

/* After a fork: what the child uses becomes an open of its own, which does not stream. The parent's is the parent's. */
static void adopt_locked(struct file *file) {
    file->pid = getpid();
    file->phase = phase_idle;
    file->has_thread = file->is_to_stop = file->is_in_transition = file->is_watched = file->is_reading = false;
    file->reader = NULL;
    file->controls = NULL;
    file->queued_count = file->done_count = file->subscription_count = file->event_count = 0;
    file->watch_stop = file->current = -1;
    file->failure = 0;
    if (file->count) shim_claim(file);
    for (uint32_t i = 0; i < file->count; i++) file->buffers[i].state = buffer_idle;
    file->cancel_fd = shim_moved(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    struct camera camera;
    /* The copies of what belongs to the parent stay where they are: nothing of it may be told. */
    file->is_gone = !shim_find_again(&file->camera, &camera);
    file->camera =
        file->is_gone ? (struct camera){.device = file->camera.device, .number = file->camera.number} : camera;
    shim_renew_locked(file);
    shim_settle_locked(file);
}

struct file *shim_file(int fd) {
    struct file *file = NULL, *stale = NULL;
    bool is_adopted = false;
    if (place_of(fd) < 0) return NULL;
    pid_t pid = getpid();
    /* Between vfork and exec, a child has the parent's memory. */
    if (pid != own_pid) return NULL;
    pthread_mutex_lock(&table_lock);
    int place = place_of(fd);
    if (place >= 0) {
        file = files[place];
        if (shim_inode(fd) == file->inner_inode) {
            atomic_fetch_add(&file->references, 1);
            is_adopted = file->pid != pid;
        } else {
            stale = take_out_locked(place);
            file = NULL;
        }
    }
    pthread_mutex_unlock(&table_lock);
    if (stale) shim_release(stale);
    if (is_adopted) {
        pthread_mutex_lock(&file->lock);
        if (file->pid != pid) adopt_locked(file);
        pthread_mutex_unlock(&file->lock);
    }
    return file;
}

static void destroy(struct file *file) {
    pthread_mutex_lock(&table_lock);
    for (struct file **at = &all; *at; at = &(*at)->next)
        if (*at == file) {
            *at = file->next;
            break;
        }
    pthread_mutex_unlock(&table_lock);
    bool is_here = file->pid == getpid();
    if (is_here) {
        shim_stream_off(file);
        shim_watch_end(file);
        shim_forget_controls(file);
    }
    shim_free_buffers_locked(file);
    int own[] = {file->inner, file->peer, file->cancel_fd};
    for (size_t i = 0; i < SHIM_COUNT(own); i++)
        if (own[i] >= 0 && (i == 2 || shim_inode(own[i]) == (i ? file->peer_inode : file->inner_inode)))
            real_close(own[i]);
    if (is_here) {
        shim_forget(&file->camera);
        pthread_mutex_destroy(&file->lock);
        free(file);
    }
}

void shim_release(struct file *file) {
    int saved = errno;
    if (file && atomic_fetch_sub(&file->references, 1) == 1) destroy(file);
    errno = saved;
}

void shim_duplicated(int from, int to) {
    SHIM_UNCANCELLED;
    struct file *file = shim_file(from), *before;
    if (!file) return;
    pthread_mutex_lock(&table_lock);
    put_locked(to, file, &before);
    pthread_mutex_unlock(&table_lock);
    shim_release(before);
    shim_release(file);
}

void shim_closed(int fd) {
    SHIM_UNCANCELLED;
    struct file *file = NULL;
    if (place_of(fd) < 0 || getpid() != own_pid) return;
    pthread_mutex_lock(&table_lock);
    int place = place_of(fd);
    if (place >= 0) file = take_out_locked(place);
    pthread_mutex_unlock(&table_lock);
    if (file) shim_release(file);
}

int shim_close(int fd) {
    if (place_of(fd) < 0 || getpid() != own_pid) return real_close(fd);
    SHIM_UNCANCELLED;
    pthread_mutex_lock(&table_lock);
    /* Both at once: as soon as the number is free, any thread may get it for something else, and close that. */
    int result = real_close(fd), place = place_of(fd);
    struct file *file = place >= 0 ? take_out_locked(place) : NULL;
    pthread_mutex_unlock(&table_lock);
    shim_release(file);
    return result;
}

void shim_close_range(unsigned first, unsigned last) {
    if (!atomic_load(&shim_used) || getpid() != own_pid) return;
    SHIM_UNCANCELLED;
    for (unsigned i = 0; i < most_descriptors; i++) {
        int fd = atomic_load(&numbers[i]);
        if (fd >= 0 && (unsigned)fd >= first && (unsigned)fd <= last) shim_closed(fd);
    }
    /* Of a camera that stays open, the range takes what the library needs. */
    pthread_mutex_lock(&table_lock);
    struct file *file = all;
    while (file && (file->pid != own_pid || (unsigned)file->peer < first || (unsigned)file->peer > last))
        file = file->next;
    if (file) atomic_fetch_add(&file->references, 1);
    pthread_mutex_unlock(&table_lock);
    if (file) {
        shim_lose(file);
        shim_release(file);
    }
}

unsigned shim_users(struct file *file) {
    unsigned count = 0;
    pthread_mutex_lock(&table_lock);
    for (unsigned i = 0; i < atomic_load(&shim_used); i++) {
        int fd = atomic_load(&numbers[i]);
        count += fd >= 0 && files[i] == file && shim_inode(fd) == file->inner_inode;
    }
    pthread_mutex_unlock(&table_lock);
    return count;
}

enum v4l2_priority shim_priority(const struct file *file) {
    enum v4l2_priority most = V4L2_PRIORITY_UNSET;
    pthread_mutex_lock(&table_lock);
    for (struct file *other = all; other; other = other->next) {
        enum v4l2_priority its = __atomic_load_n(&other->priority, __ATOMIC_RELAXED);
        if (other->camera.number == file->camera.number && other->pid == file->pid && its > most) most = its;
    }
    pthread_mutex_unlock(&table_lock);
    return most;
}
