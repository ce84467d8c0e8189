"""Photos of an exact size: of a session of their own, and of one that runs in another size."""
import json, subprocess

from checks import LIMIT, probe, wait_until
from terminals import run


def tags(name):
    done = subprocess.run(["exiftool", "-n", "-j", name], capture_output=True, text=True)
    return json.loads(done.stdout or "[{}]")[0]


def sizes(daemon, folder, it):
    for name, size, *more in [("a.jpg", "1280x720"), ("b.png", "320x240"), ("c.dng", "640x480"), ("d.tiff", "640x480"),
                              ("e.png", "320x240", "--depth")]:
        daemon.control("photo", "--size", size, *more, folder / name)
        it(f"{name} has {size}", tags(folder / name).get("ImageSize") == size.replace("x", " "), tags(folder / name))
    daemon.control("photo", "--size", "320x240", "--live", folder / "live.jpg")
    it("so has a live photo", tags(folder / "live.jpg").get("ImageSize") == "320 240", tags(folder / "live.jpg"))
    daemon.control("photo", "--size", "640x480", "--burst", "2", folder / "f.jpg")
    it("and a burst", [tags(folder / f"f-{number}.jpg").get("ImageSize") for number in (1, 2)] == ["640 480"] * 2)

    for wrong, code, word in [("1000x1000", 65, "the nearest: 1280x720"), ("0x480", 64, "1 to 65535"), ("-1x480", 64, "1 to 65535"),
                              ("2147483648x480", 64, "1 to 65535"), ("640", 64, "1920x1080"), ("large", 64, "1920x1080"),
                              ("", 64, "1920x1080")]:
        status, _, messages = run(daemon, "photo", "--size", wrong, folder / "no.jpg")
        it(f"a size of '{wrong}' is refused", status == code and word in messages, f"{status} {messages}")
    for more in (["--preset", "low"], ["--video-format", "YUYV:640x480"]):
        status, _, messages = run(daemon, "photo", "--size", "640x480", *more, folder / "no.jpg")
        it(f"with {more[0]} it is refused", status == 64 and "--size" in messages, f"{status} {messages}")
    it("what is refused leaves no file", not (folder / "no.jpg").exists())
    running(daemon, folder, it)
    raw(daemon, folder, it)


def running(daemon, folder, it):
    """A movie with sound goes on around photos of another size."""
    movie = folder / "movie.mkv"
    number = daemon.control("start", "--preset", "low", movie).strip()
    told = lambda: json.loads(daemon.control("status", number, "--json"))["statistics"]
    frames = lambda: told()["outputs"]["movie"]["frames"]
    wait_until(lambda: frames() >= 10, LIMIT)
    rows = json.loads(daemon.control("photo", "--session", number, "--size", "1920x1080", "--json", folder / "g.jpg"))
    it("a photo beside a movie has its size", [row["file"] for row in rows] == [str(folder / "g.jpg")] and
       tags(folder / "g.jpg").get("ImageSize") == "1920 1080", f"{rows} {tags(folder / 'g.jpg')}")
    # A photo may take less time than a frame: then the movie lacks none.
    lost = told()["inputs"]["camera"]["drops"].get("paused")
    it("what the movie lacks is counted", lost is not None, told())
    daemon.control("photo", "--session", number, "--size", "1280x720", "--burst", "2", folder / "h.dng")
    it("a raw burst has its size", [tags(folder / f"h-{one}.dng").get("ImageSize") for one in (1, 2)] == ["1280 720"] * 2)
    more = told()["inputs"]["camera"]["drops"]["paused"]
    daemon.control("photo", "--session", number, "--size", "320x240", folder / "i.jpg")
    it("the session's own size costs nothing", more > (lost or 0) and told()["inputs"]["camera"]["drops"]["paused"] == more, told())
    before = frames()
    wait_until(lambda: frames() >= before + 10, LIMIT)
    other = daemon.control("start", "--camera", "synthetic:camera", "--microphone", "none", "--preset", "low", folder / "o.mkv").strip()
    status, _, messages = run(daemon, "photo", "--session", number, "--size", "1920x1080", folder / "no.jpg")
    it("while others use the camera it is refused", status == 75 and "other sessions use it" in messages, f"{status} {messages}")
    status, _, messages = run(daemon, "photo", "--session", number, "--size", "1000x1000", folder / "no.jpg")
    it("a size that is not there is told", status == 65 and "the nearest: 1280x720" in messages, f"{status} {messages}")
    it("and leaves no file", not (folder / "no.jpg").exists())
    daemon.grows(other, "frames")
    daemon.control("stop", other)
    daemon.control("stop", number)
    wait_until(lambda: json.loads(daemon.control("status", number, "--json"))["state"] == "stopped", LIMIT)
    done = subprocess.run(["ffmpeg", "-v", "error", "-xerror", "-i", movie, "-f", "null", "-"], capture_output=True, text=True)
    it("the movie plays to its end", done.returncode == 0 and not done.stderr, done.stderr)
    shown = set(probe(movie, "-select_streams", "v", "-show_entries", "frame=width,height").split())
    it("in one size", {one.strip(",") for one in shown} == {"320,240"}, shown)
    times = [float(time.strip(",")) for time in probe(movie, "-select_streams", "v", "-show_entries", "packet=pts_time").split()]
    gaps = [later - earlier for earlier, later in zip(times, times[1:]) if later - earlier > 0.1]
    # A camera that is held up loses more, and says so.
    missing, dropped = sum(gap * 15 - 1 for gap in gaps), sum(told()["inputs"]["camera"]["drops"].values())
    it("with a gap for what it lacks", times == sorted(times) and gaps and 0.8 * more - 6 < missing < 1.2 * dropped + 6,
       f"{gaps} {more} {dropped}")
    sound = [float(one.strip(",")) for one in probe(movie, "-select_streams", "a", "-show_entries", "packet=pts_time").split()]
    it("its sound goes on", max(later - earlier for earlier, later in zip(sound, sound[1:])) < 0.1, sound[-3:])


def raw(daemon, folder, it):
    """A movie of colours goes on around a raw photo in its size."""
    movie = folder / "raw.mkv"
    number = daemon.control("start", "--preset", "low", "--microphone", "none", movie).strip()
    told = lambda: json.loads(daemon.control("status", number, "--json"))["statistics"]
    frames = lambda: told()["outputs"]["movie"]["frames"]
    wait_until(lambda: frames() >= 5, LIMIT)
    daemon.control("photo", "--session", number, "--raw", folder / "r.dng")
    found = tags(folder / "r.dng")
    it("a raw photo of a running session is a sensor's", found.get("PhotometricInterpretation") == 32803 and
       found.get("ImageSize") == "320 240", found)
    daemon.control("photo", "--session", number, folder / "s.dng", "--with", folder / "s.jpg")
    it("with its JPEG, too", [tags(folder / name).get("ImageSize") for name in ("s.dng", "s.jpg")] == ["320 240"] * 2)
    status, _, messages = run(daemon, "photo", "--session", number, "--mirror", folder / "no.dng")
    it("it is turned as its session is", status == 64 and "--mirror" in messages, f"{status} {messages}")
    before = frames()
    wait_until(lambda: frames() >= before + 5, LIMIT)
    daemon.control("stop", number)
    wait_until(lambda: json.loads(daemon.control("status", number, "--json"))["state"] == "stopped", LIMIT)
    shown = {one.strip(",") for one in probe(movie, "-select_streams", "v", "-show_entries", "frame=width,height,pix_fmt").split()}
    it("the movie has pictures of one kind", len(shown) == 1, shown)
