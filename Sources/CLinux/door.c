#define _GNU_SOURCE
#include "clinux_door.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

int clinux_pidfd_kill(int pidfd) { return (int)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0); }

int clinux_clear_ambient(void) { return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); }

int clinux_seqpacket_listen(const char *path, mode_t mode) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return errno = ENAMETOOLONG, -1;
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || chmod(path, mode) < 0 || listen(fd, 128) < 0) {
        int reason = errno;
        close(fd);
        return errno = reason, -1;
    }
    return fd;
}

int clinux_accept(int socket) { return accept4(socket, NULL, NULL, SOCK_CLOEXEC); }

int clinux_peer(int socket, pid_t *pid, uid_t *user, gid_t *groups, int room) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return -1;
    *pid = peer.pid;
    *user = peer.uid;
    if (room < 1) return errno = EINVAL, -1;
    groups[0] = peer.gid;
    length = (socklen_t)((size_t)(room - 1) * sizeof(gid_t));
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups + 1, &length) < 0) return -1;
    return 1 + (int)(length / sizeof(gid_t));
}

int clinux_offer_to_oom(void) {
    static const char most[] = "1000";
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t written = write(fd, most, sizeof most - 1);
    int reason = errno;
    close(fd);
    errno = reason;
    return written < 0 ? -1 : 0;
}
