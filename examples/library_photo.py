#!/usr/bin/python3
"""Takes a photo with the first camera into your media library, without a file in between.

    capturectl run library_photo.py NAME.jpg

It needs the packages python3-dbus and python3-gi.
"""
import os, sys
import dbus
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

NAME = "org.capturekit.Capture1"
# Exit codes, as capturectl has them, and the errors of the daemon and the bus that they stand for.
EXIT_CODES = {65: "InvalidArgument NoSuchFormat", 66: "NoSuchDevice", 69: "Unreachable ServiceUnknown FileNotFound",
              74: "InputOutput DeviceLost NoSignal RecorderLost OverQuota", 78: "MissingUsageDescription",
              75: "Busy Dismissed TimedOut NobodyToAsk AskedTooOften",
              77: "Denied Restricted Revoked SwitchedOff UserAway NotPermitted"}

def fail(code, message):
    print(message, file=sys.stderr)
    sys.exit(next((number for number, codes in EXIT_CODES.items() if code in codes.split()), 70))

def table(**values):
    return dbus.Dictionary({key.replace("_", "-"): value for key, value in values.items()}, signature="sv")

def take(name):
    DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus() if os.environ.get("CAPTURED_BUS") == "session" else dbus.SystemBus()
    captured = bus.get_object(NAME, "/org/capturekit/Capture1")
    # The questions show these texts, the first time.
    captured.SetUsageDescriptions({"camera": "Takes a photo", "library-add": "Keeps the photo in your library",
                                   "library-read-write": "Tells you the photo's number in your library"},
                                  dbus_interface=NAME + ".Authorization", signature="a{ss}")
    photo = table(name="photo", kind="photo", format="jpeg", library=table(name=name))
    description = table(
        inputs=dbus.Array([table(name="camera", media_type="video", preset="photo")], signature="a{sv}"),
        outputs=dbus.Array([photo], signature="a{sv}"),
        connections=dbus.Array([("camera", "photo")], signature="(ss)"),
        attached=True)
    path = captured.CreateSession(description, {}, dbus_interface=NAME + ".Manager", signature="a{sv}a{ss}")
    session = dbus.Interface(bus.get_object(NAME, path), NAME + ".Session")
    heard, loop = {}, GLib.MainLoop()

    def changed(interface, values, invalidated):
        heard.update(values)
        if heard.get("State") in ("stopped", "failed", "interrupted"):
            loop.quit()

    session.connect_to_signal("OutputSaved", lambda output, result: heard.update(saved=result))
    session.connect_to_signal("OutputFinished", lambda output, *outcome: heard.update(outcome=outcome))
    session.connect_to_signal("PropertiesChanged", changed, dbus_interface=dbus.PROPERTIES_IFACE)
    session.Start()
    loop.run()
    code, message, *_ = heard.get("outcome") or (heard["ReasonCode"], heard["Reason"])
    if code:
        fail(code, message)
    print(heard["saved"].get("id", "added; this program may not read it back"))

if len(sys.argv) != 2:
    print("usage: capturectl run library_photo.py NAME.jpg", file=sys.stderr)
    sys.exit(64)
try:
    take(sys.argv[1])
except dbus.DBusException as error:
    fail(error.get_dbus_name().split(".")[-1], error.get_dbus_message())
