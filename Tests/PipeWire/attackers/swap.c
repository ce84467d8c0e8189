/* For a PipeWire that lies: takes each other's processes for those of two clients, whose numbers are in the file WHERE. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <sys/socket.h>

int getsockopt(int fd, int level, int name, void *value, socklen_t *size) {
    static int (*next)(int, int, int, void *, socklen_t *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "getsockopt");
    int result = next(fd, level, name, value, size), one, other;
    FILE *file = level == SOL_SOCKET && name == SO_PEERCRED && result == 0 ? fopen(WHERE, "re") : NULL;
    if (!file) return result;
    struct ucred *who = value;
    if (fscanf(file, "%d %d", &one, &other) == 2) who->pid = who->pid == one ? other : who->pid == other ? one : who->pid;
    fclose(file);
    return result;
}
