#!/usr/bin/python3
"""An agent that never answers, so that questions wait."""
import dbus, dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

AGENT = "org.capturekit.Capture1.Agent"
DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()


class Agent(dbus.service.Object):
    @dbus.service.method(AGENT, in_signature="sa{sv}")
    def Ask(self, cookie, request):
        pass

    @dbus.service.method(AGENT, in_signature="ssas", out_signature="a{ss}")
    def Describe(self, program, unit, services):
        return dbus.Dictionary(signature="ss")

    @dbus.service.method(AGENT, in_signature="s")
    def Cancel(self, cookie):
        pass


agent = Agent(bus, "/org/capturekit/Capture1/agent")
captured = bus.get_object("org.capturekit.Capture1", "/org/capturekit/Capture1")
dbus.Interface(captured, "org.capturekit.Capture1.Authorization").RegisterAgent(
    "/org/capturekit/Capture1/agent", dbus.Dictionary({"kind": "terminal"}, signature="sv"))
print("ready", flush=True)
GLib.MainLoop().run()
