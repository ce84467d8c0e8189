"""A person at a desktop who takes a photo and a movie for programs in the window of captured-picker."""
import json, os, re, signal, time

from checks import probe, wait_until
from desktop import LIMIT, eventually
from picking import Window


def cameras(desktop):
    """The states of the sessions that exist now."""
    return [row["state"] for row in json.loads(desktop.control("sessions", "--json"))]


def ask(desktop, *arguments):
    """A program without a terminal that has something taken."""
    name = f"take{len(desktop.running)}"
    child = desktop.start("capturectl", "take", *map(str, arguments), log=name)
    child.name = name
    return child


def press(window, what, holds):
    """The button in the lower right corner, once it takes clicks; again if nothing comes of it."""
    def is_blue():
        red, _, blue = window.pixels()[-24, -22]
        return red < 100 and blue > 180
    def takes_clicks():
        # Its colour fades for a fifth of a second when it stops to take them.
        return not wait_until(lambda: not is_blue(), 0.5)
    def pressed():
        eventually("the button takes clicks", takes_clicks)
        window.click(window.width - 50, window.height - 32)
        return wait_until(holds, 60)
    eventually(what, pressed)


def complete(desktop, output):
    """How many outputs of a name are complete."""
    return len(re.findall(rf"output '{output}[.0-9]*' of session \d+ is complete", desktop.log("captured")))


def records(desktop):
    """Whether a movie has pictures and sound by now."""
    numbers = [row["id"] for row in json.loads(desktop.control("sessions", "--json")) if row["state"] == "running"]
    movies = [json.loads(desktop.control("status", str(number), "--json"))["statistics"]["outputs"].get("movie") for number in numbers]
    return any(movie and movie["frames"] and movie["samples"] for movie in movies)


def stands_still(window):
    """Looks at it for half a second."""
    before = window.pixels()
    for _ in range(4):
        time.sleep(0.125)
        if (window.pixels() != before).any():
            return False
    return True


def turn_on(desktop):
    """The window with its camera on. The button takes no clicks at first."""
    window = Window(desktop)
    press(window, "the camera is on", lambda: cameras(desktop) == ["running"])
    eventually("the camera's picture moves", lambda: not stands_still(window))
    return window


def takes(desktop, it, picture):
    """A photo and a movie; none; and a question that is taken back."""
    photo = desktop.folder / "window.jpg"
    asking = ask(desktop, photo)
    window = Window(desktop)
    it("the camera is off when the window comes", "running" not in cameras(desktop))
    window = turn_on(desktop)
    window.save(picture)
    press(window, "a photo is taken", lambda: complete(desktop, "photo") == 1)
    eventually("the photo stands still", lambda: stands_still(window))
    it("the program has nothing yet", not photo.exists() and asking.poll() is None)
    window.confirm()
    it("the photo is handed over", asking.wait(LIMIT) == 0 and photo.read_bytes()[:3] == b"\xff\xd8\xff",
       desktop.log(asking.name))
    eventually("the camera is off", lambda: "running" not in cameras(desktop))

    movie = desktop.folder / "window.mp4"
    asking = ask(desktop, movie)
    window = turn_on(desktop)
    press(window, "a movie is recorded", lambda: records(desktop))
    press(window, "the movie is at its end", lambda: complete(desktop, "movie") == 1)
    eventually("the picture stands still", lambda: stands_still(window))
    window.confirm()
    it("the movie is handed over", asking.wait(LIMIT) == 0, desktop.log(asking.name))
    kinds = probe(movie, "-show_entries", "stream=codec_type").split()
    it("with picture and sound", sorted(kinds) == ["audio", "video"], kinds)

    asking = ask(desktop, desktop.folder / "none.jpg")
    window = turn_on(desktop)
    window.end("Escape")
    it("escape declines", asking.wait(LIMIT) == 75 and not (desktop.folder / "none.jpg").exists(), desktop.log(asking.name))
    eventually("its camera is off", lambda: "running" not in cameras(desktop))
    asking = ask(desktop, desktop.folder / "none.jpg")
    window = turn_on(desktop)
    # The window's program takes no more pictures, and its pipe is soon full.
    os.kill(int(desktop.x("getwindowpid", window.id)), signal.SIGSTOP)
    eventually("the picture stands still", lambda: stands_still(window))
    desktop.stop(asking)
    window.gone()
    eventually("so is that of a program that left", lambda: "running" not in cameras(desktop))
