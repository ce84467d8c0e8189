"""Processor time of everything that a piece of work makes run: its own processes, and the services that work for it."""
import os, resource, subprocess, time
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
SERVICES = GROUPS / "system.slice"
OWN = GROUPS / Path("/proc/self/cgroup").read_text().strip().split("::")[1].strip("/")


def used(group):
    """Seconds that a group of processes has used, those that are gone included."""
    return int((group / "cpu.stat").read_text().split()[1]) / 1e6


def services():
    """Seconds of all services but the one that the benchmark itself is in: daemon, recorders, bus, journal."""
    inside = SERVICES == OWN or SERVICES in OWN.parents
    return used(SERVICES) - (used(OWN) if inside else 0)


def children():
    done = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.ru_utime + done.ru_stime


class Meter:
    """As a context manager: `seconds` afterwards is what was used inside."""

    def __enter__(self):
        # What the last work left behind, such as a device being closed, is not this one's.
        before = services()
        until = time.monotonic() + 10
        while time.monotonic() < until:
            time.sleep(0.3)
            now = services()
            if now - before < 0.005:
                break
            before = now
        self.before = services() + children()
        return self

    def __exit__(self, *_):
        time.sleep(0.3)
        self.seconds = services() + children() - self.before


class Missing(Exception):
    """Something that is needed is not there, or failed."""


def run(*command, shell=False, allow=()):
    """Runs a contender; what it printed, when it succeeded."""
    done = subprocess.run(command[0] if shell else [str(word) for word in command], shell=shell, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          errors="replace", timeout=600, executable="/bin/bash" if shell else None)
    if done.returncode and done.returncode not in allow:
        raise Missing(f"{' '.join(map(str, command))[:80]} exited {done.returncode}: {done.stderr.strip()[-400:]}")
    return done.stdout + done.stderr


def packets(path):
    """Pictures in a file."""
    said = run("ffprobe", "-v", "error", "-select_streams", "v", "-count_packets", "-show_entries",
               "stream=nb_read_packets", "-of", "csv=p=0", path)
    return int(said.strip().strip(","))
