/* Calls for a daemon that leaves dangerous descriptors to expendable processes. */
#pragma once
#include <stdint.h>
#include <sys/types.h>

/* pidfd_send_signal(2) with SIGKILL: kills this process even if another one has its number by now. */
int clinux_pidfd_kill(int pidfd);

/* prctl(2) PR_CAP_AMBIENT_CLEAR_ALL: programs that this thread executes from now on get no capabilities. */
int clinux_clear_ambient(void);

/* Listens on a SOCK_SEQPACKET socket at a path that must not exist yet; close-on-exec and non-blocking. The path gets
   the mode. */
int clinux_seqpacket_listen(const char *path, mode_t mode);

/* accept4(2), close-on-exec. */
int clinux_accept(int socket);

/* SO_PEERCRED and SO_PEERGROUPS: the peer's credentials when it connected. Fills in at most `room` groups and returns
   how many there are, or -1 with errno. */
int clinux_peer(int socket, pid_t *pid, uid_t *user, gid_t *groups, int room);

/* oom_score_adj 1000: when memory runs out, the kernel kills this process first. */
int clinux_offer_to_oom(void);
