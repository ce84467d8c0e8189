/* System calls and constants that the Glibc module leaves out because they are macros, variadic or GNU-only. Every call
   returns what the kernel returns, -1 with errno set on failure. */
#pragma once
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

/* The access control list of a file, in the kernel's form: getxattr(2), removexattr(2) of system.posix_acl_access. */
ssize_t clinux_access_list(const char *path, void *list, size_t size);
int clinux_lock_file(int fd, int is_question, int is_locked);
int clinux_copy_access_list(const char *from, int to);
int clinux_remove_access_list(const char *path);

/* memfd_create(2), always close-on-exec and sealable. */
int clinux_memfd(const char *name);
/* fcntl(2) F_ADD_SEALS and F_GET_SEALS. */
int clinux_add_seals(int fd, int seals);
int clinux_get_seals(int fd);
/* SHRINK, GROW and FUTURE_WRITE, then SEAL: nobody maps it writable from here on, its size is fixed. */
extern const int clinux_ring_seals;
/* fallocate(2) with FALLOC_FL_KEEP_SIZE: room on the disk, none of it in the file's length. */
int clinux_reserve(int fd, int64_t from, int64_t size);
/* madvise(2) with MADV_POPULATE_WRITE: makes pages real before they are used. Linux 5.14; EINVAL before that. */
int clinux_populate(void *address, size_t size);
/* madvise(2) with MADV_DONTNEED, on the whole pages of a range: what was written there is gone. */
void clinux_give_back(void *address, size_t size);
/* mallopt(3): one arena, which keeps what is freed for what is taken next. 0 when the library took it. */
int clinux_keep_freed_memory(void);
/* mallopt(3): two arenas for all threads, and large blocks go back to the system when they are freed. Without this,
   malloc keeps up to 64 MiB in each arena after a few messages of that size. Returns 0 if malloc accepted the settings.
   */
int clinux_return_freed_memory(void);
/* malloc_trim(3): what is freed goes back to the system. */
void clinux_trim_memory(void);
/* Drops the read-only pages of the program and its libraries, mostly code, from this process. A page comes back from
   the page cache when it is next used; pages that only the start needed stay away. */
void clinux_unmap_code(void);

/* memcpy(3) for a frame that other processes read. A large one goes past the caches of this processor, which takes a
   quarter less of its time; all of it is there before a later store is seen. */
void clinux_copy_frame(void *to, const void *from, size_t size);

/* memmem(3): whether bytes are somewhere in others. */
int clinux_contains(const void *text, size_t length, const void *wanted, size_t size);

/* eventfd(2), close-on-exec and non-blocking. */
int clinux_eventfd(void);
/* timerfd on CLOCK_MONOTONIC, close-on-exec and non-blocking; arming with an absolute time, 0 disarms. */
int clinux_timerfd(void);
int clinux_timerfd_arm(int fd, int64_t nanoseconds);

/* futex(2) shared between processes. wait returns 0 when woken, -1 with ETIMEDOUT, EAGAIN (the word differs) or EINTR;
   nanoseconds < 0 waits without limit. wake returns how many were woken. */
int clinux_futex_wait(const void *word, uint32_t expected, int64_t nanoseconds);
int clinux_futex_wake_all(const void *word);

/* A packet with descriptors beside it (SCM_RIGHTS), at most 16. recv sets them close-on-exec, stores how many came, and
   fails with EMSGSIZE when bytes or descriptors were cut off, after closing what came. */
ssize_t clinux_send_with_fds(int socket, const void *bytes, size_t length, const int *fds, int count, int flags);
ssize_t clinux_recv_with_fds(int socket, void *bytes, size_t length, int *fds, int *count, int flags);

/* A connected pair and a client of a SOCK_SEQPACKET path, close-on-exec. */
int clinux_seqpacket_pair(int pair[2]);
int clinux_seqpacket_connect(const char *path);

/* pthread_setname_np of the calling thread; the kernel keeps 15 bytes. */
int clinux_set_thread_name(const char *name);
/* posix_spawn_file_actions_addclosefrom_np(3): closes this descriptor and all above in the child. */
int clinux_spawn_close_from(posix_spawn_file_actions_t *actions, int from);
/* Blocks a signal for the calling thread and those it starts. */
int clinux_block_signal(int signal);
int clinux_unblock_signal(int signal);
/* Catches SIGTERM, SIGINT and SIGHUP: the descriptor that is returned becomes readable, each byte a signal's number. By a
   handler and a pipe, since signalfd(2) sees nothing of a signal that a thread with an open mask takes, and libdispatch
   keeps such a thread in sigsuspend(2). Who gives the signals back can call it again. The caller closes the descriptor. */
int clinux_catch_termination(void);
/* Whether this process ignores a signal. */
int clinux_ignores(int signal);

/* From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT restore a terminal before they end the process, as far as nobody catches
   or ignores them. restore_no_more ends that. There is one terminal at a time. */
void clinux_restore_on_end(int terminal, const struct termios *settings);
void clinux_restore_no_more(void);
/* Has a signal that kills this process first send its number over a connection, as "message=died" and "signal=11". */
int clinux_announce_death(int connection);
/* The next signal's number, -1 when there is none. */
int clinux_caught_signal(int fd);
void clinux_ignore_sigpipe(void);

int clinux_pidfd_open(pid_t pid);
/* 1 while the process behind the descriptor lives, 0 once it is gone. */
int clinux_pidfd_alive(int pidfd);

/* kcmp(2): 1 when two threads have one table of descriptors, 0 when each has its own, -1 when it cannot be told. */
int clinux_share_descriptors(pid_t first, pid_t second);

/* prctl(2): no new privileges. */
int clinux_no_new_privileges(void);

int clinux_open(const char *path, int flags, unsigned mode);
/* Whether an open program gets capabilities from its file: fgetxattr(2) of security.capability, which is in no module. */
int clinux_has_capabilities(int file);
/* A folder, and what lies below one that stands for the root, opened to be looked at alone (O_PATH, close-on-exec).
   openat2(2): no link leads out of that root, those of procfs least; without following, ELOOP where any part is a link. */
int clinux_look_at_folder(const char *path);
int clinux_look_below(int folder, const char *path, int following);
/* Size and last change (nanoseconds since 1970) of a regular file, as this machine knows them: no server is asked, which
   might never answer (AT_STATX_DONT_SYNC of statx(2)). 1; 0 for what is no regular file. */
int clinux_look_at_file(int fd, int64_t *size, int64_t *changed);
/* As fstatat(2), but asks no server either: any user can mount a file system whose server never answers, and lay another over
   it (overlayfs) that asks it on behalf of whoever looks. `node` is the device number of a node, `changed` the last change in
   nanoseconds since 1970, which goes around for a time that some file system makes up. */
struct clinux_file {
    uint64_t device, inode, node;
    int64_t changed;
    uint32_t mode, owner, links;
};
int clinux_known_file(int folder, const char *path, struct clinux_file *file);
/* Whether the file lies in memory, on a tmpfs: fstatfs(2). */
int clinux_is_in_memory(int fd);
int clinux_ioctl(int fd, unsigned long request, void *argument);
int clinux_fcntl_getfl(int fd);
/* 1 for a descriptor of O_PATH, which names a file and reads nothing. */
int clinux_is_path_alone(int fd);
/* 1 for a socket that is a connected stream: SO_TYPE, SO_ACCEPTCONN and getpeername(2). */
int clinux_is_connected_stream(int fd);
/* pipe2(2), close-on-exec. */
int clinux_pipe(int ends[2]);
/* F_SETPIPE_SZ; what the system does not give is no error. */
void clinux_enlarge_pipe(int fd, int size);
