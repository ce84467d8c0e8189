/* libcapture, and what is said to the person at the program. */
#include "shim.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

struct shim_library lib;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;

#ifdef SHIM_WITH_LIBRARY
static void load(void) {
#define SHIM_TAKE(name) lib.name = capture_##name;
    SHIM_FUNCTIONS(SHIM_TAKE)
    is_loaded = true;
}
#else
/* The one beside this library, else the one of the system. */
static void *open_library(void) {
    Dl_info info;
    char path[4096];
    if (dladdr(&lib, &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');
        int length = slash ? (int)(slash - info.dli_fname) : 0;
        if (slash && snprintf(path, sizeof path, "%.*s/libcapture.so.0", length, info.dli_fname) < (int)sizeof path) {
            void *found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            if (found) return found;
        }
    }
    return dlopen("libcapture.so.0", RTLD_NOW | RTLD_LOCAL);
}

static void load(void) {
    void *from = open_library();
    if (!from) return;
    bool is_whole = true;
#define SHIM_TAKE(name) is_whole &= (*(void **)&lib.name = dlsym(from, "capture_" #name)) != NULL;
    SHIM_FUNCTIONS(SHIM_TAKE)
    is_loaded = is_whole;
}
#endif

bool shim_load(void) {
    pthread_once(&once, load);
    return is_loaded;
}

static pthread_once_t program_once = PTHREAD_ONCE_INIT;
static char program[4096];
static bool is_off;

/* PipeWire shows what it opens to other programs: a yes for it would be one for all of them, which come by a bridge of their
   own. Its files are root's; another program of such a name is one like any other. Nothing is gained by that name: whoever
   goes without this library opens nodes itself, which the lockdown forbids. */
static bool is_pipewire(const char *name) {
    static const char *const names[] = {"pipewire", "pipewire-pulse", "pipewire-media-session", "wireplumber"};
    struct stat64 file;
    for (size_t i = 0; i < SHIM_COUNT(names); i++) {
        if (strcmp(name, names[i])) continue;
        return real_stat(AT_FDCWD, "/proc/self/exe", &file, 0) == 0 && file.st_uid == 0 &&
               !(file.st_mode & (S_IWGRP | S_IWOTH));
    }
    return false;
}

/* Root's programs open nodes in spite of a lockdown, and services of root's have no reason to give: in all programs, the
   library leaves them alone. Who puts it into one by the environment means it. Root of a user namespace alone is not the
   owner of the host's files, and opens no node. */
static bool is_roots(void) {
    struct stat64 file;
    if (geteuid() != 0 || real_stat(AT_FDCWD, "/etc/ld.so.preload", &file, 0) != 0 || file.st_uid != 0) return false;
    const char *preloads = getenv("LD_PRELOAD");
    return !preloads || !strstr(preloads, "libcaptured-v4l2");
}

static void look(void) {
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    /* captured and its helpers open the nodes themselves; capturectl has its own way to the daemon. */
    is_off = getauxval(AT_SECURE) || is_roots() || !strcmp(name, "captured") || !strncmp(name, "captured-", 9) ||
             !strcmp(name, "capturectl") || is_pipewire(name);
}

bool shim_is_off(void) {
    pthread_once(&program_once, look);
    return is_off;
}

const char *shim_program(void) {
    pthread_once(&program_once, look);
    return *program ? program : "this program";
}

void shim_tell(enum shim_notice notice, const char *format, ...) {
    static atomic_flag told[shim_notice_count];
    char text[1024];
    if (atomic_flag_test_and_set(&told[notice])) return;
    int begun = snprintf(text, sizeof text, "captured: ");
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(text + begun, sizeof text - (size_t)begun - 1, format, arguments);
    va_end(arguments);
    if (more < 0) return;
    size_t length = strlen(text);
    text[length++] = '\n';
    ssize_t written = write(STDERR_FILENO, text, length);
    (void)written;
}
