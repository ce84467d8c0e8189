"""Live photos: a photo with the seconds around it."""
import json, signal, subprocess

from checks import probe, wait_until
from terminals import run


def facts(path):
    """What exiftool says of a file, by names."""
    out = subprocess.run(["exiftool", "-json", "-struct", path], stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out)[0]


def live_photos(daemon, folder, it):
    options = ["--video-format", "YUYV:320x240@30"]
    # A slow camera leaves less to keep: then the photo is taken anew.
    for _ in range(6):
        (folder / "me.jpg").unlink(missing_ok=True)
        told = json.loads(daemon.control("photo", "--live", "--json", *options, folder / "me.jpg"))
        if told["movie"]["frames"] >= 88 and abs(told["movie"]["stillTime"] - 1.5) < 0.15:
            break
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
    length = float(probe(folder / "moving.mp4", "-show_entries", "format=duration"))
    it("the movie has three seconds", 2.9 <= length <= 3.1, length)
    count = int(probe(folder / "moving.mp4", "-select_streams", "v", "-count_frames", "-show_entries", "stream=nb_read_frames"))
    it("with as many pictures as it was told, and lost", count == told["movie"]["frames"] and
       85 <= count + told["movie"]["missedFrames"] <= 95, f"{count} {told['movie']}")
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

    plain, apart = folder / "plain", folder / "apart"
    daemon.control("photo", "--preset", "low", "--to-library", "--name", "still.jpg")
    daemon.control("library", "export", "--all", plain)
    daemon.control("library", "export", "--all", "--with-movie", "--with-jpeg", apart)
    it("an export has the file as it is", len(list(plain.rglob("*.jpg"))) == 2 and not list(plain.rglob("*.mp4")))
    movie = next(apart.rglob("jump.mp4"), None)
    it("or its movie beside it, byte for byte", movie is not None and list(apart.rglob("*.mp4")) == [movie] and
       movie.read_bytes() == movie.with_suffix(".jpg").read_bytes()[-kept["movie"]["bytes"]:], list(apart.rglob("*")))
    it("which its facts name", json.loads(movie.with_name("jump.jpg.json").read_text())["movie"]["file"] == "jump.mp4")
    for where, more in [(plain, "1 asset exported, 1 already there"), (apart, "0 assets exported, 2 already there")]:
        status, _, messages = run(daemon, "library", "export", "--all", "--with-movie", where)
        it(f"a second export to {where.name} says what is there", status == 0 and more in messages and
           len(list(where.rglob("*.mp4"))) == 1, f"{status} {messages}")
        status, _, messages = run(daemon, "library", "import", where)
        it("an import takes both for one", status == 0 and "0 files imported, 2 already there" in messages, messages)
    lie = bytearray(whole)
    place = lie.index(b'Item:Length="', lie.index(b'Semantic="MotionPhoto"')) + 13
    lie[place:place + 2] = b"99"
    (folder / "lie.jpg").write_bytes(lie)
    lying = json.loads(daemon.control("library", "add", "--json", folder / "lie.jpg"))[0]["id"]
    status, _, messages = run(daemon, "library", "export", "--with-movie", lying, folder / "lies")
    it("of one that lies, the photo is exported, with a word about the movie", status == 65 and
       "exported without the movie inside" in messages and len(list((folder / "lies").rglob("lie.*"))) == 2, f"{status} {messages}")

    heard = json.loads(daemon.control("photo", "--live", "--sound", "--json", *options, folder / "loud.jpg"))
    (folder / "loud.mp4").write_bytes((folder / "loud.jpg").read_bytes()[-heard["movie"]["bytes"]:])
    daemon.control("photo", "--live", "--microphone", "synthetic:microphone", *options, folder / "named.jpg")
    kinds = lambda name: probe(folder / name, "-show_entries", "stream=codec_type").split()
    it("a movie has sound if that is wanted", (kinds("moving.mp4"), kinds("loud.mp4")) == (["video"], ["video", "audio"]),
       f"{kinds('moving.mp4')} {kinds('loud.mp4')}")
    it("by the microphone that is named", b"soun" in (folder / "named.jpg").read_bytes())
    for words, why in [(["--sound"], "give --live"), (["--microphone", "synthetic:microphone"], "give --live"),
                       (["--live", "--microphone", " "], "--microphone is empty")]:
        status, _, messages = run(daemon, "photo", *words, folder / "no.jpg")
        it(f"refused: {' '.join(words)}", status == 64 and why in messages, f"{status} {messages}")
    status, _, messages = run(daemon, "photo", "--live", "--microphone", "synthetic:ear", folder / "no.jpg")
    it("a microphone that is not there is told", status == 66 and "synthetic:ear" in messages, f"{status} {messages}")

    child = daemon.start("photo", "--live", *options, folder / "none.jpg")
    wait_until(lambda: "camera" in daemon.control("status"))
    child.send_signal(signal.SIGINT)
    _, messages = child.communicate(timeout=240)
    it("Ctrl-C leaves nothing", child.returncode != 0 and not (folder / "none.jpg").exists(), f"{child.returncode} {messages}")
