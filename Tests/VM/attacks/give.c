/* A recording into a descriptor that is not what an output should be: give KIND PATH [FRAMES [GO]], KIND being of the
   words in `open_kind`. It starts when there is a file GO. Prints `ended STATE: CODE: REASON`, or the error of the call
   by which it was refused. */
#include "attack.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static int opened(const char *path, int flags) { return open(path, flags | O_CLOEXEC, 0600); }

static int leased(int file, int kind) {
    /* Whoever breaks it waits for the answer to this, which never comes. */
    signal(SIGIO, SIG_IGN);
    return file < 0 || fcntl(file, F_SETLEASE, kind) < 0 ? -1 : file;
}

static int locked(int file) {
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return file < 0 || fcntl(file, F_OFD_SETLK, &all) < 0 ? -1 : file;
}

static int memory(int seals) {
    int file = memfd_create("given", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return file < 0 || (seals && fcntl(file, F_ADD_SEALS, seals) < 0) ? -1 : file;
}

static int lonely(int type) {
    int ends[2];
    return socketpair(AF_UNIX, type, 0, ends) < 0 ? -1 : ends[0];
}

static int open_kind(const char *kind, const char *path) {
    const int fresh = O_RDWR | O_CREAT | O_TRUNC;
    if (!strcmp(kind, "plain")) return opened(path, fresh);
    if (!strcmp(kind, "as-is")) return opened(path, O_RDWR);
    /* There is no such lease on what is open for writing. */
    if (!strcmp(kind, "read-lease")) return leased(opened(path, O_RDONLY | O_CREAT), F_RDLCK);
    if (!strcmp(kind, "write-lease")) return leased(opened(path, fresh), F_WRLCK);
    if (!strcmp(kind, "flock")) {
        int file = opened(path, fresh);
        return file < 0 || flock(opened(path, O_RDWR), LOCK_EX) < 0 ? -1 : file;
    }
    if (!strcmp(kind, "record-lock")) return locked(opened(path, fresh)) < 0 ? -1 : opened(path, O_RDWR);
    if (!strcmp(kind, "direct")) return opened(path, fresh | O_DIRECT);
    if (!strcmp(kind, "append")) return opened(path, fresh | O_APPEND);
    if (!strcmp(kind, "read-only")) return opened(path, O_RDONLY | O_CREAT);
    if (!strcmp(kind, "path")) return close(opened(path, fresh)) < 0 ? -1 : opened(path, O_PATH);
    if (!strcmp(kind, "folder")) return opened(path, O_RDONLY | O_DIRECTORY);
    if (!strcmp(kind, "fifo")) return opened(path, O_RDWR);
    if (!strcmp(kind, "socket")) return lonely(SOCK_STREAM);
    if (!strcmp(kind, "datagrams")) return lonely(SOCK_DGRAM);
    if (!strcmp(kind, "listening")) {
        int end = socket(AF_UNIX, SOCK_STREAM, 0);
        /* At a name of the kernel's choice. */
        struct sockaddr any = {.sa_family = AF_UNIX};
        return bind(end, &any, sizeof any.sa_family) < 0 || listen(end, 1) < 0 ? -1 : end;
    }
    if (!strcmp(kind, "own-memory")) return opened("/proc/self/mem", O_RDWR);
    if (!strcmp(kind, "poll")) return epoll_create1(EPOLL_CLOEXEC);
    if (!strcmp(kind, "memory")) return memory(0);
    if (!strcmp(kind, "sealed")) return memory(F_SEAL_SEAL | F_SEAL_WRITE);
    if (!strcmp(kind, "sealed-size")) return memory(F_SEAL_GROW | F_SEAL_SHRINK);
    if (!strcmp(kind, "sealed-future")) return memory(F_SEAL_FUTURE_WRITE);
    errno = EINVAL;
    return -1;
}

int main(int count, char **words) {
    char ticket[64];
    sd_bus_message *reply = NULL;
    const char *session;
    signal(SIGPIPE, SIG_IGN);
    if (count < 3) return not_tried;
    int64_t frames = count > 3 ? atoi(words[3]) : 3;
    int file = open_kind(words[1], words[2]);
    if (file < 0) give_up(words[1]);
    sd_bus *bus = connect_bus();
    pass(bus, file, ticket);
    if (!gets(bus, ROOT, SERVICE ".Manager", "CreateSession", &reply, "a{sv}" FILES, 4,
              "inputs", "aa{sv}", 1, 6, "name", "s", "c", "media-type", "s", "video", "pixel-format", "s", "YUYV",
              "width", "u", 320, "height", "u", 180, "frames-per-second", "d", 5.0,
              "outputs", "aa{sv}", 1, 5, "name", "s", "movie", "kind", "s", "movie", "format", "s", "mkv",
              "video-codec", "s", "mjpeg", "frame-count", "x", frames,
              "connections", "a(ss)", 1, "c", "movie", "attached", "b", 1, 1, "movie", ticket))
        return refused;
    if (sd_bus_message_read(reply, "o", &session) < 0) give_up("the session's path");
    printf("made %s\n", session);
    fflush(stdout);
    while (count > 4 && access(words[4], F_OK) < 0) poll(NULL, 0, 10);
    if (!gets(bus, session, SERVICE ".Session", "Start", NULL, "")) return refused;
    for (;;) {
        char *state = session_text(bus, session, "State");
        if (!state) return refused;
        if (strcmp(state, "failed") && strcmp(state, "stopped") && strcmp(state, "interrupted")) {
            free(state);
            poll(NULL, 0, 100);
            continue;
        }
        char *code = session_text(bus, session, "ReasonCode"), *why = session_text(bus, session, "Reason");
        printf("ended %s: %s: %s\n", state, code ? code : "", why ? why : "");
        return strcmp(state, "stopped") ? refused : taken;
    }
}
