#!/usr/bin/python3
"""Records two seconds of the first camera into a Matroska file, and maps the same frames in memory.

    capturectl run record.py FILE.mkv

It needs the package python3-dbus.
"""
import mmap, os, socket, sys, time
import dbus

NAME = "org.capturekit.Capture1"
# Exit codes, as capturectl has them, and the errors of the daemon and the bus that they stand for.
EXIT_CODES = {65: "InvalidArgument NoSuchFormat", 66: "NoSuchDevice", 69: "Unreachable ServiceUnknown FileNotFound",
              74: "InputOutput DeviceLost NoSignal RecorderLost", 78: "MissingUsageDescription",
              75: "Busy Dismissed TimedOut NobodyToAsk AskedTooOften",
              77: "Denied Restricted Revoked SwitchedOff UserAway NotPermitted"}

def fail(code, message):
    print(message, file=sys.stderr)
    sys.exit(next((number for number, codes in EXIT_CODES.items() if code in codes.split()), 70))

def table(**values):
    return dbus.Dictionary({key.replace("_", "-"): value for key, value in values.items()}, signature="sv")

def record(path):
    bus = dbus.SessionBus() if os.environ.get("CAPTURED_BUS") == "session" else dbus.SystemBus()
    captured = bus.get_object(NAME, "/org/capturekit/Capture1")
    manager = dbus.Interface(captured, NAME + ".Manager")
    # The question shows this text, the first time.
    captured.SetUsageDescriptions({"camera": "Records two seconds into a file of yours"},
                                  dbus_interface=NAME + ".Authorization", signature="a{ss}")
    description = table(
        inputs=dbus.Array([table(name="camera", media_type="video")], signature="a{sv}"),
        outputs=dbus.Array([table(name="movie", kind="movie", format="mkv"), table(name="frames", kind="buffer")],
                           signature="a{sv}"),
        connections=dbus.Array([("camera", "movie"), ("camera", "frames")], signature="(ss)"),
        attached=True)
    # The file goes over a socket of the daemon's. The ticket stands for it in the call.
    end, number = manager.OpenDoor()
    door = socket.socket(fileno=end.take())
    with open(path, "wb") as file:
        socket.send_fds(door, [b"file"], [file.fileno()])
    ticket = f"{number}.{door.recv(100).decode()}"
    session = dbus.Interface(bus.get_object(NAME, manager.CreateSession(description, {"movie": ticket})), NAME + ".Session")
    session.Start()
    get = lambda name: session.Get(NAME + ".Session", name, dbus_interface=dbus.PROPERTIES_IFACE)
    while (state := get("State")) != "running":
        # The property may be told a moment after Start returns.
        if state not in ("configured", "authorizing", "starting"):
            fail(get("ReasonCode"), get("Reason"))
        time.sleep(0.05)
    ring = mmap.mmap(session.OpenBuffer("frames").take(), 0, prot=mmap.PROT_READ)
    time.sleep(2)
    session.Stop()
    print(f"{path} and a ring of {len(ring)} bytes that begins with {ring[:7].decode()}")

if len(sys.argv) != 2:
    print("usage: capturectl run record.py FILE.mkv", file=sys.stderr)
    sys.exit(64)
try:
    record(sys.argv[1])
except OSError as error:
    fail("InputOutput", f"{error.filename}: {error.strerror}")
except dbus.DBusException as error:
    fail(error.get_dbus_name().split(".")[-1], error.get_dbus_message())
