"""A person at a desktop who picks from the media library in the window of captured-picker. Pictures are found on the screen
by their colours, so that clicks go where a person would click."""
import os, shutil, subprocess, tempfile
from pathlib import Path

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
        self.id = eventually(f"{program} is on the screen", lambda: len(shown()) == 1 and shown()[0])
        place = desktop.x("getwindowgeometry", "--shell", self.id)
        self.x, self.y, self.width, self.height = (
            int(next(line for line in place.splitlines() if line.startswith(name + "=")).split("=")[1])
            for name in ["X", "Y", "WIDTH", "HEIGHT"])

    def pixels(self):
        done = subprocess.run(["ffmpeg", "-loglevel", "error", *self._grab(), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
                              env=self.desktop.environment, stdin=subprocess.DEVNULL, check=True, timeout=LIMIT,
                              capture_output=True)
        return done.stdout

    def save(self, path):
        subprocess.run(["ffmpeg", "-loglevel", "error", "-y", *self._grab(), str(path)], env=self.desktop.environment,
                       stdin=subprocess.DEVNULL, check=True, timeout=LIMIT)

    def _grab(self):
        return ["-f", "x11grab", "-video_size", f"{self.width}x{self.height}", "-i",
                f"{self.desktop.environment['DISPLAY']}+{self.x},{self.y}", "-frames:v", "1"]

    def pictures(self):
        """Where each colour's picture is: its middle, of those that are to be seen."""
        data, found = self.pixels(), {}
        # Every fourth pixel both ways is enough to find a picture.
        for y in range(0, self.height, 4):
            row = y * self.width * 3
            for x in range(0, self.width, 4):
                at = row + x * 3
                for name, colour in COLOURS.items():
                    if all(abs(data[at + part] - colour[part]) < 12 for part in range(3)):
                        found.setdefault(name, []).append((x, y))
                        break
        return {name: tuple(sum(part) // len(spots) for part in zip(*spots))
                for name, spots in found.items() if len(spots) > 200}

    def full(self, names=COLOURS):
        """Waits until the pictures of all of them are there; where they are."""
        def there():
            found = self.pictures()
            return found if set(found) >= set(names) else None
        return eventually(f"pictures of {', '.join(names)}", there)

    def click(self, x, y):
        self.desktop.x("mousemove", "--sync", str(self.x + x), str(self.y + y), "click", "1")

    def confirm(self):
        """The button in the lower right corner; once more while it does not take clicks yet."""
        def pressed():
            self.click(self.width - 50, self.height - 32)
            return not self.shown()
        eventually("the button is pressed", pressed)

    def keys(self, *keys):
        self.desktop.x("windowfocus", "--sync", self.id, "key", *keys)

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
        window.click(*places[name])
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
    window.keys("Right", "space")
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
    window.keys("Escape")
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
    window.click(*window.full()["red"])
    window.confirm()
    code, said = desktop.end(asking)
    it("settings allow what is clicked", code == 0 and "1 asset more and 0 assets fewer" in said, f"{code} {said}")
    asking = ask(desktop, "choose", program)
    window = Window(desktop)
    places = window.full()
    for name in ["red", "teal", "purple"]:
        window.click(*places[name])
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
