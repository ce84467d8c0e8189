"""A captured of the test's own: its bus, its state and its configuration lie in one folder, and it is gone afterwards."""
import contextlib, json, os, shutil, subprocess, threading, time
from pathlib import Path

from checks import it, wait_until

AGENT = Path(__file__).resolve().parent / "agent.py"
# Questions that nobody answers do not wait for long, and may be many.
BRIEF_QUESTIONS = "[Consent]\nPromptTimeoutSec=10\nPromptLimitIntervalSec=0\n"


def announced(command, log, environment=None):
    """Starts a server that writes where it listens to a descriptor, for which `{}` stands: the server and that line."""
    reading, writing = os.pipe()
    with open(log, "wb") as output, open(reading, encoding="ascii") as line:
        child = subprocess.Popen([part.format(writing) for part in command], pass_fds=[writing], stdout=output,
                                 stderr=output, stdin=subprocess.DEVNULL, env=environment)
        os.close(writing)
        text = line.readline().strip()
    if not text:
        child.terminate()
        child.wait()
        raise RuntimeError(f"{command[0]} did not start: {Path(log).read_text(errors='replace')[-3000:]}")
    return child, text


def start_bus(folder, environment=None):
    """A session bus of the test's own: the server and its address."""
    return announced(["dbus-daemon", "--session", "--nofork", "--nopidfile", "--nosyslog", "--print-address={}"],
                     Path(folder) / "dbus-daemon.log", environment)


class PrivateDaemon:
    """As a context manager. Allowed to use the synthetic camera and microphone without asking."""

    def __init__(self, programs, folder, configuration="", log_levels=""):
        self.programs, self.folder, self.log_levels = Path(programs).resolve(), Path(folder), log_levels
        self.configuration, self.running = configuration, []

    def __enter__(self):
        settings = self.folder / "config" / "captured"
        (settings / "apps.d").mkdir(parents=True)
        (settings / "captured.conf").write_text(self.configuration)
        # Its control socket must be separate, too.
        (self.folder / "run").mkdir()
        self.environment = {**os.environ, "XDG_CONFIG_HOME": str(self.folder / "config"), "CAPTURED_BUS": "session",
                            "XDG_RUNTIME_DIR": str(self.folder / "run")}
        try:
            bus, self.environment["DBUS_SESSION_BUS_ADDRESS"] = start_bus(self.folder)
            self.running.append(bus)
            self.start_daemon()
            self.allow()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for child in reversed(self.running):
            child.terminate()
            child.wait()

    def start_daemon(self):
        with open(self.folder / "captured.log", "wb") as log:
            daemon = subprocess.Popen(
                [self.programs / "captured", "--bus", "session", "--synthetic", "--state-dir", self.folder / "state"],
                env={**self.environment, "CAPTURE_LOG": self.log_levels}, stdout=log, stderr=log)
        self.running.append(daemon)
        until = time.monotonic() + 60
        while subprocess.run(["busctl", "--user", "--quiet", "status", "org.capturekit.Capture1"],
                             env=self.environment, capture_output=True).returncode:
            if daemon.poll() is not None or time.monotonic() > until:
                raise RuntimeError("the daemon did not start:\n" + self.log())
            time.sleep(0.1)

    def kill_daemon(self):
        daemon = self.running.pop()
        daemon.kill()
        daemon.wait()

    @contextlib.contextmanager
    def agent(self, answer="never"):
        """Somebody at the machine, who answers each question so; yields the questions."""
        # A copy of the interpreter is a program of its own.
        interpreter = self.folder / "agent"
        if not interpreter.exists():
            shutil.copy(Path("/usr/bin/python3").resolve(), interpreter)
        child = subprocess.Popen([interpreter, AGENT, answer], text=True, stdout=subprocess.PIPE,
                                 env={**self.environment, "PYTHONHOME": "/usr"})
        questions = []
        try:
            it("there is an agent", child.stdout.readline() == "ready\n")
            threading.Thread(target=lambda: questions.extend(map(json.loads, child.stdout)), daemon=True).start()
            yield questions
        finally:
            child.kill()
            child.wait()

    def allow(self):
        """Gives capturectl a reason to capture, and a yes."""
        program = json.loads(self.control("auth", "whoami", "--json"))["program"]
        self.give_reason("capturectl", program)
        for service in ["camera", "microphone"]:
            self.control("auth", "set", program, service, "authorized")

    def give_reason(self, name, program, more=""):
        """The usage descriptions without which a program may not even ask, and more lines of its metadata."""
        entry = self.folder / "config" / "captured" / "apps.d" / f"{name}.desktop"
        entry.write_text(f"[Desktop Entry]\nType=Application\nName={name}\nX-Capture-Program={program}\n"
                         "X-Capture-CameraUsageDescription=Measures\nX-Capture-MicrophoneUsageDescription=Measures\n"
                         f"{more}")
        entry.chmod(0o644)

    def start(self, *arguments, **options):
        """capturectl in the background, whose output is to be read, and without input."""
        return subprocess.Popen([self.programs / "capturectl", *map(str, arguments)], env=self.environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def control(self, *arguments):
        """What capturectl prints; an error with what it complains about when it fails."""
        done = subprocess.run([self.programs / "capturectl", *map(str, arguments)], env=self.environment, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=600)
        if done.returncode:
            raise RuntimeError(f"capturectl {' '.join(map(str, arguments))} exited {done.returncode}:\n"
                               f"{done.stdout}{done.stderr}\n{self.log()}")
        return done.stdout

    def grows(self, number, *counts, output="movie"):
        """Waits until an output has pictures and sound, or these: a session that runs may have none yet, and fails without."""
        now = lambda: json.loads(self.control("status", number, "--json"))["statistics"]["outputs"][output]
        assert wait_until(lambda: all(now()[count] for count in counts or ("frames", "samples"))), f"{output} does not grow"

    def log(self, most=2000):
        """The end of what it said: in the journal or, without one, in a file of its own."""
        path = self.folder / "captured.log"
        said = path.read_text(errors="replace") if path.exists() else ""
        if Path("/run/systemd/journal/socket").exists() and len(self.running) > 1:
            words = ["journalctl", f"_PID={self.running[-1].pid}", "--output=cat", "--no-pager"]
            said += subprocess.run(words, text=True, capture_output=True).stdout
        return said[-most:]
