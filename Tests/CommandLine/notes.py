"""Notes in a movie: values that programs tell while it records."""
import fcntl, json, signal, struct, subprocess, termios

from checks import wait_until
from terminals import run


def texts(path):
    """The notes of a movie, by ffmpeg."""
    lines = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-map", "0:s", "-f", "srt", "-"], text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    return [json.loads(line) for line in lines if line.startswith("{") and "captured" not in line]


def notes(daemon, folder, it):
    options = ["--preset", "low", "--video-codec", "mjpeg"]
    for kind in ["mkv", "mp4"]:
        number = daemon.control("start", *options, "--metadata", folder / f"drive.{kind}").strip()
        output = lambda: json.loads(daemon.control("status", number, "--json"))["statistics"]["outputs"]["movie"]
        next(now for now in iter(output, None) if now["frames"] > 0)
        _, _, messages = run(daemon, "note", number, "speed=12.5", "gear=3", "place=a \"b\"\u202e", "lights=true",
                             "path=C:\\new {x} <b>",
                             "list=[1, \"x\"]", "--position", "48.137,11.575,519")
        it(f"{kind}: a note is told", messages == f"session {number}: noted in movie\n", messages)
        lines = '{"n": 1, "deep": {"er": [true, -2.5]}}\n\nn=2 word=two\n'
        done = subprocess.run([daemon.programs / "capturectl", "note", number, "-"], input=lines, text=True,
                              env=daemon.environment, stderr=subprocess.PIPE)
        it(f"{kind}: lines are notes", done.returncode == 0 and not done.stderr, done.stderr)
        counted = next(now for now in iter(output, None) if now["items"] == 3)
        it(f"{kind}: status counts them", counted["items"] == 3, counted)
        daemon.control("pause", number)
        next(now for now in iter(output, None) if now["isPaused"])
        status, _, messages = run(daemon, "note", number, "lost=1")
        it(f"{kind}: a pause takes none, and says so", status == 75 and "resume it first" in messages, f"{status} {messages}")
        lines = subprocess.Popen([daemon.programs / "capturectl", "note", number, "-"], stdin=subprocess.PIPE, text=True,
                                 env=daemon.environment, stderr=subprocess.PIPE)
        lines.stdin.write("\n")
        lines.stdin.flush()
        # It reads once it listens for the end.
        left = lambda: struct.unpack("i", fcntl.ioctl(lines.stdin, termios.FIONREAD, bytes(4)))[0]
        assert wait_until(lambda: not left()), "note does not read"
        daemon.control("stop", number)
        it(f"{kind}: it hears of the end", lines.wait(60) == 75 and "has ended, and takes no more" in lines.stderr.read())
        wanted = [{"gear": 3, "lights": True, "list": [1, "x"], "place": "a \"b\"\u202e", "speed": 12.5,
                   "path": "C:\\new {x} <b>",
                   "position": {"latitude": 48.137, "longitude": 11.575, "altitude": 519}},
                  {"n": 1, "deep": {"er": [True, -2.5]}}, {"n": 2, "word": "two"}]
        it(f"{kind}: they are in the movie", texts(folder / f"drive.{kind}") == wanted, texts(folder / f"drive.{kind}"))
    child = daemon.start("record", "--json", *options, "--metadata", folder / "told.mov")
    sessions = lambda: [one["id"] for one in json.loads(daemon.control("sessions", "--json")) if one["state"] == "running"]
    number = str(next(ids[0] for ids in iter(sessions, None) if ids))
    daemon.grows(number)
    run(daemon, "note", number, "goal=1")
    child.send_signal(signal.SIGINT)
    told = json.loads(child.communicate(timeout=240)[0])
    it("record tells how many there are", told["items"] == 1 and texts(folder / "told.mov") == [{"goal": 1}], told)

    number = daemon.control("start", *options, "--metadata", folder / "wrong.mkv").strip()
    daemon.grows(number)
    for words, code, why in [
        ([], 64, "nothing to note"), (["speed"], 64, "'speed' is no KEY=VALUE"), (["a=1", "a=2"], 64, "'a' is there twice"),
        (["--position", "91,0"], 64, "-90 to 90"), (["--position", "here"], 64, "is no place"),
        (["--position", "1, 2,inf"], 64, "altitude of inf"), (["-", "a=1"], 64, "stands alone"), (["a={"], 64, "is no JSON"),
        (["a=" + "x" * 5000], 65, "at most 4096"), (["a=1", "--output", "other"], 65, "no output 'other'"),
    ]:
        status, _, messages = run(daemon, "note", number, *words)
        it(f"refused: {' '.join(words)[:20]}", status == code and why in messages, f"{status} {messages}")
    done = subprocess.run([daemon.programs / "capturectl", "note", number, "-"], input="a=1\nb\n", text=True,
                          env=daemon.environment, stderr=subprocess.PIPE)
    it("a wrong line is told by its number", done.returncode == 65 and "line 2: 'b' is no KEY=VALUE" in done.stderr,
       f"{done.returncode} {done.stderr}")
    daemon.control("stop", number)
    status, _, messages = run(daemon, "note", number, "late=1")
    it("what is over takes none", status == 75, f"{status} {messages}")
    number = daemon.control("start", *options, folder / "without.mkv").strip()
    status, _, messages = run(daemon, "note", number, "a=1")
    it("a movie without the track says what to do", status == 65 and "give --metadata" in messages, f"{status} {messages}")
    daemon.grows(number)
    daemon.control("stop", number)
    status, _, messages = run(daemon, "record", "--metadata", folder / "sound.wav")
    it("sound has none", status == 64 and "for movies" in messages, f"{status} {messages}")
