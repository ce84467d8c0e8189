"""The pieces of work, and who does them: each contender works for some seconds and returns the frames that it delivered."""
import json, os, re, shutil, subprocess
from accounting import Missing, packets, run

CAMERA = os.environ["BENCH_CAMERA"]
MJPEG = os.environ["BENCH_MJPEG"]
PROGRAMS = os.environ["BENCH_PROGRAMS"]
WORK = os.environ["BENCH_WORK"]
SOUND = "hw:Loopback,1"


def reset(input, size, rate):
    run("bash", os.environ["BENCH_RESET"], CAMERA, input, size, "YUYV", rate)


def need(program):
    if not shutil.which(program):
        raise Missing(f"{program} is not installed")
    return program


class Raw:
    """Frames of 1080p to readers that each copy every frame, so that all pixels are touched."""

    def __init__(self, readers, input, rate, look=False):
        self.readers, self.input, self.rate = readers, input, rate
        touched = "looked at" if look else "copied by each"
        self.work = f"raw 1920x1080 at {rate} fps, {readers} reader{'s' if readers > 1 else ''}, {touched}"
        # gst-launch's readers, too, pass over what they are too slow for.
        self.mode = "look" if look else "newest"
        # Each reader first meets every page of the ring, which an emulated processor feels for a while.
        self.lengths = (12, 32) if readers > 1 else (4, 16)
        self.contenders = {"v4l2-ctl": self.v4l2_ctl} if look else {"gst-launch shmsink": self.shmsink}

    def prepare(self):
        reset(self.input, "1920x1080", self.rate)

    def ours(self, seconds):
        said = run(f"{PROGRAMS}/capture-bench-reader", CAMERA, "YUYV:1920x1080", self.readers, seconds, self.mode)
        got = json.loads(said.strip().splitlines()[-1])
        return (got["fewest"] + got["most"]) / 2

    def shmsink(self, seconds):
        need("gst-launch-1.0")
        socket, caps = f"{WORK}/shm", "video/x-raw,format=YUY2,width=1920,height=1080"
        count = seconds * self.rate
        # videocrop copies what it leaves of each frame. The first reader counts; all are threads of one process.
        reader = f"shmsrc socket-path={socket} is-live=true ! {caps},framerate={self.rate}/1 ! videocrop left=2 ! "
        readers = (f"{reader} fpsdisplaysink text-overlay=false sync=false video-sink=fakesink "
                   + (reader + "fakesink sync=false ") * (self.readers - 1))
        script = (f"rm -f {socket}; gst-launch-1.0 -q v4l2src device={CAMERA} io-mode=mmap num-buffers={count} ! {caps} ! "
                  f"shmsink socket-path={socket} wait-for-connection=true sync=false shm-size=40000000 & writer=$!; "
                  f"for i in $(seq 600); do [ -S {socket} ] && break; kill -0 $writer || exit 9; sleep 0.1; done; "
                  f"gst-launch-1.0 -v --no-position {readers} & reader=$!; "
                  # The readers take the end of their source for a fault, and shmsink itself may fail when it closes.
                  "wait $writer; wait $reader; true")
        said = run(script, shell=True)
        found = re.findall(r"rendered: (\d+)", said)
        if not found or int(found[-1]) < count / 2:
            raise Missing(f"gst-launch's readers got {found[-1:] or 'none'} of {count} frames: {said[-400:]}")
        return int(found[-1])

    def v4l2_ctl(self, seconds):
        count = seconds * self.rate
        run(need("v4l2-ctl"), "-d", CAMERA, "--stream-mmap=4", f"--stream-count={count}")
        return count


class Encode:
    """A camera and a microphone to H.264 and AAC in Matroska."""

    size, rate, lengths = "640x480", 25, (4, 16)
    work = f"raw {size} at {rate} fps and sound to H.264 + AAC"

    def __init__(self):
        self.contenders = {"ffmpeg x264 ultrafast": self.ffmpeg, "gst-launch x264enc ultrafast": self.gstreamer}

    def prepare(self):
        reset(3, self.size, self.rate)

    def ours(self, seconds):
        path = f"{WORK}/ours.mkv"
        run("capturectl", "record", "--overwrite", "--camera", CAMERA, "--microphone", SOUND, "--video-format",
            f"YUYV:{self.size}", "--duration", seconds, path)
        return packets(path)

    def ffmpeg(self, seconds):
        path = f"{WORK}/peer.mkv"
        run(need("ffmpeg"), "-v", "error", "-nostdin", "-y", "-thread_queue_size", 512, "-f", "alsa", "-ac", 2, "-ar", 48000,
            "-i", SOUND, "-thread_queue_size", 64, "-f", "v4l2", "-input_format", "yuyv422", "-video_size", self.size,
            "-i", CAMERA, "-t", seconds, "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", 30,
            "-pix_fmt", "yuv420p", "-c:a", "aac", path)
        return packets(path)

    def gstreamer(self, seconds):
        path = f"{WORK}/peer.mkv"
        width, height = self.size.split("x")
        run(need("gst-launch-1.0"), "-q", "-e", *(
            f"matroskamux name=m ! filesink location={path} "
            f"v4l2src device={CAMERA} io-mode=mmap num-buffers={seconds * self.rate} ! "
            f"video/x-raw,format=YUY2,width={width},height={height} ! queue ! videoconvert ! video/x-raw,format=I420 ! "
            f"x264enc speed-preset=ultrafast tune=zerolatency key-int-max=30 ! queue ! m. "
            f"alsasrc device={SOUND} num-buffers={seconds * 100} buffer-time=200000 latency-time=10000 ! "
            "audio/x-raw,format=S16LE,rate=48000,channels=2 ! queue ! audioconvert ! avenc_aac ! queue ! m.").split())
        return packets(path)


class Copy:
    """A camera's own MJPEG into a file."""

    work, lengths = "MJPEG 1280x720 at 15 fps to a file", (4, 16)

    def __init__(self):
        self.contenders = {"ffmpeg -c copy": self.ffmpeg}

    def prepare(self):
        if not MJPEG:
            raise Missing("this kernel has no camera that compresses: it takes v4l2loopback")

    def ours(self, seconds):
        path = f"{WORK}/ours.mkv"
        run("capturectl", "record", "--overwrite", "--camera", MJPEG, "--microphone", "none", "--video-format",
            "MJPG:1280x720", "--video-codec", "copy", "--duration", seconds, path)
        return packets(path)

    def ffmpeg(self, seconds):
        path = f"{WORK}/peer.mkv"
        run(need("ffmpeg"), "-v", "error", "-nostdin", "-y", "-f", "v4l2", "-input_format", "mjpeg", "-i", MJPEG,
            "-t", seconds, "-c", "copy", path)
        return packets(path)


# vivid's webcam gives 1080p at 5 frames a second: what a single processor can hand to 32 readers.
WORKS = [Raw(1, 3, 24), Raw(1, 3, 24, look=True), Raw(32, 0, 5), Encode(), Copy()]
