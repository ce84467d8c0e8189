#define _GNU_SOURCE
#include "clinux_system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <linux/kcmp.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum { most_descriptors = 16 };

ssize_t clinux_access_list(const char *path, void *list, size_t size) {
    return getxattr(path, "system.posix_acl_access", list, size);
}

int clinux_copy_access_list(const char *from, int to) {
    char list[4096];
    ssize_t size = getxattr(from, "system.posix_acl_access", list, sizeof list);
    return size < 0 ? -1 : fsetxattr(to, "system.posix_acl_access", list, (size_t)size, 0);
}

/* F_OFD_SETLK and F_OFD_GETLK of the whole file for writing: 1 if another open file description has it locked. */
int clinux_lock_file(int fd, int is_question, int is_locked) {
    struct flock lock = {.l_type = is_locked ? F_WRLCK : F_UNLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, is_question ? F_OFD_GETLK : F_OFD_SETLK, &lock) == -1)
        return errno == EAGAIN || errno == EACCES ? 1 : -1;
    return is_question ? lock.l_type != F_UNLCK : 0;
}

int clinux_remove_access_list(const char *path) { return removexattr(path, "system.posix_acl_access"); }

int clinux_memfd(const char *name) { return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }
int clinux_add_seals(int fd, int seals) { return fcntl(fd, F_ADD_SEALS, seals); }
int clinux_get_seals(int fd) { return fcntl(fd, F_GET_SEALS); }
const int clinux_ring_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

int clinux_reserve(int fd, int64_t from, int64_t size) { return fallocate(fd, FALLOC_FL_KEEP_SIZE, from, size); }

int clinux_populate(void *address, size_t size) { return madvise(address, size, MADV_POPULATE_WRITE); }

void clinux_give_back(void *address, size_t size) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)address + page - 1) & -page, to = ((uintptr_t)address + size) & -page;
    if (from < to) madvise((void *)from, to - from, MADV_DONTNEED);
}

int clinux_keep_freed_memory(void) {
    return mallopt(M_ARENA_MAX, 1) && mallopt(M_MMAP_THRESHOLD, 32 << 20) && mallopt(M_TRIM_THRESHOLD, 256 << 20) ? 0 : -1;
}

int clinux_return_freed_memory(void) {
    return mallopt(M_ARENA_MAX, 2) && mallopt(M_MMAP_THRESHOLD, 128 << 10) && mallopt(M_TRIM_THRESHOLD, 1 << 20) ? 0 : -1;
}

/* Whether the loader has written into parts that are not for writing. */
static int has_relocated_text(const struct dl_phdr_info *object) {
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_TEXTREL)) return 1;
    }
    return 0;
}

static int unmap_code(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size, (void)unused;
    if (has_relocated_text(object)) return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && !(part->p_flags & PF_W))
            clinux_give_back((void *)(object->dlpi_addr + part->p_vaddr), part->p_memsz);
    }
    return 0;
}

void clinux_trim_memory(void) { malloc_trim(0); }
void clinux_unmap_code(void) { dl_iterate_phdr(unmap_code, NULL); }

int clinux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
int clinux_timerfd(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK); }

int clinux_timerfd_arm(int fd, int64_t nanoseconds) {
    struct itimerspec when = {.it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000}};
    return timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL);
}

int clinux_futex_wait(const void *word, uint32_t expected, int64_t nanoseconds) {
    struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    return (int)syscall(SYS_futex, word, FUTEX_WAIT, expected, nanoseconds < 0 ? NULL : &limit, NULL, 0);
}

int clinux_futex_wake_all(const void *word) {
    return (int)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

ssize_t clinux_send_with_fds(int socket, const void *bytes, size_t length, const int *fds, int count, int flags) {
    if (count < 0 || count > most_descriptors) {
        errno = EINVAL;
        return -1;
    }
    struct iovec body = {.iov_base = (void *)bytes, .iov_len = length};
    union {
        char room[CMSG_SPACE(sizeof(int) * most_descriptors)];
        struct cmsghdr align;
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {.msg_iov = &body, .msg_iovlen = 1};
    if (count > 0) {
        message.msg_control = control.room;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)count);
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)count);
        memcpy(CMSG_DATA(rights), fds, sizeof(int) * (size_t)count);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL | flags);
}

ssize_t clinux_recv_with_fds(int socket, void *bytes, size_t length, int *fds, int *count, int flags) {
    struct iovec body = {.iov_base = bytes, .iov_len = length};
    union {
        char room[CMSG_SPACE(sizeof(int) * most_descriptors)];
        struct cmsghdr align;
    } control;
    struct msghdr message = {
        .msg_iov = &body, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    *count = 0;
    ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags);
    if (got < 0) return got;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        int came = (int)((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (int i = 0; i < came && *count < most_descriptors; i++)
            memcpy(&fds[(*count)++], CMSG_DATA(part) + sizeof(int) * (size_t)i, sizeof(int));
    }
    if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
        while (*count > 0) close(fds[--*count]);
        errno = EMSGSIZE;
        return -1;
    }
    return got;
}

int clinux_seqpacket_pair(int pair[2]) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair); }

int clinux_seqpacket_connect(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        int reason = errno;
        close(fd);
        errno = reason;
        return -1;
    }
    return fd;
}

int clinux_contains(const void *text, size_t length, const void *wanted, size_t size) {
    return memmem(text, length, wanted, size) != NULL;
}

int clinux_set_thread_name(const char *name) {
    char kept[16];
    strncpy(kept, name, sizeof kept - 1);
    kept[sizeof kept - 1] = 0;
    return pthread_setname_np(pthread_self(), kept);
}

int clinux_spawn_close_from(posix_spawn_file_actions_t *actions, int from) {
    int code = posix_spawn_file_actions_addclosefrom_np(actions, from);
    return code ? (errno = code, -1) : 0;
}

static int mask_signal(int how, int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    return pthread_sigmask(how, &set, NULL);
}
int clinux_block_signal(int signal) { return mask_signal(SIG_BLOCK, signal); }
int clinux_unblock_signal(int signal) { return mask_signal(SIG_UNBLOCK, signal); }

static int caught_ends[2] = {-1, -1};

static void note_signal(int signal) {
    int reason = errno;
    unsigned char byte = (unsigned char)signal;
    /* A full pipe holds the news of a signal already. */
    ssize_t written = write(caught_ends[1], &byte, 1);
    (void)written;
    errno = reason;
}

int clinux_catch_termination(void) {
    if (caught_ends[0] < 0 && pipe2(caught_ends, O_CLOEXEC | O_NONBLOCK) < 0) return -1;
    /* Before a signal is caught, which nobody would hear of without it. */
    int file = fcntl(caught_ends[0], F_DUPFD_CLOEXEC, 0);
    if (file < 0) return -1;
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    const int caught[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        if (sigaction(caught[i], &action, NULL) < 0) return close(file), -1;
    return file;
}

int clinux_ignores(int signal) {
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static struct termios settings_before;
static volatile sig_atomic_t terminal_to_restore = -1;

/* What may be called here: signal-safety(7). */
static void restore_and_end(int number) {
    /* From the background that would only stop the process. */
    if (terminal_to_restore >= 0 && tcgetpgrp(terminal_to_restore) == getpgrp())
        tcsetattr(terminal_to_restore, TCSANOW, &settings_before);
    signal(number, SIG_DFL);
    raise(number);
}

void clinux_restore_on_end(int terminal, const struct termios *settings) {
    terminal_to_restore = -1;
    settings_before = *settings;
    terminal_to_restore = terminal;
    struct sigaction now, action = {.sa_handler = restore_and_end};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL) sigaction(ending[i], &action, NULL);
}

void clinux_restore_no_more(void) {
    struct sigaction now;
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler == restore_and_end) signal(ending[i], SIG_DFL);
    terminal_to_restore = -1;
}

int clinux_caught_signal(int fd) {
    unsigned char byte;
    return read(fd, &byte, 1) == 1 ? byte : -1;
}

static int told_of_death = -1;

/* What may be called here: signal-safety(7). */
static void say_last_words(int number) {
    char words[] = "message=died\nsignal=00\n";
    words[sizeof words - 4] = (char)('0' + number / 10);
    words[sizeof words - 3] = (char)('0' + number % 10);
    (void)!send(told_of_death, words, sizeof words - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    /* The handler is gone already, and the signal is blocked until it returns. */
    raise(number);
}

int clinux_announce_death(int connection) {
    told_of_death = connection;
    struct sigaction action = {.sa_handler = say_last_words, .sa_flags = SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (sigaction(fatal[i], &action, NULL) < 0) return -1;
    return 0;
}

void clinux_ignore_sigpipe(void) { signal(SIGPIPE, SIG_IGN); }

int clinux_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int clinux_pidfd_alive(int pidfd) {
    struct pollfd ready = {.fd = pidfd, .events = POLLIN};
    int count = poll(&ready, 1, 0);
    return count < 0 ? -1 : count == 0;
}

int clinux_share_descriptors(pid_t first, pid_t second) {
    long order = syscall(SYS_kcmp, first, second, KCMP_FILES, 0, 0);
    return order < 0 ? -1 : order == 0;
}

int clinux_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

int clinux_open(const char *path, int flags, unsigned mode) { return open(path, flags | O_CLOEXEC, mode); }

int clinux_has_capabilities(int file) { return fgetxattr(file, "security.capability", NULL, 0) > 0; }

int clinux_look_at_folder(const char *path) { return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC); }

int clinux_look_below(int folder, const char *path, int following) {
    struct open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | (following ? 0 : RESOLVE_NO_SYMLINKS),
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

int clinux_look_at_file(int fd, int64_t *size, int64_t *changed) {
    struct statx facts;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_SIZE | STATX_MTIME, &facts) != 0) return -1;
    if (!S_ISREG(facts.stx_mode)) return 0;
    *size = (int64_t)facts.stx_size;
    *changed = facts.stx_mtime.tv_sec * INT64_C(1000000000) + facts.stx_mtime.tv_nsec;
    return 1;
}

int clinux_known_file(int folder, const char *path, struct clinux_file *file) {
    struct statx facts;
    if (statx(folder, path, AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &facts) != 0) return -1;
    uint64_t seconds = (uint64_t)facts.stx_ctime.tv_sec;
    *file = (struct clinux_file){
        .device = makedev(facts.stx_dev_major, facts.stx_dev_minor),
        .inode = facts.stx_ino,
        .node = makedev(facts.stx_rdev_major, facts.stx_rdev_minor),
        .changed = (int64_t)(seconds * UINT64_C(1000000000) + facts.stx_ctime.tv_nsec),
        .mode = facts.stx_mode,
        .owner = facts.stx_uid,
        .links = facts.stx_nlink,
    };
    return 0;
}

int clinux_is_in_memory(int fd) {
    struct statfs where;
    return fstatfs(fd, &where) == 0 && where.f_type == TMPFS_MAGIC;
}

int clinux_ioctl(int fd, unsigned long request, void *argument) { return ioctl(fd, request, argument); }
int clinux_fcntl_getfl(int fd) { return fcntl(fd, F_GETFL); }

int clinux_is_path_alone(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && flags & O_PATH ? 1 : 0;
}

int clinux_is_connected_stream(int fd) {
    int type = 0, listens = 0;
    socklen_t size = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_STREAM) return 0;
    size = sizeof listens;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0 || listens) return 0;
    struct sockaddr_storage peer;
    size = sizeof peer;
    return getpeername(fd, (struct sockaddr *)&peer, &size) == 0;
}

int clinux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

void clinux_enlarge_pipe(int fd, int size) { fcntl(fd, F_SETPIPE_SZ, size); }
