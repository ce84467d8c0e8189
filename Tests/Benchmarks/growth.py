"""How cost grows: with readers, cameras, recordings, and with the length of one recording."""
import os, tempfile, time
from daemon import memory
from many import cameras
from native import RATE, Camera, Contender, Missing
from picture import plot, written
from sharing import copies
from works import EACH, grown

READERS = [1, 2, 4, 8, 16, 32, 64]
CAMERAS = [1, 2, 4, 8, 16]
RECORDINGS = [1, 2, 4, 8, 16]
# Frames a second of the recording that stands for long ones, and minutes that it goes on at the usual rate. capturectl
# takes at most 1000, so the camera delivers faster than it says.
ASKED, HASTE = 1000, 3
FAST = ASKED * HASTE
MINUTES = [1, 10, 60, 6 * 60, 24 * 60]
SMALL = "64x48"
LITTLE = "CPU µs a frame and recording"


def points(camera, counts, contender):
    """What each number of something costs; those that the machine is too slow for are left out."""
    found = []
    for count in counts:
        try:
            with Contender(camera, "growth") as made:
                found.append((count, contender(count)(made)[EACH]))
        except Missing as error:
            print(f"{count}: {error}", flush=True)
            continue
        print(f"{count}: {found[-1][1]:.0f}", flush=True)
    return found


def readers(camera):
    series = {name: points(camera, READERS, lambda count: copies(count)[name])
              for name in ["ours", "PipeWire", "gst-launch shmsink"]}
    return [("readers", "Raw 1080p to readers that copy", "readers", EACH, series)]


def several(camera):
    series = {mode: points(camera, CAMERAS, lambda count: cameras(count, mode)) for mode in ["look", "copy"]}
    return [("cameras", "Raw 720p of cameras, each with a reader", "cameras", EACH, series)]


def recordings(camera):
    """Sessions of one camera, each with a recorder of its own."""
    def record(count):
        def contender(contender):
            contender.serve()
            paths = [contender.folder / f"{i}.mkv" for i in range(count)]
            for path in paths:
                contender.start("capturectl", "record", "--microphone", "none", "--video-format",
                                f"MJPG:1280x720@{RATE}", path, camera=False)
            found = contender.steady(lambda: all(grown(path)() for path in paths), 4) * 1e6
            return {EACH: found / count}

        return contender

    series = {"ours": points(camera, RECORDINGS, record)}
    return [("recordings", "MJPEG 720p of one camera into files", "recordings", LITTLE, series)]


def length(camera):
    """A recording of small frames, far faster than in reality: what a day's last hours cost beside its first minute."""
    costs, sizes = [], {"captured": [], "recorder": []}
    with Contender(camera, "length") as contender:
        contender.environment |= {"BENCH_CAMERA_RATE": str(ASKED), "BENCH_CAMERA_HASTE": str(HASTE)}
        contender.serve()
        path = contender.folder / "long.mkv"
        contender.start("capturectl", "record", "--microphone", "none", "--video-format", f"MJPG:{SMALL}@{ASKED}", path,
                        camera=False)
        contender.until(grown(path, 1), "the recording")
        began = start = time.monotonic()
        used = contender.group.used()
        recorder = contender.process("captured-recorder")
        for minutes in MINUTES:
            time.sleep(max(began + minutes * 60 * RATE / FAST - time.monotonic(), 0))
            # Since the mark before.
            now, end = contender.group.used(), time.monotonic()
            each = (now - used) / ((end - start) * FAST) * 1e6
            used, start = now, end
            costs.append((minutes, each))
            sizes["captured"].append((minutes, memory(contender.daemon.pid)))
            sizes["recorder"].append((minutes, memory(recorder)))
            print(f"{minutes} minutes: {each:.1f} {EACH}, captured {sizes['captured'][-1][1]:.1f} MB, "
                  f"recorder {sizes['recorder'][-1][1]:.1f} MB, file {os.stat(path).st_size >> 20} MB", flush=True)
        contender.stop()
        print(f"the camera lost {contender.lost():.1%} of the frames", flush=True)
    return [("length", f"A recording of {SMALL} MJPEG, at {FAST} frames a second", "minutes at 30 a second", EACH,
             {"ours": costs}),
            ("length-memory", "Its memory", "minutes at 30 a second", "MB", sizes)]


def grow(folder, only):
    kinds = {"readers": readers, "cameras": several, "recordings": recordings, "length": length}
    folder.mkdir(parents=True, exist_ok=True)
    missing, texts = [], []
    with tempfile.TemporaryDirectory(prefix="bench.", dir=os.environ.get("BENCH_FOLDER")) as place:
        camera = Camera(place)
        for name, kind in kinds.items():
            if only not in name:
                continue
            print(f"# {name}", flush=True)
            try:
                made = kind(camera)
            except Missing as error:
                missing.append(f"{name}: {error}")
                continue
            for file, title, x, y, series in made:
                series = {name: made for name, made in series.items() if made}
                if not series:
                    missing.append(f"{file}: no point of it")
                    continue
                (folder / f"{file}.svg").write_text(plot(title, x, y, series))
                texts.append(written(title, x, y, series))
    print("\n\n".join(texts))
    for line in missing:
        print(f"not measured: {line}")
    return int(bool(missing))
