#!/usr/bin/env python3
"""Runs a machine as a child, passes its output on line by line, and leaves no process of it behind.

supervise.py SECONDS CUT-TEXT FOLDER COMMAND...
A line `### look NUMBER COMMAND` of the guest is not passed on: it asks what ffprobe, ffmpeg or a script of the guest's
library says of a file that it left in FOLDER/looks. Emulated, such a program takes seconds to start. It names no other
file of the host's.
Exits 124 when SECONDS passed, 137 when the guest printed CUT-TEXT and was killed for it, else 0: the guest's own
status is in a file, the machine's says nothing.
"""
import ctypes, os, re, select, signal, subprocess, sys, threading, time
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
libc = ctypes.CDLL(None, use_errno=True)
LOOK = re.compile(rb"### look (\d+) ([^\r\n]+)\r?$")
SCRIPTS = {name: str(Path(__file__).resolve().parent / "guest" / name) for name in ["tone.py", "picture.py", "formats.py"]}
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


def look(folder, number, command):
    """Leaves what it said and then its status, for which the guest waits."""
    said, errors = b"", b"the host does not run that for a machine\n"
    status, words = 126, allowed(command.decode(errors="replace").split("\x1f"))
    if words:
        try:
            done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=100)
            status, said, errors = done.returncode & 255, done.stdout, done.stderr
        except (OSError, subprocess.TimeoutExpired) as error:
            status, errors = 125, f"{error}\n".encode()
    for file in folder.glob(f"{number}-*"):
        file.unlink()
    for name, data in [("said", said), ("errors", errors), ("status", str(status).encode())]:
        # A link that the guest made there is not followed.
        new = os.open(folder / f"{number}.new", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        with open(new, "wb") as file:
            file.write(data)
        (folder / f"{number}.new").rename(folder / f"{number}.{name}")


def allowed(words):
    """The command as the host runs it; `None` for one that it does not. No word leads out of the folder."""
    program, rest = words[0], words[1:]
    if program == "python3" and rest and rest[0] in SCRIPTS:
        program, rest = sys.executable, rest[1:]
        start = [program, SCRIPTS[words[1]]]
    elif program in ("ffprobe", "ffmpeg"):
        start = [program]
    else:
        return None
    return None if any("/" in word and word != "/dev/null" for word in rest) else [*start, *rest]


def emit(line):
    line = line.rstrip(b"\r\n")
    if not NOISE.search(line):
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()


def main():
    seconds, cut, looks, command = float(sys.argv[1]), sys.argv[2].encode(), Path(sys.argv[3]) / "looks", sys.argv[4:]
    looks.mkdir(exist_ok=True)
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
            if found := LOOK.match(line):
                threading.Thread(target=look, args=[looks, found[1].decode(), found[2]], daemon=True).start()
            else:
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
