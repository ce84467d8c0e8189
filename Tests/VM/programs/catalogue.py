"""The programs of the suite, each as a person starts it: it captures into a file until it is interrupted."""
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

HOME = "/home/alice"
SECOND = 48000 * 2 * 2
RAW = "audio/x-raw,format=S16LE,rate=48000,channels=2"
WHAT_IT_SAYS = {"v4l2": "It was not written for captured, and comes through V4L2.",
                "alsa": "It was not written for captured, and comes through ALSA.",
                "pipewire": "It was not written for captured, and comes through PipeWire.",
                "pulse": "These programs were not written for captured. A yes covers every program that uses PulseAudio."}


@dataclass(frozen=True)
class Program:
    """`words` has @ for the node, %w and %h for a picture's size, and # for the file that is captured into."""
    name: str
    service: str
    bridge: str
    file: str
    words: str
    header: int = 0
    before: str = ""
    waits: bool = False  # half a minute after it was refused

    @property
    def identity(self):
        return "exe:/usr/bin/pipewire" if self.bridge == "pulse" else f"exe:{self.file}"

    @property
    def title(self):
        """What the person reads as its name."""
        return "PulseAudio applications" if self.bridge == "pulse" else self.file.rsplit("/", 1)[1]


FFMPEG, GST = "/usr/bin/ffmpeg", "/usr/bin/gst-launch-1.0"
TO_FILE = "filesink location=# buffer-mode=unbuffered"
FROM_FFMPEG = "-flush_packets 1 -y #"


def camera(name, bridge, file, words, **more):
    return Program(name, "camera", bridge, file, words, **more)


def microphone(name, bridge, file, words, **more):
    return Program(name, "microphone", bridge, file, words, **more)


PROGRAMS = [
    camera("ffmpeg v4l2", "v4l2", FFMPEG, "ffmpeg -v error -nostdin -f v4l2 -input_format yuyv422 -video_size %wx%h "
           f"-framerate 15 -i @ -f rawvideo {FROM_FFMPEG}"),
    microphone("ffmpeg alsa", "alsa", FFMPEG, f"ffmpeg -v error -nostdin -f alsa -i default -f s16le {FROM_FFMPEG}"),
    microphone("ffmpeg pulse", "pulse", FFMPEG, f"ffmpeg -v error -nostdin -f pulse -i default -f s16le {FROM_FFMPEG}"),
    camera("v4l2-ctl", "v4l2", "/usr/bin/v4l2-ctl", "v4l2-ctl -d @ --set-parm=15 "
           "--set-fmt-video=width=%w,height=%h,pixelformat=YUYV --stream-mmap --stream-to=#"),
    camera("v4l2src", "v4l2", GST, "gst-launch-1.0 -q v4l2src device=@ ! "
           f"video/x-raw,format=YUY2,width=%w,height=%h,framerate=15/1 ! {TO_FILE}"),
    microphone("alsasrc", "alsa", GST, f"gst-launch-1.0 -q alsasrc ! {RAW} ! {TO_FILE}"),
    camera("pipewiresrc", "pipewire", GST, "gst-launch-1.0 -q pipewiresrc ! "
           f"video/x-raw,format=YUY2,width=%w,height=%h,framerate=15/1 ! {TO_FILE}", waits=True),
    microphone("pulsesrc", "pulse", GST, f"gst-launch-1.0 -q pulsesrc ! {RAW} ! {TO_FILE}"),
    camera("OpenCV", "v4l2", f"{HOME}/look.py", f"{HOME}/look.py @ # %w %h", before="capturectl run"),
    camera("mpv", "v4l2", "/usr/bin/mpv", "mpv --no-config --really-quiet --msg-level=all=error av://v4l2:@ --no-audio "
           f"--demuxer-lavf-o=video_size=%wx%h,input_format=yuyv422,framerate=15 --o=# --of=rawvideo --ovc=rawvideo"),
    microphone("arecord", "alsa", "/usr/bin/aplay", "arecord -q -f S16_LE -r 48000 -c 2 -t raw #"),
    microphone("parecord", "pulse", "/usr/bin/pacat", "parecord --raw --format=s16le --rate=48000 --channels=2 #"),
    microphone("pw-record", "pipewire", "/usr/bin/pw-cat", "pw-record --rate 48000 --channels 2 --format s16 #", header=44),
]


def rounds(programs, most=5):
    """Programs that may run at the same time. Those that are one file have one answer to a service, so they may not."""
    found = []
    for program in programs:
        apart = [each for each in found if len(each) < most and
                 all((other.identity, other.service) != (program.identity, program.service) for other in each)]
        if apart:
            apart[0].append(program)
        else:
            found.append([program])
    return found


def second(program):
    """A program to run beside it: the same file by another name, which is another program. PulseAudio's clients are all
    one, so beside them it is an arecord."""
    if program.bridge == "pulse":
        return second(next(each for each in PROGRAMS if each.name == "arecord"))
    command, *words = program.words.split()
    path = Path(HOME, "second", Path(command).name)
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        shutil.copy(Path(shutil.which(command)).resolve(), path)
    return replace(program, file=str(path), words=" ".join([str(path), *words]))
