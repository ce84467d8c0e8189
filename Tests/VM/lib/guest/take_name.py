#!/usr/bin/python3
"""Requests a name on the system bus.

take_name.py NAME FLAGS [STAY]      prints `got`, `queued`, `taken` or the error. With STAY it stays connected until it is
                                    killed, and prints `got` if the name comes to it later.
take_name.py --over-and-over NAME STOP
                                    requests it with all flags in turn until the file STOP exists. Prints how often, and
                                    fails if it got the name once.
FLAGS: 1 allows replacement, 2 replaces the owner, 4 does not queue; or a sum of these.
"""
import collections, os, struct, sys
from hostile_bus import Bus

BUS = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
ANSWERS = {1: "got", 2: "queued", 3: "taken", 4: "got"}


def ask(bus, name, flags):
    error = bus.call(*BUS, "RequestName", "su", (name, flags))
    return error or ANSWERS[struct.unpack_from("<I", bus.body)[0]]


def main():
    bus = Bus()
    if sys.argv[1] == "--over-and-over":
        found = collections.Counter()
        while not os.path.exists(sys.argv[3]):
            for flags in range(8):
                found[ask(bus, sys.argv[2], flags)] += 1
        print(f"{sum(found.values())} times: {dict(found)}")
        sys.exit(bool(set(found) - {"org.freedesktop.DBus.Error.AccessDenied"}))
    print(ask(bus, sys.argv[1], int(sys.argv[2])), flush=True)
    bus.socket.settimeout(None)
    while len(sys.argv) > 3:
        # Leaves calls unanswered.
        bus.receive()
        if bus.member == "NameAcquired":
            print("got", flush=True)


main()
