#!/usr/bin/python3
"""Imports files into the media library over the bus, and changes them during the import.

hostile_imports.py FILE [ATTACK]    prints `outcome: CODE MESSAGE`, where CODE is `ok` for a success. Fails if the file was
                                    read before the attack. ATTACK is a key of ATTACKS.
hostile_imports.py --all CODES FILE...
                                    imports the files one after the other. Fails if one ends with none of the codes, such
                                    as BadData,ok, or takes longer than 150 seconds.
hostile_imports.py --usual STOP     imports small pictures, counts assets and asks for a status until the file STOP exists.
                                    Prints a summary, and fails if any call was refused.
"""
import mmap, os, struct, sys, threading, time
from hostile_bus import ROOT, SERVICE, Bus

LIBRARY = SERVICE + ".Library"


def text(body, at):
    at += -at % 4
    length = struct.unpack_from("<I", body, at)[0]
    return body[at + 4 : at + 4 + length].decode(), at + 4 + length + 1


def add(bus, file, name):
    """Returns the code and message that the import ends with."""
    ticket = bus.tickets([file])[0]
    bus.socket.sendall(bus.message(SERVICE, ROOT, LIBRARY, "Import", "sa{sv}", (ticket, {"name": ("s", name)})))
    serial, request, finished = bus.serial, None, {}
    while request not in finished:
        kind, reply, error = bus.receive()
        if kind == 4 and bus.member == "Finished":
            code, at = text(bus.body, 4)
            finished[struct.unpack_from("<I", bus.body)[0]] = code or "ok", text(bus.body, at)[0]
        elif reply == serial and kind == 3:
            return error, text(bus.body, 0)[0]
        elif reply == serial and kind == 2:
            request = struct.unpack_from("<I", bus.body)[0]
    bus.door.close()
    return finished[request]


class Attack(threading.Thread):
    """Acts once an eighth of the file was read. The reader shares the descriptor's position, which shows how far it is."""

    def __init__(self, path, file, act):
        super().__init__(daemon=True)
        self.path, self.file, self.act, self.size = path, file, act, os.fstat(file).st_size
        self.acted = self.ended = False

    def run(self):
        while not self.ended:
            if os.lseek(self.file, 0, os.SEEK_CUR) >= self.size // 8:
                self.act(self.path, self.size)
                # The reader had not come to the end before.
                self.acted = os.lseek(self.file, 0, os.SEEK_CUR) < self.size
                return
            time.sleep(0.001)


def write(path, place, data):
    file = os.open(path, os.O_WRONLY)
    os.pwrite(file, data, place)
    os.close(file)


def grow(path, size):
    write(path, size, bytes(1 << 20))


def grow_on(path, size):
    for turn in range(200):
        write(path, size + turn * 65536, bytes(65536))
        time.sleep(0.005)


def rewrite_hidden(path, size):
    before = os.stat(path)
    write(path, size - 4096, b"x" * 4096)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def rewrite_mapped(path, size):
    file = os.open(path, os.O_RDWR)
    with mmap.mmap(file, size) as memory:
        memory[size - 4096 :] = b"x" * 4096


def replace(path, size):
    with open(path + ".new", "wb") as other:
        other.write(b"<html></html>")
    os.rename(path + ".new", path)


ATTACKS = {
    "grow": grow,
    "grow-on": grow_on,
    "cut": lambda path, size: os.truncate(path, size // 2),
    "empty": lambda path, size: os.truncate(path, 0),
    "empty-and-back": lambda path, size: (os.truncate(path, 0), os.truncate(path, size)),
    "rewrite": lambda path, size: write(path, 0, b"x" * 4096),
    "rewrite-end": lambda path, size: write(path, size - 4096, b"x" * 4096),
    "rewrite-hidden": rewrite_hidden,
    "rewrite-mapped": rewrite_mapped,
    "replace": replace,
    "remove": lambda path, size: os.unlink(path),
}


def attack(path, what):
    bus, file = Bus(), os.open(path, os.O_RDONLY)
    bus.socket.settimeout(300)
    attacking = Attack(path, file, ATTACKS[what]) if what else None
    if attacking:
        attacking.start()
    began = time.monotonic()
    code, message = add(bus, file, os.path.basename(path))
    if attacking:
        attacking.ended = True
        attacking.join()
    print(f"outcome: {code.rpartition('.')[2]} {message} [{time.monotonic() - began:.1f} s]")
    if attacking and not attacking.acted:
        sys.exit("the attack came too late")


def all_of(codes, paths):
    bus, wrong = Bus(), 0
    bus.socket.settimeout(300)
    for path in paths:
        file, began = os.open(path, os.O_RDONLY), time.monotonic()
        code, message = add(bus, file, os.path.basename(path))
        os.close(file)
        took = time.monotonic() - began
        is_right = code.rpartition(".")[2] in codes.split(",") and took < 150
        wrong += not is_right
        mark = "" if is_right else "WRONG "
        print(f"{mark}{os.path.basename(path)}: {code} {message[:160]} [{took:.1f} s]", flush=True)
    print(f"{len(paths)} files, {wrong} of them otherwise than {codes}")
    sys.exit(wrong > 0 or not paths)


def picture(number):
    return b"GIF89a\1\0\1\0\x80\0\0" + number.to_bytes(3, "big") + b"\xff\xff\xff,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"


def usual(stop):
    bus, number, wrong, slowest = Bus(), 0, [], 0
    bus.socket.settimeout(300)
    while not os.path.exists(stop) or number < 3:
        number += 1
        began = time.monotonic()
        file = os.memfd_create("picture")
        os.write(file, picture(os.getpid() << 8 & 0xffff00 | number & 0xff))
        code, message = add(bus, file, "usual.gif")
        os.close(file)
        took = time.monotonic() - began
        slowest = max(slowest, took)
        error = bus.call(SERVICE, ROOT, LIBRARY, "Count", "a{sv}", ({},))
        error = error or bus.call(SERVICE, ROOT, SERVICE + ".Authorization", "GetStatus", "s", ("camera",))
        if code != "ok" or error:
            wrong.append(f"{code} {message} {error}")
        time.sleep(5)
    print(f"{number} added, {len(wrong)} refused {wrong[:3]}, the slowest took {slowest:.1f} s")
    sys.exit(bool(wrong))


if sys.argv[1] == "--usual":
    usual(sys.argv[2])
elif sys.argv[1] == "--all":
    all_of(sys.argv[2], sys.argv[3:])
else:
    attack(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
