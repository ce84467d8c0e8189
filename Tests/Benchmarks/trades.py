"""What a program pays for its speed: what is lost when its writer is killed, when the power is cut, and when one of two
readers stands still. Measured once, beside the rows that it belongs to."""
import json, os, re, signal, subprocess, time
from pathlib import Path
from native import RATE, Missing, need
from sound import Microphone
import bridges, sound, works

KILLED, CUT, STALLED = "lost at kill -9", "lost at a power cut", "missed beside a stalled reader"
# Seconds until a writer is killed, and for which a reader stands still.
LENGTH, STALL = 3, 3
NO_PROMISE = "not promised"
# The test machine's suite of power cuts requires it of each container.
PROMISED = "at most 1 s (Tests/VM/run 32)"
SYNCS = "fsync,fdatasync,sync_file_range,syncfs,sync,msync"


def seconds_of(path):
    """Until where a file that was not finished can be played."""
    said = subprocess.run([need("ffprobe"), "-v", "error", "-show_entries", "packet=pts_time,duration_time", "-of",
                           "csv=p=0", path], text=True, stdout=subprocess.PIPE).stdout
    ends = [sum(float(word) for word in line.split(",") if re.fullmatch(r"-?[\d.]+", word)) for line in said.split()]
    return max(ends, default=0)


def writer(contender):
    """The process that writes: captured's recorder, else the only one there is."""
    return contender.process("captured-recorder") if hasattr(contender, "daemon") else contender.last.pid


def record(contender, path):
    """Waits until there is something to lose."""
    contender.until(lambda: path.exists() and contender.log.exists() and time.monotonic() - contender.began() > LENGTH,
                    "the recording")


def killed(start):
    """Seconds of the recording that are not in the file when the writer is killed."""
    def contender(contender):
        path = start(contender)
        record(contender, path)
        process = writer(contender)
        os.kill(process, signal.SIGKILL)
        at = time.monotonic()
        contender.stop()
        return f"{max(at - contender.began() - seconds_of(path), 0):.2f} s"

    return contender


def cut(start):
    """Whether a program ever asks the disk to keep what it wrote."""
    def contender(contender):
        need("strace")
        trace = contender.folder / "trace"
        contender.wrapper = ["strace", "-f", "-qq", "-o", trace, "-e", f"trace={SYNCS}"]
        path = start(contender)
        record(contender, path)
        contender.stop()
        calls = len(re.findall(r"(?m)^\d+ +\w+\(", trace.read_text()))
        return f"{NO_PROMISE}: no fsync" if not calls else f"{calls} calls to sync"

    return contender


def ours(*options, path="ours.mkv", service="camera"):
    def start(contender):
        contender.serve(service)
        contender.start("capturectl", "record", *options, path, camera=False)
        return contender.folder / path

    return start


def ours_sound(format):
    begin = ours("--camera", "none", "--audio-format", "S16_LE:48000x2", path=f"ours.{format}", service="microphone")

    def start(contender):
        contender.camera = Microphone(contender.folder)
        return begin(contender)

    return start


def peer(path, command, is_sound=False):
    def start(contender):
        if is_sound:
            contender.camera = Microphone(contender.folder)
        contender.start(*command, path)
        return contender.folder / path

    return start


def ffmpeg(*codec, format="mjpeg"):
    return ["ffmpeg", "-v", "error", "-nostdin", "-f", "v4l2", "-framerate", RATE, "-input_format", format,
            "-video_size", "1280x720", "-i", "/dev/video0", *codec]


def listened(*codec):
    return ["ffmpeg", "-v", "error", "-nostdin", "-f", "alsa", "-ac", 2, "-ar", 48000, "-i", "hw:0", *codec]


ARECORD = ["arecord", "-q", "-D", "hw:0", "-f", "S16_LE", "-r", 48000, "-c", 2, "--period-size=480",
           "--buffer-size=24000"]
RECORDINGS = {
    "MJPEG 720p to Matroska": {
        "ours": ours("--microphone", "none", "--video-format", f"MJPG:1280x720@{RATE}"),
        "ffmpeg": peer("peer.mkv", ffmpeg("-c", "copy")),
    },
    "raw 720p to H.264": {
        "ours": ours("--microphone", "none", "--video-format", f"YUYV:1280x720@{RATE}", "--encoder-preset",
                     "ultrafast"),
        "ffmpeg": peer("peer.mkv", ffmpeg("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p",
                                          "-x264-params", works.X264, format="yuyv422")),
    },
    "microphone to WAV": {"ours": ours_sound("wav"), "arecord": peer("peer.wav", ARECORD, True)},
    "microphone to FLAC": {"ours": ours_sound("flac"), "ffmpeg": peer("peer.flac", listened("-c:a", "flac"), True)},
    "microphone to Opus": {"ours": ours_sound("opus"),
                           "ffmpeg": peer("peer.opus", listened("-c:a", "libopus", "-b:a", sound.OPUS), True)},
}


def stall(contender, reader):
    reader.send_signal(signal.SIGSTOP)
    state = Path(f"/proc/{reader.pid}/stat")
    contender.until(lambda: state.read_text().rpartition(")")[2].split()[0] == "T", "the stalled reader")


def stalled_ours(contender):
    contender.serve()
    readers = [contender.start("capture-bench-reader", contender.device, f"YUYV:1920x1080@{RATE}", 1, 600, "look",
                               camera=False, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for reader in readers:
        if reader.stdout.readline() != "running\n":
            raise Missing(f"a reader did not begin: {contender.words()}")
    stall(contender, readers[0])
    time.sleep(STALL)
    readers[1].terminate()
    found = json.loads(readers[1].stdout.read())
    readers[0].send_signal(signal.SIGCONT)
    return f"{found['mostMissed'] + found['torn']} frames"


def stalled_gst(contender):
    caps = f"video/x-raw,format=YUY2,width=1920,height=1080,framerate={RATE}/1"
    path = contender.folder / "shm"
    contender.start("gst-launch-1.0", "-q", *f"v4l2src device=/dev/video0 io-mode=mmap ! {caps} ! shmsink "
                    f"socket-path={path} wait-for-connection=false sync=false shm-size=40000000".split())
    contender.until(path.exists, "shmsink")
    sink = "fpsdisplaysink text-overlay=false sync=false fps-update-interval=100 video-sink=fakesink"
    reader = lambda said: contender.start("gst-launch-1.0", "-v", "--no-position", *(
        f"shmsrc socket-path={path} is-live=true ! {caps} ! {sink}").split(), camera=False, stdout=said)
    counts = contender.folder / "counts"
    rendered = lambda: int((re.findall(r"rendered: (\d+)", counts.read_text()) or ["0"])[-1])
    with open(counts, "w") as said:
        first, _ = reader(subprocess.DEVNULL), reader(said)
        contender.until(lambda: rendered() > RATE, "a reader")
        stall(contender, first)
        before, start = rendered(), time.monotonic()
        time.sleep(STALL)
        got, due = rendered() - before, (time.monotonic() - start) * RATE
        first.send_signal(signal.SIGCONT)
    # It counts every tenth of a second.
    return f"{max(round(due - got - RATE / 10), 0)} of {due:.0f} frames"


TRADES = [
    *((work, KILLED, name, killed(start)) for work, by in RECORDINGS.items() for name, start in by.items()),
    *((work, CUT, name, PROMISED if name == "ours" else cut(start))
      for work, by in RECORDINGS.items() for name, start in by.items()),
    ("raw 1080p, 4 readers that copy", STALLED, "ours", stalled_ours),
    ("raw 1080p, 4 readers that copy", STALLED, "gst-launch shmsink", stalled_gst),
    (bridges.V4L2, STALLED, "ours", bridges.stalled(bridges.preloaded, STALL)),
    (bridges.V4L2, STALLED, "the bare camera", "serves one program"),
    (bridges.CLIENT, STALLED, "ours", bridges.stalled(bridges.bridged, STALL)),
    (bridges.CLIENT, STALLED, "PipeWire", bridges.stalled(bridges.direct, STALL)),
]
