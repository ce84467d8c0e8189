"""The programs of docs/dbus.md, as they stand there: each does what the page says."""
import os, re, subprocess, time
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/dbus.md"
# The interpreter that has what the programs import. A copy of it is a program of its own.
INTERPRETER = Path("/usr/bin/python3").resolve()
LIMIT = 240


def programs():
    """The page's programs, by their headings."""
    parts = re.split(r"^## (.*)$", PAGE.read_text(), flags=re.M)
    found = {}
    for heading, text in zip(parts[1::2], parts[2::2]):
        if blocks := re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S):
            found[heading] = blocks[0]
    return found


class Run:
    """A program as a process of its own, whose output can be waited for."""

    def __init__(self, daemon, name, text, *arguments):
        folder = daemon.folder / "programs"
        folder.mkdir(exist_ok=True)
        path = folder / name
        if not path.exists():
            subprocess.run(["cp", INTERPRETER, path], check=True)
        self.said = path.with_suffix(".said")
        with open(self.said, "wb") as output:
            self.process = subprocess.Popen([path, "-c", text, *map(str, arguments)], stdin=subprocess.PIPE,
                                            stdout=output, stderr=output, start_new_session=True,
                                            env={**daemon.environment, "PYTHONHOME": "/usr", "PYTHONUNBUFFERED": "1"})
        self.id = f"exe:{path}"

    def until(self, text):
        end = time.monotonic() + LIMIT
        while text not in (shown := self.said.read_text(errors="replace")):
            if time.monotonic() > end or self.process.poll() is not None and text not in self.said.read_text():
                raise AssertionError(f"{text!r} was never printed:\n{shown[-1500:]}")
            time.sleep(0.05)

    def type(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def end(self):
        """Its exit status and all that it printed."""
        status = self.process.wait(LIMIT)
        return status, self.said.read_text(errors="replace")

    def kill(self):
        self.process.terminate()
        self.process.wait()


def tried(daemon, it):
    """Runs each program with a daemon that has synthetic devices."""
    texts = programs()
    it("docs/dbus.md has a program of each kind", len(texts) == 6, list(texts))
    one = lambda name, heading, *arguments: Run(daemon, name, texts[heading], *arguments)

    status, said = one("version", "Read a property").end()
    it("the property is read", status == 0 and re.fullmatch(r"captured \d\S*\n", said), f"{status} {said}")
    status, said = one("devices", "Call a method").end()
    it("the method is called", status == 0 and "video synthetic:camera Synthetic Camera" in said, f"{status} {said}")

    indicator = one("indicator", "Receive a signal")
    indicator.until("in use: ")
    daemon.control("photo", daemon.folder / "signal.jpg")
    status, said = indicator.end()
    it("the signal is received", status == 0 and said.endswith("uses the camera\n"), f"{status} {said}")

    agent = one("agent", "Ask the person")
    try:
        agent.until("waiting for questions")
        asking = one("asks", "Say why, and ask")
        agent.until("allow the camera?")
        agent.type("n\n")
        status, said = asking.end()
        it("a no is reported", status == 0 and said.startswith("Denied: "), f"{status} {said}")
        it("the agent shows the reason", "asks (claimed) says: Shows what the camera sees" in agent.said.read_text(),
           agent.said.read_text())
        movie = daemon.folder / "dbus.mkv"
        recording = one("records", "Record", movie)
        agent.until("Records two seconds into a file of yours")
        agent.type("y\n")
        status, said = recording.end()
        it("the session records", status == 0 and re.fullmatch(r"\d+ frames\n", said) and movie.stat().st_size > 10000,
           f"{status} {said}")
        status, said = one("asks", "Say why, and ask").end()
        it("an answer is not asked for again", status == 0 and said.startswith("Denied: "), f"{status} {said}")
    finally:
        agent.kill()
    daemon.control("auth", "set", recording.id, "camera", "denied")
    status, said = one("records", "Record", daemon.folder / "none.mkv").end()
    it("a refused start is reported", status == 0 and "denied" in said, f"{status} {said}")
