/* evil terminal own COMMAND...: runs the command in the foreground of a terminal whose other end this program holds, says
   yes to whatever it shows, and asks for the microphone itself; exits as `evil request`.
   evil terminal detached|background|foreground COMMAND...: runs it on a terminal that is not its own, in the background of
   one, or in the foreground of one whose other end this program holds, types yes all the time, and exits as the command
   does. */
#include "evil.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <pty.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether the command's words have been seen on the terminal. */
static bool shows(int end, const char *text)
{
	static char screen[65536];
	static size_t filled;
	struct pollfd ready = { .fd = end, .events = POLLIN };
	while (!strstr(screen, text)) {
		if (poll(&ready, 1, 60000) <= 0)
			return false;
		ssize_t length = read(end, screen + filled, sizeof screen - 1 - filled);
		if (length <= 0)
			return false;
		filled += length;
	}
	return true;
}

static void run(const char *kind, int other, char **command)
{
	setsid();
	if (strcmp(kind, "detached")) {
		ioctl(other, TIOCSCTTY, 0);
		/* Who is in the foreground is a child that does nothing but wait. */
		pid_t front = !strcmp(kind, "background") ? fork() : -1;
		if (!front) {
			pause();
			_exit(0);
		}
		if (front > 0) {
			setpgid(front, front);
			tcsetpgrp(other, front);
		}
	}
	dup2(other, 0), dup2(other, 1), dup2(other, 2);
	execvp(command[0], command);
	_exit(127);
}

int terminal(int count, char **words)
{
	int end, other, status;
	if (count < 3 || openpty(&end, &other, NULL, NULL, NULL) < 0)
		return 64;
	fcntl(end, F_SETFD, FD_CLOEXEC);
	pid_t child = fork();
	if (!child)
		run(words[1], other, words + 2);
	if (!strcmp(words[1], "own")) {
		if (!shows(end, "asking for consent here")) {
			printf("the agent did not start\n");
			return 70;
		}
		pid_t typist = fork();
		if (!typist) {
			/* Says yes until it is killed. */
			while (write(end, "y", 1) == 1 && poll(NULL, 0, 200) == 0)
				;
			_exit(0);
		}
		/* Only now, so that no child has the connection, too. */
		must(sd_bus_open_system(&bus), "reach the bus");
		char *asking[] = { "request", "microphone" };
		status = request(2, asking);
		kill(typist, SIGKILL);
		kill(child, SIGKILL);
		return status;
	}
	close(other);
	while (waitpid(child, &status, WNOHANG) == 0) {
		struct pollfd ready = { .fd = end, .events = POLLIN };
		char screen[4096];
		if (poll(&ready, 1, 200) > 0) {
			ssize_t length = read(end, screen, sizeof screen);
			if (length > 0)
				fwrite(screen, 1, length, stdout);
		}
		if (write(end, "y", 1) != 1)
			perror("type");
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 70;
}
