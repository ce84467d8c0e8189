#!/usr/bin/env python3
"""Runs a machine as a child, passes its output on line by line, and leaves no process of it behind.

supervise.py SECONDS CUT-TEXT COMMAND...
Exits 124 when SECONDS passed, 137 when the guest printed CUT-TEXT and was killed for it, else 0: the guest's own
status is in a file, the machine's says nothing.
"""
import ctypes, os, re, select, signal, subprocess, sys, time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
libc = ctypes.CDLL(None, use_errno=True)
# Noise of switching off that no command printed.
NOISE = re.compile(rb"reboot: |Failed to write wtmp|Halting\.$|Powering off\.$|^Failed to initialize ubd device")


def descendants():
    """Every process below this one: a user-mode kernel makes many, in groups of their own."""
    parents = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = open(f"/proc/{pid}/stat", "rb").read()
            parents.setdefault(int(stat.rpartition(b")")[2].split()[1]), []).append(int(pid))
        except (OSError, ValueError):
            pass
    found, queue = [], [os.getpid()]
    while queue:
        children = parents.get(queue.pop(), [])
        found += children
        queue += children
    return found


def kill_all():
    """A power cut: nothing inside gets a chance to flush. Orphans fall to us, since we are their subreaper."""
    for _ in range(50):
        pids = descendants()
        if not pids:
            return
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.05)


def emit(line):
    line = line.rstrip(b"\r\n")
    if not NOISE.search(line):
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()


def main():
    seconds, cut, command = float(sys.argv[1]), sys.argv[2].encode(), sys.argv[3:]
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda n, _: (kill_all(), os._exit(128 + n)))
    # Whoever started this may be killed without a chance to say so.
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    deadline = time.monotonic() + seconds
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True,
                             preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
    pipe, rest, status = child.stdout.fileno(), b"", 0
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            status = 124
            break
        if not select.select([pipe], [], [], min(left, 1))[0]:
            if child.poll() is not None:
                break  # something that outlived the machine still holds its output
            continue
        data = os.read(pipe, 65536)
        if not data:
            break
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            emit(line)
        if cut and cut in b"\n".join([*lines, rest]):
            status = 137
            break
    kill_all()
    if rest:
        emit(rest)
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        sys.exit(141)  # nobody listens any more
    finally:
        kill_all()
