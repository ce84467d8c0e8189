#!/usr/bin/env python3
"""Attacks a ring's writer and other readers through a reader's descriptor.

    attack_ring.py FD everything    tries everything again and again until the ring ends. Prints `round` after each
                                    round, and at the end a line for each attempt: `NAME RESULT`. RESULT is `done` or
                                    the error's name.
    attack_ring.py FD requeue       moves those who wait for the ring's futex word to another word. Prints `led NUMBER`
                                    whenever somebody was waiting.
"""
import ctypes
import errno
import fcntl
import mmap
import os
import platform
import struct
import sys
import threading

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.mlock.argtypes = libc.munlock.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
x86 = platform.machine() == "x86_64"
SYS_userfaultfd, SYS_remap_file_pages, SYS_futex = (323, 216, 202) if x86 else (282, 234, 98)
SYS_process_madvise, SYS_pidfd_open = 440, 434
UFFDIO_API, UFFDIO_REGISTER = 0xC018AA3F, 0xC020AA00
F_ADD_SEALS, F_SETLEASE, F_OFD_SETLK, F_SETSIG = 1033, 1024, 37, 10
FUTEX_WAIT, FUTEX_WAKE, FUTEX_REQUEUE = 0, 1, 3
WORD, END = 1032, 1036

ring = int(sys.argv[1])
size = os.fstat(ring).st_size
readable = mmap.mmap(ring, size, mmap.MAP_SHARED, mmap.PROT_READ)


def call(name, *arguments):
    result = getattr(libc, name)(*arguments)
    if result in (-1, None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), name)
    return result


def map_at(flags, protection=mmap.PROT_READ, file=ring):
    return call("mmap", None, size, protection, flags, file, 0)


shared, private = map_at(mmap.MAP_SHARED), map_at(mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)


def advise(advice, address=shared):
    return lambda: call("madvise", address, size, advice)


def on_writable(work):
    """Tries through a writable descriptor, if the attacker can open one."""

    def run():
        file = os.open(f"/proc/self/fd/{ring}", os.O_RDWR)
        try:
            return work(file)
        finally:
            os.close(file)

    return run


def register(address, mode):
    """Registers for the page faults of a mapping: 1 missing, 2 write-protected, 4 minor."""

    def run():
        faults = call("syscall", SYS_userfaultfd, os.O_CLOEXEC | os.O_NONBLOCK | 1)
        try:
            fcntl.ioctl(faults, UFFDIO_API, struct.pack("QQQ", 0xAA, 0, 0))
            fcntl.ioctl(faults, UFFDIO_REGISTER, struct.pack("QQQQ", address, size, mode, 0))
        finally:
            os.close(faults)

    return run


def lock(file, kind):
    return fcntl.fcntl(file, F_OFD_SETLK, struct.pack("hhqqi4x", kind, 0, 0, 0, 0))


def lock_memory():
    """Locks the memory for a while. Advice fails while it is locked."""
    call("mlock", shared, size)
    call("munlock", shared, size)


def watch():
    events = call("inotify_init1", os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        call("inotify_add_watch", events, b"/proc/self/fd/%d" % ring, 0xFFF)
    finally:
        os.close(events)


def lease(file, kind):
    """Releases the lease at once: the next open would wait, and only the attacker itself opens the file."""
    fcntl.fcntl(file, F_SETLEASE, kind)
    fcntl.fcntl(file, F_SETLEASE, fcntl.F_UNLCK)


def wake():
    for _ in range(200):
        call("syscall", SYS_futex, ctypes.c_void_p(shared + WORD), FUTEX_WAKE, 2**31 - 1, None, None, 0)


def crowd():
    """Adds fifty waiters on the word, which the writer must wake at every publication."""
    limit = struct.pack("qq", 0, 200_000_000)

    def wait():
        for _ in range(20):
            word = struct.unpack_from("<I", readable, WORD)[0]
            libc.syscall(SYS_futex, ctypes.c_void_p(shared + WORD), FUTEX_WAIT, word, limit, None, 0)

    if threading.active_count() < 50:
        threading.Thread(target=wait, daemon=True).start()


def advise_writer(advice):
    """Calls process_madvise on the writer's mapping of the ring; the writer is the parent process."""

    def run():
        writer = os.getppid()
        with open(f"/proc/{writer}/maps") as maps:
            line = next(line for line in maps if f" {os.fstat(ring).st_ino} " in line)
        first, last = (int(number, 16) for number in line.split()[0].split("-"))
        process = call("syscall", SYS_pidfd_open, writer, 0)
        try:
            vector = struct.pack("QQ", first, last - first)
            call("syscall", SYS_process_madvise, process, vector, 1, advice, 0)
        finally:
            os.close(process)

    return run


tries = {
    "open-writable": on_writable(lambda file: None),
    "truncate-open": lambda: os.close(os.open(f"/proc/self/fd/{ring}", os.O_RDONLY | os.O_TRUNC)),
    "chmod": lambda: os.chmod(f"/proc/self/fd/{ring}", 0o600),
    "write": lambda: os.pwrite(ring, b"x" * 4096, 0),
    "write-writable": on_writable(lambda file: os.pwrite(file, b"x" * 4096, 0)),
    "map-writable": lambda: map_at(mmap.MAP_SHARED, mmap.PROT_WRITE),
    "map-writable-writable": on_writable(lambda file: map_at(mmap.MAP_SHARED, mmap.PROT_WRITE, file)),
    "protect": lambda: call("mprotect", shared, size, mmap.PROT_READ | mmap.PROT_WRITE),
    "truncate": lambda: os.ftruncate(ring, 0),
    "truncate-writable": on_writable(lambda file: os.ftruncate(file, 0)),
    "grow-writable": on_writable(lambda file: os.ftruncate(file, size * 2)),
    "punch": lambda: call("fallocate", ring, 3, 0, size),
    "punch-writable": on_writable(lambda file: call("fallocate", file, 3, 0, size)),
    "seal": lambda: fcntl.fcntl(ring, F_ADD_SEALS, 8),
    "seal-writable": on_writable(lambda file: fcntl.fcntl(file, F_ADD_SEALS, 8)),
    "madvise-remove": advise(9),
    "madvise-free": advise(8),
    "madvise-dontneed": advise(4),
    "madvise-cold": advise(20),
    "madvise-pageout": advise(21),
    "madvise-collapse": advise(25),
    "madvise-private-dontneed": advise(4, private),
    "process-madvise-pageout": advise_writer(21),
    "process-madvise-cold": advise_writer(20),
    "remap": lambda: call("syscall", SYS_remap_file_pages, ctypes.c_void_p(shared), 4096, 0, 0, 0),
    "lock-memory": lock_memory,
    "flock": lambda: fcntl.flock(ring, fcntl.LOCK_EX | fcntl.LOCK_NB),
    "record-lock": lambda: lock(ring, fcntl.F_RDLCK),
    "record-lock-writable": on_writable(lambda file: lock(file, fcntl.F_WRLCK)),
    "lease-read": lambda: lease(ring, fcntl.F_RDLCK),
    "lease-write": on_writable(lambda file: lease(file, fcntl.F_WRLCK)),
    "faults-shared-missing": register(shared, 1),
    "faults-shared-minor": register(shared, 4),
    "faults-shared-protected": register(shared, 2),
    "faults-private": register(private, 1),
    "flags": lambda: fcntl.fcntl(ring, fcntl.F_SETFL, os.O_APPEND | os.O_NONBLOCK | os.O_ASYNC),
    "owner": lambda: fcntl.fcntl(ring, fcntl.F_SETOWN, os.getpid()),
    "signal": lambda: fcntl.fcntl(ring, F_SETSIG, 9),
    "watch": watch,
    "scribble-private": lambda: ctypes.memset(private, 0xFF, size),
    "wake": wake,
    "crowd": crowd,
}

if os.geteuid() != 0:
    # As root, these take memory away from the whole machine.
    tries["madvise-poison"] = advise(100)
    tries["madvise-offline"] = advise(101)


def everything():
    results = {}
    while struct.unpack_from("<I", readable, END)[0] == 0:
        for name, work in tries.items():
            try:
                work()
                results[name] = "done"
            except OSError as error:
                results[name] = errno.errorcode.get(error.errno, str(error.errno))
            except StopIteration:
                results[name] = "unseen"
        print("round", flush=True)
    for name, result in results.items():
        print(name, result)


def requeue():
    other = ctypes.c_uint32(0)
    while struct.unpack_from("<I", readable, END)[0] == 0:
        led = call(
            "syscall", SYS_futex, ctypes.c_void_p(shared + WORD), FUTEX_REQUEUE, 0, ctypes.c_long(2**31 - 1),
            ctypes.byref(other), 0,
        )
        if led > 0:
            print("led", led, flush=True)


{"everything": everything, "requeue": requeue}[sys.argv[2]]()
