"""What commands print with --json, against its schemas: every key, and its form."""
import json, signal, subprocess

from checks import wait_until
from json_schema import FOLDER, faults, load
from terminals import allow_library, run


def json_schemas(daemon, folder, it):
    seen = set()

    def check(schema, *command, status=0, lines=False):
        code, output, messages = run(daemon, *command, "--json", cwd=folder)
        name = "capturectl " + " ".join(map(str, command)) + " --json"
        it(f"{name} exits {status}", code == status, f"{code} {messages}")
        hold(schema, name, output.splitlines() if lines else [output])
        return json.loads(output) if not lines else None

    def hold(schema, name, texts):
        seen.add(schema)
        it(f"{name} says something", texts)
        for text in texts:
            try:
                wrong = faults(json.loads(text), load(schema + ".json"))
            except ValueError as error:
                wrong = [f"{error}: {text[:200]!r}"]
            it(f"{name} is as docs/schemas/{schema}.json says", not wrong, "; ".join(wrong[:5]))

    check("library-status", "library", "status")
    allow_library(daemon)
    # Refused, limited in time and told by policy: what is there now and then alone.
    daemon.control("auth", "set", "exe:/bin/cat", "camera", "denied")
    daemon.control("auth", "set", "exe:/bin/cat", "microphone", "authorized", "--until", "8h")
    events = folder / "events"
    with open(events, "w") as output:
        monitor = subprocess.Popen([daemon.programs / "capturectl", "monitor", "--json"], env=daemon.environment, stdout=output)

    def listens():
        daemon.control("auth", "set", "exe:/bin/tac", "camera", "denied")
        daemon.control("auth", "reset", "exe:/bin/tac")
        return events.read_text()

    assert wait_until(listens), "the monitor does not listen"
    for schema, *command in [("devices", "devices"), ("formats", "formats"), ("formats", "formats", "synthetic:microphone"),
                             ("control", "control"), ("switch", "switch"), ("doctor", "doctor"),
                             ("doctor-programs", "doctor", "--programs"),
                             ("record", "record", "-d", "1", "a.mkv"), ("record", "record", "-d", "1", "a.flac"),
                             ("record", "record", "--segment", "0.2", "-d", "0.5", "s.mkv"),
                             ("record", "photo", "a.jpg"), ("record", "record", "--to-library", "--album", "Trip", "-d", "1"),
                             ("record", "photo", "--to-library"), ("photo-burst", "photo", "--burst", "2", "c.jpg"),
                             ("photo-live", "photo", "--live", "d.jpg"),
                             ("photo-burst", "photo", "--burst", "2", "--to-library"),
                             ("photo-burst", "photo", "--preset", "low", "--to-library", "--with", "jpg"),
                             ("photo-burst", "photo", "--bracket", "0,1", "--flash", "on", "e.png", "--with", "e.jpg"), ("start", "start", "b.mkv"), ("sessions", "sessions", "-a"),
                             ("status", "status"), ("status", "status", "1"), ("history", "history"),
                             ("auth-list", "auth", "list"), ("auth-status", "auth", "status"),
                             ("auth-status", "auth", "status", "exe:/bin/cat"), ("auth-explain", "auth", "explain"),
                             ("auth-explain", "auth", "explain", "exe:/bin/cat"), ("auth-whoami", "auth", "whoami"),
                             ("auth-agents", "auth", "agents"),
                             ("library-list", "library", "list"), ("library-count", "library", "count"),
                             ("library-albums", "library", "album", "list"), ("library-kept", "library", "kept", "list"),
                             ("library-faults", "library", "check"), ("library-faults", "library", "repair"),
                             ("lockdown", "--bus", "system", "lockdown", "status")]:
        check(schema, *command)
    added = check("library-add", "library", "add", "a.jpg", "a.flac", "nothing", status=74)
    it("of what was not added the id is absent", [sorted(row) for row in added] ==
       [["file", "id"], ["file", "id"], ["error", "file"]], added)
    check("library-show", "library", "show", added[0]["id"])
    check("library-show", "library", "show", added[1]["id"])
    token = daemon.control("library", "changes").split()[-1]
    daemon.control("library", "favourite", added[0]["id"])
    daemon.control("library", "album", "create", "Sea")
    hold("metadata", "capturectl metadata", daemon.control("metadata", "--count", "2").splitlines())
    check("library-changes", "library", "changes", lines=True)
    check("library-changes", "library", "changes", "--since", token, lines=True)
    daemon.control("library", "export", "--all", folder / "exported")
    check("library-import", "library", "import", "exported")
    last = max(int(session["id"]) for session in json.loads(daemon.control("sessions", "--json")))
    daemon.control("stop", "--all")
    assert wait_until(lambda: f'"session":"{last}","state":"stopped"' in events.read_text()), "the monitor does not tell of it"
    monitor.send_signal(signal.SIGINT)
    monitor.wait(30)
    hold("monitor", "capturectl monitor --json", events.read_text().splitlines())
    watched = folder / "watched"
    with open(watched, "w") as output:
        watch = subprocess.Popen([daemon.programs / "capturectl", "control", "--watch", "--json"], env=daemon.environment, stdout=output)

    def watches():
        for value in [200, 300]:
            daemon.control("control", f"zoom_absolute={value}")
        return watched.read_text()

    assert wait_until(watches), "the watch shows no change"
    watch.send_signal(signal.SIGINT)
    watch.wait(30)
    daemon.control("control", "--reset")
    hold("control-watch", "capturectl control --watch --json", watched.read_text().splitlines())
    # A person picks, chooses and takes, in Tests/Picker/test.
    left = {path.stem for path in FOLDER.iterdir()} - seen - {"common", "library-pick", "library-choose", "take"}
    it("every schema is checked", not left, left)
