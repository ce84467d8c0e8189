/* What the camera and the microphone for benchmarks share: both stand between a program and libc, and keep a log. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *log_file;

static int fail(int reason) { return errno = reason, -1; }

__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...) {
    int file = log_file ? open(log_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    if (file < 0) return;
    va_list rest;
    va_start(rest, format);
    vdprintf(file, format, rest);
    va_end(rest);
    close(file);
}

/* `real` is the library's function. */
#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
#define LAST_ARGUMENT(type, name, before) \
    va_list rest; \
    va_start(rest, before); \
    type name = va_arg(rest, type); \
    va_end(rest)

/* Each has an openat of its own. */
int open(const char *path, int flags, ...) {
    LAST_ARGUMENT(mode_t, mode, flags);
    return openat(AT_FDCWD, path, flags, mode);
}
int __open_2(const char *path, int flags) { return openat(AT_FDCWD, path, flags, 0); }
int __openat_2(int at, const char *path, int flags) { return openat(at, path, flags, 0); }

/* On machines of 64 bits the calls for large files are the same calls. */
#define ALSO(name, other) __asm__(".globl " #other "\n.set " #other ", " #name)
ALSO(open, open64); ALSO(openat, openat64); ALSO(__open_2, __open64_2); ALSO(__openat_2, __openat64_2);
