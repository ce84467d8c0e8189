#!/usr/bin/python3
"""An agent that answers each question as its argument says: yes, no or never, so that they wait. It prints the questions.

agent.py ANSWER"""
import json, sys
import dbus, dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

AGENT = "org.capturekit.Capture1.Agent"
CONSENT = "org.capturekit.Capture1.Authorization"
DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
captured = dbus.Interface(bus.get_object("org.capturekit.Capture1", "/org/capturekit/Capture1"), CONSENT)


def answer(cookie, services):
    told = {"allowed": dbus.Boolean(sys.argv[1] == "yes"), "lifetime": "always"}
    answers = {service: dbus.Dictionary(told, signature="sv") for service in services}
    captured.Answer(cookie, dbus.Dictionary(answers, signature="sa{sv}"), ignore_reply=True)
    return False


class Agent(dbus.service.Object):
    @dbus.service.method(AGENT, in_signature="sa{sv}")
    def Ask(self, cookie, request):
        print(json.dumps({key: str(request.get(key, "")) for key in ("program", "name", "bridge", "detail")}
                         | {"services": [str(each) for each in request["services"]]}), flush=True)
        if sys.argv[1] != "never":
            GLib.idle_add(answer, cookie, request["services"])

    @dbus.service.method(AGENT, in_signature="ssas", out_signature="a{ss}")
    def Describe(self, program, unit, services):
        return dbus.Dictionary(signature="ss")

    @dbus.service.method(AGENT, in_signature="s")
    def Cancel(self, cookie):
        print(json.dumps({"taken back": True}), flush=True)


agent = Agent(bus, "/org/capturekit/Capture1/agent")
captured.RegisterAgent("/org/capturekit/Capture1/agent", dbus.Dictionary({"kind": "terminal"}, signature="sv"))
print("ready", flush=True)
GLib.MainLoop().run()
