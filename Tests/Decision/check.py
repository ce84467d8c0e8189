#!/usr/bin/python3
"""What a remembered decision costs, beside a bare Ping of the same daemon on the same connection: asked in turns, medians of
one run. A ratio, since a slow machine is slow for both. Prints each, and `N passed, N failed`.

check.py [PROGRAMS]    the folder of the programs, .build/release by default
"""
import shlex, subprocess, sys, tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Support"))
from checks import PROGRAMS, close, measured
from private_daemon import PrivateDaemon

ROUNDS = 2000
# As often as a run may be disturbed by what else the machine does.
TRIES = 30
GOAL = 1.2


def measure(daemon, program):
    """Medians in microseconds, by name."""
    done = subprocess.run([program, str(ROUNDS)], env=daemon.environment, text=True, capture_output=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"turns exited {done.returncode}: {done.stderr}{daemon.log()}")
    return {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}


def main():
    programs = Path(sys.argv[1]) if len(sys.argv) > 1 else PROGRAMS
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder).resolve() / "turns"
        libraries = subprocess.run(["pkg-config", "--cflags", "--libs", "libsystemd"], text=True, capture_output=True,
                                   check=True).stdout
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, HERE / "turns.c",
                        *shlex.split(libraries)], check=True)
        with PrivateDaemon(programs, Path(folder) / "daemon") as daemon:
            daemon.control("auth", "set", f"exe:{program}", "camera", "authorized")
            runs = []
            while not runs or (len(runs) < TRIES and worst(runs[-1]) > GOAL):
                runs.append(measure(daemon, program))
                print(", ".join(f"{name} {value:.0f} µs" for name, value in runs[-1].items()), flush=True)
    best = min(runs, key=worst)
    for name, what in [("status", "a status that is remembered"), ("request", "access that was granted before")]:
        ratio = best[name] / best["ping"]
        measured(f"{what} takes at most {GOAL} of a Ping", ratio <= GOAL, f"{ratio:.2f}")
    return close()


def worst(run):
    return max(run["status"], run["request"]) / run["ping"]


if __name__ == "__main__":
    sys.exit(main())
