/* syscall(), because libv4l2 makes its calls by it. Its conversions work on top of this library, then. */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __SIZEOF_LONG__ == 8

SHIM_EXPORT long syscall(long number, ...) {
    va_list rest;
    long a[6];
    va_start(rest, number);
    /* What was not given is not looked at. */
    for (int i = 0; i < 6; i++) a[i] = va_arg(rest, long);
    va_end(rest);
    switch (number) {
#ifdef SYS_open
    case SYS_open: return open((const char *)a[0], (int)a[1], (mode_t)a[2]);
#endif
    case SYS_openat: return openat((int)a[0], (const char *)a[1], (int)a[2], (mode_t)a[3]);
    case SYS_close: return close((int)a[0]);
    case SYS_ioctl: return ioctl((int)a[0], (unsigned long)a[1], (void *)a[2]);
    case SYS_read: return read((int)a[0], (void *)a[1], (size_t)a[2]);
    case SYS_mmap: return (long)mmap((void *)a[0], (size_t)a[1], (int)a[2], (int)a[3], (int)a[4], a[5]);
    default: return NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
}

#endif
