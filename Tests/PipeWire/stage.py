"""A PipeWire of the test's own, with a WirePlumber, a captured and its bridge."""
import json, os, subprocess, sys, time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Support"))
from private_daemon import PrivateDaemon


class Stage(PrivateDaemon):
    """As a context manager. Its programs find PipeWire by `environment`."""

    def __enter__(self):
        super().__enter__()
        try:
            self.environment["LD_LIBRARY_PATH"] = str(Path(__file__).resolve().parent.parent.parent / ".build/libcapture")
            self.environment["XDG_STATE_HOME"] = str(self.folder / "state-home")
            self.environment["PIPEWIRE_DEBUG"] = os.environ.get("PIPEWIRE_DEBUG", "2")
            # The desktop's permission store, which the bus starts, keeps its files there.
            self.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                      "UpdateActivationEnvironment", "a{ss}", 1, "XDG_DATA_HOME", self.folder / "data")
            self.server("pipewire", "pipewire")
            self.wait_for(lambda: (self.folder / "run/pipewire-0").exists(), "PipeWire's socket")
            self.server("wireplumber", "wireplumber")
            self.wait_for(lambda: "wireplumber" in self.dump_text(), "WirePlumber")
            self.start_bridge()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start_bridge(self):
        self.bridge = self.server("bridge", self.programs / "captured-pipewire", "--bus", "session")
        self.wait_for(lambda: self.nodes("Video/Source"), "the cameras of captured-pipewire")

    def call(self, *words):
        done = subprocess.run(["busctl", "--user", "--json=short", "call", *map(str, words)], env=self.environment,
                              text=True, capture_output=True, timeout=30)
        if done.returncode:
            raise RuntimeError(f"busctl call {words}: {done.stderr}")
        return done.stdout

    def server(self, name, *command):
        with open(self.folder / f"{name}.log", "ab") as log:
            child = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        # The daemon stays the last one, whose log is looked for by that.
        self.running.insert(-1, child)
        return child

    def wait_for(self, holds, what, seconds=30):
        until = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > until:
                raise RuntimeError(f"{what} did not come\n{self.said()}")
            time.sleep(0.05)

    def said(self):
        return "".join(f"--- {path.name}\n{path.read_text(errors='replace')[-3000:]}"
                       for path in sorted(self.folder.glob("*.log")))

    def dump_text(self):
        return subprocess.run(["pw-dump"], env=self.environment, text=True, capture_output=True, timeout=30).stdout

    def dump(self):
        """The objects of the server. pw-dump prints what changes meanwhile as further lists."""
        text, objects, decoder = self.dump_text().strip(), {}, json.JSONDecoder()
        while text:
            part, end = decoder.raw_decode(text)
            objects.update({each["id"]: each for each in part})
            text = text[end:].strip()
        return [each for each in objects.values() if each.get("type") and (each.get("info") or "metadata" in each)]

    def nodes(self, media_class):
        """By name, the nodes of a class that captured-pipewire made."""
        found = {}
        for each in self.dump():
            properties = (each.get("info") or {}).get("props") or {}
            if properties.get("media.class") == media_class and properties.get("node.name", "").startswith("captured."):
                found[properties["node.name"]] = each
        return found
