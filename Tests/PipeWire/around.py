"""Attacks from around the bridges: the bus, the environment, servers, and the libraries for V4L2 and ALSA."""
import json, os, re, shutil, subprocess
from pathlib import Path

from attacking import *

MONITORS = "have an allowed program's own node show what it records"


def bus(stage):
    """Programs that speak to the bridge, or to the daemon in its place."""
    gst = camera(stage, "spoken-of")
    session = next(each["id"] for each in json.loads(stage.control("sessions", "--json")) if each["program"] == gst.id)
    source, folder = ROOT / "Tests/VM/attacks", stage.folder / "session-thief"
    built = subprocess.run(["cc", "-std=gnu17", "-D_GNU_SOURCE", "-O1", source / "session.c", source / "attack.c", "-o",
                            folder, "-lsystemd"], text=True, capture_output=True)
    it("session.c compiles", not built.returncode, built.stderr)
    logs = Logs(stage)
    # What a session is and does, and its end, are its user's own.
    ways = ("start open words add picture configure photo raw size pause resume mark enable gain levels begin note cut "
            "segment").split()
    here = {**stage.environment, "DBUS_SYSTEM_BUS_ADDRESS": stage.environment["DBUS_SESSION_BUS_ADDRESS"]}
    done = subprocess.run([folder, str(session), *ways], text=True, capture_output=True, timeout=LIMIT, env=here,
                          cwd=stage.folder)
    it("session-of-the-bridge: none of its calls is answered", done.returncode == 77, done.stdout + done.stderr)
    line = f"was refused to exe:{folder}"
    it("session-of-the-bridge: the log has it", wait_until(lambda: logs.line(line)), stage.said())
    tell("session-of-the-bridge", "every call on a session that the bridge made", done.stdout.splitlines()[0],
         logs.line(line))
    logs, started = Logs(stage), Path(f"/proc/{gst.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    place = ["busctl", "--user", "call", "org.capturekit.Capture1", "/org/capturekit/Capture1",
             "org.capturekit.Capture1.Manager"]
    calls = [("in-its-place", "makes a session for an allowed process",
              ["CreateSessionFor", "uta{uu}usa{sv}a{ss}", gst.process.pid, started, 1, gst.process.pid, 1, 0,
               "pipewire", 0, 0]),
             ("forged-report", "has the history say that an allowed program is a stranger",
              ["ReportStranger", "ututs", gst.process.pid, started, 1, 0, "camera"])]
    for name, what, words in calls:
        done = subprocess.run([*place, *map(str, words)], env=stage.environment, text=True, capture_output=True)
        it(f"{name}: it is told why", done.returncode and "only captured-pipewire" in done.stderr, done.stderr)
        refused(logs, name, what, f"{words[0]} was refused to .*busctl")
    with stage.agent("never") as questions:
        asked = Taker(stage, "asked-about")
        asked.take()
        it("the person is asked", wait_until(lambda: questions), asked.said)
        names = subprocess.run(["busctl", "--user", "list", "--no-legend"], env=stage.environment, text=True,
                               capture_output=True).stdout
        told = []
        for name in re.findall(rf"^(:\S+)\s+{stage.bridge.pid}\s", names, re.M):
            for number in range(int(session), int(session) + 4):
                done = subprocess.run(["/usr/bin/python3", HERE / "attackers/forger.py", name,
                                       f"/org/capturekit/Capture1/sessions/{number}"], env=stage.environment, text=True,
                                      capture_output=True)
                told += done.stdout.splitlines()
                it("the forger speaks", not done.returncode, done.stderr)
        it("forged-signals: the bridge has several names", len(told) >= 8, names)
        it("forged-signals: no call is answered", told and all(each.startswith("refused") for each in told), told)
        it("forged-signals: who is asked about gets nothing", not wait_until(asked.got, 2), asked.said)
        tell("forged-signals", "signals as if the daemon's, and calls, to the bridge by its name", told[0], "")
        asked.kill()
    sees(gst)
    it("the cameras are still there", stage.nodes("Video/Source"))
    gst.kill()


def surroundings(stage):
    """What the bridge finds around it when it is started."""
    where = stage.folder / "trapped"
    trap = compiled(stage, "trap", flags=["-shared", "-fPIC", f'-DWHERE="{where}"'], target="trap.so")
    folder, home = stage.folder / "traps", stage.folder / "trap-home"
    for name in ["support/libspa-support", "support/libspa-journal", "audioconvert/libspa-audioconvert",
                 *(f"libpipewire-module-{each}" for each in ["protocol-native", "rt", "client-node", "client-device",
                                                              "adapter", "metadata", "session-manager", "rtkit"])]:
        (folder / f"{name}.so").parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(trap, folder / f"{name}.so")
    up = "../" * 12 + str(trap.with_suffix("")).lstrip("/")
    text = (f'context.properties = {{ support.dbus = true library.name.system = "{up}" }}\n'
            f'context.spa-libs = {{ support.* = "{up}" audio.* = "{up}" }}\n'
            f'context.modules = [ {{ name = "{up}" flags = [ nofail ] }} '
            '{ name = libpipewire-module-protocol-native } ]\n')
    for place in [home / ".config/pipewire", home / "pipewire", folder / "conf"]:
        for name in ["client.conf", "client-rt.conf"]:
            (place / f"{name}.d").mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
            (place / f"{name}.d/trap.conf").write_text(text)
    (home / ".asoundrc").write_text(f'pcm_type.trap {{ lib "{trap}" }}\npcm.!default {{ type trap }}\n')
    kinds = {"SPA_PLUGIN_DIR": {"SPA_PLUGIN_DIR": folder}, "PIPEWIRE_MODULE_DIR": {"PIPEWIRE_MODULE_DIR": folder},
             "PIPEWIRE_CONFIG_DIR": {"PIPEWIRE_CONFIG_DIR": folder / "conf"},
             "client.conf": {"XDG_CONFIG_HOME": home, "HOME": home},
             ".asoundrc": {"HOME": home, "ALSA_CONFIG_PATH": home / ".asoundrc"}}
    misled = {"PIPEWIRE_REMOTE": "nowhere", "PIPEWIRE_RUNTIME_DIR": "/nowhere", "PIPEWIRE_CORE": "nowhere",
              "PIPEWIRE_CONFIG_NAME": "nowhere.conf", "PIPEWIRE_CONFIG_PREFIX": "nowhere", "PIPEWIRE_QUANTUM": "1/1",
              "PIPEWIRE_PROPS": "{ application.name = nobody media.class = Audio/Sink }", "PIPEWIRE_NODE": "1"}
    kinds["all"] = misled | {key: value for each in kinds.values() for key, value in each.items()}
    for name, more in kinds.items():
        where.unlink(missing_ok=True)
        # What it is meant for: another program falls into it.
        hostile = {**stage.environment, **{key: str(value) for key, value in more.items()}}
        if name not in (".asoundrc", "all"):
            subprocess.run(["pw-cli", "info", "0"], env=hostile, capture_output=True, timeout=LIMIT)
            it(f"{name}: another program falls into the trap", where.exists() and "pw-cli" in where.read_text())
            where.unlink(missing_ok=True)
        stage.bridge.terminate()
        it("without the bridge there is no camera", wait_until(lambda: not stage.nodes("Video/Source")))
        own, stage.environment = stage.environment, hostile
        try:
            stage.bridge = stage.server("bridge", stage.programs / "captured-pipewire", "--bus", "session")
        finally:
            stage.environment = own
        it(f"{name}: the bridge works all the same", wait_until(lambda: stage.nodes("Video/Source")), stage.said())
        it(f"{name}: it loads nothing", not where.exists(), where.exists() and where.read_text())
        maps = Path(f"/proc/{stage.bridge.pid}/maps")
        if os.access(maps, os.R_OK) and os.geteuid() == 0:
            it(f"{name}: nothing of it is in its memory", str(stage.folder / "trap") not in maps.read_text())
        tell(f"surroundings-{name}", "what is named there is to be loaded into the bridge", "", "")
    gst = Program(stage, "gst-launch-1.0", "after-traps", "authorized")
    it("programs are served", gst.camera(3).end() == 0, gst.said)


def monitors(stage):
    """Ports that show what goes into a node."""
    record = Program(stage, "pw-record", "monitored", "authorized", "microphone")
    record.microphone()
    it("the allowed program records", wait_until(lambda: record.amount() > 96000), record.said)
    thief = Taker(stage, "monitoring-thief", "denied", "microphone")
    thief.take(media="audio")
    it("the thief is refused", wait_until(lambda: "was denied the microphone" in thief.told()), thief.said)
    with meddler(stage) as another:
        node, ports = has_private(another, thief)
        logs, public = Logs(stage), decoy(stage, "Audio/Source")
        another.do(f"monitor {public}", f"start {public}", f"monitor {node}", f"start {node}")
        own = ports_of(stage, base.node_of(stage, record), "output")
        it("monitor-ports: a private node gets no further ports", set(thief.ports(node)) == set(ports), thief.said)
        entrances = ports_of(stage, base.node_of(stage, thief), "input")
        another.do(*(f"link {port} {entrances[0]}" for port in ports_of(stage, public, "output")))
        it("monitor-ports: the thief hears nothing", not wait_until(lambda: "sound" in thief.got(), 2), thief.said)
        tell("monitor-ports", "the nodes of a microphone are to show what they carry at monitor ports, and to start", "",
             "")
        # What the program that records has is its own, and PipeWire's.
        recorder = base.node_of(stage, record)
        another.do(f"monitor {recorder}")
        shown = wait_until(lambda: ports_of(stage, recorder, "output"), 5) or own
        if shown:
            another.do(f"link {shown[0]} {entrances[0]}")
        heard = wait_until(lambda: "sound" in thief.got(), 5)
        not_held("monitor-of-a-program", "an allowed program's own node is to show what it records",
                 "it hears" if heard else f"it hears nothing ({len(shown)} ports)", MONITORS)
    for each in (thief, record):
        each.kill()


def managers(stage):
    """Servers that are killed, and others in their place."""
    gst, manager = camera(stage, "managed"), process_of(stage, "wireplumber")
    manager.kill()
    manager.wait()
    sees(gst, "without WirePlumber, the allowed program goes on")
    thief = Taker(stage, "own-manager")
    logs = Logs(stage)
    thief.take()
    with meddler(stage) as another:
        it("the thief has a port", wait_until(lambda: ports_of(stage, base.node_of(stage, thief), "input")), thief.said)
        another.do(f"link {ports_of(stage, decoy(stage), 'output')[0]} {base.input_port(stage, thief)}")
        refused(logs, "own-manager", "WirePlumber is killed; the thief links itself to the camera in its place",
                rf"{re.escape(thief.id)} does not get the camera: .*{NOBODY}", thief, NOBODY)
    thief.kill()
    stage.server("wireplumber", "wireplumber")
    stage.wait_for(lambda: "wireplumber" in stage.dump_text(), "WirePlumber")
    it("with the next WirePlumber, the thief still has nothing", not thief.got(), thief.said[-600:])
    gst.kill()
    other = Program(stage, "gst-launch-1.0", "managed-again", "authorized")
    it("and others come", other.camera(3).end() == 0, other.said)
    gst = camera(stage, "served")
    logs, server = Logs(stage), process_of(stage, "pipewire")
    server.kill()
    server.wait()
    it("without PipeWire, the program ends", gst.end(), gst.said)
    it("the camera is free", wait_until(lambda: not gst.captures()))
    it("the bridge ends, to be started again", stage.bridge.wait(LIMIT) == 69, stage.said())
    tell("killed-pipewire", "PipeWire is killed", "", logs.line("PipeWire is gone"))
    lying_server(stage)
    again(stage, {})
    gst = Program(stage, "gst-launch-1.0", "served-again", "authorized")
    it("with the next PipeWire and bridge, programs are served", gst.camera(3).end() == 0, gst.said)


def again(stage, more):
    """PipeWire, WirePlumber and the bridge once more."""
    for name in ["wireplumber", "pipewire"]:
        for each in stage.running:
            if Path(str(each.args[0])).name == name and each.poll() is None:
                each.kill()
                each.wait()
    if stage.bridge.poll() is None:
        stage.bridge.wait(LIMIT)
    (stage.folder / "run/pipewire-0").unlink(missing_ok=True)
    own, stage.environment = stage.environment, {**stage.environment, **more}
    try:
        stage.server("pipewire", "pipewire")
    finally:
        stage.environment = own
    stage.wait_for(lambda: (stage.folder / "run/pipewire-0").exists(), "PipeWire's socket")
    stage.server("wireplumber", "wireplumber")
    stage.wait_for(lambda: "wireplumber" in stage.dump_text(), "WirePlumber")
    stage.start_bridge()


def lying_server(stage):
    """A PipeWire of the person's own that says of a connection that it is an allowed program's."""
    where = stage.folder / "swapped"
    swap = compiled(stage, "swap", flags=["-shared", "-fPIC", f'-DWHERE="{where}"'], target="swap.so")
    again(stage, {"LD_PRELOAD": str(swap)})
    watch, thief = Program(stage, "pw-mon", "allowed-watch", "authorized"), Taker(stage, "lied-for", "denied")
    # Each is started as a shell that waits, so that its number is known before it connects.
    held = [subprocess.Popen(["sh", "-c", 'read -r line; exec "$@"', "sh", *command], env=stage.environment, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            for command in [[watch.path], [thief.path, "video"]]]
    where.write_text(f"{held[0].pid} {held[1].pid}")
    for each in held:
        each.stdin.write("\n")
        each.stdin.flush()
    said = []
    reader = base.threading.Thread(target=lambda: said.extend(held[1].stdout), daemon=True)
    drain = base.threading.Thread(target=lambda: [None for _ in held[0].stdout], daemon=True)
    reader.start()
    drain.start()
    seen = wait_until(lambda: "picture\n" in said, 20)
    not_held("lying-pipewire", "PipeWire is replaced by one that calls the thief an allowed program",
             "it sees" if seen else f"it sees nothing: {said[-1:]}",
             "or replace PipeWire, WirePlumber or their configuration")
    for each in held:
        each.kill()
        each.wait()


def shims(stage):
    """Programs that go around the libraries for V4L2 and ALSA."""
    library, node = ROOT / ".build/captured-v4l2/libcaptured-v4l2.so", "/dev/video90"
    headers, own = ROOT / "Sources/libcapture", ROOT / ".build/libcapture"
    built = compiled(stage, "around", flags=[f"-I{headers}", f"-L{own}", "-l:libcapture.so.0"])
    around = Program(stage, built, "around", "denied")
    honest = subprocess.Popen([Program(stage, "sleep", "honest-sleep", "authorized").path, "600"])
    started = Path(f"/proc/{honest.pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    own_environment = stage.environment
    logs = Logs(stage)
    stage.environment = {**own_environment, "LD_PRELOAD": str(library),
                         "CAPTURE_V4L2_DEVICES": f"{node}=synthetic:camera"}
    try:
        around.start(node, library, "synthetic:camera", honest.pid, started).end()
    finally:
        stage.environment = own_environment
    told = dict(re.findall(r"^refused (\S+) (.*)$", around.said, re.M))
    lines = {"through-it": f"{re.escape(around.id)} does not get the camera", "system-call": "", "unloaded": "",
             "asked-itself": f"{re.escape(around.id)} does not get the camera",
             "for-another": f"CreateSessionFor was refused to {re.escape(around.id)}"}
    for name, line in lines.items():
        it(f"around-{name}: it gets nothing", name in told, around.said)
        it(f"around-{name}: the log has it", not line or wait_until(lambda: logs.line(line)), stage.said())
        tell(f"around-{name}", "a denied V4L2 program goes around its library", told.get(name),
             line and logs.line(line))
    honest.kill()
    honest.wait()
    recorder = Program(stage, "arecord", "own-asoundrc-arecord", "denied", "microphone")
    home = stage.folder / "alsa-home"
    home.mkdir()
    (home / ".asoundrc").write_text('pcm.mine { type captured device "synthetic:microphone" }\n'
                                    'pcm_type.captured { lib "libasound_module_pcm_captured.so" }\n'
                                    f'pcm.captured {{ type plug slave.pcm mine }}\n')
    logs = Logs(stage)
    stage.environment = {**own_environment, "HOME": str(home), "ALSA_PLUGIN_DIR": str(ROOT / ".build/captured-alsa")}
    try:
        recorder.start("-q", "-D", "captured", "-d", "1", "-f", "S16_LE", "-r", "48000", recorder.output).end()
    finally:
        stage.environment = own_environment
    it("asoundrc: it is told", "was denied the microphone" in recorder.said and recorder.amount() <= 44, recorder.said)
    refused(logs, "asoundrc", "a definition of its own in ~/.asoundrc",
            f"{re.escape(recorder.id)} does not get the microphone")
