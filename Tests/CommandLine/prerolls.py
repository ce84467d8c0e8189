"""Movies that begin before somebody says so."""
import json, re, signal

from checks import wait_until
from segments import pictures
from terminal import Terminal
from terminals import run


def pre_roll(daemon, folder, it):
    options = ["--preset", "low", "--video-codec", "mjpeg", "--pre-roll", "1s"]
    output = lambda: json.loads(daemon.control("status", number, "--json"))["statistics"]["outputs"]["movie"]
    until = lambda holds: next(now for now in iter(output, None) if holds(now))
    # A slow camera leaves less to keep: then the recording is begun anew.
    number = None
    for _ in range(6):
        if number:
            daemon.control("stop", number)
        (folder / "goal.mkv").unlink(missing_ok=True)
        number = daemon.control("start", *options, folder / "goal.mkv").strip()
        kept = until(lambda now: now["duration"] > 0.8)
        it("it waits", kept["isWaiting"] and kept["frames"] == 0 and (folder / "goal.mkv").stat().st_size == 0, kept)
        it("status says so", ", waiting to be begun\n" in daemon.control("status", number), daemon.control("status", number))
        it("the camera is in use meanwhile", "camera" in daemon.control("status"), daemon.control("status"))
        _, _, messages = run(daemon, "begin", number)
        it("a beginning is told", messages == f"session {number}: movie has begun\n", messages)
        begun = until(lambda now: not now["isWaiting"] and now["frames"] > 0)
        if begun["frames"] >= 13:
            break
    it("the movie begins with what was before", begun["frames"] >= 13, begun)
    it("once more does nothing", run(daemon, "begin", number)[0] == 0)
    daemon.control("stop", number)
    it("it plays", pictures(folder / "goal.mkv") >= 13)
    status, _, messages = run(daemon, "begin", number)
    it("what is over cannot be begun", status == 75 and "not running" in messages, f"{status} {messages}")

    for _ in range(6):
        (folder / "typed.mkv").unlink(missing_ok=True)
        terminal = Terminal([daemon.programs / "capturectl", "record", *options, folder / "typed.mkv"],
                            {"TERM": "xterm", **daemon.environment})
        terminal.until("press Enter")
        terminal.until("waiting, 00:01.0 kept")
        it("no file is there", not (folder / "typed.mkv").exists())
        terminal.type("\n")
        wait_until((folder / "typed.mkv").exists)
        terminal.type("\x03")
        status, shown = terminal.end()
        if status or pictures(folder / "typed.mkv") >= 13:
            break
    it("Enter begins it", status == 0 and "typed.mkv: mkv" in shown and pictures(folder / "typed.mkv") >= 13, shown)
    child = daemon.start("record", *options, folder / "never.mkv")
    line = child.stderr.readline()
    it("without a terminal it says what to call", re.search(r"to record: capturectl begin \d+\n", line), line)
    child.send_signal(signal.SIGINT)
    _, messages = child.communicate(timeout=240)
    it("one that was never begun leaves nothing", child.returncode == 75 and "never begun" in messages and
       not (folder / "never.mkv").exists(), f"{child.returncode} {messages}")
    child = daemon.start("record", *options, "--segment", "1m", folder / "parts.mkv")
    number = re.search(r"capturectl begin (\d+)", child.stderr.readline())[1]
    status, _, messages = run(daemon, "cut", number)
    it("there is nothing to cut while it waits", status == 75 and "waits to be begun" in messages, f"{status} {messages}")
    child.send_signal(signal.SIGINT)
    _, messages = child.communicate(timeout=240)
    it("nor a file of several", child.returncode == 75 and not list(folder.glob("parts*")), f"{child.returncode} {messages}")

    child = daemon.start("record", *options, folder / "both.mkv")
    number = re.search(r"capturectl begin (\d+)", child.stderr.readline())[1]
    (folder / "both.mkv").write_text("mine")
    daemon.control("begin", number)
    wait_until((folder / "both-2.mkv").exists)
    child.send_signal(signal.SIGINT)
    _, messages = child.communicate(timeout=240)
    it("a name that was taken meanwhile loses nothing", child.returncode == 0 and "both-2.mkv: mkv" in messages and
       (folder / "both.mkv").read_text() == "mine" and pictures(folder / "both-2.mkv") > 0, f"{child.returncode} {messages}")
    number = daemon.control("start", *options, folder / "gone.mkv").strip()
    program = json.loads(daemon.control("auth", "whoami", "--json"))["program"]
    daemon.control("auth", "set", program, "camera", "denied")
    status, _, messages = run(daemon, "begin", number)
    it("after a withdrawal nothing that was kept comes into the file", status == 77 and
       (folder / "gone.mkv").stat().st_size == 0, f"{status} {messages}")
    daemon.control("auth", "set", program, "camera", "authorized")
    for arguments, status, word in [(["--pre-roll", "0", "x.mkv"], 64, "above 0"), (["--pre-roll", "1h", "x.mkv"], 64, "300"),
                                    (["--pre-roll", "1s", "x.flac"], 64, "movies"),
                                    (["--pre-roll", "10s", "-d", "5s", "x.mkv"], 64, "longer")]:
        found, _, messages = run(daemon, "record", *arguments, cwd=folder)
        it(f"{' '.join(arguments)} is refused, with what would be right", found == status and word in messages,
           f"{found} {messages}")
