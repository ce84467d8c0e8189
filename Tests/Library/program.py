"""A program that uses the media library as it is told: a line of JSON on its standard input names what to do, and a line of
JSON on its standard output says what came of it. What waits for a person has a line before that one, once it is begun."""
import json, socket, sys
import dbus
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

WORDS = ["notDetermined", "restricted", "denied", "authorized", "limited"]
DBusGMainLoop(set_as_default=True)
daemon = dbus.SessionBus().get_object("org.capturekit.Capture1", "/org/capturekit/Capture1")
manager = dbus.Interface(daemon, "org.capturekit.Capture1.Manager")
library = dbus.Interface(daemon, "org.capturekit.Capture1.Library")
consent = dbus.Interface(daemon, "org.capturekit.Capture1.Authorization")
outcomes = {}


def say(**facts):
    print(json.dumps(facts), flush=True)


def outcome(what, request):
    """Of a request that was begun."""
    say(begun=int(request))
    while request and (what, int(request)) not in outcomes:
        GLib.MainContext.default().iteration(True)
    return outcomes.pop((what, int(request)), "")


def status():
    say(status=[WORDS[consent.GetStatus(service)] for service in ["library", "library-add", "library-read-write"]])


def request(*services):
    say(code=outcome("access", consent.RequestAccess(dbus.Array(services, signature="s"))))


def add(path):
    with open(path, "rb") as file:
        end, number = manager.OpenDoor()
        door = socket.socket(fileno=end.take())
        socket.send_fds(door, [b"file"], [file.fileno()])
        begun = library.Import(f"{number}.{door.recv(100).decode()}", dbus.Dictionary(signature="sv"))
    say(code=outcome("library", begun))


def fetch():
    try:
        assets, _, status = library.Fetch(dbus.Dictionary(signature="sv"))
        say(code="", count=len(assets), status=WORDS[status])
    except dbus.DBusException as error:
        say(code=error.get_dbus_name().split(".")[-1])


def keep(what):
    return lambda request, code, *_: outcomes.__setitem__((what, int(request)), str(code))


consent.connect_to_signal("AccessDecided", keep("access"))
library.connect_to_signal("Finished", keep("library"))
for line in sys.stdin:
    name, *arguments = json.loads(line)
    {"status": status, "request": request, "add": add, "fetch": fetch}[name](*arguments)
