// become [--session] USER GROUP FOLDER NAME=VALUE... -- COMMAND [ARGUMENT...]
// Runs the command in that folder as that user and group (numbers), with these variables and no others; with --session, in
// a new session, which has no terminal. One static program does what setpriv, env and setsid do, because under emulation
// each of them takes as long as most commands.
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// The leader of a process group cannot begin a session, so its child does.
static void leave_terminal(void) {
    if (getpgrp() == getpid()) {
        pid_t child = fork();
        if (child < 0) err(125, "fork");
        if (child > 0) {
            int status;
            if (waitpid(child, &status, 0) != child) err(125, "waitpid");
            exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        }
    }
    if (setsid() < 0) err(125, "setsid");
}

int main(int count, char **words) {
    int at = 1, session = count > 1 && strcmp(words[1], "--session") == 0;
    at += session;
    if (count < at + 5) errx(125, "become [--session] USER GROUP FOLDER NAME=VALUE... -- COMMAND [ARGUMENT...]");
    uid_t user = atoi(words[at]);
    gid_t group = atoi(words[at + 1]);
    char *folder = words[at + 2], **environment = &words[at + 3];
    for (at += 3; at < count && strcmp(words[at], "--") != 0; at++) continue;
    if (at + 1 >= count) errx(125, "no command");
    words[at] = NULL;
    if (setgroups(1, &group) || setresgid(group, group, group) || setresuid(user, user, user)) err(125, "user %d", user);
    if (chdir(folder)) err(125, "%s", folder);
    if (session) leave_terminal();
    environ = environment;
    execvp(words[at + 1], &words[at + 1]);
    err(errno == ENOENT ? 127 : 126, "%s", words[at + 1]);
}
