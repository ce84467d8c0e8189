"""A camera's raw frames shared by a number of readers: what that takes, and how soon readers are awake."""
import json, re, subprocess, time
from native import RATE, SETTLE, Missing, compile, need
from works import EACH, MOST_LOST, WINDOW, Work, stream

SIZE = (1920, 1080)
FRAME = SIZE[0] * SIZE[1] * 2
MODE = f"{SIZE[0]}x{SIZE[1]}@{RATE}"
PRODUCER = "CPU µs a frame, producer alone"
SOON, LATE = "µs to awake, p50", "µs to awake, p99"
# Readers tell how long they took with the frames of the last four seconds, so that starts do not count.
DELAYS = 4

# What serves a camera needs no more, and there is no session manager: readers link themselves to the node.
PIPEWIRE = """
context.properties = { core.daemon = true core.name = pipewire-0 link.max-buffers = 16 }
context.spa-libs = { support.* = support/libspa-support api.v4l2.* = v4l2/libspa-v4l2 }
context.modules = [
    { name = libpipewire-module-rt args = { nice.level = -11 } flags = [ ifexists nofail ] }
    { name = libpipewire-module-protocol-native }
    { name = libpipewire-module-spa-node-factory }
    { name = libpipewire-module-client-node }
    { name = libpipewire-module-access }
    { name = libpipewire-module-link-factory }
]
context.objects = [
    { factory = spa-node-factory args = { factory.name = api.v4l2.source media.class = Video/Source
                                          node.name = camera api.v4l2.path = /dev/video0 } }
]
"""


def most_lost(readers):
    """The largest share of frames that may be lost. It is larger for many readers, because other programs run, too."""
    return MOST_LOST if readers <= 4 else 0.2


class Readers:
    """A program whose readers share a camera; it prints `running`, and on SIGTERM what they got, as JSON."""

    def __init__(self, contender, *command, camera=False):
        self.path = contender.folder / "readers"
        with open(self.path, "w", encoding="utf-8") as out:
            self.child = contender.start(*command, camera=camera, group=contender.readers, stdout=out)
        contender.until(lambda: self.child.poll() is not None or "running" in self.said(), "the stream")
        if self.child.poll() is not None:
            raise Missing(f"the readers ended with {self.child.returncode}: {contender.words()}")
        self.began = time.monotonic()

    def said(self):
        return self.path.read_text(encoding="utf-8", errors="replace")

    def end(self):
        self.child.terminate()
        status = self.child.wait(60)
        if status:
            raise Missing(f"the readers ended with {status}")
        return json.loads(self.said().splitlines()[-1])


def count(contender, window):
    """Seconds of processor time for each frame of a steady stream: of what serves it, and of the readers."""
    time.sleep(SETTLE)
    groups = [contender.group, contender.readers]
    before, began = [group.used() for group in groups], time.monotonic()
    time.sleep(window)
    took = time.monotonic() - began
    return [(group.used() - old) / (took * RATE) for group, old in zip(groups, before)]


def costs(served, read):
    return {EACH: (served + read) * 1e6, PRODUCER: served * 1e6}


def check(contender, child, readers, mode):
    """What the readers say. All frames must have come to them whole, and been copied if that was their work."""
    due = (time.monotonic() - child.began) * RATE
    said = child.end()
    contender.stop()
    if contender.lost() > most_lost(readers):
        raise Missing(f"it lost {contender.lost():.0%} of the frames")
    got = said["fewest"]
    if got < due * (1 - most_lost(readers)):
        raise Missing(f"a reader got {got} of {due:.0f} frames; of one {said['torn']} were torn")
    # capture-bench-reader takes memory for copies or fails; the other program counts what it has copied.
    if mode != "look" and said.get("bytes", got * FRAME) < got * FRAME:
        raise Missing(f"a reader copied only {said['bytes']} bytes")
    return {**said, "due": due * readers}


def measured(contender, child, readers, mode):
    served, read = count(contender, DELAYS if mode == "look" else contender.window or WINDOW)
    said = check(contender, child, readers, mode)
    if mode != "look":
        # Frames that readers passed over are no gain.
        return costs(served, read * max(1, said["due"] / said["frames"]))
    if not said["delays"]:
        raise Missing("no frame told when it was dequeued")
    return {SOON: said["delayP50"], LATE: said["delayP99"]}


def captured(readers, mode):
    def ours(contender):
        contender.serve()
        child = Readers(contender, "capture-bench-reader", contender.device, f"YUYV:{MODE}", readers, 600, mode)
        return measured(contender, child, readers, mode)

    return ours


def compiled_consumer(contender):
    """A client of PipeWire."""
    flags = subprocess.run([need("pkg-config"), "--cflags", "--libs", "libpipewire-0.3"], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if flags.returncode:
        raise Missing(flags.stderr.strip())
    return compile("consumer.c", contender.folder / "consumer", *flags.stdout.split())


def pipewire_server(contender, text, camera=True):
    """A PipeWire of the contender's own; text: its configuration."""
    configuration = contender.folder / "pipewire.conf"
    configuration.write_text(text)
    contender.environment["XDG_RUNTIME_DIR"] = str(contender.folder)
    # Without exported buffers its camera has nothing that it can share.
    if camera:
        contender.environment["BENCH_CAMERA_EXPBUF"] = "1"
    contender.start(need("pipewire"), "-c", configuration, camera=camera)
    contender.until((contender.folder / "pipewire-0").exists, "PipeWire")


def pipewire(readers, mode):
    def peer(contender):
        consumer = compiled_consumer(contender)
        pipewire_server(contender, PIPEWIRE)
        child = Readers(contender, consumer, "camera", MODE, readers, "look" if mode == "look" else "copy")
        return measured(contender, child, readers, mode)

    return peer


def shmsink(readers):
    def peer(contender):
        need("gst-launch-1.0")
        caps = f"video/x-raw,format=YUY2,width={SIZE[0]},height={SIZE[1]},framerate={RATE}/1"
        path = contender.folder / "shm"
        contender.start("gst-launch-1.0", "-q", *f"v4l2src device=/dev/video0 io-mode=mmap ! {caps} ! shmsink "
                        f"socket-path={path} wait-for-connection=false sync=false shm-size=40000000".split())
        contender.until(path.exists, "shmsink")
        counts = []
        for number in range(readers):
            counts.append(contender.folder / f"reader-{number}")
            with open(counts[-1], "w", encoding="utf-8") as out:
                # videocrop copies what it leaves of each frame. A line every half second tells how many came.
                contender.start("gst-launch-1.0", "-v", *f"shmsrc socket-path={path} is-live=true ! {caps} ! "
                                "videocrop left=2 ! fpsdisplaysink text-overlay=false sync=false video-sink=fakesink "
                                "fps-update-interval=500".split(), camera=False, group=contender.readers, stdout=out)
        rendered = lambda path: [int(word) for word in re.findall(r"rendered: (\d+)", path.read_text(errors="replace"))]
        contender.until(lambda: all(rendered(path) for path in counts), "the stream")
        before, began = [rendered(path)[-1] for path in counts], time.monotonic()
        used = count(contender, contender.window or WINDOW)
        # What is told may be half a second old.
        expected = (time.monotonic() - began - 0.5) * RATE * (1 - most_lost(readers))
        fewest = min(rendered(path)[-1] - old for path, old in zip(counts, before))
        contender.stop()
        if contender.lost() > most_lost(readers) or fewest < expected:
            raise Missing(f"it lost {contender.lost():.0%} of the frames, and a reader got {fewest} of {expected:.0f}")
        return costs(*used)

    return peer


def floor(readers):
    def least(contender):
        """A bare program: what waking the readers takes of it, then one that copies each frame once for each reader."""
        child = Readers(contender, bare(contender), MODE, readers, "look", camera=True)
        count(contender, contender.window or WINDOW)
        producer = child.end()["each"]
        child = Readers(contender, bare(contender), MODE, readers, "copy", camera=True)
        each = sum(count(contender, contender.window or WINDOW)) * 1e6
        child.end()
        contender.stop()
        if contender.lost() > most_lost(readers):
            raise Missing(f"it lost {contender.lost():.0%} of the frames")
        return {EACH: each, PRODUCER: producer}

    return least


def wake(readers):
    def least(contender):
        """One program, which dequeues, and wakes as many threads of another."""
        child = Readers(contender, bare(contender), MODE, readers, "look", camera=True)
        count(contender, DELAYS)
        said = child.end()
        contender.stop()
        if contender.lost() > most_lost(readers):
            raise Missing(f"it lost {contender.lost():.0%} of the frames")
        return {SOON: said["delayP50"], LATE: said["delayP99"]}

    return least


def bare(contender):
    return compile("floor.c", contender.folder / "floor", "-lpthread")


def copies(readers):
    mode = "newest" if readers > 4 else "copy"
    return {"ours": captured(readers, mode), "PipeWire": pipewire(readers, mode),
            "gst-launch shmsink": shmsink(readers)}


def without_pointers(share):
    """The same with a driver that takes no user pointers."""
    def limited(contender):
        contender.environment["BENCH_CAMERA_USERPTR"] = "0"
        return share(contender)

    return limited


def looks(readers):
    return {"ours": captured(readers, "look"), "PipeWire": pipewire(readers, "look")}


def noted():
    def ours(contender):
        contender.serve()
        contender.start("capture-bench-reader", contender.device, f"YUYV:1920x1080@{RATE}", 1, 600, "look",
                        camera=False)
        return stream(contender, lambda: "running" in contender.words())

    def v4l2_ctl(contender):
        child = contender.start(
            need("v4l2-ctl"), "-d", "/dev/video0", "--set-fmt-video=width=1920,height=1080,pixelformat=YUYV",
            "--stream-mmap=4", f"--stream-count={round((WINDOW + 2) * RATE)}")
        return stream(contender, lambda: bool(contender.words()), ends=child)

    def fakesink(contender):
        caps = f"video/x-raw,format=YUY2,width=1920,height=1080,framerate={RATE}/1"
        contender.start(need("gst-launch-1.0"), "-q",
                        *f"v4l2src device=/dev/video0 io-mode=mmap ! {caps} ! fakesink sync=false".split())
        return stream(contender, lambda: True)

    return {"ours": ours, "v4l2-ctl": v4l2_ctl, "gst-launch fakesink": fakesink}


def note(contender):
    """One program, which dequeues, and wakes a thread of another, which only looks at the frame."""
    child = Readers(contender, bare(contender), MODE, 1, "look", camera=True)
    used = sum(count(contender, contender.window or WINDOW)) * 1e6
    child.end()
    contender.stop()
    if contender.lost() > MOST_LOST:
        raise Missing(f"it lost {contender.lost():.0%} of the frames")
    return {EACH: used}


WORKS = [
    Work("raw 1080p, each frame is noted", {EACH: 1.5}, floor=note, **noted()),
    Work("raw 1080p, 1 reader that copies", {EACH: 0.95, PRODUCER: 0.8}, floor=floor(1), **copies(1)),
    Work("raw 1080p, 4 readers that copy", {EACH: 0.95, PRODUCER: 0.5}, floor=floor(4), **copies(4)),
    Work("raw 1080p, 32 readers that copy", {EACH: 0.95, PRODUCER: 0.25}, floor=floor(32), **copies(32)),
    Work("raw 1080p, a driver without user pointers", {EACH: 1.0},
         floor=without_pointers(floor(1)), **{name: without_pointers(share) for name, share in copies(1).items()}),
    Work("raw 1080p, publish to awake, 1 reader", {SOON: 0.6, LATE: 0.6}, floor=wake(1), **looks(1)),
    Work("raw 1080p, publish to awake, 32 readers", {SOON: 0.6, LATE: 0.6}, floor=wake(32), **looks(32)),
]
