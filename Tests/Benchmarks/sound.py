"""A microphone into files: by captured, arecord and ffmpeg, in processor time for a second of sound."""
from pathlib import Path
from native import RATE, Missing, need, shared_object
from works import MOST_LOST, WINDOW, Work, grown

EACH = "CPU ms a second"
# What captured sets.
OPUS = 128_000


class Microphone:
    """What programs must have in their environment to see it; stands where the camera does."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.library = shared_object("microphone.c", folder)

    def environment(self, log):
        return {"LD_PRELOAD": str(self.library), "BENCH_MICROPHONE": "1", "BENCH_CAMERA_LOG": str(log)}


def listen(contender, command, path, ours=False):
    contender.camera = Microphone(contender.folder)
    if ours:
        contender.serve("microphone")
        command = [contender.device if word == "MICROPHONE" else word for word in command]
    contender.start(*command, camera=not ours)
    found = contender.steady(grown(contender.folder / path, 1), contender.window or WINDOW) * RATE * 1e3
    contender.stop()
    if contender.lost() > MOST_LOST:
        raise Missing(f"it lost {contender.lost():.0%} of the sound")
    return {EACH: found}


def ours(format):
    path = f"ours.{format}"
    return lambda contender: listen(contender, [
        "capturectl", "record", "--camera", "none", "--microphone", "MICROPHONE", "--audio-format", "S16_LE:48000x2",
        path], path, ours=True)


def ffmpeg(format, *codec):
    path = f"peer.{format}"
    return lambda contender: listen(contender, [
        need("ffmpeg"), "-v", "error", "-nostdin", "-f", "alsa", "-ac", 2, "-ar", 48000, "-i", "hw:0", *codec, path],
        path)


def arecord(contender):
    """In captured's periods; left to itself it takes longer ones, and answers an eighth of a second later."""
    return listen(contender, [need("arecord"), "-q", "-D", "hw:0", "-f", "S16_LE", "-r", 48000, "-c", 2,
                              "--period-size=480", "--buffer-size=24000", "arecord.wav"],
                  "arecord.wav")


WORKS = [
    Work("microphone to WAV", {EACH: 1.0}, ours=ours("wav"), arecord=arecord,
         **{"ffmpeg pcm": ffmpeg("wav", "-c:a", "pcm_s16le")}),
    Work("microphone to FLAC", {EACH: 1.0}, ours=ours("flac"), **{"ffmpeg flac": ffmpeg("flac", "-c:a", "flac")}),
    Work("microphone to Opus", {EACH: 1.0}, ours=ours("opus"),
         **{"ffmpeg libopus": ffmpeg("opus", "-c:a", "libopus", "-b:a", OPUS)}),
]
