"""Live photos: a photo with the seconds around it."""
import json, re, signal, subprocess, time

from terminals import run


def facts(path):
    """What exiftool says of a file, by names."""
    out = subprocess.run(["exiftool", "-json", "-struct", path], stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out)[0]


def live_photos(daemon, folder, it):
    options = ["--video-format", "YUYV:320x240@30"]
    told = json.loads(daemon.control("photo", "--live", "--json", *options, folder / "me.jpg"))
    whole = (folder / "me.jpg").read_bytes()
    it("its size is told", told["bytes"] == len(whole) and told["format"] == "jpeg", told)
    said = facts(folder / "me.jpg")
    items = said.get("ContainerDirectory") or said.get("Directory") or []
    item = lambda number: items[number].get("Item", items[number])
    it("XMP says what it is", said.get("MotionPhoto") == 1 and said.get("MotionPhotoVersion") == 1, said)
    it("and lists both", len(items) == 2 and item(0)["Mime"] == "image/jpeg" and item(1)["Mime"] == "video/mp4" and
       item(1)["Length"] == told["movie"]["bytes"], items)
    it("EXIF is there, too", "Captured" in said.get("Software", "") and "DateTimeOriginal" in said, said)
    (folder / "still.jpg").write_bytes(whole[:-told["movie"]["bytes"]])
    (folder / "moving.mp4").write_bytes(whole[-told["movie"]["bytes"]:])
    it("the photo is a JPEG", whole[:-told["movie"]["bytes"]].endswith(b"\xff\xd9"))
    for name in ["me.jpg", "moving.mp4"]:
        done = subprocess.run(["ffmpeg", "-v", "error", "-xerror", "-i", folder / name, "-f", "null", "-"],
                              stderr=subprocess.PIPE, text=True)
        it(f"{name} is shown", done.returncode == 0 and not done.stderr, done.stderr)
    length = float(subprocess.run(["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0",
                                   folder / "moving.mp4"], stdout=subprocess.PIPE, text=True).stdout)
    it("the movie has three seconds", 2.9 <= length <= 3.1, length)
    still = told["movie"]["stillTime"]
    it("the photo lies in its midst", abs(still - 1.5) < 0.15, still)
    it("XMP says when", abs(said.get("MotionPhotoPresentationTimestampUs", 0) - still * 1e6) <= 1, said)

    def pixels(path, *options):
        return subprocess.run(["ffmpeg", "-v", "error", "-i", path, *options, "-frames:v", "1", "-vf", "scale=80:60",
                               "-pix_fmt", "gray", "-f", "rawvideo", "-"], stdout=subprocess.PIPE).stdout

    # The synthetic camera's picture moves: the nearest frame is that of the photo.
    photo = pixels(folder / "still.jpg")
    apart = {}
    for number in range(-6, 7):
        frame = pixels(folder / "moving.mp4", "-ss", f"{max(still + number / 30 - 0.001, 0):.4f}")
        apart[number] = sum(abs(a - b) for a, b in zip(photo, frame))
    it("the movie has its frame at that time", min(apart, key=apart.get) in (0, 1), apart)

    for words, why in [
        (["--burst", "2", "a.jpg"], "--burst does not go with --live"), (["a.png"], "not a png"),
        (["--session", "1", "a.jpg"], "--session does not go"), (["--mirror", "a.jpg"], "does not go with --live"),
    ]:
        status, _, messages = run(daemon, "photo", "--live", *words)
        it(f"refused: {' '.join(words)}", status == 64 and why in messages, f"{status} {messages}")

    daemon.control("auth", "set", "exe:" + str(daemon.programs / "capturectl"), "library", "all")
    kept = json.loads(daemon.control("photo", "--live", "--json", *options, "--to-library", "--name", "jump.jpg"))
    asset = kept["library"]["id"]
    listed = json.loads(daemon.control("library", "list", "--json"))
    it("the library has it as one asset", [one["id"] for one in listed["assets"] if one["name"] == "jump.jpg"] == [asset]
       if isinstance(listed, dict) else [one["id"] for one in listed if one["name"] == "jump.jpg"] == [asset], listed)
    out = folder / "exported"
    daemon.control("library", "export", asset, out)
    exported = next(path for path in out.rglob("*.jpg"))
    it("and gives both back", exported.stat().st_size == kept["bytes"] and facts(exported).get("MotionPhoto") == 1)

    child = subprocess.Popen([daemon.programs / "capturectl", "photo", "--live", *options, folder / "none.jpg"],
                             env=daemon.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    uses = lambda: "camera" in daemon.control("status")
    while not uses():
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    _, messages = child.communicate(timeout=60)
    it("Ctrl-C leaves nothing", child.returncode != 0 and not (folder / "none.jpg").exists(), f"{child.returncode} {messages}")
