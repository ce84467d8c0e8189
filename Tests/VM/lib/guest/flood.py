#!/usr/bin/python3
"""Floods captured, and looks how it answers others meanwhile.

flood.py small|behind SECONDS           calls without end; prints how many were sent, and what came back
flood.py large SECONDS [MEGABYTES]      the same with calls of that size, ten at least however long that takes
flood.py crowd CONNECTIONS              so many connections that listen and read nothing; stays until it is killed
flood.py probe SECONDS [PATIENCE]       one call after the other, each at least once, as a program of good will; prints how
                                        long they took, and fails where one was refused, or took more than the patience
                                        (1 second)

All but `small` have their calls wait behind one that waits for polkit. Of most floods' calls no answer is wanted: the bus
lets a connection wait for 128 answers only. Nine of the calls of `behind` name one descriptor 2,000 times each.
"""
import collections, os, socket, struct, sys, threading, time
from hostile_bus import ROOT, SERVICE, Bus

NO_REPLY = 1
size = 8
MANAGER, AUTHORIZATION = SERVICE + ".Manager", SERVICE + ".Authorization"
BUS = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")


def status(bus):
    return bus.message(SERVICE, ROOT, AUTHORIZATION, "GetStatus", "s", ("camera",))


def large(bus):
    return bus.message(SERVICE, ROOT, AUTHORIZATION, "RequestAccess", "as", (["x" * int(size * (1 << 20))],))


def waiting(bus):
    return bus.message(SERVICE, ROOT, AUTHORIZATION, "SetSwitch", "sb", ("camera", 1))


def files(bus):
    return bus.message(SERVICE, ROOT, MANAGER, "CreateSession", "a{sv}a{sh}",
                       ({}, {str(number): 0 for number in range(2000)}), 1)


def flood(what, seconds):
    bus, came = Bus(), collections.Counter()
    # The bus reads slowly from a connection that floods it.
    bus.socket.settimeout(None)
    first, kinds, least = {"small": ([], [status], 0), "large": ([waiting], [large], 10),
                           "behind": ([waiting], [files] * 9 + [status] * 400, 0)}[what]
    messages = {kind: bytearray(kind(bus)) for kind in {*first, *kinds}}
    null = os.open("/dev/null", os.O_RDONLY)
    threading.Thread(target=count, args=(bus, came), daemon=True).start()
    end, number, sent = time.monotonic() + seconds, bus.serial, 0
    while time.monotonic() < end or sent < least:
        number += 1
        kind = first.pop() if first else kinds[sent % len(kinds)]
        message = messages[kind]
        struct.pack_into("<I", message, 8, number)
        message[2] = 0 if sent % 64 == 0 else NO_REPLY
        gone = socket.send_fds(bus.socket, [message], [null]) if kind is files else 0
        bus.socket.sendall(memoryview(message)[gone:])
        sent += 1
    print(f"{what}: {sent} sent, {dict(came)}", flush=True)


def count(bus, came):
    while True:
        kind, _, error = bus.receive()
        came[error or ("answer" if kind == 2 else "other")] += 1


def crowd(connections):
    buses, refused = [], collections.Counter()
    for _ in range(connections):
        buses.append(Bus())
        refused[buses[-1].call(SERVICE, ROOT, MANAGER, "Subscribe")] += 1
    print(f"{len(buses)} connections: {dict(refused)}", flush=True)
    time.sleep(3600)


def probe(seconds, patience):
    bus = Bus()
    calls = [(AUTHORIZATION, "GetStatus", "s", ("camera",)), (AUTHORIZATION, "WhoAmI", "", ()),
             (MANAGER, "ListSessions", "", ()), (MANAGER, "GetHealth", "", ())]
    end, took, bare, refused = time.monotonic() + seconds, [], [], collections.Counter()
    while time.monotonic() < end or len(took) < len(calls):
        interface, member, signature, values = calls[len(took) % len(calls)]
        bare.append(timed(lambda: bus.call(*BUS, "GetId"))[0])
        spent, error = timed(lambda: bus.call(SERVICE, ROOT, interface, member, signature, values))
        took.append(spent)
        if error:
            refused[f"{member} {error}"] += 1
        time.sleep(0.2)
    # Where the bus itself takes long the machine is slow, or the bus is what is flooded: that is not captured's.
    limit = patience + 5 * max(bare)
    print(f"{len(took)} calls, {sum(refused.values())} refused {dict(refused)}, the slowest took {max(took):.3f} s, "
          f"of the bus's own {max(bare):.3f} s, {sum(spent > 1 for spent in took)} above one second", flush=True)
    sys.exit(bool(refused) or max(took) > limit)


def timed(call):
    began = time.monotonic()
    result = call()
    return time.monotonic() - began, result


def main():
    global size
    what, amount = sys.argv[1], float(sys.argv[2])
    if what == "large" and len(sys.argv) > 3:
        size = float(sys.argv[3])
    if what == "probe":
        probe(amount, float(sys.argv[3]) if len(sys.argv) > 3 else 1)
    elif what == "crowd":
        crowd(int(amount))
    else:
        flood(what, amount)


main()
