/* inotify(7): the Glibc module does not import sys/inotify.h. */
#pragma once
#include <sys/inotify.h>

/* Close-on-exec and non-blocking. */
static inline int clinux_inotify(void) { return inotify_init1(IN_CLOEXEC | IN_NONBLOCK); }
/* Watches a folder for entries that appear or whose permissions change. */
static inline int clinux_inotify_add(int fd, const char *folder) {
    return inotify_add_watch(fd, folder, IN_CREATE | IN_ATTRIB | IN_MOVED_TO | IN_ONLYDIR);
}
