#!/usr/bin/python3
"""Lists the settings of the first camera, or changes one of them.

    capturectl run controls.py
    capturectl run controls.py brightness 140

It needs the packages python3-dbus and python3-gi.
"""
import os, sys
import dbus
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

NAME = "org.capturekit.Capture1"
# Exit codes, as capturectl has them, and the errors of the daemon and the bus that they stand for.
EXIT_CODES = {65: "InvalidArgument", 66: "NoSuchDevice", 69: "Unreachable ServiceUnknown FileNotFound",
              74: "InputOutput DeviceLost", 75: "Busy Dismissed TimedOut NobodyToAsk AskedTooOften",
              77: "Denied Restricted SwitchedOff NotPermitted", 78: "MissingUsageDescription"}

def fail(code, message):
    print(message, file=sys.stderr)
    sys.exit(next((number for number, codes in EXIT_CODES.items() if code in codes.split()), 70))

def ask(captured):
    """Waits until the camera is allowed. Nobody is asked if it is already."""
    consent, decided, loop = dbus.Interface(captured, NAME + ".Authorization"), {}, GLib.MainLoop()
    # The signal may come before the call has returned its number.
    consent.connect_to_signal("AccessDecided", lambda number, *outcome: (decided.update({number: outcome}), loop.quit()))
    consent.SetUsageDescriptions({"camera": "Shows and changes the camera's settings"})
    request = consent.RequestAccess(["camera"])
    while request and request not in decided:
        loop.run()
    code, message, _ = decided.get(request, ("", "", {}))
    if code:
        fail(code, message)

def control(change):
    DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus() if os.environ.get("CAPTURED_BUS") == "session" else dbus.SystemBus()
    captured = bus.get_object(NAME, "/org/capturekit/Capture1")
    ask(captured)
    devices = captured.ListDevices(dbus_interface=NAME + ".Manager")
    camera = next((device["id"] for device in devices if device["media-type"] == "video"), None)
    if camera is None:
        fail("NoSuchDevice", "there is no camera")
    # In its object's path, each byte but letters and digits is written as _ and two hexadecimal digits.
    label = "".join(chr(byte) if chr(byte).isascii() and chr(byte).isalnum() else f"_{byte:02x}" for byte in camera.encode())
    device = dbus.Interface(bus.get_object(NAME, f"/org/capturekit/Capture1/devices/{label}"), NAME + ".Device")
    if change:
        device.SetControl(*change)
    for setting in device.GetControls():
        print(f"{setting['name']} = {setting['value']} ({setting['minimum']} to {setting['maximum']})")

try:
    change = sys.argv[1:]
    if change:
        name, value = change
        change = name, dbus.Int64(value)
except (ValueError, OverflowError):
    print("usage: capturectl run controls.py [NAME VALUE]", file=sys.stderr)
    sys.exit(64)
try:
    control(change)
except dbus.DBusException as error:
    fail(error.get_dbus_name().split(".")[-1], error.get_dbus_message())
