"""The pieces of work on a real processor, and who does them. Each gives figures by name; less is better in all."""
import re, subprocess
from pathlib import Path
from native import Missing, RATE, compile, need

# Seconds of a steady stream that are counted.
WINDOW = 1.5
# The largest share of frames that a contender may leave with the camera.
MOST_LOST = 0.05
EACH = "CPU µs a frame"
WALL = "ms"
START = "CPU ms"


def stream(contender, begun, ends=None, waits=False):
    """A stream's processor time per frame. Fails if the camera lost too many frames.

    ends: A program that closes the camera only when it ends by itself.
    waits: Whether frames wait in a program where the machine is slow, so that its end is part of the work.
    """
    window = contender.window or WINDOW
    found = (contender.to_the_end(begun, window) if waits else contender.steady(begun, window)) * 1e6
    if ends:
        ends.wait(60)
    contender.stop()
    if contender.lost() > MOST_LOST:
        raise Missing(f"it lost {contender.lost():.0%} of the frames")
    return {EACH: found}


def grown(path, size=1 << 16):
    return lambda: path.exists() and path.stat().st_size >= size


def once(contender, command, camera):
    """One command from its start to its end, in time and in processor time."""
    before = contender.group.used()
    took = contender.run(*command, camera=camera)
    return {WALL: took * 1e3, START: (contender.group.used() - before) * 1e3}


class Most(float):
    """A goal that is a figure of its own, for what no other program does."""


class Work:
    """What is done, by whom, and the greatest ratio to the best peer that is wanted of each figure.

    floor: The same by a bare program that does nothing else, called like a contender.
    rounds: In how many rounds it is measured; in all unless said.
    peer: The one to compare with, if it is not the best.
    """

    def __init__(self, name, goals, floor=None, rounds=None, peer=None, **contenders):
        self.name, self.goals, self.contenders = name, goals, contenders
        self.floor, self.rounds, self.peer = floor, rounds, peer


def bare(contender, format, size, mode, *file):
    """The command of a program in C that does nothing else, which makes the floors."""
    return [compile("bare.c", contender.folder / "bare", "-lturbojpeg"), format, *size.split("x"), mode, *file]


def append(format, size):
    def floor(contender):
        path = contender.folder / "bare.mjpeg"
        contender.start(*bare(contender, format, size, "append", path))
        return stream(contender, grown(path))

    return floor


def shot(format, size):
    return lambda contender: once(contender, bare(contender, format, size, "photo", "a.jpg"), True)


def record(contender, format, *options, progress=False, waits=False):
    path = contender.folder / "ours.mkv"
    contender.serve()
    command = ["capturectl", "record", "--microphone", "none", "--video-format", f"{format}@{RATE}", *options, path]
    if progress:
        # A line with the progress is drawn on a terminal alone.
        command = ["script", "-qfec", " ".join(map(str, command)), "/dev/null"]
    contender.start(*command, camera=False)
    return stream(contender, grown(path), waits=waits)


def ffmpeg(contender, format, size, *codec, waits=False):
    path = contender.folder / "peer.mkv"
    contender.start(need("ffmpeg"), "-v", "error", "-nostdin", "-f", "v4l2", "-framerate", RATE,
                    "-input_format", format, "-video_size", size, "-i", "/dev/video0", *codec, path)
    return stream(contender, grown(path), waits=waits)


def gstreamer(contender, caps, steps, waits=False):
    path = contender.folder / "peer.mkv"
    contender.start(need("gst-launch-1.0"), "-q", "-e", *f"v4l2src device=/dev/video0 io-mode=mmap ! {caps},"
                    f"framerate={RATE}/1 ! {steps} ! matroskamux ! filesink location={path}".split())
    return stream(contender, grown(path), waits=waits)


def copy():
    return {
        "ours": lambda contender: record(contender, "MJPG:1280x720"),
        "ffmpeg -c copy": lambda contender: ffmpeg(contender, "mjpeg", "1280x720", "-c", "copy"),
        "gst-launch matroskamux": lambda contender: gstreamer(contender, "image/jpeg,width=1280,height=720", "queue"),
    }


def progress():
    return {
        "ours": lambda contender: record(contender, "MJPG:1280x720", progress=True),
        "without it": lambda contender: record(contender, "MJPG:1280x720"),
    }


# captured's x264 settings, as its files record them, so that all three do the same work. gst-launch overrides three:
# the CRF, which must be a whole number (quality 92 is CRF 22); the bit rate limit, which would make its file a fifteenth
# of the others' size; and the longest distance between key frames.
QUALITY = 92
X264 = "bframes=2:b-adapt=0:keyint=600:min-keyint=30:sliced-threads=1:slices=2:threads=2:crf=22"


def settings(path):
    """What an encoder says of itself in the first bytes of a recording, but for what depends on the processor."""
    found = re.search(rb"options: ([ -~]+)", Path(path).read_bytes()[:1 << 20])
    if not found:
        raise Missing("no settings of x264 are in the file")
    names = ("cabac ref me subme trellis bframes weightp rc mbtree crf aq slices threads "
             "keyint vbv_maxrate vbv_bufsize").split()
    words = dict(word.split("=", 1) for word in found[1].decode().split())
    return {name: words.get(name, "") for name in names}


def frames_in(path):
    said = subprocess.run([need("ffprobe"), "-v", "error", "-select_streams", "v", "-count_packets", "-show_entries",
                           "stream=nb_read_packets", "-of", "csv=p=0", path], text=True, stdout=subprocess.PIPE).stdout
    return int(said.strip().strip(",") or 0)


SEEN = {}


def encode(width, height):
    size = f"{width}x{height}"

    def same(contender, name, figures):
        path = contender.folder / ("ours.mkv" if name == "ours" else "peer.mkv")
        SEEN[size, name] = settings(path)
        taken, frames = contender.counts()[0], frames_in(path)
        if frames < (1 - MOST_LOST) * taken:
            raise Missing(f"of {taken} frames it encoded {frames}")
        ours = SEEN.get((size, "ours"))
        if ours and ours != SEEN[size, name]:
            raise Missing(f"x264 is set otherwise than captured has it: {SEEN[size, name]}, not {ours}")
        return figures

    def ours(contender):
        return same(contender, "ours", record(contender, f"YUYV:{size}", "--video-codec", "h264", "--encoder-preset",
                                              "ultrafast", "--quality", QUALITY, waits=True))

    def peer(contender):
        return same(contender, "ffmpeg", ffmpeg(contender, "yuyv422", size, "-c:v", "libx264", "-preset", "ultrafast",
                                                "-pix_fmt", "yuv420p", "-x264-params", X264, waits=True))

    def gst(contender):
        return same(contender, "gst", gstreamer(
            contender, f"video/x-raw,format=YUY2,width={width},height={height}",
            "queue max-size-bytes=0 max-size-buffers=16 ! videoconvert ! video/x-raw,format=I420 ! "
            "x264enc speed-preset=ultrafast pass=qual quantizer=22 bitrate=2000000 "
            "vbv-buf-capacity=0 key-int-max=600 "
            f"option-string={X264} ! queue", waits=True))

    def moving(run):
        def contender(contender):
            contender.environment["BENCH_CAMERA_LEAST"] = "16"
            return run(contender)

        return contender

    # A buffer always shows the same picture, so a program with few buffers would encode an almost still scene.
    return {"ours": moving(ours), "ffmpeg libx264": moving(peer), "gst-launch x264enc": moving(gst)}


def photo(name, format, gst, encoder):
    def ours(contender):
        contender.serve()
        return once(contender, ["capturectl", "photo", "--video-format", f"{name}:1920x1080@{RATE}", "a.jpg"], False)

    def peer(contender):
        return once(contender, [need("ffmpeg"), "-v", "error", "-nostdin", "-f", "v4l2", "-input_format", format,
                                "-video_size", "1920x1080", "-i", "/dev/video0", "-frames:v", "1", *encoder, "a.jpg"],
                    True)

    def launch(contender):
        steps = "! jpegenc quality=90 !" if name == "YUYV" else "!"
        return once(contender, [need("gst-launch-1.0"), "-q", *f"v4l2src device=/dev/video0 num-buffers=1 ! {gst},"
                                f"width=1920,height=1080,framerate={RATE}/1 {steps} filesink location=a.jpg".split()],
                    True)

    return {"ours": ours, "ffmpeg": peer, "gst-launch": launch}


WORKS = [
    Work("MJPEG 720p to Matroska", {EACH: 0.9}, floor=append("MJPG", "1280x720"), **copy()),
    Work("the same with the progress line", {EACH: 1.05}, **progress()),
    Work("raw 720p to H.264", {EACH: 0.95}, **encode(1280, 720)),
    Work("raw 1080p to H.264", {EACH: 0.95}, **encode(1920, 1080)),
    Work("photo 1080p from raw", {WALL: 0.9, START: 0.9}, floor=shot("YUYV", "1920x1080"),
         **photo("YUYV", "yuyv422", "video/x-raw,format=YUY2", ["-q:v", "3"])),
    Work("photo 1080p from MJPEG", {WALL: 0.9, START: 0.9}, floor=shot("MJPG", "1920x1080"),
         **photo("MJPG", "mjpeg", "image/jpeg", ["-c", "copy"])),
]
