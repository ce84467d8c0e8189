"""Photos of several exposures, for which the camera is set and put back."""
import json, os, signal, subprocess

from checks import LIMIT, wait_until
from pairs import tags
from terminals import run

# The mean luma of each picture, and how much of it differs.
MEANS = """
import sys
from PIL import Image, ImageStat
for name in sys.argv[1:]:
    luma = ImageStat.Stat(Image.open(name).convert("L"))
    print(luma.mean[0], luma.stddev[0] / luma.mean[0])
"""
NAMES = ["exposure_auto", "exposure_absolute", "auto_exposure_bias", "gain", "flash_led_mode"]


def means(names):
    done = subprocess.run(["/usr/bin/python3", "-c", MEANS, *names], env={**os.environ, "PYTHONHOME": "/usr"},
                          capture_output=True, text=True)
    return [tuple(map(float, line.split())) for line in done.stdout.splitlines()] or done.stderr


def bracket(daemon, names, *arguments):
    """A bracket without the white frame that the camera shows once a second: what is said of it, and the brightness of each
    picture."""
    while True:
        said = json.loads(daemon.control("photo", "--overwrite", "--json", *arguments))
        found = means(names)
        if all(spread > 0.3 for _, spread in found):
            return said, [mean for mean, _ in found]


def values(daemon):
    controls = json.loads(daemon.control("control", "--json"))
    return {one["name"]: one["value"] for one in controls if one["name"] in NAMES}


def brackets(daemon, folder, it):
    small = ["--preset", "low"]
    usual = values(daemon)
    names = [folder / f"a-{number}.jpg" for number in (1, 2, 3)]
    said, found = bracket(daemon, names, *small, "--bracket", "-1,0,1.5", folder / "a.jpg")
    it("a bracket has a photo for each exposure", [row["file"] for row in said] == [str(name) for name in names], said)
    it("which is told", [row["exposureBias"] for row in said] == [-1, 0, 1.5], said)
    it("from darker to brighter", found[0] * 1.3 < found[1] and found[1] * 1.2 < found[2], found)
    facts = [tags(name) for name in names]
    it("EXIF has the bias", [one.get("ExposureCompensation") for one in facts] == [-1, 0, 1.5], facts)
    it("the exposure time, and that it is a bracket", all(one.get("ExposureTime") == 0.0156 and one.get("ExposureMode") == 2
       for one in facts), facts)
    it("the camera is set as before", values(daemon) == usual, values(daemon))

    by_hand = {**usual, "exposure_auto": 1, "exposure_absolute": 100}
    daemon.control("control", "exposure_auto=1", "exposure_absolute=100")
    status, _, messages = run(daemon, "photo", *small, "--bracket", "1,-1", folder / "b.png")
    it("an exposure by hand becomes longer and shorter", status == 0 and "b-1.png: png, " in messages and ", +1 EV" in messages,
       messages)
    _, found = bracket(daemon, [folder / "b-1.png", folder / "b-2.png"], *small, "--bracket", "1,-1", folder / "b.png")
    it("in the order that was asked for", found[0] > found[1] * 1.5, found)
    facts = [tags(folder / f"b-{number}.png") for number in (1, 2)]
    it("EXIF has each time", [(one.get("ExposureTime"), one.get("ExposureCompensation")) for one in facts] ==
       [(0.02, 1), (0.005, -1)], facts)
    it("the time by hand is as before", values(daemon) == by_hand, values(daemon))
    status, _, messages = run(daemon, "photo", *small, "--bracket", "7", folder / "x.jpg")
    it("a longer one than the camera has is refused", status == 65 and "5000" in messages, f"{status} {messages}")

    # A program that is killed between two photos, for each of which the camera looks for its exposure.
    daemon.control("control", "--reset")
    child = daemon.start("photo", *small, "--bracket", ",".join(["1", "-1"] * 8), folder / "k.jpg")
    wait_until(lambda: values(daemon) != usual or child.poll() is not None, LIMIT)
    it("the camera is set meanwhile", child.poll() is None, child.returncode)
    child.send_signal(signal.SIGKILL)
    child.wait()
    wait_until(lambda: all(one["state"] != "running" for one in json.loads(daemon.control("sessions", "--json"))), LIMIT)
    it("a program that is killed leaves the camera as it was", values(daemon) == usual, values(daemon))
    daemon.control("control", "gain=20")
    it("and free to be set", values(daemon)["gain"] == 20, values(daemon))
    daemon.control("control", "--reset")

    number = daemon.control("start", *small, folder / "movie.mkv").strip()
    said = json.loads(daemon.control("photo", "--session", number, "--bracket", "-2,2", "--with", folder / "m.png", "--json",
                                     folder / "m.jpg"))
    it("a session that records gives a bracket of pairs", [row["companion"]["file"] for row in said] ==
       [str(folder / "m-1.png"), str(folder / "m-2.png")], said)
    facts = [tags(folder / name).get("ExposureCompensation") for name in ("m-1.jpg", "m-1.png", "m-2.jpg", "m-2.png")]
    it("each pair of one exposure", facts == [-2, -2, 2, 2], facts)
    daemon.grows(number)
    daemon.control("stop", number)
    it("and leaves the camera as it was", values(daemon) == usual, values(daemon))

    for wrong, code in [("-1,,1", 64), ("bright", 64), ("9", 64), (",".join(["0"] * 17), 64), ("3", 65), ("nan", 64)]:
        status, _, messages = run(daemon, "photo", *small, "--bracket", wrong, folder / "x.jpg")
        it(f"--bracket {wrong} is refused", status == code and messages, f"{status} {messages}")
    status, _, messages = run(daemon, "photo", "--burst", "2", "--bracket", "0,1", folder / "x.jpg")
    it("a burst is no bracket", status == 64 and "--burst and --bracket" in messages, f"{status} {messages}")
    it("what is refused leaves nothing", not list(folder.glob("x*")), list(folder.glob("x*")))
    it("and the camera as it was", values(daemon) == usual, values(daemon))


def flashes(daemon, folder, it):
    small = ["--preset", "low"]
    usual = values(daemon)
    _, [dark] = bracket(daemon, [folder / "dark.jpg"], *small, "--flash", "off", folder / "dark.jpg")
    said, [lit] = bracket(daemon, [folder / "lit.jpg"], *small, "--flash", "on", folder / "lit.jpg")
    it("a flash makes the picture brighter", lit > dark * 1.3, f"{lit} {dark}")
    it("one picture has no number", [row["file"] for row in said] == [str(folder / "lit.jpg")], said)
    it("EXIF says whether it flashed", [tags(folder / f"{name}.jpg").get("Flash") for name in ("lit", "dark")] == [9, 16])
    it("the lamp is as before", values(daemon) == usual, values(daemon))
    _, found = bracket(daemon, [folder / "b-1.jpg", folder / "b-2.jpg"], *small, "--burst", "2", "--flash", "on",
                          folder / "b.jpg")
    it("a burst has it in each picture", all(mean > dark * 1.3 for mean in found), f"{found} {dark}")
    daemon.control("control", "flash_led_mode=2")
    _, [off] = bracket(daemon, [folder / "off.jpg"], *small, "--flash", "off", folder / "off.jpg")
    it("a lamp that shines can be off for a picture", lit > off * 1.3, f"{lit} {off}")
    it("and shines again", values(daemon)["flash_led_mode"] == 2, values(daemon))
    status, _, messages = run(daemon, "photo", *small, "--flash", "auto", folder / "x.jpg")
    it("what it cannot do is refused", status == 64 and "--flash" in messages, f"{status} {messages}")
