"""A person at a desktop who picks from the media library in the window of captured-picker. Pictures are found on the screen
by their colours, so that clicks go where a person would click."""
import os, re, shutil, struct, subprocess, tempfile
from pathlib import Path

import numpy
from checks import wait_until
from desktop import LIMIT, eventually

# None is near a colour of the window's own.
COLOURS = {"red": (200, 30, 30), "green": (30, 160, 60), "gold": (220, 180, 20), "purple": (130, 40, 160),
           "brown": (120, 70, 30), "teal": (20, 140, 140)}
HOSTILE = "<i>%s &amp; gold.jpg"


class Window:
    """A program's window, once it is on the screen: the picker's, unless another is named."""

    def __init__(self, desktop, program="captured-picker", by="--class"):
        self.desktop = desktop
        def shown():
            done = subprocess.run(["xdotool", "search", "--onlyvisible", by, program], text=True,
                                  capture_output=True, env=desktop.environment, timeout=LIMIT)
            return done.stdout.split()
        self.shown = shown
        def place():
            there = shown()
            # It may go before it is looked at.
            text = desktop.x("getwindowgeometry", "--shell", there[0]) if len(there) == 1 else ""
            found = re.findall(r"^(?:X|Y|WIDTH|HEIGHT)=(-?\d+)$", text, re.M)
            return (there[0], *map(int, found)) if len(found) == 4 else None
        self.id, self.x, self.y, self.width, self.height = eventually(f"{program} is on the screen", place)

    def pixels(self):
        """Its rows of red, green and blue. The X server keeps the screen in a file: an X window dump, which has blue first."""
        dump = (self.desktop.folder / "Xvfb_screen0").read_bytes()
        head = struct.unpack(">25I", dump[:100])
        rows, line, start = head[5], head[12], head[0] + 12 * head[19]
        screen = numpy.frombuffer(dump, numpy.uint8, rows * line, start).reshape(rows, line // 4, 4)
        return screen[self.y:self.y + self.height, self.x:self.x + self.width, 2::-1]

    def shows(self, colour, near):
        """Where a colour is, for each pixel; `near`: how far each part may be off."""
        return (abs(self.pixels().astype(int) - colour) < near).all(axis=2)

    def save(self, path):
        subprocess.run(["ffmpeg", "-loglevel", "error", "-y", "-f", "x11grab", "-video_size", f"{self.width}x{self.height}",
                        "-i", f"{self.desktop.environment['DISPLAY']}+{self.x},{self.y}", "-frames:v", "1", str(path)],
                       env=self.desktop.environment, stdin=subprocess.DEVNULL, check=True, timeout=LIMIT)

    def pictures(self):
        """Where each colour's picture is: its middle, of those that are to be seen."""
        found = {name: self.shows(colour, 12).nonzero() for name, colour in COLOURS.items()}
        return {name: (int(columns.mean()), int(rows.mean())) for name, (rows, columns) in found.items() if len(rows) > 3200}

    def full(self, names=COLOURS):
        """Waits until the pictures of all of them are there; where they are."""
        def there():
            found = self.pictures()
            return found if set(found) >= set(names) else None
        return eventually(f"pictures of {', '.join(names)}", there)

    def click(self, x, y):
        self.desktop.x("mousemove", str(self.x + x), str(self.y + y), "click", "1")

    def pick(self, act, seconds=5):
        """A picture, until the line below them tells of it: what is done in the first moment does not count."""
        def line():
            return self.pixels()[-50:-15, 8:self.width // 2].tobytes()
        def told():
            before = line()
            act()
            return wait_until(lambda: line() != before, seconds)
        eventually("the picture is picked", told)

    def confirm(self):
        """The button in the lower right corner; once more while it does not take clicks yet."""
        def pressed():
            self.click(self.width - 50, self.height - 32)
            return not self.shown()
        eventually("the button is pressed", pressed)

    def keys(self, *keys):
        """Keys that count: those of the first moment in front do not."""
        self.desktop.x("windowfocus", "--sync", self.id, "sleep", "2", "key", *keys)

    def end(self, key):
        """Closes it by a key."""
        self.desktop.until_gone(self.shown, self.id, lambda: self.desktop.keys([self.id], key))

    def early_keys(self, *keys):
        """Keys of a person who types while the window comes to the front."""
        self.desktop.x("windowunmap", "--sync", self.id, "windowmap", "--sync", self.id, "windowfocus", "--sync", self.id,
                       "key", *keys, "sleep", "1")

    def gone(self):
        eventually("the picker is off the screen", lambda: not self.shown())


def fill(desktop):
    """A library of six photos, a movie and a sound, which capturectl itself may not read."""
    desktop.control("auth", "set", desktop.program, "library", "all")
    made = {}
    for name, (red, green, blue) in COLOURS.items():
        file = desktop.folder / (HOSTILE if name == "gold" else f"{name}.jpg")
        size = "480x640" if name == "green" else "640x480"
        make(file, f"color=c=0x{red:02x}{green:02x}{blue:02x}:size={size}", "-frames:v", "1")
        made[name] = file
    movie, sound = desktop.folder / "walk.mkv", desktop.folder / "birds.flac"
    make(movie, "testsrc2=duration=2:size=320x240", "-c:v", "mjpeg")
    make(sound, "sine=duration=1")
    for file in [sound, movie, *made.values()]:
        desktop.control("library", "add", str(file))
    desktop.control("auth", "reset", desktop.program, "library")
    return made


def make(file, source, *options):
    # Of a name with a % in it ffmpeg would make a pattern.
    done = file.with_name("made" + file.suffix)
    subprocess.run(["ffmpeg", "-loglevel", "error", "-y", "-f", "lavfi", "-i", source, *options, str(done)], check=True,
                   stdin=subprocess.DEVNULL, timeout=LIMIT)
    done.rename(file)


def ask(desktop, *arguments):
    """A program without a terminal that has something picked."""
    name = f"pick{len(desktop.running)}"
    child = desktop.start("capturectl", "library", *map(str, arguments), log=name)
    child.name = name
    return child


def picks(desktop, it, picture):
    """Two of all by clicks; one by keys; none; and a question that is taken back."""
    files = fill(desktop)
    target = desktop.folder / "picked"
    asking = ask(desktop, "pick", "--to", target, "--limit", "3")
    window = Window(desktop)
    places = window.full()
    it("the picker fits on the screen", window.width <= 1024 and window.height <= 768, f"{window.width}x{window.height}")
    # They were added one after the other.
    newest = sorted(places, key=lambda name: (places[name][1] // 100, places[name][0]))
    it("the newest are first", newest == list(reversed(COLOURS)), newest)
    for name in ["green", "gold"]:
        window.pick(lambda: window.click(*places[name]))
    window.full()
    window.save(picture)
    window.confirm()
    code, said = desktop.end(asking)
    it("what is picked is handed over", code == 0, f"{code} {said}")
    for name in ["green", "gold"]:
        copy = target / files[name].name
        it(f"{name} is there as it was", copy.exists() and copy.read_bytes() == files[name].read_bytes(), said)
    it("and nothing else", target.is_dir() and len(list(target.iterdir())) == 2, said)

    target = desktop.folder / "one"
    asking = ask(desktop, "pick", "--to", target, "--limit", "1", "--kind", "photo")
    window = Window(desktop)
    window.full()
    window.early_keys("space", "Tab", "Tab", "Return")
    it("what is typed when the window comes to the front picks nothing", window.shown())
    window.pick(lambda: window.keys("Right", "space"), 20)
    def handed():
        window.keys("alt+h")  # "Hand Over", once it takes keys.
        return not window.shown()
    eventually("keys hand over", handed)
    code, said = desktop.end(asking)
    it("keys pick, too", code == 0 and [file.name for file in target.iterdir()] == ["brown.jpg"], f"{code} {said}")

    target = desktop.folder / "none"
    asking = ask(desktop, "pick", "--to", target)
    window = Window(desktop)
    window.full()
    window.end("Escape")
    code, said = desktop.end(asking)
    it("closed, it exits 75 and leaves nothing", code == 75 and "closed" in said and not target.exists(), f"{code} {said}")

    asking = ask(desktop, "pick", "--to", target)
    window = Window(desktop)
    desktop.stop(asking)
    window.gone()
    it("a question that is given up takes the picker off the screen", True)


def chooses(desktop, it, picture):
    """Settings: what another program may read is given and taken away."""
    program = "exe:/usr/bin/true"
    desktop.control("auth", "set", program, "library", "limited")
    asking = ask(desktop, "choose", program)
    window = Window(desktop)
    red = window.full()["red"]
    window.pick(lambda: window.click(*red))
    window.confirm()
    code, said = desktop.end(asking)
    it("settings allow what is clicked", code == 0 and "1 asset more and 0 assets fewer" in said, f"{code} {said}")
    asking = ask(desktop, "choose", program)
    window = Window(desktop)
    places = window.full()
    for name in ["red", "teal", "purple"]:
        window.pick(lambda: window.click(*places[name]))
    window.full()
    window.save(picture)
    window.confirm()
    code, said = desktop.end(asking)
    it("and take away what was allowed", code == 0 and "2 assets more and 1 asset fewer" in said, f"{code} {said}")
    desktop.control("auth", "reset", program)


def cannot(desktop, it):
    """An agent that shows dialogs and no picker says why, and answers what else is asked."""
    # The very file, in a folder without the picker: a copy of it is another program, and is not asked.
    folder = Path(tempfile.mkdtemp(prefix="without.", dir=desktop.programs.resolve().parent))
    os.link(desktop.programs.resolve() / "capturectl", folder / "capturectl")
    for what, programs, display, why in [("installed", folder, {}, f"there is no {folder}/captured-picker"),
                                         ("shown", desktop.programs, {"DISPLAY": ":4095"}, "there is no screen")]:
        agent = desktop.start_agent(programs=programs, environment=display)
        asking = ask(desktop, "pick", "--to", desktop.folder / "nothing")
        code, said = desktop.end(asking)
        it(f"where no picker is {what}, nobody can be asked", code == 75 and "nobody to ask" in said, f"{code} {said}")
        it("and it is said why", why in said, said)
        it("in the agent's log, too", why in desktop.log("agent"), desktop.log("agent"))
        it("which is there for other questions", agent.poll() is None)
        desktop.stop(agent)
    shutil.rmtree(folder)
