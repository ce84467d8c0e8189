/* libc's functions for descriptors. Each passes on what is not about a camera; until the first camera is opened, that
   takes a comparison. */
/* The functions are defined here, not their checked variants. */
#undef _FORTIFY_SOURCE
#include "shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

void *shim_next(const char *name) {
    int saved = errno;
    void *found = dlsym(RTLD_NEXT, name);
    errno = saved;
    if (!found) abort();
    return found;
}

int real_close(int fd) { return NEXT(close)(fd); }
int real_fcntl(int fd, int command, long argument) { return NEXT(fcntl)(fd, command, argument); }

/* A first look at a path, for what every program opens. */
static bool can_be_node(const char *path) {
    static const char folder[] = "/dev/", name[] = "video";
    size_t i = 0, last = 0;
    if (!path) return false;
    while (folder[i] && path[i] == folder[i]) i++;
    if (!folder[i]) return true;
    for (i = 0; path[i]; i++)
        if (path[i] == '/') last = i + 1;
    for (i = 0; name[i] && path[last + i] == name[i];) i++;
    return !name[i];
}

/* Opens a camera: whether it is one, and the result. */
static bool opens(int folder, const char *path, int flags, int *result) {
    struct camera camera;
    if (flags & (O_PATH | O_DIRECTORY | O_CREAT) || !can_be_node(path) || !shim_may_be_node(folder, path)) return false;
    SHIM_UNCANCELLED;
    /* The lowest number is the program's, as ever; those of the connection come after it. */
    int saved = errno, place = NEXT(open)("/dev/null", O_RDWR | O_CLOEXEC);
    if (place < 0) return false;
    bool is_camera = shim_find(folder, path, &camera);
    *result = is_camera ? shim_open(&camera, flags, place) : -1;
    if (*result < 0) NEXT(close)(place);
    else errno = saved;
    return is_camera;
}

static mode_t mode_of(int flags, va_list arguments) {
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name)                                                                                                  \
    SHIM_EXPORT int name(const char *path, int flags, ...) {                                                        \
        va_list arguments;                                                                                          \
        int result;                                                                                                 \
        va_start(arguments, flags);                                                                                 \
        mode_t mode = mode_of(flags, arguments);                                                                    \
        va_end(arguments);                                                                                          \
        return opens(AT_FDCWD, path, flags, &result) ? result : NEXT(name)(path, flags, mode);                      \
    }
#define OPENAT(name)                                                                                                \
    SHIM_EXPORT int name(int folder, const char *path, int flags, ...) {                                            \
        va_list arguments;                                                                                          \
        int result;                                                                                                 \
        va_start(arguments, flags);                                                                                 \
        mode_t mode = mode_of(flags, arguments);                                                                    \
        va_end(arguments);                                                                                          \
        return opens(folder, path, flags, &result) ? result : NEXT(name)(folder, path, flags, mode);                \
    }
#define OPEN_2(name)                                                                                                \
    SHIM_EXPORT int name(const char *path, int flags) {                                                             \
        int result;                                                                                                 \
        return opens(AT_FDCWD, path, flags, &result) ? result : NEXT(name)(path, flags);                            \
    }
#define OPENAT_2(name)                                                                                              \
    SHIM_EXPORT int name(int folder, const char *path, int flags) {                                                 \
        int result;                                                                                                 \
        return opens(folder, path, flags, &result) ? result : NEXT(name)(folder, path, flags);                      \
    }

/* What compilers call in the place of these, without a header that says so. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);
ssize_t __read_chk(int fd, void *data, size_t size, size_t room);

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
OPEN_2(__open_2)
OPEN_2(__open64_2)
OPENAT_2(__openat_2)
OPENAT_2(__openat64_2)

SHIM_EXPORT int close(int fd) {
    /* Programs that close whatever there is would close what belongs to their cameras. */
    if (!atomic_load_explicit(&shim_used, memory_order_acquire)) return NEXT(close)(fd);
    if (shim_is_own(fd)) {
        errno = EBADF;
        return -1;
    }
    return shim_close(fd);
}

SHIM_EXPORT int close_range(unsigned first, unsigned last, int flags) {
    if (!(flags & CLOSE_RANGE_CLOEXEC)) shim_close_range(first, last);
    return NEXT(close_range)(first, last, flags);
}

SHIM_EXPORT void closefrom(int first) {
    shim_close_range(first < 0 ? 0 : (unsigned)first, UINT_MAX);
    NEXT(closefrom)(first);
}

SHIM_EXPORT int dup(int fd) {
    int result = NEXT(dup)(fd);
    if (result >= 0 && shim_is_tracked(fd)) shim_duplicated(fd, result);
    return result;
}

SHIM_EXPORT int dup2(int fd, int to) {
    if (fd != to && fd >= 0 && shim_is_tracked(to)) shim_closed(to);
    int result = NEXT(dup2)(fd, to);
    if (result >= 0 && fd != to && shim_is_tracked(fd)) shim_duplicated(fd, result);
    return result;
}

SHIM_EXPORT int dup3(int fd, int to, int flags) {
    if (fd != to && fd >= 0 && shim_is_tracked(to)) shim_closed(to);
    int result = NEXT(dup3)(fd, to, flags);
    if (result >= 0 && shim_is_tracked(fd)) shim_duplicated(fd, result);
    return result;
}

#define FCNTL(name)                                                                                                 \
    SHIM_EXPORT int name(int fd, int command, ...) {                                                                \
        va_list arguments;                                                                                          \
        va_start(arguments, command);                                                                               \
        long argument = va_arg(arguments, long);                                                                    \
        va_end(arguments);                                                                                          \
        int result = NEXT(name)(fd, command, argument);                                                             \
        if (result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC) && shim_is_tracked(fd))               \
            shim_duplicated(fd, result);                                                                            \
        return result;                                                                                              \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

/* What the kernel does with descriptors of any kind. */
static bool is_of_any(unsigned long request) {
    uint32_t number = (uint32_t)request;
    return number == FIOCLEX || number == FIONCLEX || number == FIONBIO || number == FIOASYNC;
}

SHIM_EXPORT int ioctl(int fd, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (!shim_is_tracked(fd) || is_of_any(request)) return NEXT(ioctl)(fd, request, argument);
    SHIM_UNCANCELLED;
    struct file *file = shim_file(fd);
    if (!file) return NEXT(ioctl)(fd, request, argument);
    int result = shim_ioctl(file, request, argument);
    shim_release(file);
    return result;
}

static bool reads(int fd, void *data, size_t size, ssize_t *result) {
    if (!shim_is_tracked(fd)) return false;
    pthread_testcancel();
    SHIM_UNCANCELLED;
    struct file *file = shim_file(fd);
    if (!file) return false;
    *result = shim_read(file, data, size, !(real_fcntl(file->inner, F_GETFL, 0) & O_NONBLOCK));
    shim_release(file);
    return true;
}

SHIM_EXPORT ssize_t read(int fd, void *data, size_t size) {
    ssize_t result;
    return reads(fd, data, size, &result) ? result : NEXT(read)(fd, data, size);
}

SHIM_EXPORT ssize_t __read_chk(int fd, void *data, size_t size, size_t room) {
    ssize_t result;
    if (size <= room && reads(fd, data, size, &result)) return result;
    return NEXT(__read_chk)(fd, data, size, room);
}

static bool maps(void *address, size_t length, int protection, int flags, int fd, off64_t offset, void **result) {
    if (fd < 0 || flags & MAP_ANONYMOUS || !shim_is_tracked(fd)) return false;
    SHIM_UNCANCELLED;
    struct file *file = shim_file(fd);
    if (!file) return false;
    *result = shim_map(file, address, length, protection, flags, offset);
    shim_release(file);
    return true;
}

SHIM_EXPORT void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    void *result;
    if (maps(address, length, protection, flags, fd, offset, &result)) return result;
    return NEXT(mmap)(address, length, protection, flags, fd, offset);
}

SHIM_EXPORT void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset) {
    void *result;
    if (maps(address, length, protection, flags, fd, offset, &result)) return result;
    return NEXT(mmap64)(address, length, protection, flags, fd, offset);
}
