"""Device profiles: saved, given to the device after a restart, and forgotten."""
import json

from terminals import run


def restart(daemon, change=None):
    """The daemon ends and starts again, with devices that were never opened; `change` gets the file of profiles."""
    daemon.running[-1].terminate()
    daemon.running.pop().wait()
    if change:
        path = daemon.folder / "state" / "profiles"
        path.write_text(change(path.read_text()))
    daemon.start_daemon()


def profiles(daemon, folder, it):
    controls = lambda *names: {one["name"]: one for one in json.loads(daemon.control("control", "--json", *names))}
    value = lambda name: controls(name)[name]["value"]
    it("without a profile there is no column", "PROFILE" not in daemon.control("control"))
    daemon.control("control", "--save", "focus_auto=off", "focus_absolute=100", "zoom_absolute")
    shown = daemon.control("control", "--wide")
    it("the table has a column", "PROFILE" in shown.splitlines()[0], shown)
    rows = {line.split()[0]: line.split() for line in shown.splitlines()}
    it("with the saved values", rows["focus_absolute"][1:3] == ["100", "100"], rows["focus_absolute"])
    now = controls()
    it("and JSON has them", {name: one["profile"] for name, one in now.items() if "profile" in one} ==
       {"focus_auto": 0, "focus_absolute": 100, "zoom_absolute": 100}, now)
    daemon.control("control", "focus_absolute=50")
    it("what is changed later stays", value("focus_absolute") == 50)

    restart(daemon)
    daemon.control("photo", "--video-format", "YUYV:320x240@30", folder / "first.jpg")
    now = controls()
    it("the first session after a restart has the profile's values",
       now["focus_auto"]["value"] == 0 and now["focus_absolute"]["value"] == 100, now)
    daemon.control("photo", "--bracket", "-1,1", "--flash", "on", folder / "second.jpg")
    again = controls()
    it("what a session changes returns to them", [again[name]["value"] for name in again] == [now[name]["value"] for name in now],
       again)

    daemon.control("control", "zoom_absolute=150")
    daemon.control("control", "--save")
    whole = {name for name, one in controls().items() if "profile" in one}
    it("without names all is saved that can be", {"gain", "zoom_absolute", "exposure_auto", "focus_absolute"} <= whole, whole)
    it("but no shutter, lamp, action, whole picture or disabled setting",
       not whole & {"privacy", "flash_led_mode", "disconnect", "crop", "exposure_absolute"}, whole)
    daemon.control("control", "--forget", "zoom_absolute", "0x00980913")
    it("settings are forgotten one by one", whole - {name for name, one in controls().items() if "profile" in one} ==
       {"zoom_absolute", "gain"})

    for words, code, why in [
        (["--save", "privacy"], 65, "only be read"), (["--save", "flash_led_mode"], 65, "lamp"),
        (["--save", "disconnect"], 65, "action"), (["--save", "exposure_absolute"], 75, "disabled by another setting"),
        (["--save", "eyes"], 65, "no setting 'eyes'"), (["--forget", "eyes"], 65, "no setting 'eyes'"),
        (["--forget", "gain=1"], 64, "without values"), (["--save", "--forget"], 64, "one of"),
        (["--save", "--watch"], 64, "--watch"), (["--reset", "--save"], 64, "one of"),
    ]:
        status, _, messages = run(daemon, "control", *words)
        it(f"refused: {' '.join(words)}", status == code and why in messages, f"{status} {messages}")

    # The camera is another one by now: it lost a setting, and has a smaller range.
    restart(daemon, lambda text: text.replace("[end]", "lost=1\n[end]").replace("focus_absolute=100", "focus_absolute=9999"))
    status, output, messages = run(daemon, "photo", "--video-format", "YUYV:320x240@30", folder / "third.jpg")
    it("a profile that does not fit stops nobody", status == 0, messages)
    status, output, messages = run(daemon, "control")
    it("what is left out is told", status == 0 and "'lost' was left out: the device has no such setting" in messages and
       "'focus_absolute' was left out: 9999 is out of range" in messages, messages)
    focus = controls("focus_absolute")["focus_absolute"]
    it("JSON says it, too", focus["profile"] == 9999 and "out of range" in focus["profileFault"], focus)
    it("and the log", "does not get lost=1 of its profile" in daemon.log(100_000), daemon.log())
    daemon.control("control", "--forget", "lost")

    report = lambda: {one["check"]: one for one in json.loads(run(daemon, "doctor", "--json")[1])["findings"]}
    health = lambda: json.loads(daemon.control("status", "--json"))["health"].get("profileFault", "")
    it("doctor has nothing to say of profiles that are read", "profiles" not in report() and health() == "")
    restart(daemon, lambda text: text[:-3])
    damaged = (daemon.folder / "state" / "profiles").read_text()
    it("a damaged file is no profile", not any("profile" in one for one in controls().values()))
    it("the log says so", f"{daemon.folder}/state/profiles is damaged" in daemon.log(100_000), daemon.log())
    found = report().get("profiles", {})
    it("doctor, too", found.get("state") == "problem" and "is damaged: line " in found.get("text", ""), found)
    it("and the health", "is damaged: line " in health(), health())
    daemon.control("control", "--save", "gain=20")
    it("the next save sets it aside", (daemon.folder / "state" / "profiles.damaged").read_text() == damaged and
       "profiles.damaged" in daemon.log(100_000), daemon.log())
    it("and the fault is gone", "profiles" not in report() and health() == "")
    history = json.loads(daemon.control("history", "--json"))
    it("the history has who saved", any(one["kind"] == "setting" and "saved in its profile: gain=20" in one["message"]
                                        for one in history), history[:3])
    daemon.control("control", "--forget")
    daemon.control("control", "--forget")
    restart(daemon)
    it("what was forgotten does not come back", value("gain") == 16 and "PROFILE" not in daemon.control("control"))
    daemon.control("control", "--microphone", "synthetic:microphone", "--save", "mute=on")
    restart(daemon)
    daemon.control("record", "--camera", "none", "--duration", "1", folder / "muted.wav")
    muted = json.loads(daemon.control("control", "--microphone", "synthetic:microphone", "--json", "mute"))
    it("a microphone has a profile, too", muted[0]["value"] == 1 and muted[0]["profile"] == 1, muted)
