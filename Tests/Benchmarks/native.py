"""A camera, a bus and captured for benchmarks on the real processor, and what groups of processes use of it."""
import ctypes, json, os, re, select, shutil, signal, subprocess, tempfile, time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
PROGRAMS = CHECKOUT / ".build/release"
RATE = 30
# Seconds for which a stream runs before it counts.
SETTLE = 0.5
libc = ctypes.CDLL(None)


class Missing(Exception):
    """Something that is needed is not there, or failed."""


def need(program):
    if not shutil.which(program):
        raise Missing(f"{program} is not installed")
    return program


class Group:
    """A control group of its own, which counts the processor time of all that was started in it; version 1 or 2."""

    def __init__(self, name):
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        old = next((line for line in lines if "cpuacct" in line.split(":")[1]), None)
        root = Path("/sys/fs/cgroup/cpuacct" if old else "/sys/fs/cgroup")
        own = (old or next(line for line in lines if line.startswith("0:"))).split(":")[2]
        self.folder = root / own.strip("/") / f"capture-bench-{os.getpid()}-{name}"
        self.counter = "cpuacct.usage" if old else "cpu.stat"
        try:
            self.folder.mkdir()
        except OSError as error:
            raise Missing(f"no control group can be made ({error}): run this as root") from error

    def used(self):
        """Seconds of processor time, those of processes that are gone included."""
        text = (self.folder / self.counter).read_text().split()
        return int(text[0]) / 1e9 if self.counter == "cpuacct.usage" else int(text[1]) / 1e6

    def processes(self):
        return [int(word) for word in (self.folder / "cgroup.procs").read_text().split()]

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))
        libc.prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG: none outlives us

    def empty(self):
        """Ends what still runs."""
        # An interrupted program closes the camera, which then logs its frame counts. Signal it only once: many programs
        # abort on the second SIGINT.
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]:
            until, told = time.monotonic() + 5, set()
            while (left := self.processes()) and time.monotonic() < until:
                for process in set(left) - told:
                    try:
                        os.kill(process, number)
                    except ProcessLookupError:
                        pass
                told |= set(left)
                time.sleep(0.02)

    def end(self):
        self.empty()
        self.folder.rmdir()


def compile(source, program, *options):
    """Makes a program or a shared object of one file here, with the options given."""
    built = subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-o", program, HERE / source, *options], text=True,
                           stderr=subprocess.PIPE)
    if built.returncode:
        raise Missing(f"{source} does not compile: {built.stderr.strip()}")
    return program


def shared_object(source, folder):
    return compile(source, Path(folder) / f"{Path(source).stem}.so", "-fPIC", "-shared", "-ldl", "-lpthread")


class Camera:
    """What programs must have in their environment to see it."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.library = shared_object("camera.c", folder)
        self.frames = self.folder / "frames"
        subprocess.run(["/usr/bin/python3", HERE / "frames.py", self.frames], check=True)

    def environment(self, log):
        return {"LD_PRELOAD": str(self.library), "BENCH_CAMERA_FRAMES": str(self.frames), "BENCH_CAMERA_FPS": str(RATE),
                "BENCH_CAMERA_LOG": str(log)}


class Contender:
    """One program, or captured with a client, in a group of its own. A context manager.

    Programs that are started with `group=contender.readers` are counted apart.
    """

    def __init__(self, camera, name, window=None):
        self.camera, self.window = camera, window
        self.folder = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=camera.folder))
        self.group, self.readers = Group(self.folder.name), Group(f"{self.folder.name}-readers")
        self.log = self.folder / "camera.log"
        self.said = open(self.folder / "said", "w+", encoding="utf-8", errors="replace")
        self.environment = dict(os.environ)
        # A program that the others are started by, such as a tracer.
        self.wrapper = []

    def start(self, *command, camera=True, group=None, **options):
        extra = self.camera.environment(self.log) if camera else {}
        if "BENCH_CAMERA_RATE" in self.environment:
            extra["BENCH_CAMERA_FPS"] = self.environment["BENCH_CAMERA_RATE"]
        options = {"stdin": subprocess.DEVNULL, "stdout": self.said, "stderr": self.said, **options}
        self.last = subprocess.Popen([str(word) for word in [*self.wrapper, *command]], cwd=self.folder,
                                     env={**self.environment, **extra}, preexec_fn=(group or self.group).enter,
                                     **options)
        return self.last

    def run(self, *command, camera=True, seconds=60):
        """Runs a command to its end: the seconds that it took."""
        began = time.monotonic()
        child = self.start(*command, camera=camera)
        # The moment of its end: subprocess's own wait with a limit looks every 50 ms.
        with open(os.pidfd_open(child.pid), "rb", buffering=0) as process:
            has_ended = bool(select.select([process], [], [], seconds)[0])
        took = time.monotonic() - began
        status = child.wait() if has_ended else "no end"
        if status:
            raise Missing(f"{command[0]} ended with {status}: {self.words()}")
        return took

    def words(self, most=400):
        """The end of what its programs have said."""
        self.said.flush()
        return Path(self.said.name).read_text(errors="replace").strip()[-most:]

    def serve(self, service="camera"):
        """Starts captured on a bus of its own; its client is capturectl, or the bench's reader, allowed one service."""
        fifo = self.folder / "address"
        os.mkfifo(fifo)
        self.start("dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address=unix:path={self.folder}/bus",
                   camera=False)
        self.environment |= {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.folder}/bus", "CAPTURED_BUS": "session",
                             "PATH": f"{PROGRAMS}:{os.environ['PATH']}", "XDG_CONFIG_HOME": f"{self.folder}/config"}
        self.until(lambda: (self.folder / "bus").exists(), "the bus")
        self.daemon = self.start(PROGRAMS / "captured", "--bus", "session", "--state-dir", self.folder / "state",
                                 "--recorder", PROGRAMS / "captured-recorder")
        self.until(lambda: not self.ask("busctl", "--user", "--quiet", "status", "org.capturekit.Capture1").returncode,
                   "captured")
        for name in ["capturectl", "capture-bench-reader"]:
            program = f"exe:{(PROGRAMS / name).resolve()}"
            reasons = self.folder / f"config/captured/apps.d/{name}.desktop"
            reasons.parent.mkdir(parents=True, exist_ok=True)
            reasons.write_text(f"[Desktop Entry]\nType=Application\nName={name}\nExec={name}\n"
                               f"X-Capture-Program={program}\n"
                               f"X-Capture-{service.title()}UsageDescription=measures\n")
            done = self.ask("capturectl", "auth", "set", program, service, "authorized")
            if done.returncode:
                raise Missing(f"no consent: {done.stderr.strip()}")
        devices = json.loads(self.ask("capturectl", "devices", "--json").stdout)
        kind = {"camera": "v4l2:", "microphone": "alsa:"}[service]
        self.devices = [device["id"] for device in devices if device["id"].startswith(kind)]
        if not self.devices:
            raise Missing(f"captured finds no {service}: {self.words()}")
        self.device = self.devices[0]

    def process(self, name):
        """A process of its group by its program's name."""
        for process in self.group.processes():
            if Path(f"/proc/{process}/comm").read_text().strip() == name[:15]:
                return process
        raise Missing(f"{name} does not run: {self.words()}")

    def ask(self, *command):
        return subprocess.run([str(word) for word in command], env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def until(self, holds, what, seconds=30):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise Missing(f"{what} did not come: {self.words()}")
            time.sleep(0.02)

    def steady(self, begun, window):
        """Seconds of processor time per frame of a steady stream, once `begun` returns true."""
        self.until(begun, "the stream")
        time.sleep(SETTLE)
        before, began = self.group.used(), time.monotonic()
        time.sleep(window)
        used, took = self.group.used() - before, time.monotonic() - began
        return used / (took * RATE)

    def stop(self):
        """Ends the streams, so that the camera says what became of its frames."""
        self.readers.empty()
        self.group.empty()

    def began(self):
        """When the device began to deliver, by its own account."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        times = [int(line.split()[-1]) for line in lines if " began " in line]
        if not times:
            raise Missing(f"the device has not begun: {self.words()}")
        return times[-1] / 1e9

    def to_the_end(self, begun, window):
        """The same, measured until its processes have ended, so that frames still queued are encoded and counted."""
        self.until(begun, "the stream")
        time.sleep(SETTLE)
        before, at = self.group.used(), time.monotonic()
        time.sleep(window)
        self.stop()
        return (self.group.used() - before) / (self.counts()[0] - (at - self.began()) * RATE)

    def counts(self):
        """The frames that were taken and that nobody took, by the camera's own count, once the stream has ended."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        counts = [re.findall(r"\d+", line) for line in lines if "delivered" in line]
        got, lost = sum(int(words[1]) for words in counts), sum(int(words[2]) for words in counts)
        if not got:
            raise Missing(f"the device gave nothing: {self.words()}")
        return got, lost

    def lost(self):
        got, lost = self.counts()
        return lost / (got + lost)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.readers.end()
        self.group.end()
        self.said.close()
        shutil.rmtree(self.folder, ignore_errors=True)
