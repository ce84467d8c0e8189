#include "maker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void give_up(const char *what) {
    fprintf(stderr, "taker: %s: %s\n", what, strerror(errno));
    exit(70);
}

static int connect_socket(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/pipewire-0", getenv("XDG_RUNTIME_DIR"));
    int end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (end < 0 || connect(end, (struct sockaddr *)&address, sizeof address) < 0) give_up("connect");
    return end;
}

static void send_end(int pair, int end) {
    char byte = 0, room[CMSG_SPACE(sizeof end)] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof end);
    memcpy(CMSG_DATA(header), &end, sizeof end);
    if (sendmsg(pair, &message, 0) != 1) give_up("sendmsg");
}

static int receive_end(int pair) {
    int end;
    char byte, room[CMSG_SPACE(sizeof end)];
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    if (recvmsg(pair, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message)) give_up("recvmsg");
    memcpy(&end, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof end);
    return end;
}

/* What the camera portal of the test hands over. */
static int from_portal(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *place = getenv("PORTAL");
    snprintf(address.sun_path, sizeof address.sun_path, "%s", place ? place : "");
    int door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (door < 0 || connect(door, (struct sockaddr *)&address, sizeof address) < 0) give_up("connect to the portal");
    int end = receive_end(door);
    close(door);
    return end;
}

static void run(char **command) {
    execvp(command[0], command);
    _exit(127);
}

/* Once its first instruction has run, the process has another file. */
static void wait_for_exec(pid_t process) {
    char path[64], own[512], its[512];
    snprintf(path, sizeof path, "/proc/%d/exe", process);
    ssize_t length = readlink("/proc/self/exe", own, sizeof own);
    while (true) {
        ssize_t now = readlink(path, its, sizeof its);
        if (now > 0 && (now != length || memcmp(own, its, (size_t)now))) return;
        usleep(1000);
    }
}

/* Has a process of a number run a command: forks until that number comes round. */
static void reuse(pid_t number, char **command) {
    for (long turn = 0; turn < 8000000; turn++) {
        pid_t next = fork();
        if (next < 0) give_up("fork");
        if (next == 0) {
            if (getpid() != number) _exit(0);
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            run(command);
        }
        if (next == number) {
            wait_for_exec(next);
            printf("another process is %d after %ld\n", number, turn);
            return;
        }
        if (waitpid(next, NULL, 0) != next) give_up("waitpid");
    }
    errno = ETIMEDOUT;
    give_up("the number did not come round");
}

/* Leaves a copy of a socket to a command, and does not go before that runs. */
static void leave(int end, char **command) {
    pid_t child = fork();
    if (child < 0) give_up("fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        char number[16];
        snprintf(number, sizeof number, "%d", dup(end));
        setenv("LEFT", number, 1);
        run(command);
    }
    wait_for_exec(child);
}

/* What was left to this process, which no longer looks so. */
static int left(void) {
    int given = atoi(getenv("LEFT")), end = fcntl(given, F_DUPFD_CLOEXEC, 3);
    if (end < 0) give_up("dup");
    close(given);
    return end;
}

static int connection_of_portal(const char *way, char **command, int other) {
    int end = from_portal(), pair[2];
    if (!strcmp(way, "portal-shared")) leave(end, command);
    if (!strncmp(way, "portal-left", 11)) leave(other, command);
    if (other >= 0) close(other);
    if (!strcmp(way, "portal-hidden")) {
        /* In a message that nobody takes. */
        int second = from_portal();
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) give_up("socketpair");
        send_end(pair[1], second);
        close(second);
    }
    return end;
}

int connection_by(const char *way, char **command, int other) {
    int pair[2];
    if (!strcmp(way, "left")) return left();
    if (!strncmp(way, "portal", 6)) return connection_of_portal(way, command, other);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) give_up("socketpair");
    bool is_kept = !strcmp(way, "kept"), is_silent = !strcmp(way, "silent"), is_swapped = !strcmp(way, "swapped");
    bool is_exec = !strcmp(way, "exec") || is_kept || is_silent || is_swapped;
    pid_t maker = fork();
    if (maker < 0) give_up("fork");
    if (maker == 0) {
        int end = connect_socket();
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        send_end(pair[1], end);
        /* Those that are left to the command: exec does not close them. */
        if (is_kept && dup(end) < 0) give_up("dup");
        if (is_silent && dup(connect_socket()) < 0) give_up("dup");
        if (is_swapped && dup(other) < 0) give_up("dup");
        if (is_exec) run(command);
        _exit(0);
    }
    int end = receive_end(pair[0]);
    if (other >= 0) close(other);
    printf("made by %d\n", maker);
    if (is_exec) {
        wait_for_exec(maker);
    } else if (!strcmp(way, "zombie")) {
        siginfo_t about;
        waitid(P_PID, (id_t)maker, &about, WEXITED | WNOWAIT);
    } else {
        waitpid(maker, NULL, 0);
    }
    if (!strcmp(way, "reused")) reuse(maker, command);
    return end;
}
