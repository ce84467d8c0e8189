"""Looks at previews on a screen: the window of `capturectl preview`, and the programs of docs/preview.md, which are compiled."""
import json, re, signal, subprocess, sys
from pathlib import Path

from desktop import LIMIT, eventually
from picking import Window

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests/Support"))
from compiled import build

# Two of the bars that the synthetic camera shows; no colour of a window of its own is near.
BARS = [(192, 192, 0), (192, 0, 192)]


def bars(window):
    """Whether both bars are in a window, each on more than a hundredth of it."""
    return all(window.shows(bar, 20).mean() > 0.01 for bar in BARS)


def published(desktop):
    """Frames that the camera of the one session has delivered."""
    number = next(row["id"] for row in json.loads(desktop.control("sessions", "--json")))
    return json.loads(desktop.control("status", str(number), "--json"))["statistics"]["inputs"]["camera"]["published"]


def windows(desktop, programs, it, picture):
    """The window of capturectl, and that of a program without windows."""
    desktop.control("auth", "set", desktop.program, "camera", "authorized")
    child = desktop.start("capturectl", "preview", "--video-format=YUYV:640x480", log="preview")
    window = Window(desktop, "capturectl")
    eventually("the preview shows the bars", lambda: bars(window), of=child)
    it("the window of a preview is as large as the picture", (window.width, window.height) == (640, 480),
       f"{window.width}x{window.height}")
    window.save(picture)
    # GTK keeps small pictures for later.
    for width, height in [(100, 75), (640, 480)]:
        desktop.x("windowsize", "--sync", window.id, str(width), str(height))
        resized = Window(desktop, "capturectl")
        before = published(desktop)
        eventually("frames are delivered", lambda: published(desktop) > before + 70, of=child)
        # Not in the frame in which the camera flashes.
        eventually(f"a window of {width} by {height} shows the bars", lambda: bars(resized), of=child)
        it(f"a window of {width} by {height} shows the camera after two seconds, too",
           (resized.width, resized.height) == (width, height), f"{resized.width}x{resized.height}")
    window.end("q")
    it("Q closes it, and ends the session", child.wait(LIMIT) == 0 and not desktop.log("preview"), desktop.log("preview"))
    it("no session is left", "running" not in desktop.control("sessions"))

    child = desktop.start("capturectl", "preview", "--in=window", log="withdrawn")
    window = Window(desktop, "capturectl")
    eventually("the preview shows the bars", lambda: bars(window), of=child)
    desktop.control("auth", "set", desktop.program, "camera", "denied")
    code = child.wait(LIMIT)
    it("withdrawn while it shows, a preview exits 77", code == 77 and "withdrawn" in desktop.log("withdrawn"),
       f"{code} {desktop.log('withdrawn')}")
    it("and its window is gone", not window.shown())
    entry = (ROOT / "config/capturectl-preview.desktop").read_text()
    words = re.search(r"^Exec=@bindir@/capturectl (.*)", entry, re.M)[1].split()
    child = desktop.start("capturectl", *words, log="menu")
    window = Window(desktop, "capturectl")
    window.save(picture.with_stem(f"{picture.stem}-refused"))
    it("from the menu, the window stays and says why", child.poll() is None and not bars(window))
    window.end("q")
    it("until it is closed", child.wait(LIMIT) == 77, desktop.log("menu"))
    desktop.control("auth", "set", desktop.program, "camera", "authorized")
    child = desktop.start("capturectl", *words, log="menu-withdrawn")
    window = Window(desktop, "capturectl")
    eventually("the preview shows the bars", lambda: bars(window), of=child)
    desktop.control("auth", "set", desktop.program, "camera", "denied")
    eventually("the bars are gone", lambda: not bars(window), of=child)
    it("withdrawn, it stays, too, without the picture", child.poll() is None and window.shown())
    window.end("q")
    it("and tells why when it is closed", child.wait(LIMIT) == 77 and "withdrawn" in desktop.log("menu-withdrawn"),
       desktop.log("menu-withdrawn"))
    child = desktop.start("capturectl", *words, log="asked")
    Window(desktop, "capturectl")
    it("or the program is asked to end", desktop.stop(child) == 77 and "denied" in desktop.log("asked"), desktop.log("asked"))
    code = desktop.start("capturectl", "preview", "--in=window", log="refused").wait(LIMIT)
    it("refused, it exits 77 and shows no window", code == 77 and not window.shown(), f"{code} {desktop.log('refused')}")
    desktop.control("auth", "reset", desktop.program)

    desktop.control("auth", "set", f"exe:{programs['window']}", "camera", "authorized")
    child = desktop.start(programs["window"].name, log="window", programs=programs["window"].parent)
    window = Window(desktop, programs["window"].name)
    eventually("PreviewWindow shows the bars", lambda: bars(window), of=child)
    window.end("Escape")
    it("Escape closes a PreviewWindow, and its program ends", child.wait(LIMIT) == 0, desktop.log("window"))


def widget(desktop, programs, it, picture):
    """The widget in a program that goes on when its session has ended."""
    program = f"exe:{programs['widget']}"
    desktop.control("auth", "set", program, "camera", "authorized")
    child = desktop.start(programs["widget"].name, log="widget", programs=programs["widget"].parent)
    window = Window(desktop, "Camera", by="--name")
    eventually("the widget shows the bars", lambda: bars(window), of=child)
    it("the widget shows the camera", True)
    desktop.control("switch", "camera", "off")
    eventually("the bars are gone while cameras are off", lambda: not bars(window), of=child)
    it("a suspended session leaves no picture", child.poll() is None)
    desktop.control("switch", "camera", "on")
    eventually("the bars are there again", lambda: bars(window), of=child)
    it("and has one again when it goes on", child.poll() is None)
    desktop.control("auth", "set", program, "camera", "denied")
    eventually("the bars are gone", lambda: not bars(window), of=child)
    it("withdrawn while it shows, the picture is gone from a window that stays", child.poll() is None and window.shown())
    window.save(picture)
    child.send_signal(signal.SIGKILL)
    child.wait()


def previews(desktop, it, picture):
    page = (ROOT / "docs/preview.md").read_text()
    texts = re.findall(r"^```swift\n(.*?)^```", page, re.S | re.M)
    folder = desktop.folder / "previews"
    folder.mkdir()
    (folder / "module.modulemap").write_text(re.search(r"^```\n(module CGTK4.*?)^```", page, re.S | re.M)[1])
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "gtk4"], text=True, capture_output=True, check=True).stdout
    gtk = ["-Xcc", f"-fmodule-map-file={folder}/module.modulemap"]
    for flag in flags.split():
        gtk += [flag] if flag.startswith("-l") else [] if flag == "-pthread" else ["-Xcc", flag]
    programs = {}
    for name, text, more in zip(["widget", "window"], texts, [gtk, []], strict=True):
        programs[name] = build(text, folder / name, desktop.built, *more).rename(folder / name / f"preview-{name}")
    windows(desktop, programs, it, picture)
    widget(desktop, programs, it, picture.with_stem(f"{picture.stem}-withdrawn"))
