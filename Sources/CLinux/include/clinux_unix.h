/* Which socket is connected to which: sock_diag(7), whose structures and constants Swift does not import. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A socket of AF_UNIX. */
typedef struct {
    uint32_t inode;
    /* The inode of the one that it is connected to; 0 for none, and until that one was accepted. */
    uint32_t peer;
    /* The uid that made it; UINT32_MAX where the kernel does not tell (before 5.3). */
    uint32_t user;
    /* The length of its name, which may begin with a NUL; 0 for none. */
    uint32_t length;
    char name[108];
} clinux_unix_socket;

/* The sockets of this network namespace: fills in the first `room`, and returns how many there are. -1 with errno, which
   is ENOENT where the kernel has no such list (CONFIG_UNIX_DIAG). */
ssize_t clinux_unix_sockets(clinux_unix_socket *sockets, size_t room);

/* The inodes of the sockets among a process's descriptors, by the links of a folder such as /proc/7/fd: fills in the first
   `room`, and returns how many there are. -1 with errno where the folder cannot be read. `since_exec`: those alone that exec
   closes, which no program that the process ran before can have left to it. */
ssize_t clinux_sockets_in(const char *folder, uint32_t *inodes, size_t room, bool since_exec);
