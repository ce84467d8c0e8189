/* Connections of one program that another has.
   evil handed end|become COMMAND...: a session runs; its connection is handed on to another process, and who made it ends,
   or becomes COMMAND. The other then wants the session's memory.
   evil steal PROCESS: takes the connection of another program out of its hands, which is held meanwhile, and asks on it.
   Exits 0 when it was refused. */
#include "evil.h"
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int file_of(pid_t process, ino_t *inode)
{
	char link[64];
	struct stat status;
	snprintf(link, sizeof link, "/proc/%d/exe", process);
	int result = stat(link, &status);
	*inode = status.st_ino;
	return result;
}

/* Begins a session, tells its path and connection, and goes when a word comes. */
static void make(int other, bool becomes, char **command)
{
	char path[128] = "", go;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec part = { path, sizeof path };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
	};
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	must(sd_bus_open_system(&bus), "reach the bus");
	snprintf(path, sizeof path, "%s", begin_session(true));
	int end = sd_bus_get_fd(bus);
	memcpy(CMSG_DATA(&control.head), &end, sizeof end);
	if (sendmsg(other, &message, 0) < 0 || read(other, &go, 1) != 1)
		_exit(70);
	if (becomes)
		execv(command[0], command);
	_exit(becomes ? 70 : 0);
}

static int handed(bool becomes, char **command)
{
	int pair[2], end;
	char path[128];
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { path, sizeof path };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
	};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return 70;
	pid_t maker = fork();
	if (!maker)
		make(pair[1], becomes, command);
	close(pair[1]);
	if (recvmsg(pair[0], &message, MSG_CMSG_CLOEXEC) != sizeof path || !CMSG_FIRSTHDR(&message))
		return 70;
	memcpy(&end, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof end);
	/* While its maker is what it was, it is the maker's: what would be refused then is nothing that this is about. */
	if (write(pair[0], "", 1) != 1)
		return 70;
	ino_t own, its;
	if (!becomes)
		waitpid(maker, NULL, 0);
	else
		while (file_of(getpid(), &own) == 0 && file_of(maker, &its) == 0 && own == its)
			poll(NULL, 0, 10);
	bool refused = raw_call(end, path, SESSION, "OpenBuffer", "s", "pictures");
	if (becomes)
		kill(maker, SIGKILL);
	return refused ? 0 : 1;
}

/* The descriptor of a process that is connected to the bus. */
static int steal_connection(pid_t process)
{
	char folder[64];
	snprintf(folder, sizeof folder, "/proc/%d/fd", process);
	DIR *list = opendir(folder);
	int pinned = syscall(SYS_pidfd_open, process, 0);
	if (!list || pinned < 0)
		return -1;
	for (struct dirent *entry; (entry = readdir(list));) {
		struct sockaddr_un address = { .sun_family = 0 };
		socklen_t length = sizeof address;
		int copy = syscall(SYS_pidfd_getfd, pinned, atoi(entry->d_name), 0);
		if (copy < 0)
			continue;
		if (getpeername(copy, (struct sockaddr *)&address, &length) == 0 && address.sun_family == AF_UNIX &&
		    strstr(address.sun_path, "system_bus_socket"))
			return copy;
		close(copy);
	}
	return -1;
}

int connections(int count, char **words)
{
	if (!strcmp(words[0], "handed") && count >= 2)
		return handed(!strcmp(words[1], "become"), words + 2);
	if (count != 2)
		return 64;
	pid_t process = atoi(words[1]);
	int end = steal_connection(process);
	if (end < 0) {
		perror("no connection to take");
		return 70;
	}
	kill(process, SIGSTOP);
	bool refused = raw_call(end, ROOT, AUTHORIZATION, "RequestAccess", "as", "camera");
	kill(process, SIGCONT);
	return refused ? 0 : 1;
}
