"""A desk of the test's own: PipeWire, captured and its bridge, an X server, and the browsers at it."""
import contextlib, json, re, subprocess, sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "PipeWire"), str(HERE.parent / "Support")]
from checks import ROOT, it
from private_daemon import announced
from enter import WITHOUT
from stage import Stage

NODE = "/dev/video0"
RUN = ROOT / ".build/captured-v4l2/capture-run"
# Firefox looks for microphones only if it can play, and takes a microphone to have as many channels as it can play.
PLAYBACK = """pcm.captured_playback {
    type multi
    slaves.one { pcm { type null } channels 2 }
    bindings [ { slave one channel 0 } { slave one channel 1 } ]
}
"""


class Desk(Stage):
    """As a context manager."""
    late = 0

    def __enter__(self):
        super().__enter__()
        try:
            self.screen, number = announced(["Xvfb", "-displayfd", "{}", "-screen", "0", "1280x960x24", "-nolisten", "tcp",
                                             "-noreset"], self.folder / "Xvfb.log")
            self.running.insert(-1, self.screen)
            home = self.folder / "home"
            home.mkdir()
            self.environment |= {"DISPLAY": f":{number}", "HOME": str(home), "LC_ALL": "C.UTF-8", "GDK_BACKEND": "x11",
                                 "NO_AT_BRIDGE": "1", "GSETTINGS_BACKEND": "memory", **self.alsa()}
            # For the portal, which the bus starts.
            names = ["DISPLAY", "HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "NO_AT_BRIDGE", "GDK_BACKEND"]
            pairs = [word for name in names for word in [name, self.environment[name]]]
            self.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "UpdateActivationEnvironment",
                      "a{ss}", len(names), *pairs)
        except BaseException:
            self.__exit__()
            raise
        return self

    def server(self, name, *command):
        return super().server(name, *WITHOUT, *command)

    def alsa(self):
        """ALSA with captured as its default, as under lockdown."""
        place = self.folder / "alsa"
        place.mkdir()
        parts = [(ROOT / "config/alsa" / name).read_text() for name in ["50-captured.conf", "99-zz-captured-default.conf"]]
        (place / "alsa.conf").write_text("</usr/share/alsa/alsa.conf>\n" + "".join(parts).replace("@alsalib@", "")
                                         + PLAYBACK)
        return {"ALSA_CONFIG_PATH": str(place / "alsa.conf"), "ALSA_PLUGIN_DIR": str(ROOT / ".build/captured-alsa")}

    @contextlib.contextmanager
    def pulse(self):
        """PulseAudio's clients find a server."""
        server = self.server("pipewire-pulse", "pipewire-pulse")
        self.wait_for(lambda: (self.folder / "run/pulse/native").exists(), "the socket for PulseAudio's clients")
        yield
        server.terminate()
        server.wait()
        self.running.remove(server)

    def bridge_says(self, pattern):
        """All that the bridge said so."""
        return re.findall(pattern, (self.folder / "bridge.log").read_text(errors="replace"))

    def is_late(self):
        """Whether a call to the daemon has taken too long since this was asked last: on a machine that does much else."""
        logs = [*self.folder.glob("*.log"), *self.folder.glob("*/said"), *self.folder.glob("*.said")]
        before, self.late = self.late, sum(log.read_text(errors="replace").count("did not answer in time") for log in logs)
        return self.late > before

    @contextlib.contextmanager
    def program(self, name, words, more):
        """Runs a program without a page; yields what returns what it said."""
        log = self.folder / f"{name}.said"
        with open(log, "wb") as output:
            child = subprocess.Popen([*WITHOUT, *map(str, words)], stdout=output, stderr=output, stdin=subprocess.DEVNULL,
                                     env={**self.environment, "CAPTURE_V4L2_DEVICES": f"{NODE}=synthetic:camera", **more})
        try:
            yield lambda: log.read_text(errors="replace")[-3000:]
        finally:
            child.kill()
            child.wait()

    def answer(self, program, service, answer):
        self.control("auth", "set", program, service, answer)

    def forget(self, *programs):
        for program in programs:
            self.control("auth", "reset", program)

    def uses(self, program):
        return [entry for entry in json.loads(self.control("history", "--json"))
                if entry["kind"] == "use" and entry["program"] == program]


class Browser:
    """As a context manager: it shows a page."""

    def __init__(self, desk, page, settings):
        self.desk, self.page, self.settings = desk, page, settings
        self.folder = desk.folder / f"{self.name}-{settings}"
        self.folder.mkdir()
        self.log = self.folder / "said"

    def __enter__(self):
        environment = {**self.desk.environment, "CAPTURE_V4L2_DEVICES": f"{NODE}=synthetic:camera", "PIPEWIRE_DEBUG": "2"}
        words = [*WITHOUT, *([RUN] if self.settings == "v4l2" else []), *self.words()]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(list(map(str, words)), env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, cwd=self.folder)
        loaded = self.page.event("loaded")
        it(f"{self.name} shows the page", loaded, self.said())
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def said(self):
        return self.log.read_text(errors="replace")[-3000:]

    def kind(self, pid):
        """Which of its processes that is."""
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
        kinds = re.findall(r"--(?:utility-sub-)?type=(\S+)", words)
        return kinds[-1] if kinds else "a content process" if "-contentproc" in words else "its first process"


class Firefox(Browser):
    name, title, program = "firefox", "firefox-esr", "exe:/usr/lib/firefox-esr/firefox-esr"

    def words(self):
        preferences = {
            "permissions.default.camera": 1, "permissions.default.microphone": 1, "media.autoplay.default": 0,
            "media.navigator.permission.disabled": True, "media.webrtc.camera.allow-pipewire": "pipewire" in self.settings,
            "datareporting.policy.dataSubmissionEnabled": False, "browser.shell.checkDefaultBrowser": False,
            "toolkit.telemetry.reportingpolicy.firstRun": False, "app.update.enabled": False,
            "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
        }
        (self.folder / "user.js").write_text("".join(
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()))
        return ["firefox-esr", "--no-remote", "--profile", self.folder, "--new-window", self.page.url]


class Chromium(Browser):
    name, title, program = "chromium", "chromium", "exe:/usr/lib/chromium/chromium"

    def words(self):
        way = "enable" if "pipewire" in self.settings else "disable"
        # The fake is the browser's own question alone; the devices are real.
        return ["chromium", f"--user-data-dir={self.folder / 'profile'}", "--no-first-run", "--password-store=basic",
                "--use-fake-ui-for-media-stream", "--autoplay-policy=no-user-gesture-required",
                f"--{way}-features=WebRtcPipeWireCamera", self.page.url]
