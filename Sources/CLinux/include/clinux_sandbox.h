/* What a process may still do once it has every file that it needs. */
#pragma once
#include <stdint.h>

/* Landlock: no file is opened, made, changed or executed by path from here on. Needs no_new_privs. 0, or -1 with errno
   (ENOSYS or EOPNOTSUPP where the kernel has no Landlock). The calling thread and those it starts. */
int clinux_landlock_deny_files(void);

/* seccomp: opening, connecting, executing, forking, tracing, mounting and the like fail with EPERM from here on; new
   threads, memory and open files go on. Needs no_new_privs. All threads. 0, or -1 with errno. */
int clinux_seccomp_deny_outside(void);

/* A signal whose only effect is that it interrupts a system call. */
int clinux_interrupt_by(int signal);

/* SIG_IGN for a signal. */
int clinux_ignore_signal(int signal);

/* setrlimit(2): bytes of address space, seconds of processor time after which the process is killed, no core file. */
int clinux_limit_process(uint64_t memory, uint64_t seconds);
