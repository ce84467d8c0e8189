"""Photos of two files, which are made of one frame, and of one file that has both."""
import json, os, subprocess

from terminals import allow_library, run

# How much each raw photo, developed, differs from each JPEG: a row for each raw photo.
COMPARE = """
import sys
from PIL import Image, ImageChops, ImageStat
half = len(sys.argv) // 2
pictures = [Image.open(name).convert("L") for name in sys.argv[1:]]
for raw in pictures[:half]:
    print(*(ImageStat.Stat(ImageChops.difference(raw, shown)).sum[0] for shown in pictures[half:]))
"""


def tags(name):
    done = subprocess.run(["exiftool", "-n", "-j", name], capture_output=True, text=True)
    return json.loads(done.stdout or "[{}]")[0]


def differences(raw, shown):
    developed = []
    for name in raw:
        developed.append(name.with_suffix(".ppm"))
        subprocess.run(["dcraw_emu", "-w", "-W", "-o", "1", "-g", "2.4", "12.92", "-q", "0", "-Z", developed[-1], name],
                       check=True, capture_output=True)
    done = subprocess.run(["/usr/bin/python3", "-c", COMPARE, *developed, *shown], env={**os.environ, "PYTHONHOME": "/usr"},
                          capture_output=True, text=True)
    return [[float(number) for number in line.split()] for line in done.stdout.splitlines()] or done.stderr


def pairs(daemon, folder, it):
    small = ["--preset", "low"]
    status, _, messages = run(daemon, "photo", *small, folder / "shot.dng", "--with", folder / "shot.jpg")
    it("a pair is told", status == 0 and [line.split(":")[0] for line in messages.splitlines()] ==
       [str(folder / "shot.dng"), str(folder / "shot.jpg")] and "of the same frame" in messages, messages)
    raw, shown = tags(folder / "shot.dng"), tags(folder / "shot.jpg")
    it("a raw photo has its JPEG", (raw.get("FileType"), shown.get("FileType")) == ("DNG", "JPEG"), f"{raw} {shown}")
    it("both are of the same size", raw.get("ImageSize") == shown.get("ImageSize") is not None, f"{raw} {shown}")

    text = daemon.control("photo", *small, "--burst", "4", "--with", folder / "b.jpg", "--json", folder / "b.dng")
    rows = json.loads(text)
    names = [[folder / f"b-{number}.{kind}" for number in (1, 2, 3, 4)] for kind in ("dng", "jpg")]
    it("a burst has a pair for each picture", [[row["file"] for row in rows], [row["companion"]["file"] for row in rows]] ==
       [[str(name) for name in column] for column in names], rows)
    it("and their sizes", [row["companion"]["bytes"] for row in rows] == [name.stat().st_size for name in names[1]], rows)
    times = [[(found["DateTimeOriginal"], found["SubSecTimeOriginal"]) for found in map(tags, column)] for column in names]
    it("both files of a pair were captured at the same time", times[0] == times[1] and len(set(times[0])) == 4, times)
    found = differences(*names)
    it("and show the same frame", [row.index(min(row)) for row in found] == [0, 1, 2, 3], found)

    daemon.control("photo", *small, "--with", folder / "p.png", folder / "p.jpg")
    it("a JPEG and a PNG are a pair, too", [tags(folder / f"p.{kind}").get("FileType") for kind in ("jpg", "png")] ==
       ["JPEG", "PNG"])
    number = daemon.control("start", "--video-format", "pRAA:640x480", folder / "movie.mkv").strip()
    status, _, messages = run(daemon, "photo", "--session", number, folder / "s.dng", "--with", folder / "s.jpg")
    it("a session that records gives a pair", status == 0 and tags(folder / "s.dng").get("ImageWidth") == 640, messages)
    daemon.grows(number)
    daemon.control("stop", number)

    for wrong, word in [(["x.jpg", "--with", "y.jpg"], "two different ones"), (["x.jpg", "--with", "y"], "extension"),
                        (["--format", "dng", "x.jpg", "--with", "x.jpg"], "the name of the first"),
                        (["x.tiff", "--with", "x.jpg"], "two different ones"),
                        (["--to-library", "--with", "x.jpg"], "media library"),
                        (["--to-library", "--with", "png"], "media library"),
                        (["--to-library", "--name", "x.jpg", "--with", "dng"], "media library"),
                        (["--to-library", "--format", "png", "--with", "jpg"], "media library"),
                        (["--to-library", "--with", "gif"], "no format"),
                        (["--burst", "9", "x.dng", "--with", "x.jpg"], "at most 8")]:
        named = [folder / one if "." in one or one == "y" else one for one in wrong]
        status, _, messages = run(daemon, "photo", *small, *named)
        it(f"{' '.join(wrong)} is refused", status == 64 and word in messages, f"{status} {messages}")
    it("and leaves nothing", not list(folder.glob("[xy]*")), list(folder.glob("[xy]*")))


def inside(name):
    """The JPEG of a DNG, as exiftool takes it out."""
    return subprocess.run(["exiftool", "-b", "-PreviewImage", name], capture_output=True).stdout


def library_pairs(daemon, folder, it):
    allow_library(daemon)
    small = ["--preset", "low", "--to-library"]
    rows = lambda *words: json.loads(daemon.control("photo", *small, "--json", *words))
    assets = lambda: json.loads(daemon.control("library", "list", "--json"))
    status, _, messages = run(daemon, "photo", *small, "--with", "jpg")
    it("a pair is told as one", status == 0 and messages.count("\n") == 1 and ": dng" in messages and
       "with a jpeg inside" in messages, messages)
    found = assets()
    it("and is one asset, a raw photo", [(one["codec"], one["name"][-4:]) for one in found] == [("dng", ".dng")], found)
    taken = rows("--name", "b.dng", "--burst", "3", "--with", "jpeg", "--quality", "95")
    it("a burst is an asset for each picture", len(assets()) == 4 and len({row["library"]["id"] for row in taken}) == 3 and
       not any("companion" in row for row in taken), taken)

    plain, both = folder / "plain", folder / "both"
    daemon.control("library", "export", "--all", plain)
    it("an export has the files as they are", not list(plain.rglob("*.jpg")) and len(list(plain.rglob("*.dng"))) == 4)
    _, _, messages = run(daemon, "library", "export", "--all", "--with-jpeg", both)
    raws, shown = (sorted(both.rglob(f"*.{kind}")) for kind in ("dng", "jpg"))
    it("or gives both back", len(raws) == 4 and [name.with_suffix(".jpg") for name in raws] == shown, f"{raws} {shown} {messages}")
    it("the JPEG is that inside, byte for byte", all(inside(raw) == name.read_bytes() != b"" for raw, name in zip(raws, shown)))
    same = lambda name: [tags(name).get(key) for key in ("DateTimeOriginal", "SubSecTimeOriginal", "Model", "ImageSize")]
    it("with the facts of the raw photo", all(same(raw) == same(name) for raw, name in zip(raws, shown)))
    burst = [[name for name in names if name.name.startswith("b")] for names in (raws, shown)]
    found = differences(*burst)
    it("both show the same frame", [row.index(min(row)) for row in found] == [0, 1, 2], found)
    for name in both.rglob("*.ppm"):
        name.unlink()
    shot = folder / "shot.jpg"
    daemon.control("photo", "--preset", "low", shot)
    later_pairs(daemon, plain, shot, it)

    again = lambda *words: run(daemon, "library", "export", "--all", *words, both)
    status, _, messages = again("--with-jpeg")
    it("a second export finds all there", status == 0 and "0 assets exported, 4 already there" in messages and
       "older" not in messages, messages)
    status, _, messages = again()
    it("also one without the JPEGs", status == 0 and "4 already there" in messages and "older" not in messages, messages)
    status, _, messages = run(daemon, "library", "import", both)
    it("an import takes a pair for one", status == 0 and "0 files imported, 4 already there" in messages, messages)
    next(both.rglob("b (2).jpg")).write_bytes(shot.read_bytes())
    status, _, messages = run(daemon, "library", "import", both)
    it("but not a JPEG that was changed", status == 0 and "1 file imported, 4 already there" in messages, messages)

    thumbnail = folder / "small.jpg"
    daemon.control("library", "thumbnail", taken[0]["library"]["id"], thumbnail)
    it("the thumbnail is that of the JPEG", same_picture(next(both.rglob("b.jpg")), thumbnail))

    # An asset that has the name of a JPEG that is inside another one.
    (folder / "c.jpg").write_bytes(shot.read_bytes())
    daemon.control("library", "add", folder / "c.jpg")
    rows("--name", "c.dng", "--with", "jpg", "--quality", "5")
    named = folder / "named"
    daemon.control("library", "export", "--all", "--with-jpeg", named)
    found = sorted(name.name for name in named.rglob("c*") if name.suffix != ".json")
    it("neither takes the other's name", found == ["c (2).dng", "c (2).jpg", "c.jpg"] and
       next(named.rglob("c.jpg")).read_bytes() == shot.read_bytes(), found)
    sizes = [next(named.rglob(name)).stat().st_size for name in ("b.jpg", "c (2).jpg")]
    it("the quality is that of the JPEG", sizes[0] > 2 * sizes[1], sizes)
    _, _, messages = run(daemon, "library", "export", "--all", "--with-jpeg", named)
    it("also in a second export", "0 assets exported" in messages and "older" not in messages, messages)
    _, _, messages = run(daemon, "library", "import", named)
    it("and in an import", "0 files imported" in messages and "failed" not in messages, messages)

    # A directory that names more than the file has, as libtiff would not write it.
    bytes_ = bytearray(burst[0][1].read_bytes())
    place = bytes_.rindex((279).to_bytes(2, "little") + (4).to_bytes(2, "little") + (1).to_bytes(4, "little"))
    bytes_[place + 8:place + 12] = b"\xff\xff\xff\x7f"
    (folder / "lie.dng").write_bytes(bytes_)
    lie = json.loads(daemon.control("library", "add", "--json", folder / "lie.dng"))[0]["id"]
    status, _, messages = run(daemon, "library", "export", "--with-jpeg", lie, folder / "lies")
    it("of one that lies, the raw photo is exported, with a word about the JPEG", status == 65 and
       "exported without the JPEG inside" in messages and len(list((folder / "lies").rglob("lie.*"))) == 2, f"{status} {messages}")


def later_pairs(daemon, plain, shot, it):
    """The JPEGs are wanted after an export without them. `shot` is any other JPEG."""
    add = lambda: run(daemon, "library", "export", "--all", "--with-jpeg", plain)
    raws = sorted(plain.rglob("*.dng"))
    facts = [name.with_name(name.name + ".json") for name in raws]
    shown = [name.with_suffix(".jpg") for name in raws]
    # The first has a JPEG of its own beside it, the second other facts, and the third a JPEG of an interrupted export.
    shown[0].write_bytes(shot.read_bytes())
    old = json.loads(facts[1].read_text())
    facts[1].write_text(json.dumps({**old, "favourite": not old["favourite"]}))
    shown[2].write_bytes(inside(raws[2]))
    status, _, messages = add()
    lines = messages.splitlines()
    it("JPEGs are added to an earlier export", status == 74 and "2 assets exported, 2 already there" in messages and
       shown[3].read_bytes() == inside(raws[3]), f"{status} {messages}")
    it("and named in the facts", [json.loads(name.read_text()).get("jpeg", {}).get("file") for name in facts] ==
       [None, None, shown[2].name, shown[3].name])
    it("another file stays, and the reason is told", shown[0].read_bytes() == shot.read_bytes() and
       any("without its JPEG" in line and f"{shown[0]} is another file" in line for line in lines), messages)
    it("older facts stay, and are a reason, too", not shown[1].exists() and
       any("without its JPEG" in line and f"{facts[1]} has older facts; remove it" in line for line in lines), messages)
    it("no asset is there twice", sorted(plain.rglob("*.dng")) == raws, raws)
    shown[0].unlink()
    facts[1].unlink()
    status, _, messages = add()
    it("what is advised helps", status == 0 and "2 assets exported, 2 already there" in messages and
       all(name.read_bytes() == inside(raw) for raw, name in zip(raws, shown)), f"{status} {messages}")
    status, _, messages = add()
    it("then all is there", status == 0 and "0 assets exported, 4 already there" in messages, messages)


def same_picture(first, second):
    """Whether two pictures are the same but for their size."""
    script = ("import sys; from PIL import Image, ImageChops, ImageStat; "
              "one, other = [Image.open(name).convert('L').resize((64, 48)) for name in sys.argv[1:]]; "
              "print(ImageStat.Stat(ImageChops.difference(one, other)).mean[0])")
    done = subprocess.run(["/usr/bin/python3", "-c", script, first, second], env={**os.environ, "PYTHONHOME": "/usr"},
                          capture_output=True, text=True)
    return float(done.stdout or 255) < 2
