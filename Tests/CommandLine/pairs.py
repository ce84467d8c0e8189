"""Photos of two files, which are made of one frame."""
import json, os, subprocess

from terminals import run

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
    daemon.control("stop", number)

    for wrong, word in [(["x.jpg", "--with", "y.jpg"], "two different ones"), (["x.jpg", "--with", "y"], "extension"),
                        (["--format", "dng", "x.jpg", "--with", "x.jpg"], "the name of the first"),
                        (["x.tiff", "--with", "x.jpg"], "two different ones"),
                        (["--to-library", "--with", "x.jpg"], "media library"),
                        (["--burst", "9", "x.dng", "--with", "x.jpg"], "at most 8")]:
        named = [folder / one if "." in one or one == "y" else one for one in wrong]
        status, _, messages = run(daemon, "photo", *small, *named)
        it(f"{' '.join(wrong)} is refused", status == 64 and word in messages, f"{status} {messages}")
    it("and leaves nothing", not list(folder.glob("[xy]*")), list(folder.glob("[xy]*")))
