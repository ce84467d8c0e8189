"""OBS with a scene of a camera and a microphone, which it records."""
import json, subprocess

from checks import LIMIT, probe
from desk import NODE, RUN, WITHOUT

WIDTH, HEIGHT = 640, 480
YUYV = 0x56595559
PROFILE = f"""[General]
Name=Test
[Video]
BaseCX={WIDTH}
BaseCY={HEIGHT}
OutputCX={WIDTH}
OutputCY={HEIGHT}
FPSCommon=30
[Output]
Mode=Simple
[SimpleOutput]
FilePath=FOLDER
RecFormat=mkv
RecQuality=Stream
StreamEncoder=x264
VBitrate=4000
"""
GENERAL = """[General]
FirstRun=true
LastVersion=486539266
EnableAutoUpdates=false
[BasicWindow]
SysTrayEnabled=false
WarnBeforeStartingStream=false
"""


def scene():
    """As OBS keeps it."""
    camera = {"id": "v4l2_input", "versioned_id": "v4l2_input", "name": "Camera", "enabled": True, "mixers": 0,
              "settings": {"device_id": NODE, "input": 0, "pixelformat": YUYV, "resolution": WIDTH << 16 | HEIGHT,
                           "framerate": 30 << 32 | 1, "auto_reset": False}}
    microphone = {"id": "pulse_input_capture", "versioned_id": "pulse_input_capture", "name": "Microphone", "enabled": True,
                  "mixers": 255, "volume": 1.0, "settings": {"device_id": "default"}}
    items = [{"name": name, "id": number, "visible": True, "pos": {"x": 0.0, "y": 0.0}, "scale": {"x": 1.0, "y": 1.0}}
             for number, name in enumerate(["Camera", "Microphone"], 1)]
    return {"name": "Test", "current_scene": "Scene", "current_program_scene": "Scene",
            "scene_order": [{"name": "Scene"}], "transitions": [], "groups": [], "modules": {},
            "sources": [camera, microphone, {"id": "scene", "versioned_id": "scene", "name": "Scene", "enabled": True,
                                             "settings": {"items": items, "id_counter": 2, "custom_size": False}}]}


class Studio:
    """As a context manager: it records from the beginning."""
    program = "exe:/usr/bin/obs"

    def __init__(self, desk, name):
        self.desk, self.folder = desk, desk.folder / name
        settings = self.folder / "home/.config/obs-studio"
        for part in ["basic/profiles/Test", "basic/scenes"]:
            (settings / part).mkdir(parents=True)
        (settings / "global.ini").write_text(GENERAL)
        (settings / "basic/profiles/Test/basic.ini").write_text(PROFILE.replace("FOLDER", str(self.folder)))
        (settings / "basic/scenes/Test.json").write_text(json.dumps(scene()))

    def __enter__(self):
        home = self.folder / "home"
        environment = {**self.desk.environment, "CAPTURE_V4L2_DEVICES": f"{NODE}=synthetic:camera", "HOME": str(home),
                       "XDG_CONFIG_HOME": str(home / ".config"), "QT_QPA_PLATFORM": "xcb", "LIBGL_ALWAYS_SOFTWARE": "1"}
        words = [*WITHOUT, RUN, "obs", "--multi", "--collection", "Test", "--profile", "Test", "--scene", "Scene",
                 "--startrecording", "--disable-updater", "--disable-missing-files-check"]
        with open(self.folder / "said", "wb") as log:
            self.process = subprocess.Popen(list(map(str, words)), env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, cwd=self.folder)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def said(self):
        return (self.folder / "said").read_text(errors="replace")

    def recording(self):
        return next(iter(self.folder.glob("*.mkv")), None)

    def seconds(self):
        """How much it recorded. Matroska can be read while it is written."""
        if not (file := self.recording()):
            return 0
        stamps = probe(file, "-select_streams", "v:0", "-show_entries", "packet=pts_time").split()
        return float(stamps[-1].strip(",")) if stamps else 0

    def sound(self):
        """What it recorded, as a WAV file."""
        file = self.folder / "sound.wav"
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", self.recording(), "-vn", "-c:a", "pcm_s16le", file],
                       capture_output=True, timeout=LIMIT)
        return file
