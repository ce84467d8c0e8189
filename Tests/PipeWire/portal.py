"""In the place of the desktop's camera portal, which makes the connections of programs to PipeWire."""
import os, shutil, socket, subprocess, tempfile, time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# captured takes for the portal what only root can replace, and below /tmp everybody can. Its name says nothing of
# captured: a suite that looks for what the packages left behind may see this folder.
PLACES = "/var/lib"


class FakePortal:
    """As a context manager. `built`: portal.c's program; `is_installed`: whether it is as root installs it."""

    def __init__(self, stage, built, *more, is_installed=True):
        self.stage, self.more = stage, more
        self.folder = Path(tempfile.mkdtemp(prefix="camera-portal.", dir=PLACES if is_installed else stage.folder))
        self.folder.chmod(0o755)
        self.program, self.place = self.folder / "xdg-desktop-portal", stage.folder / f"{self.folder.name}.socket"
        shutil.copy(built, self.program)

    def __enter__(self):
        self.process = subprocess.Popen([self.program, self.place, *self.more], env=self.stage.environment)
        until = time.monotonic() + 30
        while not self.place.exists() and time.monotonic() < until:
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)

    def connection(self):
        """A descriptor of a connection that it made."""
        with socket.socket(socket.AF_UNIX) as end:
            end.connect(str(self.place))
            _, (received, *_), _, _ = socket.recv_fds(end, 1, 1)
        return received


def can_install():
    return os.geteuid() == 0
