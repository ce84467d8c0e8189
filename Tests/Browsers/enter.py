"""Where the programs run: as an ordinary user, since browsers have no sandbox for root, and with a camera's node to be found
in /dev and by udev."""
import os, shutil, subprocess, sys, tempfile
from pathlib import Path

from checks import PROGRAMS, ROOT

# What stays of /dev.
KEPT = "null zero full random urandom tty shm pts ptmx fd stdin stdout stderr"
# There is no driver behind the node; the library for V4L2 knows it by CAPTURE_V4L2_DEVICES. It takes root to make one that
# GStreamer takes for a camera's.
ENTER = f"""set -e
mount -t tmpfs -o mode=755 none /mnt
mknod -m 666 /mnt/video0 c 81 0 2>/dev/null || touch /mnt/video0
for name in {KEPT}; do
    if [ -L /dev/$name ]; then cp -P /dev/$name /mnt/
    elif [ -d /dev/$name ]; then mkdir /mnt/$name && mount --rbind /dev/$name /mnt/$name
    elif [ -e /dev/$name ]; then touch /mnt/$name && mount --bind /dev/$name /mnt/$name; fi
done
mount --move /mnt /dev
mount -t tmpfs -o mode=755 none /sys/class
mkdir -p /sys/class/video4linux/video0
cd /sys/class/video4linux/video0
printf 'MAJOR=81\\nMINOR=0\\nDEVNAME=video0\\n' >uevent
ln -s /sys/class/video4linux subsystem
mount -t tmpfs -o mode=755 none /run
for name in seats sessions users machines; do mkdir -p /run/systemd/$name; done
mkdir -p /run/udev/data
printf 'I:1\\nE:ID_V4L_VERSION=2\\nE:ID_V4L_PRODUCT=Camera\\nE:ID_V4L_CAPABILITIES=:capture:\\n' >/run/udev/data/c81:0
cd /
exec "$@" """
NOBODY = 65534
# captured looks at other programs with these rights, as its service does. All others have no rights.
RIGHTS = "-all,+sys_ptrace,+dac_read_search"
WITHOUT = ["setpriv", "--inh-caps=-all", "--ambient-caps=-all"]
# What another user may not be able to read where it is.
TAKEN = ["Tests/Browsers", "Tests/PipeWire", "Tests/Support", "Tests/Alsa", "config", ".build/captured-v4l2",
         ".build/captured-alsa", ".build/libcapture"]
TAKEN_PROGRAMS = ["captured", "captured-door", "captured-recorder", "captured-pipewire", "capturectl"]


def take(place):
    """A copy of what the test needs. Returns the test in it."""
    for name in TAKEN:
        shutil.copytree(ROOT / name, place / name, symlinks=True)
    (place / ".build/release").mkdir()
    for name in TAKEN_PROGRAMS:
        shutil.copy(PROGRAMS / name, place / ".build/release")
    place.chmod(0o755)
    if os.getuid() == 0:
        os.chown(place, NOBODY, NOBODY)
    return place / "Tests/Browsers" / Path(sys.argv[0]).name


def enter():
    """Runs this program again in there, and ends with its status; returns at once if it is there already."""
    if "BROWSERS_PLACE" in os.environ:
        return
    leave = ["setpriv", f"--inh-caps={RIGHTS}", f"--ambient-caps={RIGHTS}"]
    if os.getuid() == 0:
        space, leave = ["unshare", "-m"], [*leave, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    else:
        space = ["unshare", "-U", "--map-current-user", "--keep-caps", "-m"]
    with tempfile.TemporaryDirectory(prefix="browsers.") as name:
        place = Path(name)
        # libudev wants a real sysfs otherwise.
        more = {"BROWSERS_PLACE": name, "HOME": name, "PROGRAMS": str(place / ".build/release"),
                "SYSTEMD_DEVICE_VERIFY_SYSFS": "0"}
        done = subprocess.run([*space, "sh", "-c", ENTER, "enter", *leave, "/usr/bin/python3", take(place), *sys.argv[1:]],
                              env={**os.environ, **more})
    sys.exit(done.returncode)
