"""What CAPTURE_LOG shows: a start, an answer and a buffer can be followed in the daemon's lines, a call in capturectl's."""
import re, subprocess, time


def levels(daemon, folder, it):
    daemon.control("record", "--duration", "1", folder / "followed.mkv")
    session = "session 1"
    # In this order, whatever else is told between them.
    way = [r":1\.\d+ calls org\.capturekit\.Capture1\.Manager\.CreateSession of /org/capturekit/Capture1",
           r":1\.\d+ gets an answer for CreateSession", rf"{session} is authorizing",
           r"exe:\S*capturectl of user \d+ wants \[.*\]; decided: \[.*camera is authorized.*\]", rf"{session} is starting",
           rf"{session} opens synthetic:camera", r"ring of synthetic:camera: \d+ slots of \d+ bytes, 8 for readers",
           r"synthetic:camera is open: ", r"recorder of '\S+' in session 1: message=ready", r"synthetic:camera streams",
           rf"{session} is running", r"ring of synthetic:camera: slot \d+ is published: buffer \d+ of \d+ bytes, \d+ µs old",
           r"recorder of '\S+' in session 1: message=finished", rf"{session} leaves synthetic:camera, which 0 others use",
           r"synthetic:camera is closed"]
    # The device may be closed a moment after the recording's end was told.
    until = time.monotonic() + 60
    missing = way
    while missing and time.monotonic() < until:
        missing, rest = [], daemon.log(most=10_000_000)
        for step in way:
            found = re.search(step, rest)
            if not found:
                missing.append(step)
            else:
                rest = rest[found.end():]
        if missing:
            time.sleep(0.1)
    it("a recording can be followed from its call to its end", not missing, f"{missing}")

    def devices(levels):
        return subprocess.run([daemon.programs / "capturectl", "devices"], text=True, capture_output=True,
                              env={**daemon.environment, "CAPTURE_LOG": levels}, timeout=240)

    plain, told, wrong = devices(""), devices("bus=debug"), devices("bus=loud")
    drawn = devices("\x1b[31mred\nline")
    it("no text of others moves the cursor", "\x1b" not in drawn.stderr and drawn.stderr.count("\n") == 1, drawn.stderr)
    it("capturectl is silent without it", plain.returncode == 0 and not plain.stderr, plain.stderr)
    it("capturectl tells of its calls", told.returncode == 0 and told.stdout == plain.stdout
       and "calling org.capturekit.Capture1.Manager.ListDevices of " in told.stderr
       and "gave an answer for ListDevices" in told.stderr, told.stderr)
    it("a wrong level is told, and hinders nothing", wrong.returncode == 0 and wrong.stdout == plain.stdout
       and "CAPTURE_LOG: 'loud' is no level; there are: debug, trace, info" in wrong.stderr, wrong.stderr)


# What the daemon of this scene says.
levels.log = "debug,rings=trace"
