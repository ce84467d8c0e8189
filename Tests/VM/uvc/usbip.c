/* USB/IP as vhci-hcd speaks it: headers of twelve big-endian words, then data. */
#include "camera.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define HUB "/sys/devices/platform/vhci_hcd.0/"
enum { submit = 1, unlink_request = 2, submitted = 3, unlinked = 4 };
enum { word_command, word_number, word_device, word_direction, word_endpoint, words = 12 };
enum { high_speed = 3, device_number = 1 << 16 | 2, port_is_free = 4 };

static bool attach_to(int port, int socket) {
    char line[64];
    int length = snprintf(line, sizeof line, "%d %d %d %d", port, socket, device_number, high_speed);
    int file = open(HUB "attach", O_WRONLY | O_CLOEXEC);
    bool is_done = file >= 0 && write(file, line, length) == length;
    int error = errno;
    if (file >= 0) close(file);
    errno = error;
    return is_done;
}

/* The other end is the kernel's. Returns ours, or -1. */
int usb_attach(int port, int *chosen) {
    int ends[2], result = -1;
    FILE *status = fopen(HUB "status", "re");
    if (!status) return -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        fclose(status);
        return -1;
    }
    char line[128], hub[8];
    int number, state;
    errno = EBUSY;
    while (result < 0 && fgets(line, sizeof line, status)) {
        if (sscanf(line, "%7s %d %d", hub, &number, &state) != 3 || strcmp(hub, "hs")) continue;
        if (state != port_is_free || (port >= 0 && number != port)) continue;
        /* Another camera may take it first: then the next one is tried. */
        if (attach_to(number, ends[1])) {
            *chosen = number;
            result = ends[0];
        }
    }
    int error = errno;
    fclose(status);
    close(ends[1]);
    if (result < 0) close(ends[0]);
    errno = error;
    return result;
}

static bool read_all(int usb, void *to, size_t length) {
    for (size_t had = 0; had < length;) {
        ssize_t got = recv(usb, (char *)to + had, length - had, MSG_WAITALL);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        had += got;
    }
    return true;
}

static bool pass_over(int usb, size_t length) {
    char room[4096];
    while (length) {
        size_t part = length < sizeof room ? length : sizeof room;
        if (!read_all(usb, room, part)) return false;
        length -= part;
    }
    return true;
}

enum received usb_receive(int usb, struct request *request) {
    uint32_t header[words];
    if (!read_all(usb, header, sizeof header)) return received_nothing;
    for (int i = 0; i < words; i++) header[i] = ntohl(header[i]);
    *request = (struct request){.number = header[word_number], .endpoint = header[word_endpoint] & 15,
                                .is_in = header[word_direction] != 0};
    if (header[word_command] == unlink_request) {
        request->number = header[5];
        /* The answer goes to the request to unlink. */
        request->length = header[word_number];
        return received_unlink;
    }
    if (header[word_command] != submit) return received_nothing;
    request->length = header[6];
    for (int i = 0; i < 8; i++) request->setup[i] = header[10 + i / 4] >> (24 - i % 4 * 8);
    if (!request->is_in) {
        size_t kept = request->length < sizeof request->data ? request->length : sizeof request->data;
        if (!read_all(usb, request->data, kept) || !pass_over(usb, request->length - kept)) return received_nothing;
    }
    /* Of isochronous transfers, for which there is no endpoint. */
    int32_t packets = header[8];
    if (packets > 0 && !pass_over(usb, (size_t)packets * 16)) return received_nothing;
    return received_request;
}

static bool send_all(int usb, struct iovec *parts, int count) {
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    while (message.msg_iovlen) {
        ssize_t sent = sendmsg(usb, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return false;
        while (message.msg_iovlen && (size_t)sent >= message.msg_iov->iov_len) {
            sent -= message.msg_iov->iov_len;
            message.msg_iov++;
            message.msg_iovlen--;
        }
        if (message.msg_iovlen) {
            message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + sent;
            message.msg_iov->iov_len -= sent;
        }
    }
    return true;
}

static bool answer(int usb, uint32_t command, uint32_t number, int status, uint32_t length, const void *data) {
    uint32_t header[words] = {htonl(command), htonl(number), 0, 0, 0, htonl(status), htonl(length)};
    struct iovec parts[] = {{header, sizeof header}, {(void *)data, length}};
    return send_all(usb, parts, data && length ? 2 : 1);
}

bool usb_answer(int usb, uint32_t number, int status, const void *data, size_t length) {
    return answer(usb, submitted, number, status, data ? length : 0, data);
}
bool usb_acknowledge(int usb, uint32_t number, size_t length) {
    return answer(usb, submitted, number, 0, length, NULL);
}
bool usb_unlinked(int usb, uint32_t number, bool was_pending) {
    return answer(usb, unlinked, number, was_pending ? -ECONNRESET : 0, 0, NULL);
}
