#!/usr/bin/python3
"""A desktop whose dialogs a test answers: org.freedesktop.impl.portal.Access on the session's bus. It prints each dialog as
a line of JSON with its number, and reads lines such as `4 yes`, `4 no`."""
import json, sys
import dbus, dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
open_dialogs = {}


class Desktop(dbus.service.Object):
    @dbus.service.method("org.freedesktop.impl.portal.Access", in_signature="osssssa{sv}", out_signature="ua{sv}",
                         async_callbacks=("done", "failed"))
    def AccessDialog(self, handle, application, window, title, subtitle, body, options, done, failed):
        number = len(open_dialogs) + 1
        open_dialogs[number] = done
        print(json.dumps({"number": number, "title": title, "subtitle": subtitle, "body": body}), flush=True)


def answer(source, condition):
    line = sys.stdin.readline()
    if not line:
        loop.quit()
        return False
    number, word = line.split()
    # Without choices: for always.
    done = open_dialogs[int(number)]
    # No sooner than a person has seen it; nothing that comes before counts.
    GLib.timeout_add(700, lambda: done(dbus.UInt32(word != "yes"), dbus.Dictionary(signature="sv")))
    return True


loop = GLib.MainLoop()
desktop = Desktop(bus, "/org/freedesktop/portal/desktop")
name = dbus.service.BusName("org.freedesktop.impl.portal.desktop.suite", bus)
GLib.io_add_watch(sys.stdin.fileno(), GLib.PRIORITY_DEFAULT, GLib.IO_IN | GLib.IO_HUP, answer)
print("ready", flush=True)
loop.run()
