"""What a person sees on terminals of several widths."""
import fcntl, json, os, pty, re, select, signal, struct, subprocess, termios, time, unicodedata

from checks import LIMIT, probe, wait_until
from terminal import Terminal

WIDTHS = [60, 80, 200]


def run(daemon, *arguments, env=None, **options):
    """A command's status, and what it says on standard output and standard error."""
    done = subprocess.run([daemon.programs / "capturectl", *map(str, arguments)], env={**daemon.environment, **(env or {})},
                          text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=120, **options)
    return done.returncode, done.stdout, done.stderr


def shown(daemon, columns, *arguments, env=None):
    """What a command shows on a terminal of so many columns, escapes included, and its exit code."""
    child, master = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execve(daemon.programs / "capturectl", ["capturectl", *map(str, arguments)],
                  {"TERM": "xterm", **daemon.environment, **(env or {})})
    text = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # The program has closed its side.
            break
        if not piece:
            break
        text += piece
    os.close(master)
    return text.decode().replace("\r\n", "\n"), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def width(line):
    """The columns that a line takes."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in line)


def widest(text):
    return max([width(line) for line in text.splitlines()], default=0)


def streams(daemon, folder, it):
    for command, size in [("frames", 1000000), ("listen", 100000), ("frames -f mjpeg", 10000), ("listen -f raw", 10000)]:
        done = subprocess.run(f"capturectl {command} | head -c {size} | wc -c; exit ${{PIPESTATUS[0]}}", shell=True, text=True,
                              executable="/bin/bash", capture_output=True, timeout=240,
                              env={**daemon.environment, "PATH": f"{daemon.programs}:{os.environ['PATH']}"})
        it(f"{command} delivers until its reader leaves", done.stdout.strip() == str(size), done.stdout)
        it("which ends it well, without a word", done.returncode == 0 and not done.stderr, f"{done.returncode} {done.stderr}")
    it("the daemon's journal calls no such session failed", "failed" not in daemon.log(), daemon.log())
    it("nor does the list of sessions", "failed" not in daemon.control("sessions", "--all"))


def progress(daemon, folder, it):
    for number, columns in enumerate(WIDTHS):
        # A busy machine may lose something, and tells it: then it is recorded again.
        for _ in range(6):
            text, status = shown(daemon, columns, "record", "-y", "-d", "1", folder / f"{number}.mkv")
            if status or " frames, 0 dropped\n" in text and "periods: 0 dropped" in text:
                break
        lines = re.split(r"\r\x1b\[K", text)
        it(f"progress is shown on {columns} columns, and fits", status == 0 and len(lines) > 2 and
           all(0 <= width(line) < columns for line in lines[:-1]) and " dropped  [" in text, text)
        it("the summary tells of drops, where there are none, too",
           " frames, 0 dropped\n" in text and "periods: 0 dropped" in text, text)
    for number, values in enumerate([{"TERM": "dumb"}, {"TERM": ""}]):
        text, status = shown(daemon, 80, "record", "-d", "0.5", folder / f"dumb.{number}.mkv", env=values)
        it(f"with {values} nothing is written over", status == 0 and "\x1b" not in text and "\r" not in text, text)
        it("and the summary comes all the same", re.search(r" frames, \d+ dropped( \(.*\))?\n", text), text)
    text, _ = shown(daemon, 80, "record", "-d", "0.5", folder / "plain.mkv", env={"NO_COLOR": "1"})
    it("with NO_COLOR there is no color", not re.search(r"\x1b\[[0-9;]*m", text), text)


def interrupts(daemon, folder, it):
    """A Ctrl-C at the very moment that a command begins to listen for it."""
    left = []
    for _ in range(20):
        child = subprocess.Popen([daemon.programs / "capturectl", "control", "--watch"], env=daemon.environment,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 # Who runs tests in the background has it ignored.
                                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        with open(f"/proc/{child.pid}/status", "rb", buffering=0) as status:
            # The mask of a program that runs already, not of the fork before it.
            end = time.monotonic() + LIMIT
            while child.poll() is None and time.monotonic() < end:
                status.seek(0)
                text = status.read()
                masks = re.findall(rb"^Sig(?:Ign|Cgt):\t(\w+)", text, re.M)
                if text.startswith(b"Name:\tcapturectl") and any(int(mask, 16) & 1 << signal.SIGINT - 1 for mask in masks):
                    break
        child.send_signal(signal.SIGINT)
        try:
            left.append(child.wait(LIMIT))
        except subprocess.TimeoutExpired:
            child.kill()
            left.append(f"it went on: {child.wait()}")
            break
    it("it ends each time", left == [0] * 20, left)
    hangup(daemon, folder, it)
    unread(daemon, folder, it)


def hangup(daemon, folder, it):
    """A terminal that is closed ends a recording, unless nohup started it."""
    for is_ignored in [False, True]:
        path = folder / f"hangup.{is_ignored}.mkv"
        length = 4 if is_ignored else 60
        for _ in range(6):
            path.unlink(missing_ok=True)
            child = subprocess.Popen([daemon.programs / "capturectl", "record", "-d", str(length), path],
                                     env=daemon.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL,
                                     preexec_fn=lambda: signal.signal(signal.SIGHUP,
                                                                      signal.SIG_IGN if is_ignored else signal.SIG_DFL))
            wait_until(lambda: path.exists() and path.stat().st_size)
            child.send_signal(signal.SIGHUP)
            status = child.wait(LIMIT)
            seconds = float(probe(path, "-show_entries", "format=duration") or 0)
            # A slow machine records less in the same time.
            if status or seconds > 3.8 or not is_ignored:
                break
        it("a hangup changes nothing under nohup" if is_ignored else "a hangup ends a recording well",
           status == 0 and (seconds > 3.8 if is_ignored else 0 < seconds < 59), f"{status} {seconds}")


def unread(daemon, folder, it):
    """A command that tells of changes ends when nobody reads them."""
    reader, writer = os.pipe()
    child = subprocess.Popen([daemon.programs / "capturectl", "monitor", "--json"], env=daemon.environment,
                             stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    os.close(reader)
    for number in range(1, 100):
        daemon.control("photo", folder / f"unread.{number}.jpg")
        if child.poll() is not None:
            break
    it("monitor ends at the first event that nobody reads", child.poll() == 0, child.poll())
    child.kill()
    it("and says nothing of it", not child.communicate()[1])


def previews(daemon, folder, it):
    """A camera on the terminal itself, each frame in the place of the one before."""
    begin, end = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
    for columns in WIDTHS:
        # A slow machine shows less in the same time.
        for _ in range(6):
            text, status = shown(daemon, columns, "preview", "--in", "terminal", "--pictures", "blocks", "--duration", "2",
                                 env={"COLORTERM": "truecolor"})
            if status or text.count("\x1b[?2026h") > 3:
                break
        it(f"a preview of two seconds has a screen of its own on {columns} columns", status == 0 and text.startswith(begin)
           and text.endswith(end), f"{status} {text[:80]!r} {text[-80:]!r}")
        frames = [part.split("\x1b[?2026l")[0].split("\x1b[H")[-1] for part in text.split("\x1b[?2026h")[1:]]
        it("each of its frames fits above the last row", len(frames) > 3 and all(
            0 < widest(re.sub(r"\x1b\[[0-9;]*m", "", frame)) <= columns and 1 < len(frame.splitlines()) <= 23
            for frame in frames), [frame[:200] for frame in frames])
        # The camera flashes at each whole second: one of the last frames may be white.
        it("it shows the bars", any(re.search(r"\x1b\[38;2;1[89]\d;1[89]\d;[0-9]m", frame) and
                                    re.search(r"\x1b\[38;2;[0-9];1[89]\d;1[89]\dm", frame) for frame in frames[-4:]),
           frames[-1][:400])
    preview = [daemon.programs / "capturectl", "preview", "--pictures"]
    terminal = Terminal([*preview, "blocks"], {"TERM": "xterm", **daemon.environment})
    terminal.until("▀")
    # A session that was held up is suspended for a moment.
    number = wait_until(lambda: next((one["id"] for one in json.loads(daemon.control("sessions", "--json"))
                                      if one["state"] == "running"), None), LIMIT)
    published = lambda: json.loads(daemon.control("status", str(number), "--json"))["statistics"]["inputs"]["camera"]["published"]

    def screens(frames):
        """How many screens come while the camera delivers so many frames."""
        begun = published()
        terminal.seen = len(terminal.shown)
        while published() < begun + frames:
            end = time.monotonic() + 0.3
            while (left := end - time.monotonic()) > 0 and select.select([terminal.master], [], [], left)[0]:
                terminal.more(timeout=1)
        return terminal.shown[terminal.seen:].count("\x1b[?2026h")
    _, _, messages = run(daemon, "disable", str(number), "camera")
    it("a preview can be disabled", messages.startswith(f"session {number}: camera is disabled for "), messages)
    # Frames of before may still be painted.
    any(not screens(15) for _ in range(10))
    count = screens(60)
    it("nothing new is shown then", count == 0, count)
    run(daemon, "enable", str(number), "camera")
    it("and enabled again", any(screens(30) > 3 for _ in range(10)))
    terminal.type("q")
    terminal.end()
    for way, sign in [("blocks", "\x1b[38;5;"), ("kitty", "\x1b_Ga=T,f=24,"), ("sixel", '\x1bP0;1;0q"1;1;320;')]:
        terminal = Terminal([*preview, way], {"TERM": "xterm", **daemon.environment})
        terminal.until(sign)
        terminal.type("q")
        status, text = terminal.end()
        it(f"{way} are shown until Q", status == 0 and text.endswith(end), f"{status} {text[-200:]!r}")
        if way == "kitty":
            it("kitty's image is taken off", "\x1b_Ga=d,d=I,i=1,q=2\x1b\\" in text[-60:], text[-200:])

    terminal = Terminal([*preview, "blocks"], {"TERM": "xterm", **daemon.environment})
    terminal.until("▀")
    terminal.type("xq")
    status, text = terminal.end()
    it("Q ends a preview, and no key is shown", status == 0 and text.endswith(end) and "xq" not in text, f"{status} {text[-200:]!r}")
    bus = daemon.running[0]
    bus.send_signal(signal.SIGSTOP)
    terminal = Terminal([*preview, "blocks"], {"TERM": "xterm", **daemon.environment})
    turned = wait_until(lambda: " socket:" in subprocess.run(["ls", "-l", f"/proc/{terminal.pid}/fd"], text=True,
                                                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
    terminal.type("\x03")
    terminal.until("^C")
    bus.send_signal(signal.SIGCONT)
    terminal.until("interrupted before anything was captured")
    status, text = terminal.end()
    it("Ctrl-C before there is a session ends a preview, too", turned and status == 75 and "▀" not in text,
       f"{turned} {status} {text[-200:]!r}")
    terminal = Terminal([*preview, "blocks"], {"TERM": "xterm", **daemon.environment})
    terminal.until("▀")
    program = json.loads(daemon.control("auth", "whoami", "--json"))["program"]
    daemon.control("auth", "set", program, "camera", "denied")
    status, text = terminal.end()
    daemon.control("auth", "set", program, "camera", "authorized")
    it("withdrawn, a preview exits 77 and leaves no picture", status == 77 and text.count(end) == 1 and
       "▀" not in text.split(end)[1] and "withdrawn" in text.split(end)[1], f"{status} {text[-300:]!r}")

    terminal = Terminal([*preview, "blocks"], {"TERM": "xterm", **daemon.environment})
    terminal.until("▀")
    daemon.control("switch", "camera", "off")
    terminal.until("\x1b[2J\x1b[Hno picture comes from the camera")
    daemon.control("switch", "camera", "on")
    terminal.until("▀")
    os.kill(terminal.pid, signal.SIGTERM)
    status, text = terminal.end()
    it("a suspended preview leaves no picture, and goes on", status == 0 and text.endswith(end), f"{status} {text[-200:]!r}")

    for option in [[], ["--in", "terminal"], ["--in", "window"]]:
        status, text, messages = run(daemon, "preview", *option)
        it(f"preview {' '.join(option)} with nothing to show it on is refused", status == 74 and not text and
           len(messages.splitlines()) == 1, f"{status} {messages}")
    it("and no session was left", wait_until(lambda: not json.loads(daemon.control("sessions", "--json"))),
       daemon.control("sessions"))


def sessions(daemon, folder, it):
    daemon.control("record", "--camera", "none", "--duration", "0.2", folder / "a.flac")
    it("a session that is over is not listed", "stopped" not in daemon.control("sessions"))
    _, _, messages = run(daemon, "sessions")
    it("which is said, with what lists it", "--all" in messages, messages)
    number = daemon.control("start", "--camera", "none", folder / "b.flac").strip()
    rows = lambda *options: [line.split()[:2] for line in daemon.control("sessions", *options).splitlines()[1:]]
    # A session that was held up is suspended for a moment.
    it("one that runs is", wait_until(lambda: rows() == [[number, "running"]]), rows())
    it("with --all those that are over come after it",
       wait_until(lambda: [row[1] for row in rows("--all")] == ["running", "stopped"]), rows("--all"))
    daemon.grows(number, "samples", output="sound")
    daemon.control("stop", number)


def pauses(daemon, folder, it):
    number = daemon.control("start", "--preset", "low", folder / "paused.mkv").strip()
    counters = lambda: json.loads(daemon.control("status", number, "--json"))["statistics"]
    published = lambda: counters()["inputs"]["camera"]["published"]
    output = lambda: counters()["outputs"]["movie"]
    until = lambda holds: next(now for now in iter(output, None) if holds(now))
    until(lambda now: now["frames"] > 0)
    _, _, messages = run(daemon, "pause", number)
    it("a pause says what is paused", messages == f"session {number}: movie is paused\n", messages)
    until(lambda now: now["isPaused"])
    it("status shows it", ", paused\n" in daemon.control("status", number), daemon.control("status", number))
    # Frames of before may still be on their way.
    for _ in range(10):
        before, begun = output(), published()
        wait_until(lambda: published() >= begun + 30, LIMIT)
        after = output()
        if after["frames"] <= before["frames"] + 5:
            break
    it("nothing is written meanwhile", after["frames"] <= before["frames"] + 5, f"{before} {after}")
    daemon.control("resume", number, "movie")
    until(lambda now: not now["isPaused"] and now["frames"] > after["frames"])
    _, _, messages = run(daemon, "mark", number, "a goal")
    it("a mark says what is marked", messages == f"session {number}: movie is marked\n", messages)
    daemon.control("stop", number)
    chapters = probe(folder / "paused.mkv", "-show_chapters", "-of", "default")
    it("a mark is a chapter", chapters.count("TAG:title=a goal") == 1, chapters)
    it("where it goes on is one, too, with the time", chapters.count("[CHAPTER]") == 2 and
       re.search(r"TAG:title=20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\n", chapters), chapters)
    status, _, messages = run(daemon, "mark", number)
    it("what is over cannot be marked", status == 75 and "not running" in messages, f"{status} {messages}")
    status, _, messages = run(daemon, "pause", number)
    it("what is over cannot be paused", status == 75 and "not running" in messages, f"{status} {messages}")
    number = daemon.control("start", "--camera", "none", folder / "c.flac").strip()
    status, _, messages = run(daemon, "pause", number, "film")
    it("an output that is not there is told, with those that are", status == 65 and "sound" in messages,
       f"{status} {messages}")
    status, _, messages = run(daemon, "mark", number)
    it("a sound that has no chapters cannot be marked", status == 65 and "m4a" in messages, f"{status} {messages}")
    daemon.grows(number, "samples", output="sound")
    daemon.control("stop", number)


def limits(daemon, folder, it):
    said = json.loads(daemon.control("record", "--preset", "low", "--max-size", "200K", "--json", folder / "small.mkv"))
    it("a recording ends before it is larger than it may be", said["reachedLimit"] == "file-size" and
       0 < said["bytes"] == (folder / "small.mkv").stat().st_size <= 200 * 1024, said)
    status, text, messages = run(daemon, "record", "--camera", "none", "--max-size", "64K", folder / "small.wav")
    it("and tells a person", status == 0 and "ended by its greatest size" in messages, f"{status} {text} {messages}")
    status, _, messages = run(daemon, "record", "--min-free", "1000000T", folder / "free.mkv")
    it("what the disk does not have free is told", status == 74 and " bytes free" in messages, f"{status} {messages}")
    it("and no file is left", not (folder / "free.mkv").exists())
    for kind, word in ("mp4", b"mfhd"), ("mkv", b"\x1f\x43\xb6\x75"):
        # A slow machine records less in the same time.
        for _ in range(6):
            counts = []
            for interval in "0.5", "4s":
                path = folder / f"fragments-{interval}.{kind}"
                daemon.control("record", "-y", "--preset", "low", "--video-codec", "h264", "--duration", "4.5",
                               "--fragment", interval, path)
                counts.append(path.read_bytes().count(word))
            if counts[0] >= 7 and counts[1] in (1, 2):
                break
        it(f"{kind}: fragments are as long as asked for", counts[0] >= 7 and counts[1] in (1, 2), counts)
    status, _, messages = run(daemon, "record", "--fragment", "31", folder / "long.mp4")
    it("no fragment is longer than half a minute", status == 64 and "0.1 s to 30 s" in messages, f"{status} {messages}")


def tags(daemon, folder, it):
    told = {"title": "First; lecture=1", "author": "Ann Ü", "location": "+48.1371+011.5754/", "software": "Dashcam 2.0"}
    options = [word for key, value in told.items() for word in ("--tag", f"{key}={value}")]
    names = {"mkv": ["title", "ARTIST", "LOCATION", "ENCODED_BY"],
             "mp4": [f"com.apple.quicktime.{name}" for name in ("title", "author", "location.ISO6709", "software")]}
    for kind in names:
        path = folder / f"tagged.{kind}"
        daemon.control("record", "--preset", "low", "--video-codec", "mjpeg", "--duration", "0.5", *options, path)
        said = json.loads(probe(path, "-show_format", "-of", "json"))["format"]["tags"]
        it(f"{kind}: it says its tags", [said.get(name) for name in names[kind]] == list(told.values()), said)
    for words, why in [(["title"], "no KEY=VALUE"), (["mood=good"], "title, description"), (["title="], "1 to 1000"),
                       (["title=a\udcff"], "not UTF-8"), (["title=a\nb"], "control"), (["location=here"], "ISO 6709"),
                       (["title=" + "x" * 1001], "1 to 1000")]:
        status, _, messages = run(daemon, "record", "--tag", *words, folder / "never.mkv")
        it(f"refused: {words[0][:20]}", status == 64 and why in messages, f"{status} {messages}")
    status, _, messages = run(daemon, "record", "--tag", "location=+48+011/", "--camera", "none", folder / "never.wav")
    it("a file is given no tag that it would not keep", status == 64 and "not kept by wav" in messages, f"{status} {messages}")


def controls(daemon, folder, it):
    told = folder / "told"
    with open(told, "w") as output:
        watch = subprocess.Popen(["timeout", "--foreground", "--signal=KILL", "60", daemon.programs / "capturectl", "control", "--watch", "zoom_absolute", "focus_absolute"],
                                 env=daemon.environment, stdout=output, stderr=subprocess.STDOUT)
    zoom = 100
    # It may not have begun to watch.
    while "zoom_absolute" not in told.read_text() and zoom < 400 and watch.poll() is None:
        zoom += 1
        daemon.control("control", f"zoom_absolute={zoom}")
    daemon.control("control", "focus_auto=off", "0x009a090a=100", "auto_exposure=manual mode")
    wait_until(lambda: "focus_absolute  100" in told.read_text() or watch.poll() is not None, LIMIT)
    watch.send_signal(signal.SIGINT)
    it("the watch ends well at Ctrl-C", watch.wait(30) == 0, told.read_text())
    lines = told.read_text().splitlines()
    it("what other settings do is not told", all("zoom" in line or "focus_absolute" in line for line in lines), lines)
    it("a change is told with its value", re.search(fr"^[0-9:]+  zoom_absolute  {zoom}$", "\n".join(lines), re.M), lines)
    it("and what is enabled is", any("focus_absolute  30" in line and "inactive" not in line for line in lines), lines)
    now = {one["name"]: one for one in json.loads(daemon.control("control", "--json"))}
    it("settings stay when capturectl is gone", now["zoom_absolute"]["value"] == zoom, now["zoom_absolute"])
    it("a setting is found by its label", now["exposure_auto"]["value"] == 1, now["exposure_auto"])
    status, _, messages = run(daemon, "control", "privacy=1")
    it("a shutter is only read", status == 65 and "can only be read" in messages, f"{status} {messages}")
    status, _, messages = run(daemon, "control", "--watch", "zoom_absolute=200")
    it("a watch changes nothing", status == 64 and "--watch" in messages, f"{status} {messages}")
    daemon.control("control", "--reset")
    it("a reset brings all back", all(one["value"] == one["default"] or "inactive" in one["flags"]
                                      for one in json.loads(daemon.control("control", "--json"))))


def connections(daemon, folder, it):
    number = daemon.control("start", "--preset", "low", folder / "disabled.mkv").strip()
    output = lambda: json.loads(daemon.control("status", number, "--json"))["statistics"]["outputs"]["movie"]
    until = lambda holds: next(now for now in iter(output, None) if holds(now))
    until(lambda now: now["frames"] > 0)
    _, _, messages = run(daemon, "disable", number, "microphone")
    it("what is disabled is told", messages == f"session {number}: microphone is disabled for movie\n", messages)
    it("status shows it", ", microphone disabled\n" in daemon.control("status", number))
    it("and in JSON", output()["disabledInputs"] == ["microphone"], output())
    it("the file goes on", until(lambda now, before=output(): now["samples"] > before["samples"] + 4800))
    daemon.control("enable", number, "microphone", "movie")
    it("it is enabled again", output()["disabledInputs"] == [], output())
    status, _, messages = run(daemon, "disable", number, "eyes")
    it("an input that is not there is told, with those that are", status == 65 and "camera" in messages, messages)
    status, _, messages = run(daemon, "enable", number, "camera", "film")
    it("so is an output", status == 65 and "'camera' to 'movie'" in messages, messages)
    daemon.control("stop", number)
    status, _, messages = run(daemon, "disable", number, "microphone")
    it("what is over has no connections", status == 75, f"{status} {messages}")


def bursts(daemon, folder, it):
    rows = json.loads(daemon.control("photo", "--preset", "low", "--burst", "3", "--json", folder / "a.jpg"))
    names = [folder / f"a-{number}.jpg" for number in (1, 2, 3)]
    it("a burst has a file for each picture", [row["file"] for row in rows] == [str(name) for name in names], rows)
    it("and its size", [row["bytes"] for row in rows] == [name.stat().st_size for name in names], rows)
    it("in the order of capture", sorted(row["taken"] for row in rows) == [row["taken"] for row in rows], rows)
    it("no other file is there", len(list(folder.glob("a*"))) == 3)
    daemon.control("photo", "--preset", "low", "--burst", "2", "--rotate", "90", folder / "t.jpg")
    turned = subprocess.run(["exiftool", "-n", "-s3", "-Orientation", folder / "t-2.jpg"], capture_output=True, text=True)
    it("a burst can be turned", turned.stdout.split()[:1] == ["6"], turned)
    status, _, messages = run(daemon, "photo", "--burst", "2", folder / "a.jpg")
    it("files that are there stay", status == 74 and "a-1.jpg exists" in messages, f"{status} {messages}")
    status, _, messages = run(daemon, "photo", "--burst", "17", folder / "b.jpg")
    it("too many are refused", status == 64 and "--burst" in messages, f"{status} {messages}")
    number = daemon.control("start", "--preset", "low", folder / "movie.mkv").strip()
    _, _, messages = run(daemon, "photo", "--session", number, "--burst", "2", "--format", "png", folder / "c.png")
    it("a burst of a session that records is told", "c-2.png: png, " in messages, messages)
    it("the session goes on", wait_until(lambda: "running" in daemon.control("sessions").splitlines()[1]),
       daemon.control("sessions"))
    daemon.grows(number)
    daemon.control("stop", number)
    status, _, messages = run(daemon, "photo", "--session", number, "--burst", "2", folder / "late.jpg")
    it("one that is over takes none", status == 75 and not list(folder.glob("late*")), f"{status} {messages}")


def raw(daemon, folder, it):
    """A sensor's own numbers as a DNG, in the finest Bayer format unless another is named."""
    def tags(name):
        done = subprocess.run(["exiftool", "-n", "-j", folder / name], capture_output=True, text=True)
        return json.loads(done.stdout or "[{}]")[0]
    _, facts, messages = run(daemon, "photo", "--json", folder / "raw.dng")
    found = tags("raw.dng")
    it("a DNG comes in the format with the most bits, at the largest size", found.get("FileType") == "DNG" and
       (found.get("ImageWidth"), found.get("ImageHeight"), found.get("BitsPerSample")) == (1920, 1080, 16), f"{found} {messages}")
    it("its facts name it", json.loads(facts or "{}").get("format") == "dng", facts)
    daemon.control("photo", "--video-format", "pRAA:640x480", "--rotate", "90", folder / "packed.dng")
    found = tags("packed.dng")
    it("or in the one that is named, turned by a tag", (found.get("ImageWidth"), found.get("Orientation")) == (640, 6) and
       "LinearizationTable" in found, found)
    daemon.control("photo", "--preset", "low", "--burst", "2", folder / "b.dng")
    it("a burst has several", [tags(f"b-{number}.dng").get("FileType") for number in [1, 2]] == ["DNG", "DNG"])
    allow_library(daemon)
    status, _, messages = run(daemon, "photo", "--preset", "low", "--format", "dng", "--to-library")
    listed = json.loads(daemon.control("library", "list", "--json"))
    found = next((asset for asset in listed if asset.get("mediaType") == "image/x-adobe-dng"), {})
    it("the library keeps one as what it is", status == 0 and found.get("name", "").endswith(".dng"), f"{messages} {listed}")
    status, _, messages = run(daemon, "photo", "--preset", "low", "--raw", "--to-library", "--name", "asked")
    listed = json.loads(daemon.control("library", "list", "--json"))
    it("--raw asks for one without a name's ending", status == 0 and
       [asset["codec"] for asset in listed if asset["name"].startswith("asked")] == ["dng"], f"{messages} {listed}")
    daemon.control("photo", "--preset", "low", "--raw", folder / "asked.DNG", "--with", folder / "asked.jpg")
    it("or with it, also of a pair", [tags(f"asked.{kind}").get("FileType") for kind in ("DNG", "jpg")] == ["DNG", "JPEG"])
    for words, why in [(["--raw", "no.jpg"], "name it no.dng"), (["--raw", "--format", "png", "no"], "not a png"),
                       (["--raw", "--to-library", "--name", "no.png"], "name it no.dng"),
                       (["--raw", "--live", "no.dng"], "not a dng"), (["--raw", "--depth", "no.dng"], "not dng")]:
        status, _, messages = run(daemon, "photo", *words, cwd=folder)
        it(f"refused: {' '.join(words)}", status == 64 and why in messages and not list(folder.glob("no*")), f"{status} {messages}")
    status, _, messages = run(daemon, "photo", "--camera", "synthetic:microphone", folder / "no.dng")
    it("a microphone takes none", status == 66 and "synthetic:microphone" in messages, messages)
    status, _, messages = run(daemon, "photo", "--video-format", "YUYV:640x480", folder / "no.dng")
    it("a camera's picture is no DNG", status == 65 and "YUYV" in messages and not (folder / "no.dng").exists(), messages)


def depth(daemon, folder, it):
    def distances(name):
        script = ("import sys; from PIL import Image; i = Image.open(sys.argv[1]); "
                  "print(*i.size, *[i.getpixel((x, 200)) for x in (0, 160, 319)], i.getpixel((5, 5)))")
        done = subprocess.run(["/usr/bin/python3", "-c", script, folder / name], env={**os.environ, "PYTHONHOME": "/usr"},
                              text=True, capture_output=True)
        return done.stdout.split() or done.stderr
    wall = ["320", "240", "500", "2500", "4487", "0"]
    daemon.control("photo", "--preset", "low", folder / "wall.tiff")
    it("a tiff has distances to the millimetre", distances("wall.tiff") == wall, distances("wall.tiff"))
    daemon.control("photo", "--preset", "low", "--depth", folder / "wall.png")
    it("so has a png", distances("wall.png") == wall, distances("wall.png"))
    status, _, messages = run(daemon, "photo", "--depth", folder / "wall.jpg")
    it("a jpeg has none", status == 64 and "png or tiff" in messages, f"{status} {messages}")
    status, _, messages = run(daemon, "photo", "--depth", "--camera", "synthetic:camera", folder / "no.png")
    it("a camera without distances says how to find one", status == 65 and "leave --camera out" in messages, messages)
    allow_library(daemon)
    daemon.control("photo", "--preset", "low", "--depth", "--to-library")
    kept = [one["mediaType"] for one in json.loads(daemon.control("library", "list", "--json"))]
    it("the library gets a png of them", "image/png" in kept, kept)
    status, _, messages = run(daemon, "photo", "--video-format", "YUYV:320x240", folder / "colours.tiff")
    it("colours are no distances", status == 65 and "jpeg or png" in messages, f"{status} {messages}")
    status, _, messages = run(daemon, "record", "--camera", "synthetic:depth", "--video-format", "Z16:320x240", "-d", "1", folder / "wall.mkv")
    it("distances are no movie, with what they can be", status == 65 and "png or tiff" in messages, f"{status} {messages}")


def connection_settings(daemon, folder, it):
    number = daemon.control("start", "--preset", "low", "--rotate", "90", "--mirror", "--channels", "2", "--gain", "-6",
                            folder / "turned.mp4").strip()
    status = lambda: json.loads(daemon.control("status", number, "--json"))
    output = lambda: status()["statistics"]["outputs"]["movie"]
    until = lambda holds: next(now for now in iter(output, None) if holds(now))
    levels = until(lambda now: now["frames"] > 0 and now["levels"])["levels"]
    it("levels are there for each channel that was chosen", len(levels) == 1 and -160 <= levels[0]["peak"] <= 0, levels)
    it("status shows the settings", ", rotated by 90 degrees, mirrored, channels 2, gain -6 dB\n" in
       daemon.control("status", number), daemon.control("status", number))
    _, _, messages = run(daemon, "adjust", number, "--gain", "-12.5")
    it("a gain is told", messages == f"session {number}: the gain of movie is -12.5 dB\n", messages)
    described = status()["outputs"][0]
    it("and in JSON", (described["gain"], described["rotation"], described["isMirrored"], described["channels"])
       == (-12.5, 90, True, [1]), described)
    photo = folder / "turned.jpg"
    daemon.control("photo", "--session", number, "--rotate", "270", photo)
    turned = subprocess.run(["exiftool", "-n", "-s3", "-Orientation", photo], capture_output=True, text=True)
    it("a photo of it is turned on its own", turned.stdout.split()[:1] == ["8"], turned)
    daemon.control("stop", number)
    wait_until(lambda: status()["state"] == "stopped", LIMIT)
    entries = "stream_side_data=displaymatrix:stream=channels"
    turned = json.loads(probe(folder / "turned.mp4", "-show_entries", entries, "-of", "json"))["streams"]
    it("the file has one channel", [stream["channels"] for stream in turned if "channels" in stream] == [1], turned)
    # Mirrored, then a quarter clockwise.
    rows = [[int(number) for number in row.split(":")[1].split()] for row in
            turned[0]["side_data_list"][0]["displaymatrix"].strip().splitlines()]
    it("and the matrix", (rows[0][:2], rows[1][:2]) == ([0, -65536], [-65536, 0]), rows)
    for wrong in (["--rotate", "45"], ["--channels", "0"], ["--channels", "1,1"], ["--gain", "41"]):
        status_, _, messages = run(daemon, "record", *wrong, folder / "wrong.mkv")
        it(f"{' '.join(wrong)} is out of range", status_ == 64 and wrong[0] in messages, messages)
    status_, _, messages = run(daemon, "record", "--duration", "1", "--channels", "3", "--camera", "none", folder / "wrong.flac")
    it("that a channel is not there is told", status_ == 65 and "has only 2 channels" in messages, messages)


def allow_library(daemon):
    program = json.loads(daemon.control("auth", "whoami", "--json"))["program"]
    daemon.give_reason("capturectl", program, "X-Capture-LibraryUsageDescription=Looks\n"
                       "X-Capture-LibraryAddUsageDescription=Adds\n")
    daemon.control("auth", "set", program, "library", "all")


def answered(look):
    """What a look returns once the bus answers in time: a slow machine's does not always."""
    while "the bus does not answer" in str(found := look()):
        pass
    return found


def tables(daemon, folder, it):
    allow_library(daemon)
    daemon.control("photo", folder / "a.jpg")
    daemon.control("library", "add", folder / "a.jpg")
    daemon.control("library", "album", "create", "A trip to the sea in spring, with everybody who had the time to come")
    daemon.control("record", "--duration", "0.3", folder / "a.mkv")
    number = daemon.control("start", folder / "b.mkv").strip()
    commands = [["devices"], ["formats"], ["sessions", "--all"], ["auth", "list"], ["auth", "status"], ["history"],
                ["control"], ["switch"], ["library", "list"], ["library", "album", "list"], ["library", "kept"]]
    for command in commands:
        name = " ".join(command)
        for columns in WIDTHS:
            text, status = shown(daemon, columns, *command)
            # A program's id stands above the table, whole: it is as long as its path.
            text = text.removeprefix(f"exe:{daemon.programs / 'capturectl'}")
            it(f"{name} fits {columns} columns", status == 0 and widest(text) <= columns, f"{status}\n{text}")
        if command[0] in ("switch", "formats") or command[:2] == ["auth", "status"]:
            continue
        # A use that goes on has lasted longer meanwhile, and one that was held up was suspended for a moment.
        steady = re.compile(r"[0-9:]+\.[0-9]")
        for _ in range(10):
            whole = answered(lambda: run(daemon, *command)[1:])[0]
            text, _ = answered(lambda: shown(daemon, 60, *command, "--wide"))
            if steady.sub("", whole) in steady.sub("", text):
                break
        it(f"{name} is whole where there is no terminal", "…" not in whole, whole)
        it(f"{name} --wide shows the same on a terminal", steady.sub("", whole) in steady.sub("", text), whole + text)
    for columns in WIDTHS:
        for _ in range(20):
            text, _ = shown(daemon, columns, "status")
            rows = re.sub(r"^captured .*?\n\n", "", text, flags=re.S)
            if "running" in rows:
                break
        it(f"the tables of status fit {columns} columns", widest(rows) <= columns, text)
        it(f"and status lists the running session at {columns} columns", "running" in rows, text)
    text, _ = shown(daemon, 60, "auth", "list")
    it("a program's id that is cut is told, with what shows it whole", "…" in text and "--wide" in text, text)
    text, _ = shown(daemon, 80, "formats", "synthetic:camera")
    it("the formats of a camera fit one screen", len(text.splitlines()) <= 24 and "1920x1080" in text, text)
    daemon.grows(number)
    daemon.control("stop", number)


def settings(daemon, folder, it):
    """A person looks through a program's answers and changes them."""
    child, master = pty.fork()
    if child == 0:
        os.execve(daemon.programs / "capturectl", ["capturectl", "auth", "settings", "exe:/bin/cat"],
                  {"TERM": "xterm", **daemon.environment})
    text = ""

    def until(end, typed):
        nonlocal text
        piece = ""
        while end not in piece:
            piece += os.read(master, 65536).decode()
        text += piece
        os.write(master, f"{typed}\n".encode())
        return piece

    which = "or Enter to leave: "
    first = until(which, "1")
    it("it shows each service", all(name in first for name in ["camera", "microphone", "library-add", "library-read-write"]), first)
    until("or Enter to leave it: ", "denied")
    it("a no is stored and shown", re.search(r"1 +camera +denied", until(which, "9")), text)
    it("a number that is not there is told", "there is no 9 in the list" in until(which, "1"), text)
    until("or Enter to leave it: ", "perhaps")
    it("an answer that is not there is told", "no answer 'perhaps'; choose one of authorized, denied, forget" in until(which, "1"), text)
    until("or Enter to leave it: ", "forget")
    it("a no is forgotten", re.search(r"1 +camera +not ?determined", until(which, ""), re.I), text)
    it("it ends well", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, text)
    os.close(master)
    status, _, said = run(daemon, "auth", "settings", "exe:/bin/cat")
    it("without a terminal it says what to use", status == 64 and "auth set" in said, said)


def kinds(daemon, folder, it):
    """Devices by kind, type and position."""
    def ids(*options):
        status, said, complaints = run(daemon, "devices", "--json", *options)
        return status, [device["id"] for device in json.loads(said or "[]")]

    table = run(daemon, "devices")[1]
    it("a depth camera is told from others", [line.split("  ")[0] for line in table.splitlines() if "synthetic:depth" in line] ==
       ["depth camera"], table)
    it("cameras alone", ids("--kind", "camera", "--type", "synthetic") == (0, ["synthetic:camera", "synthetic:depth"]), ids("--kind", "camera"))
    it("microphones alone", ids("--kind", "microphone", "--type", "synthetic") == (0, ["synthetic:microphone"]))
    it("the position is unknown", ids("--type", "synthetic", "--position", "front") == (0, []))
    status, said, complaints = run(daemon, "devices", "--type", "synthetic", "--position", "back")
    it("none is told", status == 0 and not said and "no device matches" in complaints, complaints)
    status, _, complaints = run(daemon, "devices", "--type", "loud")
    it("an unknown type names the known ones", status == 64 and "capture-card" in complaints, complaints)
    number = re.search(r"\d+", daemon.control("start", "--microphone", "none", "--camera", "synthetic:camera", folder / "a.mkv")).group()
    _, said, _ = run(daemon, "devices", "--type", "synthetic")
    it("a device in use is shown so", re.search(r"^camera .*in use", said, re.M) and not re.search(r"^micro.*in use", said, re.M), said)
    daemon.grows(number, "frames")
    daemon.control("stop", number)
    _, said, _ = run(daemon, "devices", "--type", "synthetic")
    it("and then no more", "in use" not in said, said)
