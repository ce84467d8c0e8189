/* What a daemon needs to leave dangerous descriptors to processes that it can do without. */
#pragma once
#include <stdint.h>
#include <sys/types.h>

/* pidfd_send_signal(2) with SIGKILL: the very process, whoever has its number by now. */
int clinux_pidfd_kill(int pidfd);

/* prctl(2) PR_CAP_AMBIENT_CLEAR_ALL: what this thread executes from here on has no capability of it. */
int clinux_clear_ambient(void);

/* A listening SOCK_SEQPACKET socket at a path where nothing may lie yet, close-on-exec and non-blocking. The mode is the
   path's. */
int clinux_seqpacket_listen(const char *path, mode_t mode);

/* accept4(2), close-on-exec. */
int clinux_accept(int socket);

/* SO_PEERCRED and SO_PEERGROUPS: who connected, as the kernel noted it then. Fills in at most `room` groups and returns how
   many there are, or -1 with errno. */
int clinux_peer(int socket, pid_t *pid, uid_t *user, gid_t *groups, int room);

/* The kernel ends such a process first when memory runs out. */
int clinux_offer_to_oom(void);
