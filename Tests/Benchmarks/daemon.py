"""captured itself: what it takes while nobody captures, how much memory, and what a decision costs."""
import shlex, subprocess, time
from pathlib import Path
from native import HERE, RATE, Missing, compile
from works import Most, Work, grown

IDLE = 30
ROUNDS = 1000
WAKES, MEMORY = "wake-ups a minute", "MB"
STATUS, REQUEST = "µs, its status", "µs, asked for again"


def threads(process):
    return [(folder / "status").read_text() for folder in Path(f"/proc/{process}/task").iterdir()]


def wakes(process):
    """How often its threads have gone to sleep, so how often they were woken."""
    return sum(int(line.split()[1]) for text in threads(process) for line in text.splitlines()
               if line.startswith("voluntary_ctxt_switches"))


def memory(process):
    """Its share of the machine's memory, in megabytes: of what several programs map, each has a part."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) / 1024


def idle(contender):
    contender.serve()
    # The start is over when nothing has woken it for a while.
    until, quiet, last = time.monotonic() + 10, 0, None
    while quiet < 2:
        now = wakes(contender.daemon.pid)
        quiet = quiet + 0.5 if now == last else 0
        last = now
        if time.monotonic() > until:
            break
        time.sleep(0.5)
    before = wakes(contender.daemon.pid)
    time.sleep(IDLE)
    return {WAKES: (wakes(contender.daemon.pid) - before) * 60 / IDLE, MEMORY: memory(contender.daemon.pid)}


def raw(contender):
    contender.serve()
    contender.start("capture-bench-reader", contender.device, f"YUYV:1920x1080@{RATE}", 1, 600, "copy", camera=False)
    contender.until(lambda: "running" in contender.words(), "the stream")
    return {MEMORY: memory(contender.daemon.pid)}


def recorder(contender):
    path = contender.folder / "ours.mkv"
    contender.serve()
    contender.start("capturectl", "record", "--microphone", "none", "--video-format", f"YUYV:1920x1080@{RATE}",
                    "--video-codec", "h264", path, camera=False)
    contender.until(grown(path, 1 << 22), "the stream")
    return {MEMORY: memory(contender.process("captured-recorder"))}


def decision(contender):
    """By turns, on one connection, as `.ci/check decision` does it."""
    libraries = subprocess.run(["pkg-config", "--cflags", "--libs", "libsystemd"], text=True, stdout=subprocess.PIPE,
                               check=True).stdout
    program = compile(HERE.parent / "Decision/turns.c", contender.folder / "turns", *shlex.split(libraries))
    contender.serve()
    contender.ask("capturectl", "auth", "set", f"exe:{program.resolve()}", "camera", "authorized")
    done = contender.ask(program, ROUNDS)
    if done.returncode:
        raise Missing(f"turns ended with {done.returncode}: {done.stderr.strip()}")
    found = {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}
    return {STATUS: found["status"], REQUEST: found["request"],
            ("a bare Ping", STATUS): found["ping"], ("a bare Ping", REQUEST): found["ping"]}


WORKS = [
    Work("captured, while nobody captures", {WAKES: Most(0), MEMORY: Most(8)}, rounds=1, ours=idle),
    Work("captured's memory, raw 1080p with a reader", {MEMORY: Most(40)}, rounds=1, ours=raw),
    Work("a recorder's memory, 1080p to H.264", {MEMORY: Most(80)}, rounds=1, ours=recorder),
    Work("a cached decision", {STATUS: 1.2, REQUEST: 1.2}, ours=decision),
]
