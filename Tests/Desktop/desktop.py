"""A desktop of the test's own: an X server, a session bus with the machine's portal backend, a captured and its agent, all
in one folder, and gone afterwards. What a person would do with a window, xdotool does."""
import json, os, re, shutil, signal, subprocess, sys, tempfile, time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Support"))
from checks import LIMIT, wait_until
from private_daemon import announced, start_bus


def eventually(what, condition, *, of=None):
    """Waits until a condition holds, and returns what it returned."""
    until = time.monotonic() + LIMIT
    while True:
        if found := condition():
            return found
        if of and of.poll() is not None:
            raise RuntimeError(f"{what}: the program has exited with {of.returncode}")
        if time.monotonic() > until:
            raise RuntimeError(f"{what}: not within {LIMIT} s")
        time.sleep(0.1)  # most conditions start a program


class Desktop:
    """As a context manager."""

    def __init__(self, programs, folder):
        self.built, self.folder = Path(programs).resolve(), Path(folder)
        self.running = []
        kept = {name: os.environ[name] for name in ["PATH", "USER", "LOGNAME"] if name in os.environ}
        self.environment = {
            **kept, "HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder / "run"), "LC_ALL": "C.UTF-8",
            "CAPTURED_BUS": "session", "GDK_BACKEND": "x11", "GSETTINGS_BACKEND": "memory", "NO_AT_BRIDGE": "1",
        }

    def __enter__(self):
        # Its own: one of them gets another link, which captured takes for a change of the file.
        self.programs = Path(tempfile.mkdtemp(prefix="desktop.", dir=self.built.parent))
        for program in self.built.glob("capture*"):
            if program.is_file() and not program.suffix and os.access(program, os.X_OK):
                shutil.copy2(program, self.programs)
        (self.folder / "run").mkdir(mode=0o700)
        (self.folder / ".config/captured/apps.d").mkdir(parents=True)
        # One program asks for all that is tried here, and mostly leaves its questions without an answer.
        (self.folder / ".config/captured/captured.conf").write_text("[Consent]\nPromptLimitIntervalSec=0\n")
        try:
            # It starts anew whenever its last client leaves, unless told not to: an xdotool is one that comes and goes.
            self.screen, number = announced(
                ["Xvfb", "-displayfd", "{}", "-screen", "0", "1024x768x24", "-nolisten", "tcp", "-noreset",
                 "-fbdir", str(self.folder)],
                self.folder / "Xvfb.log", self.environment)
            self.running.append(self.screen)
            self.environment["DISPLAY"] = f":{number}"
            bus, self.environment["DBUS_SESSION_BUS_ADDRESS"] = start_bus(self.folder, self.environment)
            self.running.append(bus)
            self.start_daemon()
            self.program = json.loads(self.control("auth", "whoami", "--json"))["program"]
            self.describe("capturectl")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for child in reversed(self.running):
            if child.poll() is None:
                child.terminate()
            child.wait()
        shutil.rmtree(self.programs)

    def start(self, program, *arguments, log=None, environment=None, programs=None):
        """Starts a program of ours, in a session of its own: without a terminal to ask on."""
        log = self.folder / f"{log or program}.log"
        with open(log, "ab") as output:
            child = subprocess.Popen([(programs or self.programs) / program, *arguments], stdout=output, stderr=output,
                                     stdin=subprocess.DEVNULL, env={**self.environment, **(environment or {})},
                                     start_new_session=True)
        self.running.append(child)
        if program == "captured":
            eventually("captured is on the bus", lambda: self.owned("org.capturekit.Capture1"), of=child)
        return child

    def start_daemon(self):
        self.daemon = self.start("captured", "--bus", "session", "--synthetic", "--state-dir", str(self.folder / "state"))

    def restart_daemon(self):
        self.stop(self.daemon)
        self.start_daemon()

    def start_agent(self, **how):
        """The desktop's agent, once the daemon knows it."""
        eventually("an earlier agent is gone", lambda: self.agents() == 0)
        agent = self.start("capturectl", "agent", "--desktop", log="agent", **how)
        eventually("the agent is registered", lambda: self.agents() == 1, of=agent)
        return agent

    def agents(self):
        health = self.bus("call", "org.capturekit.Capture1", "/org/capturekit/Capture1", "org.capturekit.Capture1.Manager",
                          "GetHealth")[1]
        return int(re.search(r'"agents" \w (\d+)', health)[1])

    def waiting(self):
        """How many sessions wait for an answer."""
        return sum(row["state"] == "authorizing" for row in json.loads(self.control("sessions", "--json")))

    def log(self, program):
        path = self.folder / f"{program}.log"
        return path.read_text(errors="replace")[-3000:] if path.exists() else ""

    def describe(self, name, camera="Shows you to the people you call", microphone="Lets the people you call hear you"):
        """What the asking program says of itself."""
        entry = self.folder / ".config/captured/apps.d/capturectl.desktop"
        new = entry.with_suffix(".new")
        new.write_text(f"[Desktop Entry]\nType=Application\nName={name}\nX-Capture-Program={self.program}\n"
                       f"X-Capture-CameraUsageDescription={camera}\nX-Capture-MicrophoneUsageDescription={microphone}\n")
        new.chmod(0o644)
        new.rename(entry)

    def restrict(self, program):
        """A rule for the next daemon."""
        rules = self.folder / ".config/captured/policy.d"
        rules.mkdir(mode=0o755)
        (rules / "test.conf").write_text(f"[Rule]\nProgram={program}\nDecision=restrict\n")
        (rules / "test.conf").chmod(0o644)

    def owned(self, name):
        """Whether somebody has a name; `busctl status` would look for cgroups, too, which a container may hide."""
        bus = "org.freedesktop.DBus"
        return self.bus("call", bus, "/org/freedesktop/DBus", bus, "NameHasOwner", "s", name)[1].strip() == "b true"

    def bus(self, *arguments):
        done = subprocess.run(["busctl", "--user", *arguments], text=True, capture_output=True, env=self.environment,
                              timeout=LIMIT)
        return done.returncode, done.stdout + done.stderr

    def control(self, *arguments):
        """What capturectl prints."""
        done = subprocess.run([self.programs / "capturectl", *arguments], text=True, capture_output=True, timeout=LIMIT,
                              stdin=subprocess.DEVNULL, env=self.environment, start_new_session=True)
        if done.returncode:
            raise RuntimeError(f"capturectl {' '.join(arguments)} exited {done.returncode}: {done.stderr}")
        return done.stdout

    def answers(self):
        """The stored answers by service, as words."""
        return {row["service"]: row["status"] for row in json.loads(self.control("auth", "list", "--json"))
                if row["program"] == self.program}

    def request(self, *services):
        """A program without a terminal that wants to capture: a movie, a photo or sound."""
        name = f"take{len(self.running)}"
        if services == ("camera",):
            file, command = f"{name}.jpg", ["photo", "--camera=synthetic:camera"]
        else:
            camera = "synthetic:camera" if "camera" in services else "none"
            file = f"{name}.mkv"
            # Long enough for a picture on a busy machine.
            command = ["record", f"--camera={camera}", "--microphone=synthetic:microphone", "--duration=2"]
        child = self.start("capturectl", *command, str(self.folder / file), log=name)
        child.name, child.file = name, self.folder / file
        return child

    def end(self, child):
        """The exit code of a request that is about to end, and what it said."""
        code = child.wait(LIMIT)
        return code, self.log(child.name)

    def windows(self):
        """The dialogs on the screen."""
        done = subprocess.run(["xdotool", "search", "--onlyvisible", "--class", "xdg-desktop-portal-gtk"], text=True,
                              capture_output=True, env=self.environment, timeout=LIMIT)
        return done.stdout.split()

    def dialog(self):
        """The one dialog, once it is there: its window, width and height."""
        def settled():
            shown = self.windows()
            if len(shown) != 1:
                return None
            size = re.findall(r"^(?:WIDTH|HEIGHT)=(\d+)", self.x("getwindowgeometry", "--shell", shown[0]), re.M)
            return (shown[0], *map(int, size)) if len(size) == 2 else None
        dialog = eventually("a dialog is on the screen", settled)
        # An answer that comes before a person can have seen it counts as none.
        time.sleep(0.7)
        return dialog

    def x(self, *arguments):
        return subprocess.run(["xdotool", *arguments], text=True, capture_output=True, env=self.environment,
                              timeout=LIMIT).stdout

    def click(self, dialog, *, allow):
        """Presses one of the two buttons, which are the lower edge of the window, half each."""
        window, width, height = dialog
        across = width * (3 if allow else 1) // 4
        place = ["--window", window, str(across), str(height - 18)]
        self.until_gone(self.windows, window, lambda: self.x("mousemove", *place, "click", "1"))

    def until_gone(self, shown, window, act):
        """Does what takes a window off the screen; once more after a while: a busy program may not take it yet."""
        def is_gone():
            if window in shown():
                act()
            return wait_until(lambda: window not in shown(), 5)
        eventually("the window goes when it is answered", is_gone)

    def keys(self, dialog, *keys):
        """Types into the dialog, which no window manager gives the focus here."""
        self.x("windowfocus", "--sync", dialog[0], "key", *keys)

    def gone(self):
        eventually("the dialog is off the screen", lambda: not self.windows())

    def picture(self, dialog, path):
        """The dialog as it stands on the screen; only where there is ffmpeg."""
        window, width, height = dialog
        subprocess.run(["ffmpeg", "-loglevel", "error", "-y", "-f", "x11grab", "-video_size", f"{width}x{height}", "-i",
                        f"{self.environment['DISPLAY']}+0,0", "-frames:v", "1", str(path)], env=self.environment,
                       stdin=subprocess.DEVNULL, check=True, timeout=LIMIT)

    def permission(self, service, application, table="devices"):
        """What the desktop's own store says for an application, as words."""
        code, said = self.bus("call", *["org.freedesktop.impl.portal.PermissionStore",
                                        "/org/freedesktop/impl/portal/PermissionStore",
                                        "org.freedesktop.impl.portal.PermissionStore"],
                              "GetPermission", "sss", table, service, application)
        return re.findall(r'"([^"]*)"', said) if code == 0 else []

    def set_permission(self, service, application, word):
        self.bus("call", "org.freedesktop.impl.portal.PermissionStore", "/org/freedesktop/impl/portal/PermissionStore",
                 "org.freedesktop.impl.portal.PermissionStore", "SetPermission", "sbssas", "devices", "true", service,
                 application, "1", word)

    def stop(self, child):
        """Ends a program as a service manager would; its exit code."""
        child.send_signal(signal.SIGTERM)
        return child.wait(LIMIT)
