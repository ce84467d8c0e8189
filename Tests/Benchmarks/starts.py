"""The first frame: how long a program waits for it."""
import statistics, subprocess, time
from native import RATE, Missing, need
from works import WALL, Work, bare

CAPS = f"video/x-raw,format=YUY2,width=1920,height=1080,framerate={RATE}/1"
FORMAT = f"YUYV:1920x1080@{RATE}"
# How often a connected program starts the camera; the median counts.
TIMES = 5


def first(contender, *command, camera=True):
    """From a program's start until the first byte that it writes because it has a frame."""
    began = time.monotonic()
    child = contender.start(*command, camera=camera, stdout=subprocess.PIPE)
    byte = child.stdout.read(1)
    took = time.monotonic() - began
    # It writes the rest to nobody.
    child.stdout.close()
    contender.stop()
    child.wait()
    if not byte:
        raise Missing(f"{command[0]} gave no frame: {contender.words()}")
    return {WALL: took * 1e3}


def ours(contender):
    contender.serve()
    return first(contender, "capture-bench-reader", contender.device, FORMAT, "first", 1, camera=False)


def connected(contender):
    contender.serve()
    child = contender.start("capture-bench-reader", contender.device, FORMAT, "first", TIMES, camera=False,
                            stdout=subprocess.PIPE)
    found = [float(line) for line in child.stdout]
    if child.wait() or len(found) < TIMES:
        raise Missing(f"the reader got {len(found)} first frames: {contender.words()}")
    return {WALL: statistics.median(found)}


def v4l2_ctl(contender):
    return first(contender, need("v4l2-ctl"), "-d", "/dev/video0",
                 "--set-fmt-video=width=1920,height=1080,pixelformat=YUYV", "--stream-mmap=4", "--stream-count=1",
                 "--stream-to=-")


def launch(contender):
    return first(contender, need("gst-launch-1.0"), "-q",
                 *f"v4l2src device=/dev/video0 io-mode=mmap num-buffers=1 ! {CAPS} ! fdsink".split())


def ffmpeg(contender):
    return first(contender, need("ffmpeg"), "-v", "error", "-nostdin", "-f", "v4l2", "-framerate", RATE,
                 "-input_format", "yuyv422", "-video_size", "1920x1080", "-i", "/dev/video0", "-frames:v", 1, "-f",
                 "rawvideo", "pipe:1")


def floor(contender):
    return first(contender, *bare(contender, "YUYV", "1920x1080", "first"))


PEERS = {"v4l2-ctl": v4l2_ctl, "gst-launch": launch, "ffmpeg": ffmpeg}
WORKS = [
    Work("first frame of raw 1080p", {WALL: 2.0}, floor=floor, peer="v4l2-ctl", ours=ours, **PEERS),
    Work("the same, connected before", {WALL: 1.2}, floor=floor, ours=connected, **{"v4l2-ctl": v4l2_ctl}),
]
