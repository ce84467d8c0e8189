#!/usr/bin/python3
"""Picture and sound stay together: records the synthetic devices, whose beep begins at the very instant of the flash, and
measures both in the file. Ten minutes are recorded faster than real time, one minute in real time, also with frames lost,
an overrun forced and a microphone whose clock is off. Prints each distance, and `N passed, N failed`.

check.py [PROGRAMS]    the folder of the programs, .build/release by default
"""
import json, subprocess, sys, tempfile, threading, time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Support"))
import recorded
from checks import PROGRAMS, close, measured
from private_daemon import PrivateDaemon

# Seconds between flash and beep at most.
NEAR = 0.010
# How many times as fast as real time: leaves a busy machine of two processors time to encode.
SPEED = 12
# Small and slow, since picture and sound meet the same way at any size.
RATE = 15
CAMERA = ["--camera", "synthetic:camera", "--video-format", f"YUYV:320x240@{RATE}"]
MICROPHONE = ["--microphone", "synthetic:microphone"]


def reaches(pairs, seconds):
    """Whether there are pairs from the beginning to the end."""
    return bool(pairs) and pairs[0][0] < 10 and pairs[-1][0] > seconds - 10


def record(daemon, path, seconds, meanwhile=None):
    """Records, and returns the counters and the pairs. Where time runs faster than real time a machine that is held up for a
    second loses many of them, which the counters tell: what it lost at an end is recorded again, three times at most."""
    # The long ones are those.
    for left in reversed(range(3 if seconds > 60 else 1)):
        status, output, pairs = record_once(daemon, path, seconds, meanwhile)
        inputs = status["statistics"]["inputs"].values()
        told = output["silence"] > 0 or any(sum(source["drops"].values()) > 0 for source in inputs)
        if reaches(pairs, seconds) or not told or not left:
            return status, output, pairs
        Path(path).unlink()


def record_once(daemon, path, seconds, meanwhile):
    """Records to the end; `meanwhile` is called once, when half of it is written."""
    number = daemon.control("start", *CAMERA, *MICROPHONE, "--duration", seconds, path).strip()
    limit = time.monotonic() + 600
    while True:
        status = json.loads(daemon.control("status", number, "--json"))
        output, = status["statistics"]["outputs"].values()
        if meanwhile and output["duration"] > seconds / 2:
            meanwhile()
            meanwhile = None
        if status["state"] not in ("configured", "authorizing", "starting", "running"):
            break
        if time.monotonic() > limit:
            raise RuntimeError(f"it does not end: {status}")
        time.sleep(1)
    if status["state"] != "stopped":
        raise RuntimeError(f"the recording failed: {status}\n{daemon.log()}")
    return status, output, recorded.pairs(path)


def together(name, pairs, seconds, share):
    """Within 10 ms at the start, at the end, and everywhere between, where `share` of the seconds have a pair."""
    if not measured(f"{name}: there are flashes with beeps from the beginning to the end",
                    reaches(pairs, seconds) and len(pairs) > seconds * share,
                    f"{len(pairs)} pairs, {pairs[0][0]:.2f} to {pairs[-1][0]:.2f} s" if pairs else "none"):
        return
    far = max(abs(distance) for _, distance in pairs)
    measured(f"{name}: flash and beep are within 10 ms", far <= NEAR,
             f"{pairs[0][1] * 1000:+.2f} ms first, {pairs[-1][1] * 1000:+.2f} ms last, {far * 1000:.2f} ms at most")


def plain(name, daemon, path, seconds, share):
    _, output, pairs = record(daemon, path, seconds)
    together(name, pairs, seconds, share)
    measured(f"{name}: no clock is found to drift", abs(output["driftPPM"]) <= 2, f"{output['driftPPM']} ppm")


def faulty(name, daemon, path, seconds, share):
    # Prime to the rate, so that flashes are lost as well as other frames.
    daemon.control("control", "--camera", "synthetic:camera", "drop_every=7")
    status, output, pairs = record(
        daemon, path, seconds,
        lambda: daemon.control("control", "--microphone", "synthetic:microphone", "force_xrun=1"))
    together(name, pairs, seconds, share * 6 / 7)
    # 50 ms; more where a busy machine made overruns of its own. That the length is exact is the unit tests' to show.
    silence = output["silence"]
    measured(f"{name}: the overrun is filled with silence", silence >= 2400, f"{silence}")
    lost = sum(source["drops"].get("sequence-gap", 0) for source in status["statistics"]["inputs"].values())
    measured(f"{name}: the lost frames are counted", lost > seconds * RATE / 7 * 0.95, f"{lost}")
    return status, output, pairs


def drifting(name, daemon, path, seconds, share):
    """The clock's error is found and told, and does not part the two, not even with frames and sound lost."""
    _, output, pairs = faulty(name, daemon, path, seconds, share)
    measured(f"{name}: 1000 ppm are told", abs(output["driftPPM"] - 1000) <= 5, f"{output['driftPPM']} ppm")


# What is recorded, under which configuration, for how many seconds, into what.
CASES = [
    ("ten minutes", plain, f"Speed={SPEED}", 600, "mkv"),
    ("ten minutes with faults, clock off", drifting, f"Speed={SPEED}\nClockDriftPPM=1000", 600, "mp4"),
    ("a minute in real time", plain, "", 60, "mp4"),
    ("a minute in real time with faults", faulty, "", 60, "mkv"),
]


def run(programs, case):
    name, measure, settings, seconds, format = case
    # On a busy machine the fast clock outruns its devices now and then, which lose frames and sound as real ones do.
    share = 0.25 if settings else 0.9
    with tempfile.TemporaryDirectory(prefix="sync.") as folder:
        try:
            with PrivateDaemon(programs, folder, f"[Synthetic]\n{settings}\n") as daemon:
                measure(name, daemon, f"{folder}/out.{format}", seconds, share)
        except (RuntimeError, subprocess.SubprocessError) as error:
            measured(name, False, str(error))


def main():
    programs = Path(sys.argv[1]) if len(sys.argv) > 1 else PROGRAMS
    # Those in real time cost little and run beside the fast ones, which take turns.
    slow = [threading.Thread(target=run, args=(programs, case)) for case in CASES if "Speed" not in case[2]]
    for thread in slow:
        thread.start()
    for case in CASES:
        if "Speed" in case[2]:
            run(programs, case)
    for thread in slow:
        thread.join()
    return close()


if __name__ == "__main__":
    sys.exit(main())
