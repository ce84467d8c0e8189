#!/usr/bin/python3
"""Sends captured what no client of good will sends; each message has to be answered by an error.

Speaks D-Bus by itself, since libraries refuse to send such messages. Prints a line for each message that was not refused,
and exits by how it went. What is not well-formed never gets past the bus; what is, and has the wrong types, numbers, names
or descriptors, is here.
"""
import os, socket, struct, sys

SERVICE = "org.capturekit.Capture1"
ROOT = "/org/capturekit/Capture1"
ALIGNED = {"y": 1, "g": 1, "v": 1, "n": 2, "q": 2, "b": 4, "i": 4, "u": 4, "h": 4, "s": 4, "o": 4, "a": 4,
           "x": 8, "t": 8, "d": 8, "(": 8, "{": 8}
PLAIN = {"y": "B", "n": "h", "q": "H", "b": "I", "i": "i", "u": "I", "h": "I", "x": "q", "t": "Q", "d": "d"}


def one(signature, at):
    """Where the complete type that begins at `at` ends."""
    if signature[at] == "a":
        return one(signature, at + 1)
    if signature[at] in "({":
        at += 1
        while signature[at] not in ")}":
            at = one(signature, at)
    return at + 1


def types(signature):
    at, found = 0, []
    while at < len(signature):
        found.append(signature[at : one(signature, at)])
        at = one(signature, at)
    return found


def pack(out, kind, value):
    out += b"\0" * (-len(out) % ALIGNED[kind[0]])
    if kind[0] in PLAIN:
        out += struct.pack("<" + PLAIN[kind], value)
    elif kind in "so":
        text = value.encode()
        out += struct.pack("<I", len(text)) + text + b"\0"
    elif kind == "g":
        out += bytes([len(value)]) + value.encode() + b"\0"
    elif kind == "v":
        pack(out, "g", value[0])
        pack(out, value[0], value[1])
    elif kind[0] == "a":
        head = len(out)
        out += b"\0\0\0\0" + b"\0" * (-(len(out) + 4) % ALIGNED[kind[1]])
        start = len(out)
        for item in value.items() if isinstance(value, dict) else value:
            pack(out, kind[1:], item)
        struct.pack_into("<I", out, head, len(out) - start)
    else:
        for inner, item in zip(types(kind[1:-1]), value):
            pack(out, inner, item)


class Bus:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect("/run/dbus/system_bus_socket")
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        assert self.socket.recv(200).startswith(b"OK")
        self.socket.sendall(b"NEGOTIATE_UNIX_FD\r\n")
        assert self.socket.recv(200).startswith(b"AGREE")
        self.socket.sendall(b"BEGIN\r\n")
        self.serial, self.rest, self.files = 0, b"", []
        self.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello")

    def call(self, to, path, interface, member, signature="", values=(), files=()):
        """Returns the name of the error, or None for an answer."""
        message = self.message(to, path, interface, member, signature, values, len(files))
        sent = socket.send_fds(self.socket, [message], list(files)) if files else 0
        self.socket.sendall(message[sent:])
        while True:
            kind, reply, error = self.receive()
            if reply == self.serial and kind in (2, 3):
                return error

    def message(self, to, path, interface, member, signature="", values=(), files=0):
        """The bytes of a call; its number is at 8."""
        self.serial += 1
        body = bytearray()
        for kind, value in zip(types(signature), values):
            pack(body, kind, value)
        fields = [(1, ("o", path)), (2, ("s", interface)), (3, ("s", member)), (6, ("s", to))]
        if signature:
            fields.append((8, ("g", signature)))
        if files:
            fields.append((9, ("u", files)))
        head = bytearray(struct.pack("<BBBBII", ord("l"), 1, 0, 1, len(body), self.serial))
        pack(head, "a(yv)", fields)
        head += b"\0" * (-len(head) % 8)
        return bytes(head + body)

    def tickets(self, files):
        """Passes descriptors through a door of the daemon's, which stays open."""
        assert self.call(SERVICE, ROOT, f"{SERVICE}.Manager", "OpenDoor") is None
        door, number = socket.socket(fileno=self.files.pop()), struct.unpack_from("<I", self.body, 4)[0]
        door.settimeout(60)
        found = []
        for file in files:
            socket.send_fds(door, [b"file"], [file])
            found.append(f"{number}.{door.recv(100).decode()}")
        self.door = door
        return found

    def receive(self):
        while len(self.rest) < 16 or len(self.rest) < self.size():
            data, files, *_ = socket.recv_fds(self.socket, 65536, 4)
            self.files += files
            if not data:
                raise SystemExit("the bus hung up")
            self.rest += data
        message, self.rest = self.rest[: self.size()], self.rest[self.size() :]
        self.body = message[len(message) - struct.unpack_from("<I", message, 4)[0] :]
        self.member = None
        reply, error, at, end = 0, None, 16, 16 + struct.unpack_from("<I", message, 12)[0]
        while at < end:
            at += -at % 8
            code, kind = message[at], chr(message[at + 2])
            at += 4
            if kind == "u":
                at += -at % 4
                value, at = struct.unpack_from("<I", message, at)[0], at + 4
            else:
                if kind == "g":
                    length, at = message[at], at + 1
                else:
                    at += -at % 4
                    length, at = struct.unpack_from("<I", message, at)[0], at + 4
                value, at = message[at : at + length].decode(), at + length + 1
            if code == 5:
                reply = value
            if code == 4:
                error = value
            if code == 3:
                self.member = value
        return message[1], reply, error

    def size(self):
        body, _, fields = struct.unpack_from("<III", self.rest, 4)
        return 16 + fields + (-fields % 8) + body


def video(**more):
    return {"name": ("s", "c"), "media-type": ("s", "video"), **more}


def movie(**more):
    return {"name": ("s", "m"), "kind": ("s", "movie"), "format": ("s", "mkv"), **more}


def session(**parts):
    parts = {"inputs": [video()], "outputs": [movie()], "connections": [("c", "m")], **parts}
    kinds = {"inputs": "aa{sv}", "outputs": "aa{sv}", "connections": "a(ss)"}
    return {name: value if name not in kinds or isinstance(value, tuple) else (kinds[name], value)
            for name, value in parts.items()}


def descriptions():
    """What is wrong with a description, by what is wrong with it."""
    yield "nothing in it", {}
    yield "an unknown key", session(nonsense=("s", "x"))
    yield "inputs of another type", session(inputs=("s", "camera"))
    yield "an input without a name", session(inputs=[{"media-type": ("s", "video")}])
    yield "a name of 10000 bytes", session(inputs=[video(name=("s", "c" * 10000))])
    yield "two inputs of one name", session(inputs=[video(), video()])
    yield "a connection to nowhere", session(connections=[("c", "elsewhere")])
    yield "1000 inputs", session(inputs=[video(name=("s", f"c{n}")) for n in range(1000)])
    yield "100000 connections", session(connections=[("c", "m")] * 100000)
    yield "a width of 0", session(inputs=[video(width=("u", 0))])
    yield "a width of 2^32-1", session(inputs=[video(width=("u", 2**32 - 1))])
    yield "a rate that is no number", session(inputs=[video(**{"frames-per-second": ("d", float("nan"))})])
    yield "a rate without end", session(inputs=[video(**{"frames-per-second": ("d", float("inf"))})])
    yield "a device that is a path upwards", session(inputs=[video(device=("s", "../../etc/shadow"))])
    yield "a device that is not there", session(inputs=[video(device=("s", "/dev/video999"))])
    yield "a device of control characters", session(inputs=[video(device=("s", "\x1b[2J\x07"))])
    yield "a file's path in the place of a descriptor", session(outputs=[movie(path=("s", "/etc/passwd"))])
    yield "an unknown format", session(outputs=[movie(format=("s", "exe"))])
    yield "an unknown kind", session(outputs=[movie(kind=("s", "teapot"))])
    yield "a negative duration", session(outputs=[movie(duration=("x", -1))])
    yield "variants 30 deep", session(attached=nested(30))


def nested(depth):
    value = ("b", 1)
    for _ in range(depth):
        value = ("v", value)
    return value


def calls(pipe, folder, log):
    manager, authorization, agent = (f"{SERVICE}.{part}" for part in ("Manager", "Authorization", "Session"))
    for what, description in descriptions():
        yield what, ROOT, manager, "CreateSession", "a{sv}a{ss}", (description, {"m": 0}), [log]
    good = session()
    yield "no file for an output", ROOT, manager, "CreateSession", "a{sv}a{ss}", (good, {}), []
    yield "a file for no output", ROOT, manager, "CreateSession", "a{sv}a{ss}", (good, {"m": 0, "x": 0}), [log]
    yield "a folder for a file", ROOT, manager, "CreateSession", "a{sv}a{ss}", (good, {"m": 0}), [folder]
    yield "a file that is only read", ROOT, manager, "CreateSession", "a{sv}a{ss}", (good, {"m": 0}), [pipe]
    yield "a ticket that nobody gave", ROOT, manager, "CreateSession", "a{sv}a{ss}", (good, {"m": "1.1"}), []
    yield "a ticket that is none", ROOT, manager, "CreateSession", "a{sv}a{ss}", (good, {"m": "\x1b.-1"}), []
    yield "a descriptor in a message", ROOT, manager, "ListDevices", "h", (0,), [log]
    yield "another signature", ROOT, manager, "CreateSession", "s", ("camera",), []
    yield "too many arguments", ROOT, manager, "ListDevices", "s", ("x",), []
    yield "an unknown method", ROOT, manager, "Explode", "", (), []
    yield "an unknown interface", ROOT, SERVICE + ".Nonsense", "ListDevices", "", (), []
    yield "an unknown object", ROOT + "/sessions/4294967295", agent, "Start", "", (), []
    yield "a session's number beyond all", ROOT + "/sessions/99999999999999999999", agent, "Stop", "", (), []
    yield "a service that is none", ROOT, authorization, "GetStatus", "s", ("cameras",), []
    yield "no service", ROOT, authorization, "RequestAccess", "as", ([],), []
    yield "50000 services", ROOT, authorization, "RequestAccess", "as", (["camera"] * 50000 + ["x"],), []
    yield "a cookie that was guessed", ROOT, authorization, "Answer", "sa{sa{sv}}", \
        ("0" * 32, {"camera": {"allowed": ("b", 1)}}), []
    yield "a program of 100000 bytes", ROOT, authorization, "GetProgramStatus", "ss", ("", "exe:/" + "a" * 100000), []
    yield "an answer that is none", ROOT, authorization, "Set", "ssssa{sv}", \
        ("", "exe:/bin/true", "camera", "maybe", {}), []
    yield "a user that is not there", ROOT, authorization, "Set", "ssssa{sv}", \
        ("nobody2", "exe:/bin/true", "camera", "denied", {}), []
    yield "a property that is read only", ROOT, "org.freedesktop.DBus.Properties", "Set", "ssv", \
        (manager, "Version", ("s", "9")), []


def main():
    read, write = os.pipe()
    folder, log = os.open("/tmp", os.O_RDONLY), os.open("/dev/null", os.O_WRONLY)
    bus, count, bad = Bus(), 0, 0
    for what, path, interface, member, signature, values, files in calls(read, folder, log):
        count += 1
        if files and member == "CreateSession":
            # Numbers stand for what is passed; each descriptor once for each output that has its number.
            description, table = values
            tickets = bus.tickets([files[place] for place in table.values()])
            values, files = (description, dict(zip(table, tickets))), []
        error = bus.call(SERVICE, path, interface, member, signature, values, files)
        if not error or error.endswith((".NoReply", ".ServiceUnknown", ".Disconnected", ".Internal")):
            bad += 1
            print(f"{what}: {error or 'was taken'}")
    print(f"{count} messages, {bad} of them not refused")
    sys.exit(bad > 0 or count < 30)


if __name__ == "__main__":
    main()
