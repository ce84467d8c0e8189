"""Programs that know nothing of captured, and come by its bridges: a V4L2 program and a client of PipeWire. Their peer is
the same program at the bare camera, or at PipeWire's own."""
import os, signal, time
from native import CHECKOUT, PROGRAMS, RATE, Missing
from sharing import MODE, PIPEWIRE, Readers, bare, compiled_consumer, count, pipewire_server
from works import EACH, MOST_LOST, WINDOW, Most, Work

SOON, LATE = "frames behind the camera, p50", "frames behind the camera, p99"
V4L2, CLIENT = "raw 1080p through a bridge, V4L2 program", "raw 1080p through a bridge, PipeWire client"
# As the one of sharing.py, without a camera.
SERVED = """
context.properties = { core.daemon = true core.name = pipewire-0 link.max-buffers = 16 }
context.spa-libs = { support.* = support/libspa-support }
context.modules = [
    { name = libpipewire-module-rt args = { nice.level = -11 } flags = [ ifexists nofail ] }
    { name = libpipewire-module-protocol-native }
    { name = libpipewire-module-client-node }
    { name = libpipewire-module-access }
    { name = libpipewire-module-link-factory }
]
"""


def measured(contender, child):
    used = sum(count(contender, contender.window or WINDOW)) * 1e6
    due = (time.monotonic() - child.began) * RATE
    said = child.end()
    contender.stop()
    if contender.lost() > MOST_LOST or said["frames"] < due * (1 - MOST_LOST):
        raise Missing(f"it lost {contender.lost():.0%} of the frames; the program got {said['frames']} of {due:.0f}")
    # A frame that the program passed over was not copied, which is no gain.
    behind = {name: said[which] * RATE / 1e6 for name, which in [(SOON, "delayP50"), (LATE, "delayP99")]}
    return {EACH: used * max(1, due / said["frames"]), **behind}


def allowed(contender, program):
    done = contender.ask("capturectl", "auth", "set", f"exe:{program.resolve()}", "camera", "authorized")
    if done.returncode:
        raise Missing(f"no consent: {done.stderr.strip()}")
    return program


def preloaded(contender):
    """The floor's program, which finds captured's camera where the bare one would be."""
    contender.serve()
    program = allowed(contender, bare(contender))
    contender.environment |= {"LD_PRELOAD": str(CHECKOUT / ".build/captured-v4l2/libcaptured-v4l2.so"),
                              "CAPTURE_V4L2_DEVICES": f"/dev/video0={contender.device}"}
    return lambda: Readers(contender, program, MODE, 1, "copy")


def at_camera(contender):
    program = bare(contender)
    return lambda: Readers(contender, program, MODE, 1, "copy", camera=True)


def bridged(contender):
    """PipeWire without a camera of its own, captured, and its bridge."""
    contender.serve()
    consumer = allowed(contender, compiled_consumer(contender))
    pipewire_server(contender, SERVED, camera=False)
    contender.environment["LD_LIBRARY_PATH"] = str(CHECKOUT / ".build/libcapture")
    contender.start(PROGRAMS / "captured-pipewire", "--bus", "session", camera=False)
    name = f"captured.{contender.device}"
    contender.until(lambda: f'"{name}"' in contender.ask("pw-dump").stdout, "the bridge's camera")
    return lambda: Readers(contender, consumer, name, MODE, 1, "copy")


def direct(contender):
    consumer = compiled_consumer(contender)
    pipewire_server(contender, PIPEWIRE)
    return lambda: Readers(contender, consumer, "camera", MODE, 1, "copy")


def one(begin):
    return lambda contender: measured(contender, begin(contender)())


def stalled(begin, seconds):
    """How many frames a program misses while another one stands still."""
    def two(contender):
        start = begin(contender)
        first = start()
        first.path = first.path.rename(contender.folder / "first")
        second = start()
        os.kill(first.child.pid, signal.SIGSTOP)
        time.sleep(seconds)
        due, got = (time.monotonic() - second.began) * RATE, second.end()["frames"]
        os.kill(first.child.pid, signal.SIGCONT)
        return f"{max(round(due - got), 0)} of {due:.0f} frames"

    return two


def floor(contender):
    """A bare program with two copies of each frame: a program's buffers are its own, and it copies from them. Memory
    that others write could neither be kept as it is until the program is done with it, nor taken away from it."""
    program = bare(contender)
    return measured(contender, Readers(contender, program, MODE, 2, "copy", camera=True))


GOALS = {EACH: 1.15, SOON: Most(1), LATE: Most(1)}
WORKS = [
    Work(V4L2, GOALS, floor=floor, ours=one(preloaded), **{"the bare camera": one(at_camera)}),
    Work(CLIENT, GOALS, floor=floor, ours=one(bridged), **{"PipeWire": one(direct)}),
]
