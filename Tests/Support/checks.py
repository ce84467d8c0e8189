"""What the test programs share: they count checks, say which failed, and close with `N passed, N failed`."""
import contextlib, os, signal, subprocess, sys, threading, time, traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = Path(os.environ.get("PROGRAMS", ROOT / ".build/release")).resolve()
# Seconds for what a program does at the most; with a sanitizer on a busy machine it takes some.
LIMIT = int(os.environ.get("LIMIT", 240))
counts = {True: 0, False: 0}
counting = threading.Lock()
# A shell has what it starts in the background ignore Ctrl-C. The programs under test must not: tests type it.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def it(what, holds, why=""):
    """Counts a check, says what failed, and returns whether it holds. For any thread."""
    with counting:
        counts[bool(holds)] += 1
        if not holds:
            # A bar before each further line shows that it belongs to this.
            print(f"not ok: {what}: " + str(why).rstrip().replace("\n", "\n  | "), flush=True)
    return bool(holds)


def measured(what, holds, why=""):
    """Counts a check that also says what it found if it holds."""
    if holds:
        print(f"ok: {what}{f': {why}' if why else ''}", flush=True)
    return it(what, holds, why)


def close():
    """Prints the counts: the program's exit status."""
    print(f"{counts[True]} passed, {counts[False]} failed")
    return int(counts[False] > 0)


def chosen(scenes):
    """The scenes that the program's arguments name; all of them without arguments."""
    return [scene for scene in scenes if not sys.argv[1:] or scene.__name__ in sys.argv[1:]]


@contextlib.contextmanager
def played(name, log):
    """What stands in a scene's way is a failed check, told with what `log` returns."""
    try:
        yield
    except Exception as problem:
        it(f"{name} ran to its end", False, f"{problem!r}\n{traceback.format_exc()}\n{log()}")


def wait_until(holds, seconds=60):
    """Waits for a condition: what it returned last, false if it did not hold in time."""
    until = time.monotonic() + seconds
    while not (found := holds()) and time.monotonic() < until:
        time.sleep(0.05)
    return found


def read_until(process, wanted):
    """Everything up to a line that begins so; up to the end if none does within LIMIT."""
    clock = threading.Timer(LIMIT, process.kill)
    clock.start()
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith(wanted):
            break
    clock.cancel()
    return "".join(lines)


def probe(path, *options):
    """What ffprobe prints of a file: values alone, unless the options give another form."""
    return subprocess.run(["ffprobe", "-v", "error", "-of", "csv=p=0", *options, path], text=True, capture_output=True,
                          timeout=LIMIT).stdout


def finish(process, given=None):
    """Ends a process's input, waits for its end and kills it after LIMIT: its exit status and what it printed."""
    try:
        out, complaints = process.communicate(given, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        out, complaints = process.communicate()
        complaints += f"\nkilled: it took more than {LIMIT} s"
    return process.returncode, out, complaints
