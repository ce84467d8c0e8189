/* The system's and the session's bus, also through Flatpak's proxy.

   sd-bus sends all of its authentication at once. Before version 0.1.6, xdg-dbus-proxy, by which a Flatpak comes to a
   bus, takes that for the end of it, and breaks the connection. So here a Flatpak authenticates line by line. sd-bus is
   given a socket at which it hears the answers again, and then the proxy's socket is put in the place of that one. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "standard_bus.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { patience = 25 /* seconds */, most_turns = 100, settle_us = 1000000 };

/* The first of an address's places, if it is a path without escapes. Others are left to sd-bus. */
static int place_of(const char *address, struct sockaddr_un *place) {
    static const char kind[] = "unix:path=";
    *place = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (!address || strncmp(address, kind, sizeof kind - 1)) return -EPROTONOSUPPORT;
    address += sizeof kind - 1;
    size_t length = strcspn(address, ",;");
    if (memchr(address, '%', length) || length >= sizeof place->sun_path) return -EPROTONOSUPPORT;
    memcpy(place->sun_path, address, length);
    return 0;
}

static int address_of(bool is_system, struct sockaddr_un *place) {
    const char *address = secure_getenv(is_system ? "DBUS_SYSTEM_BUS_ADDRESS" : "DBUS_SESSION_BUS_ADDRESS");
    const char *folder = secure_getenv("XDG_RUNTIME_DIR");
    char usual[sizeof place->sun_path + 16];
    if (!address && is_system) address = "unix:path=/run/dbus/system_bus_socket";
    if (!address && folder && snprintf(usual, sizeof usual, "unix:path=%s/bus", folder) < (int)sizeof usual)
        address = usual;
    return place_of(address, place);
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* Waits with the limit of a connection, after which it does not block any more. */
static int connect_to(const struct sockaddr_un *place) {
    struct timeval limit = {.tv_sec = patience};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), result;
    if (fd < 0) return -errno;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    do result = connect(fd, (const struct sockaddr *)place, sizeof *place);
    while (result < 0 && errno == EINTR);
    if (result == 0 && fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK) == 0) return fd;
    /* The limit is told as what would block. */
    result = errno == EAGAIN ? -ETIMEDOUT : -errno;
    close(fd);
    return result;
}

/* After a call that would have blocked, or that a signal interrupted: 0 to repeat it. */
static int wait_for(int fd, short events, int64_t deadline) {
    struct pollfd file = {.fd = fd, .events = events};
    if (errno != EAGAIN && errno != EINTR) return -errno;
    int64_t rest = deadline - now_ms();
    if (rest <= 0) return -ETIMEDOUT;
    return poll(&file, 1, (int)rest) < 0 && errno != EINTR ? -errno : 0;
}

static int send_all(int fd, const char *text, size_t length, int64_t deadline) {
    int result = 0;
    while (length && result == 0) {
        ssize_t sent = send(fd, text, length, MSG_NOSIGNAL);
        if (sent < 0) {
            result = wait_for(fd, POLLOUT, deadline);
        } else {
            text += sent;
            length -= (size_t)sent;
        }
    }
    return result;
}

/* One line of the other side, without its end. */
static int receive_line(int fd, char *line, size_t room, int64_t deadline) {
    for (size_t length = 0; length < room;) {
        ssize_t got = recv(fd, line + length, 1, 0);
        int result = got < 0 ? wait_for(fd, POLLIN, deadline) : got ? 0 : -ECONNRESET;
        if (result < 0) return result;
        if (got < 0) continue;
        if (length && line[length - 1] == '\r' && line[length] == '\n') {
            line[length - 1] = '\0';
            return 0;
        }
        length++;
    }
    return -EPROTO;
}

/* As D-Bus's specification has it. Returns whether descriptors can be passed; `id`: the bus's, in 32 digits. */
static int authenticate(int fd, char id[33], int64_t deadline) {
    char user[16], words[64], line[128];
    snprintf(user, sizeof user, "%u", (unsigned)getuid());
    /* A zero byte comes first. */
    size_t length = (size_t)snprintf(words, sizeof words, "%cAUTH EXTERNAL ", 0);
    for (const char *at = user; *at; at++) length += (size_t)snprintf(words + length, sizeof words - length, "%02x", *at);
    length += (size_t)snprintf(words + length, sizeof words - length, "\r\n");
    int result = send_all(fd, words, length, deadline);
    if (result == 0) result = receive_line(fd, line, sizeof line, deadline);
    if (result < 0) return result;
    if (strncmp(line, "OK ", 3) || strlen(line) != 35) return -EPERM;
    memcpy(id, line + 3, 33);
    static const char negotiate[] = "NEGOTIATE_UNIX_FD\r\n", begin[] = "BEGIN\r\n";
    result = send_all(fd, negotiate, sizeof negotiate - 1, deadline);
    if (result == 0) result = receive_line(fd, line, sizeof line, deadline);
    if (result < 0) return result;
    bool can_pass = !strcmp(line, "AGREE_UNIX_FD");
    result = send_all(fd, begin, sizeof begin - 1, deadline);
    return result < 0 ? result : can_pass;
}

/* Answers sd-bus what the proxy has answered. */
static int tell(sd_bus *bus, int fd, const char *id, bool can_pass, int64_t deadline) {
    char said[512], answer[128];
    size_t length = 0;
    for (int turn = 0; turn < most_turns && !memmem(said, length, "BEGIN\r\n", 7); turn++) {
        ssize_t got = recv(fd, said + length, sizeof said - length, MSG_DONTWAIT);
        if (got > 0) length += (size_t)got;
        else if (sd_bus_process(bus, NULL) < 0) return -EPROTO;
    }
    if (!memmem(said, length, "BEGIN\r\n", 7)) return -EPROTO;
    bool has_data = memmem(said, length, "\r\nDATA\r\n", 8);
    int count = snprintf(answer, sizeof answer, "%sOK %s\r\n%s", has_data ? "DATA\r\n" : "", id,
                         can_pass ? "AGREE_UNIX_FD\r\n" : "");
    return send_all(fd, answer, (size_t)count, deadline);
}

/* sd-bus has read the answer. With the next turn, it sends its first message. */
static int has_heard(sd_bus *bus, int fd) {
    for (int turn = 0; turn < most_turns; turn++) {
        int left = 0;
        if (ioctl(fd, FIONREAD, &left) < 0) return -errno;
        if (!left) return 0;
        int result = sd_bus_process(bus, NULL);
        if (result < 0) return result;
    }
    return -EPROTO;
}

/* The proxy makes calls of its own before the client's, and corrects the numbers of replies for that. A call that comes
   before it has made all of them gets a reply with a wrong number, which belongs to no call. So a call is repeated until
   its reply comes. */
static int settle(sd_bus *bus, int64_t deadline) {
    int result;
    do {
        sd_bus_message *call = NULL, *reply = NULL;
        result = sd_bus_message_new_method_call(bus, &call, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                                "org.freedesktop.DBus", "GetId");
        if (result >= 0) result = sd_bus_call(bus, call, settle_us, NULL, &reply);
        sd_bus_message_unref(call);
        sd_bus_message_unref(reply);
    } while (result == -ETIMEDOUT && now_ms() < deadline);
    return result;
}

static int begin(sd_bus *bus, int ends[2], int *fd, int *shown, const char *description, bool is_system,
                 int64_t deadline) {
    char id[33];
    int can_pass = authenticate(*fd, id, deadline);
    if (can_pass < 0) return can_pass;
    int result = sd_bus_set_fd(bus, ends[0], ends[0]);
    if (result < 0) return result;
    int own = ends[0];
    ends[0] = -1; /* the bus's now */
    result = sd_bus_set_bus_client(bus, 1);
    if (result >= 0) result = sd_bus_set_description(bus, description);
    if (result >= 0) result = sd_bus_set_trusted(bus, !is_system);
    if (result >= 0) result = sd_bus_negotiate_fds(bus, can_pass);
    if (result >= 0) result = sd_bus_start(bus);
    if (result >= 0) result = tell(bus, ends[1], id, can_pass, deadline);
    if (result >= 0) result = has_heard(bus, own);
    if (result < 0) return result;
    if (dup3(*fd, own, O_CLOEXEC) < 0) return -errno;
    if (shown) *shown = own;
    close(*fd);
    *fd = -1;
    return settle(bus, deadline);
}

static int open_through_proxy(sd_bus **made, const struct sockaddr_un *place, bool is_system, const char *description,
                              int *shown) {
    int64_t deadline = now_ms() + patience * INT64_C(1000);
    int ends[2], fd = connect_to(place);
    if (fd < 0) return fd;
    if (shown) *shown = fd;
    sd_bus *bus = NULL;
    int result = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ? -errno : 0;
    if (result == 0) {
        result = sd_bus_new(&bus);
        if (result >= 0) result = begin(bus, ends, &fd, shown, description, is_system, deadline);
        for (int i = 0; i < 2; i++)
            if (ends[i] >= 0) close(ends[i]);
    }
    if (result < 0 && shown) *shown = -1;
    if (fd >= 0) close(fd);
    if (result >= 0) *made = bus;
    else sd_bus_unref(bus);
    return result;
}

int standard_bus_open(sd_bus **bus, bool is_system, const char *description, int *shown) {
    struct sockaddr_un place;
    if (access("/.flatpak-info", F_OK) == 0 && address_of(is_system, &place) == 0)
        return open_through_proxy(bus, &place, is_system, description, shown);
    return is_system ? sd_bus_open_system_with_description(bus, description)
                     : sd_bus_open_user_with_description(bus, description);
}
