#!/usr/bin/python3
"""Nothing newer than a withdrawn consent reaches a program, and nothing older than its session: one that holds on to its
mapped memory, its pipes and its files has its consent withdrawn, forgotten or switched off again and again, on a busy
machine, as the only user of the devices and as one of two. Prints `N passed, N failed`.

check.py [--busy] [PROGRAMS [COUNT]]    the folder of the programs, .build/release by default; repetitions, 1000 by default;
--busy: others keep the processors busy
"""
import os, re, subprocess, sys, tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Support"))
from checks import PROGRAMS, close, measured, wait_until
from private_daemon import PrivateDaemon

CAMERA, FORMAT, MICROPHONE = "synthetic:camera", "YUYV:320x240@60", "synthetic:microphone"


class Load:
    """Keeps every processor busy, one process more than there are. Where others do, it takes what they leave."""

    def __init__(self, command):
        self.command = command

    def __enter__(self):
        self.running = [subprocess.Popen([*self.command, "sh", "-c", "while :; do :; done"])
                        for _ in range((os.cpu_count() or 1) + 1)]
        return self

    def __exit__(self, *_):
        for child in self.running:
            child.kill()
            child.wait()


def repeat(daemon, subject, count, use):
    folder = daemon.folder / use
    folder.mkdir()
    done = subprocess.run([subject, CAMERA, FORMAT, MICROPHONE, str(count), folder, use], env=daemon.environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1200)
    found = re.search(r"^(\d+) repetitions, (\d+) wrong$", done.stdout, re.M)
    why = done.stdout[-3000:] + ("" if found else daemon.log())
    measured(f"{count} repetitions, {use}: nothing newer and nothing older reaches the program",
             done.returncode == 0 and found and found.groups() == (str(count), "0"),
             "" if done.returncode == 0 else f"exit status {done.returncode}\n{why}")


def main():
    words = [word for word in sys.argv[1:] if word != "--busy"]
    programs = Path(words[0]) if words else PROGRAMS
    count = int(words[1]) if len(words) > 1 else 1000
    with tempfile.TemporaryDirectory() as folder, PrivateDaemon(programs, folder) as daemon:
        subject = (programs / "capture-revocation-subject").resolve()
        daemon.give_reason("subject", f"exe:{subject}")
        with Load(["nice", "-n", "19"] if "--busy" in sys.argv else []):
            repeat(daemon, subject, count - count // 2, "alone")
            # Another program's recording keeps the devices open, so that the source goes on in other memory.
            number = daemon.control("start", "--camera", CAMERA, "--video-format", FORMAT, "--microphone", MICROPHONE,
                                    "--video-codec", "mjpeg", Path(folder) / "other.mkv").strip()
            repeat(daemon, subject, count // 2, "shared")
            # A session that was held up is suspended for a moment.
            measured("the other program's recording goes on",
                     wait_until(lambda: '"state": "running"' in daemon.control("status", number, "--json")))
            daemon.control("stop", number)
    return close()


if __name__ == "__main__":
    sys.exit(main())
