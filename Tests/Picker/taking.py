"""A person at a terminal takes photos and movies for programs: `capturectl take`."""
import json, os, signal, subprocess, termios

from checks import probe, wait_until
from json_schema import faults, load


def streams(path):
    told = json.loads(probe(path, "-show_entries", "stream=codec_type:format=duration", "-of", "json"))
    return sorted(one["codec_type"] for one in told["streams"]), float(told["format"]["duration"])


def history(scene, **want):
    rows = json.loads(scene.daemon.control("history", "--json"))
    return [row for row in rows if all(str(row.get(key)) == value for key, value in want.items())]


def in_use(scene, service="camera"):
    return service in [use["service"] for use in json.loads(scene.daemon.control("status", "--json"))["uses"]
                        if "ended" not in use]


def frames(scene):
    """How many frames the movie of the newest session has."""
    newest = max(int(one["id"]) for one in json.loads(scene.daemon.control("sessions", "--json")))
    told = json.loads(scene.daemon.control("status", str(newest), "--json"))
    return told["statistics"]["outputs"].get("movie", {}).get("frames", 0)


def photos(scene, it):
    """A photo for a program that was refused the camera."""
    scene.daemon.control("auth", "set", scene.program, "camera", "denied")
    photo = scene.folder / "taken.jpg"
    terminal = scene.run("take", "--json", photo)
    opening = terminal.until("q declines.")
    it("it says who asks, and for what", "“capturectl” asks you to take a photo" in opening and "Not verified: " in opening, opening)
    it("the camera is off until the person turns it on", not in_use(scene))
    terminal.type("w")
    terminal.until("program: " + scene.program)
    terminal.type("\n")
    terminal.until("Enter takes the photo")
    it("then it is the program's use", in_use(scene))
    terminal.type("\n")
    terminal.until("hands it over")
    terminal.type("r")
    terminal.until("Enter takes the photo")
    # Only what is typed at sight of a line is an answer to it.
    terminal.type("\n\n\n")
    terminal.until("The photo was taken.")
    it("an Enter too many hands nothing over", not photo.exists())
    terminal.until("hands it over")
    terminal.type("r")
    terminal.until("Enter takes the photo")
    terminal.type("\n")
    terminal.until("hands it over")
    it("there is no file before it is handed over", not photo.exists())
    terminal.type("\n")
    code, said = terminal.end()
    answer = json.loads(said[said.rindex("{\n"):said.rindex("}") + 1])
    it("the photo is handed over", code == 0 and photo.read_bytes()[:3] == b"\xff\xd8\xff", f"{code} {said}")
    it("JSON tells of it", not faults(answer, load("take.json")) and answer["size"] == photo.stat().st_size, answer)
    assert wait_until(lambda: not in_use(scene)), "the camera is still in use"
    it("the program's consent is as it was",
       json.loads(scene.daemon.control("auth", "status", "--json"))["statuses"]["camera"] == "denied",
       scene.daemon.control("auth", "status", "--json"))
    it("the history has the use", history(scene, cause="taking", service="camera", outcome="stopped"),
       scene.daemon.control("history", "--json")[:2000])
    it("and what it came to", history(scene, cause="taken", status="authorized"))
    it("the library does not have it", not list((scene.folder / "state").rglob("photo-*")), list((scene.folder / "state").rglob("photo-*")))

    for keys in ["q", "\x03"]:
        terminal = scene.run("take", scene.folder / "none.jpg")
        terminal.until("q declines.")
        terminal.type("\n")
        terminal.until("Enter takes the photo")
        terminal.type(keys)
        code, said = terminal.end()
        it(f"{keys!r} declines, and leaves nothing", code == 75 and not (scene.folder / "none.jpg").exists(), f"{code} {said}")
        # What is declined would count among the questions that come to nothing.
        terminal = scene.run("take", scene.folder / "more.jpg", "--overwrite")
        terminal.until("q declines.")
        terminal.type("\n")
        terminal.until("Enter takes the photo")
        terminal.type("\n")
        terminal.until("hands it over")
        terminal.type("\n")
        terminal.end()
    for words, why in [(["a.png"], "ends neither in .jpg"), (["--duration", "5s", "a.jpg"], "--duration is for movies"),
                       (["--duration", "2h", "a.mp4"], "must be 1s to 1h")]:
        asking = scene.start("take", *words)
        said = asking.communicate()[1]
        it(f"refused: {' '.join(words)}", asking.returncode == 64 and why in said, f"{asking.returncode} {said}")


def movies(scene, it):
    """With sound and without, ended by the person and by itself."""
    def take(name, *options, ends=True):
        terminal = scene.run("take", *options, scene.folder / name)
        terminal.until("q declines.")
        terminal.type("\n")
        terminal.until("Enter begins the movie")
        terminal.type("\n")
        terminal.until("Enter ends the movie")
        if ends:
            assert wait_until(lambda: frames(scene) > 20), "the movie does not grow"
            terminal.type("\n")
        terminal.until("hands it over")
        terminal.type("\n")
        code, said = terminal.end()
        it(f"{name} is handed over", code == 0, said)
        return streams(scene.folder / name)

    kinds, length = take("loud.mp4")
    it("it is not used after that", wait_until(lambda: not in_use(scene)))
    it("a movie has sound", kinds == ["audio", "video"] and length > 0.5, f"{kinds} {length}")
    # A slow machine records less in the same time.
    for _ in range(6):
        (scene.folder / "short.mp4").unlink(missing_ok=True)
        kinds, length = take("short.mp4", "--duration", "1s", ends=False)
        if length >= 0.8:
            break
    it("it ends by itself", kinds == ["audio", "video"] and 0.8 <= length <= 1.2, f"{kinds} {length}")
    terminal = scene.run("take", "--duration", "1s", scene.folder / "second.mp4")
    it("it says that it is with sound", "a movie with sound" in terminal.until("q declines."))
    for keys, shown in [("\n", "Enter begins the movie"), ("\n", "hands it over"), ("r", "Enter begins the movie"),
                        ("\n", "hands it over")]:
        terminal.type(keys)
        terminal.until(shown)
    it("the microphone is off when the movie is at its end", in_use(scene) and not in_use(scene, "microphone"))
    terminal.type("\n")
    code, said = terminal.end()
    it("another one can be taken", code == 0 and streams(scene.folder / "second.mp4")[0] == ["audio", "video"], said)

    terminal = scene.run("take", scene.folder / "broken.mp4")
    for keys, shown in [("", "q declines."), ("\n", "Enter begins the movie"), ("\n", "Enter ends the movie")]:
        terminal.type(keys)
        terminal.until(shown)
    assert wait_until(lambda: frames(scene) > 60), "the movie does not grow"
    recorders = subprocess.run(["pgrep", "-P", str(scene.daemon.running[-1].pid), "-f", "captured-recorder"],
                               stdout=subprocess.PIPE, text=True).stdout.split()
    for recorder in recorders:
        os.kill(int(recorder), signal.SIGKILL)
    told = terminal.until("q declines")
    it("it is told of a recorder that dies", "Not all of it was recorded" in told or "over" in told, told)
    terminal.type("q")
    terminal.end()
    scene.daemon.control("switch", "microphone", "off")
    kinds, length = take("silent.mp4")
    it("it has none while microphones are off", kinds == ["video"], kinds)
    scene.daemon.control("switch", "microphone", "on")


def ends(scene, it):
    """Without the camera, and by what goes away."""
    scene.daemon.control("switch", "camera", "off")
    asking = scene.start("take", scene.folder / "never.jpg")
    it("nobody is asked while cameras are off", asking.wait(60) == 77, asking.communicate())
    scene.daemon.control("switch", "camera", "on")
    terminal = scene.run("take", scene.folder / "never.jpg")
    terminal.until("q declines.")
    terminal.type("\n")
    terminal.until("Enter takes the photo")
    scene.daemon.control("switch", "camera", "off")
    code, said = terminal.end()
    it("it ends when they are turned off, and says why", code == 75 and "switched off" in said, f"{code} {said}")
    scene.daemon.control("switch", "camera", "on")

    agent = scene.run("agent", "--pictures", "none")
    agent.until("asking for consent here")
    asking = scene.start("take", scene.folder / "never.jpg")
    agent.until("q declines.")
    agent.type("\n")
    agent.until("Enter takes the photo")
    it("the agent's camera is on", in_use(scene))
    for cookie in ["", "0123456789abcdef0123456789abcdef"]:
        done = subprocess.run(["busctl", "--user", "call", "org.capturekit.Capture1", "/org/capturekit/Capture1",
                               "org.capturekit.Capture1.Manager", "CreateSession", "a{sv}a{ss}", "1", "question", "s", cookie,
                               "0"], env=scene.daemon.environment, text=True, capture_output=True)
        it(f"a session for the question {cookie!r} is refused", done.returncode != 0 and "no such question" in done.stderr,
           done.stderr)
    shown = scene.daemon.control("sessions", "--json") + subprocess.run(
        ["busctl", "--user", "tree", "org.capturekit.Capture1"], env=scene.daemon.environment, text=True,
        capture_output=True).stdout
    it("nobody is shown the question's cookie", "question" not in shown, shown)
    asking.kill()
    asking.communicate()
    agent.until("withdrawn")
    assert wait_until(lambda: not in_use(scene)), "the camera is still in use"
    asking = scene.start("take", scene.folder / "agents.jpg")
    for words in ["q declines.", "Enter takes the photo", "hands it over"]:
        agent.until(words)
        agent.type("\n")
    it("an agent takes it for a program without a terminal", asking.wait(60) == 0 and
       (scene.folder / "agents.jpg").stat().st_size > 1000, asking.communicate())
    agent.type("\x03")
    code, said = agent.end()
    it("the agent ends well", code == 0, said[-300:])
    it("nothing was left", not (scene.folder / "never.jpg").exists())


def is_ended(scene, it):
    """By a signal, with the terminal as it was."""
    terminal = scene.run("take", "--pictures", "sixel", scene.folder / "never.jpg", term="xterm")
    terminal.until("q declines.")
    terminal.type("\n")
    terminal.until("\x1b[?1049h")
    terminal.until("Enter takes the photo")
    os.kill(terminal.pid, signal.SIGTERM)
    modes = lambda: termios.tcgetattr(terminal.master)[3]
    terminal.until("\x1b[?1049l")
    assert wait_until(lambda: modes() & termios.ICANON and modes() & termios.ECHO and modes() & termios.ISIG), \
        "the terminal is not as it was"
    code, said = terminal.end()
    it("a signal ends it", code == 75 and not (scene.folder / "never.jpg").exists(), f"{code} {said[-300:]}")


def shows_pictures(scene, it):
    """The camera's picture on a terminal, and the line below it."""
    terminal = scene.run("take", "--pictures", "sixel", scene.folder / "seen.jpg", term="xterm")
    terminal.until("q declines.")
    terminal.type("\n")
    terminal.until("\x1b[?1049h")
    terminal.until("Enter takes the photo")
    terminal.until("\x1bP")
    terminal.type("\n")
    terminal.until("hands it over")
    terminal.type("\n")
    code, said = terminal.end()
    it("the picture is shown, and the terminal is as it was", code == 0 and "\x1b[?1049l" in said, said[-300:])


def takes(scene, it):
    photos(scene, it)
    movies(scene, it)
    ends(scene, it)
    shows_pictures(scene, it)
    is_ended(scene, it)
