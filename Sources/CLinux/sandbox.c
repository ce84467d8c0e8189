#define _GNU_SOURCE
#include "clinux_sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int clinux_landlock_deny_files(void) {
    int version = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 0) return -1;
    /* Every right that the first version handles; a ruleset without a rule allows none of them. */
    uint64_t rights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
    struct landlock_ruleset_attr attributes = {.handled_access_fs = rights};
    /* The size of the first version's structure, which later kernels take too. */
    int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof(uint64_t), 0);
    if (rules < 0) return -1;
    int result = (int)syscall(SYS_landlock_restrict_self, rules, 0);
    int reason = errno;
    close(rules);
    errno = reason;
    return result;
}

#if defined(__x86_64__)
enum { this_architecture = AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
enum { this_architecture = AUDIT_ARCH_AARCH64 };
#elif defined(__riscv) && __riscv_xlen == 64
enum { this_architecture = AUDIT_ARCH_RISCV64 };
#else
enum { this_architecture = 0 };
#endif

static const int denied[] = {
    SYS_openat, SYS_openat2, SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4,
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_pidfd_getfd,
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, SYS_bpf, SYS_perf_event_open,
    SYS_keyctl, SYS_add_key, SYS_request_key, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load,
    SYS_io_uring_setup, SYS_userfaultfd, SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_unlinkat, SYS_renameat2,
    SYS_linkat, SYS_symlinkat, SYS_mknodat, SYS_mkdirat, SYS_fchmodat, SYS_fchownat, SYS_truncate, SYS_swapon,
    SYS_reboot, SYS_settimeofday, SYS_clock_settime, SYS_setuid, SYS_setgid, SYS_setresuid, SYS_setresgid,
    SYS_setgroups, SYS_setxattr, SYS_lsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_kill, SYS_tkill,
    SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_open, SYS_pidfd_send_signal,
#if defined(SYS_renameat)
    SYS_renameat,
#endif
    /* fchmodat2 of Linux 6.6, which older headers lack. */
    452,
#if defined(__x86_64__)
    SYS_open, SYS_creat, SYS_fork, SYS_vfork, SYS_unlink, SYS_rename, SYS_link, SYS_symlink, SYS_mknod, SYS_mkdir,
    SYS_rmdir, SYS_chmod, SYS_chown, SYS_lchown,
#endif
};

enum { denied_count = sizeof denied / sizeof denied[0] };

/* Allows a call only where its first argument is a number. */
static unsigned allow_for(struct sock_filter *program, unsigned at, unsigned call, unsigned number, unsigned refuse) {
    program[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4);
    program[at++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, args));
    program[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
    program[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, refuse);
    return at;
}

int clinux_seccomp_deny_outside(void) {
    if (this_architecture == 0) {
        errno = ENOSYS;
        return -1;
    }
    const unsigned refuse = SECCOMP_RET_ERRNO | EPERM;
    struct sock_filter program[denied_count * 2 + 26];
    unsigned at = 0;
    program[at++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, arch));
    program[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, this_architecture, 1, 0);
    program[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    program[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
    /* The x32 numbers are other names for the same calls. */
    program[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
    program[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, refuse);
#endif
    for (unsigned i = 0; i < denied_count; i++) {
        program[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)denied[i], 0, 1);
        program[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, refuse);
    }
    /* abort() signals its own process, and limits are looked up for it alone. */
    at = allow_for(program, at, SYS_tgkill, (unsigned)getpid(), refuse);
    at = allow_for(program, at, SYS_prlimit64, 0, refuse);
    /* clone3 hides its flags behind a pointer: the C library then takes clone, whose flags tell a thread. */
    program[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
    program[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
    program[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3);
    program[at++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, args));
    program[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0);
    program[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, refuse);
    program[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {.len = (unsigned short)at, .filter = program};
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
}

static void nothing(int signal) { (void)signal; }

int clinux_interrupt_by(int signal) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = nothing;
    return sigaction(signal, &action, NULL);
}

int clinux_ignore_signal(int number) { return signal(number, SIG_IGN) == SIG_ERR ? -1 : 0; }

int clinux_limit_process(uint64_t memory, uint64_t seconds) {
    const struct rlimit space = {memory, memory}, time = {seconds, seconds}, none = {0, 0};
    if (setrlimit(RLIMIT_AS, &space) < 0 || setrlimit(RLIMIT_CPU, &time) < 0) return -1;
    return setrlimit(RLIMIT_CORE, &none);
}
