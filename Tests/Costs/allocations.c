/* Counts the allocations of every thread of a process, by LD_PRELOAD.

   COSTS_FOLDER: where a file PID is made, which the process maps: 1,024 pairs of a thread's number and its count. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../Support/AllocationCounter/noted_malloc.h"

enum { most_threads = 1024 };

struct thread {
    _Atomic uint64_t number, count;
};

static struct thread *threads;
static _Atomic unsigned taken;
static __thread struct thread *own __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void begin(void) {
    const char *folder = getenv("COSTS_FOLDER");
    char path[512];
    if (!folder || snprintf(path, sizeof path, "%s/%d", folder, getpid()) >= (int)sizeof path) return;
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return;
    size_t size = most_threads * sizeof *threads;
    void *memory = ftruncate(file, (off_t)size) ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory != MAP_FAILED) threads = memory;
}

static void note(void) {
    if (!threads) return;
    if (!own) {
        unsigned place = atomic_fetch_add(&taken, 1);
        /* More than these are counted in the last place, whose number is nobody's. */
        own = &threads[place < most_threads - 1 ? place : most_threads - 1];
        if (place < most_threads - 1) atomic_store(&own->number, (uint64_t)syscall(SYS_gettid));
    }
    atomic_fetch_add_explicit(&own->count, 1, memory_order_relaxed);
}
