#!/usr/bin/python3
"""Speaks to a program by its name on the bus: signals as the daemon sends them, and calls. Prints what it is told.

forger.py NAME SESSION"""
import sys
import dbus, dbus.lowlevel

SERVICE, ROOT = "org.capturekit.Capture1", "/org/capturekit/Capture1"
bus, (name, session) = dbus.SessionBus(), sys.argv[1:]
SIGNALS = [
    (session, "org.freedesktop.DBus.Properties", "PropertiesChanged", "sa{sv}as",
     [f"{SERVICE}.Session", {"State": "running"}, []]),
    (session, f"{SERVICE}.Session", "BufferMoved", "s", ["frames"]),
    (ROOT, f"{SERVICE}.Manager", "DeviceRemoved", "s", ["synthetic:camera"]),
    (ROOT, f"{SERVICE}.Authorization", "AccessDecided", "ss", ["camera", "authorized"]),
    ("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss", [SERVICE, "", bus.get_unique_name()]),
]
for path, interface, member, types, values in SIGNALS:
    message = dbus.lowlevel.SignalMessage(path, interface, member)
    message.set_destination(name)
    message.append(*values, signature=types)
    bus.send_message(message)
bus.flush()
CALLS = [("/", "org.freedesktop.DBus.Introspectable", "Introspect", ()),
         (session, f"{SERVICE}.Session", "Start", ()), (ROOT, f"{SERVICE}.Manager", "Reload", ()),
         ("/", "org.freedesktop.DBus.Properties", "GetAll", (f"{SERVICE}.Session",))]
for path, interface, member, values in CALLS:
    try:
        bus.get_object(name, path, introspect=False).get_dbus_method(member, interface)(*values, timeout=10)
        print(f"answered {member}")
    except dbus.DBusException as error:
        print(f"refused {member} {error.get_dbus_name()}")
