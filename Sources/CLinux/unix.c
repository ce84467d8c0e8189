#define _GNU_SOURCE
#include "clinux_unix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void read_socket(const struct nlmsghdr *head, clinux_unix_socket *found) {
    const struct unix_diag_msg *message = NLMSG_DATA(head);
    int left = (int)(head->nlmsg_len - NLMSG_LENGTH(sizeof *message));
    memset(found, 0, sizeof *found);
    found->inode = message->udiag_ino;
    found->user = UINT32_MAX;
    for (struct rtattr *part = (struct rtattr *)(message + 1); RTA_OK(part, left); part = RTA_NEXT(part, left)) {
        if (part->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(part) >= sizeof found->peer)
            memcpy(&found->peer, RTA_DATA(part), sizeof found->peer);
        if (part->rta_type == UNIX_DIAG_UID && RTA_PAYLOAD(part) >= sizeof found->user)
            memcpy(&found->user, RTA_DATA(part), sizeof found->user);
        if (part->rta_type == UNIX_DIAG_NAME && RTA_PAYLOAD(part) <= sizeof found->name) {
            found->length = (uint32_t)RTA_PAYLOAD(part);
            memcpy(found->name, RTA_DATA(part), found->length);
        }
    }
}

/* -1 with errno: a list that changed while it was read has to be read again, says EAGAIN. */
static ssize_t read_list(int diag, clinux_unix_socket *sockets, size_t room) {
    union {
        struct nlmsghdr head;
        char bytes[32768];
    } buffer;
    size_t count = 0;
    for (;;) {
        ssize_t length = recv(diag, &buffer, sizeof buffer, MSG_TRUNC);
        if (length < 0 && errno == EINTR) continue;
        if (length < 0) return -1;
        if ((size_t)length > sizeof buffer) return errno = EMSGSIZE, -1;
        for (struct nlmsghdr *head = &buffer.head; NLMSG_OK(head, (size_t)length); head = NLMSG_NEXT(head, length)) {
            if (head->nlmsg_flags & NLM_F_DUMP_INTR) return errno = EAGAIN, -1;
            if (head->nlmsg_type == NLMSG_DONE) return (ssize_t)count;
            if (head->nlmsg_type == NLMSG_ERROR) return errno = -((struct nlmsgerr *)NLMSG_DATA(head))->error, -1;
            if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY) continue;
            clinux_unix_socket found;
            read_socket(head, &found);
            if (count < room) sockets[count] = found;
            count++;
        }
    }
}

ssize_t clinux_unix_sockets(clinux_unix_socket *sockets, size_t room) {
    struct {
        struct nlmsghdr head;
        struct unix_diag_req wanted;
    } request = {
        .head = {.nlmsg_len = sizeof request, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .wanted = {.sdiag_family = AF_UNIX, .udiag_states = ~0u, .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER | UDIAG_SHOW_UID},
    };
    // Only the kernel answers on a socket that is connected to it, which it is without a name.
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    int diag = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (diag < 0) return errno == EPROTONOSUPPORT ? (errno = ENOENT, -1) : -1;
    ssize_t count = connect(diag, (struct sockaddr *)&kernel, sizeof kernel);
    if (count == 0) count = send(diag, &request, sizeof request, 0);
    if (count > 0) count = read_list(diag, sockets, room);
    int code = errno;
    close(diag);
    errno = code;
    return count;
}

// By the line `flags:` of proc(5), /proc/PID/fdinfo, beside the folder.
static bool closes_on_exec(int folder, const char *name) {
    char path[64], text[128];
    unsigned long flags;
    snprintf(path, sizeof path, "../fdinfo/%.20s", name);
    int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length < 0 ? 0 : length] = 0;
    const char *line = strstr(text, "flags:");
    return line && sscanf(line, "flags: %lo", &flags) == 1 && flags & O_CLOEXEC;
}

ssize_t clinux_sockets_in(const char *folder, uint32_t *inodes, size_t room, bool since_exec) {
    DIR *descriptors = opendir(folder);
    if (!descriptors) return -1;
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(descriptors));) {
        // The longest that is looked for is "socket:[4294967295]".
        char link[32];
        ssize_t length = readlinkat(dirfd(descriptors), entry->d_name, link, sizeof link - 1);
        if (length < 0) continue;
        link[length] = 0;
        uint32_t inode;
        int end = 0;
        if (sscanf(link, "socket:[%u]%n", &inode, &end) != 1 || end != length) continue;
        if (since_exec && !closes_on_exec(dirfd(descriptors), entry->d_name)) continue;
        if (count < room) inodes[count] = inode;
        count++;
    }
    closedir(descriptors);
    return (ssize_t)count;
}
