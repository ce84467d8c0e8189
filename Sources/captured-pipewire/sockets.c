/* Connections to PipeWire's server that it shows no client for, by the kernel's list of sockets. Their processes have
   connected, and said nothing yet. */
#include "bridge.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Whether it is an end of a connection that the server has, by its name, as /run/user/1000/pipewire-0. */
static bool is_of_server(const struct unix_diag_msg *message, int left, const char *start) {
    for (struct rtattr *part = (struct rtattr *)(message + 1); RTA_OK(part, left); part = RTA_NEXT(part, left))
        if (part->rta_type == UNIX_DIAG_NAME && RTA_PAYLOAD(part) > strlen(start) &&
            !memcmp(RTA_DATA(part), start, strlen(start)))
            return message->udiag_state == TCP_ESTABLISHED;
    return false;
}

/* -1: the kernel does not tell. */
static long count_ends(int diag, const char *start) {
    union {
        struct nlmsghdr head;
        char bytes[32768];
    } buffer;
    long count = 0;
    while (true) {
        ssize_t length = recv(diag, &buffer, sizeof buffer, 0);
        if (length <= 0) return -1;
        for (struct nlmsghdr *head = &buffer.head; NLMSG_OK(head, (size_t)length); head = NLMSG_NEXT(head, length)) {
            if (head->nlmsg_type == NLMSG_DONE) return count;
            if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY) return -1;
            const struct unix_diag_msg *message = NLMSG_DATA(head);
            count += is_of_server(message, (int)(head->nlmsg_len - NLMSG_LENGTH(sizeof *message)), start);
        }
    }
}

uint32_t sockets_silent(struct bridge *bridge) {
    struct {
        struct nlmsghdr head;
        struct unix_diag_req wanted;
    } request = {
        .head = {.nlmsg_len = sizeof request, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .wanted = {.sdiag_family = AF_UNIX, .udiag_states = ~0u, .udiag_show = UDIAG_SHOW_NAME},
    };
    /* Only the kernel answers on a socket that is connected to it. */
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    char start[sizeof((struct sockaddr_un *)0)->sun_path];
    snprintf(start, sizeof start, "%s/pipewire-", getenv("XDG_RUNTIME_DIR"));
    int diag = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    /* Without descriptors nobody is looked at: then one counts as silent. */
    if (diag < 0) return errno != EPROTONOSUPPORT;
    long ends = -1;
    if (connect(diag, (struct sockaddr *)&kernel, sizeof kernel) == 0 && send(diag, &request, sizeof request, 0) > 0)
        ends = count_ends(diag, start);
    close(diag);
    long clients = globals_clients(bridge);
    return ends > clients ? (uint32_t)(ends - clients) : 0;
}
