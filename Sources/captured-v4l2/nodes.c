/* What programs look at before they open a node, and after. A node that lockdown forbids can be opened through
   captured; one that CAPTURE_V4L2_DEVICES names need not be there. */
/* The functions are defined here, not their checked variants. */
#undef _FORTIFY_SOURCE
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int real_stat(int folder, const char *path, struct stat64 *found, int flags) {
    return NEXT(fstatat64)(folder, path, found, flags);
}

/* The node of a path that is not there. */
static bool is_node(int result, const char *path, dev_t *number) {
    char id[256];
    if (result == 0 || errno != ENOENT || !path || strncmp(path, "/dev/", 5) || shim_is_off()) return false;
    int saved = errno;
    bool is_mapped = shim_mapped(path, id, sizeof id, number);
    errno = saved;
    return is_mapped;
}

/* The camera that a descriptor is open on. */
static bool is_camera(int fd, dev_t *number) {
    if (!shim_is_tracked(fd)) return false;
    SHIM_UNCANCELLED;
    struct file *file = shim_file(fd);
    if (!file) return false;
    *number = file->camera.number;
    shim_release(file);
    return true;
}

#define FILL(found, number)                                                                                         \
    (memset(found, 0, sizeof *(found)), (found)->st_mode = S_IFCHR | 0660, (found)->st_rdev = (number),             \
     (found)->st_nlink = 1, (found)->st_blksize = 4096, 0)

#define STAT(name, type)                                                                                            \
    SHIM_EXPORT int name(const char *path, struct type *found) {                                                    \
        dev_t number;                                                                                               \
        int result = NEXT(name)(path, found);                                                                       \
        return is_node(result, path, &number) ? FILL(found, number) : result;                                       \
    }
#define FSTAT(name, type)                                                                                           \
    SHIM_EXPORT int name(int fd, struct type *found) {                                                              \
        dev_t number;                                                                                               \
        return is_camera(fd, &number) ? FILL(found, number) : NEXT(name)(fd, found);                                \
    }
#define FSTATAT(name, type)                                                                                         \
    SHIM_EXPORT int name(int fd, const char *path, struct type *found, int flags) {                                 \
        dev_t number;                                                                                               \
        if (!*path && flags & AT_EMPTY_PATH && is_camera(fd, &number)) return FILL(found, number);          \
        int result = NEXT(name)(fd, path, found, flags);                                                            \
        return is_node(result, path, &number) ? FILL(found, number) : result;                                       \
    }

STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)
FSTAT(fstat, stat)
FSTAT(fstat64, stat64)
FSTATAT(fstatat, stat)
FSTATAT(fstatat64, stat64)

/* Forbidden or not there, but a camera of captured's all the same. */
static bool is_reachable(int folder, const char *path, int result, int mode) {
    struct camera camera;
    if (result == 0 || mode & X_OK || (errno != EACCES && errno != ENOENT)) return false;
    if (!shim_may_be_node(folder, path)) return false;
    SHIM_UNCANCELLED;
    if (!shim_find(folder, path, &camera)) return false;
    shim_forget(&camera);
    return true;
}

SHIM_EXPORT int access(const char *path, int mode) {
    int result = NEXT(access)(path, mode);
    return is_reachable(AT_FDCWD, path, result, mode) ? 0 : result;
}

SHIM_EXPORT int faccessat(int folder, const char *path, int mode, int flags) {
    int result = NEXT(faccessat)(folder, path, mode, flags);
    return is_reachable(folder, path, result, mode) ? 0 : result;
}
