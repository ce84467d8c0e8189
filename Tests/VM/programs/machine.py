"""Alice at her machine: what is shown to her, what captured has in its history, and the programs that she starts."""
import array, json, os, re, signal, subprocess, threading, time
from pathlib import Path

from catalogue import HOME, SECOND

LIMIT = 240


def wait_until(holds, seconds=LIMIT):
    """Waits for a condition: what it returned last."""
    until = time.monotonic() + seconds
    while not (found := holds()) and time.monotonic() < until:
        time.sleep(0.05)
    return found


class Machine:
    """As a context manager: with a desktop that shows dialogs."""

    def __init__(self, node, size, scope, become):
        self.node, self.size, self.scope, self.become, self.questions = node, size, scope, become, []

    def __enter__(self):
        self.desktop = self.start(["/usr/bin/python3", Path(__file__).with_name("desktop.py")], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        if self.desktop.stdout.readline() != "ready\n":
            raise RuntimeError("there is no desktop")
        threading.Thread(target=self.read, daemon=True).start()
        self.start(["systemctl", "--user", "start", "captured-agent"]).wait()
        if not wait_until(lambda: json.loads(self.control("auth", "agents", "--json"))):
            raise RuntimeError("there is no agent")
        return self

    def __exit__(self, *_):
        self.desktop.stdin.close()
        self.desktop.wait()

    def read(self):
        for line in self.desktop.stdout:
            self.questions.append(json.loads(line))

    def reply(self, question, word):
        self.desktop.stdin.write(f"{question['number']} {word}\n")
        self.desktop.stdin.flush()

    def start(self, words, **streams):
        """As alice, in her session."""
        def join():
            Path(self.scope, "cgroup.procs").write_text(str(os.getpid()))

        return subprocess.Popen([*self.become, *map(str, words)], text=True, preexec_fn=join, start_new_session=True,
                                **{"stdin": subprocess.DEVNULL, **streams})

    def control(self, *words):
        done = subprocess.run(["capturectl", *words], text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=LIMIT)
        if done.returncode:
            raise RuntimeError(f"capturectl {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def withdraw(self, program):
        """She does it herself, for which she needs nobody's permission."""
        child = self.start(["capturectl", "auth", "set", program.identity, program.service, "denied"],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = child.communicate()[0]
        if child.returncode:
            raise RuntimeError(said)

    def answer(self, program, status):
        """What is stored; without a status nothing."""
        words = ["set"] if status else ["reset"]
        self.control("auth", *words, "--user", "alice", program.identity, program.service, *([status] if status else []))

    def history(self, program):
        """Its entries. One that is repeated has the same number, and another count."""
        found = json.loads(self.control("history", "--user", "alice", "--program", program.identity, "--service",
                                        program.service, "--json"))
        return {(each["id"], each["times"]): each for each in found}


class Run:
    """A program that was started."""

    def __init__(self, machine, program, name=""):
        self.program, self.size = program, machine.size
        plain = f"{program.name}{name}".replace(" ", "-")
        self.output, self.log = Path(HOME, f"{plain}.out"), Path(HOME, f"{plain}.said")
        self.output.unlink(missing_ok=True)
        given = {"@": machine.node, "#": str(self.output), "%w": str(self.size[0]), "%h": str(self.size[1])}
        words = [re.sub("@|#|%[wh]", lambda at: given[at[0]], part) for part in program.words.split()]
        with open(self.log, "w") as log:
            self.process = machine.start([*program.before.split(), *words], stdout=log, stderr=log)

    @property
    def said(self):
        return self.log.read_text(errors="replace")

    @property
    def picture(self):
        return self.size[0] * self.size[1] * 2

    @property
    def status(self):
        return self.process.returncode

    @property
    def amount(self):
        """Whole pictures, or seconds."""
        size = max((self.output.stat().st_size if self.output.exists() else 0) - self.program.header, 0)
        return size // self.picture if self.program.service == "camera" else size / SECOND

    def ended(self):
        return self.process.poll() is not None

    def captures(self):
        """Waits until it has five pictures, or more than a second of sound, in which there is a beep: on a busy machine the
        first seconds are silent."""
        enough = 5 if self.program.service == "camera" else 1.1
        wait_until(lambda: self.ended() or self.amount >= enough and self.shows())
        return self.amount >= enough

    def goes_on(self):
        """Waits for more, that shows something."""
        before = self.amount
        if self.program.service == "camera":
            return wait_until(lambda: self.amount > before or self.ended()) and self.amount > before
        return wait_until(lambda: self.ended() or self.amount > before and self.is_loud(self.amount - before))

    def is_quiet(self):
        """Waits until nothing comes, or silence. What was on its way before may still come."""
        last, since, until = self.amount, time.monotonic(), time.monotonic() + LIMIT
        while time.monotonic() < until and not self.ended():
            if self.amount > last:
                last, since = self.amount, time.monotonic()
            is_silent = self.program.service == "microphone" and last > 2 and not self.is_loud(2)
            if is_silent or time.monotonic() - since > 3:
                return True
            time.sleep(0.1)
        return False

    def interrupt(self):
        """As Ctrl-C does; what does not end by that is killed."""
        if not self.ended():
            self.process.send_signal(signal.SIGINT)
        if not wait_until(self.ended, 30):
            self.process.kill()
        self.process.wait()

    def is_refused(self):
        """Waits until it says so, and ends by itself, unless it is one that waits. Whether it has ended."""
        wait_until(lambda: self.ended() or self.program.waits and "captured:" in self.said)
        return self.ended()

    def sound(self):
        data = self.output.read_bytes()[self.program.header:] if self.output.exists() else b""
        return array.array("h", data[:len(data) // 2 * 2])

    def is_loud(self, seconds):
        """Whether there is a beep in the last seconds."""
        return any(abs(value) > 1000 for value in self.sound()[-int(seconds * SECOND / 2):])

    def has_any(self):
        """Whether it got something of the device's. Silence is what programs make up when they get nothing."""
        return self.amount > 0 if self.program.service == "camera" else any(self.sound())

    def shows(self):
        """Whether it shows bars or has a beep."""
        if self.program.service == "microphone":
            return self.is_loud(self.amount)
        data, (width, height) = self.output.read_bytes(), self.size
        rows = [data[at + height // 3 * width * 2:][:width * 2:2] for at in range(0, len(data) - self.picture + 1, self.picture)]
        return any(len({row[(2 * i + 1) * width // 14] for i in range(7)}) >= 5 for row in rows)
