#!/usr/bin/env python3
"""Makes what QEMU boots from a distribution's kernel package.

vmlinux BZIMAGE OUT                          unpack the kernel proper: under emulation its own unpacking takes seconds
initramfs OUT BUSYBOX INIT MODULES NAME...   an uncompressed archive with busybox, the init and the named modules
"""
import lzma, os, re, struct, sys


def vmlinux(image, out):
    data = open(image, "rb").read()
    # The boot protocol's header says where in the protected-mode part the payload lies.
    setup = (data[0x1F1] or 4) + 1
    offset, length = struct.unpack_from("<II", data, 0x248)
    payload = data[setup * 512 + offset:][:length]
    if payload[:6] != b"\xfd7zXZ\x00":
        sys.exit("image: this kernel is not packed by xz")
    # The last four bytes are the unpacked size, no part of the stream.
    elf = lzma.LZMADecompressor().decompress(payload)
    write(out, elf)


def write(path, data):
    # Another machine may be making it, too.
    new = f"{path}.{os.getpid()}"
    with open(new, "wb") as file:
        file.write(data)
    os.replace(new, path)


def in_order(folder, names):
    """The files of these modules, each after those that it needs, as modules.dep and modules.softdep have it."""
    needs, path = {}, {}
    for line in open(f"{folder}/modules.dep"):
        file, deps = line.split(":")
        path[key(file)] = file
        needs[key(file)] = [key(d) for d in deps.split()]
    built_in = {key(line.strip()) for line in open(f"{folder}/modules.builtin")}
    soft = {}
    for line in open(f"{folder}/modules.softdep"):
        if m := re.match(r"softdep (\S+) pre: (.*)", line):
            soft[m[1].replace("-", "_")] = m[2].split(" post:")[0].split()
    done = []

    def visit(name):
        name = name.replace("-", "_")
        if name in built_in or name in done:
            return
        if name not in needs:
            return  # a soft dependency may name an alias, such as crc32c
        for other in soft.get(name, []) + needs[name][::-1]:
            visit(other)
        if name not in done:
            done.append(name)

    for name in names:
        visit(name)
        if name.replace("-", "_") not in [*done, *built_in]:
            sys.exit(f"image: the kernel has no module {name}")
    return [f"{folder}/{path[name]}" for name in done]


def key(file):
    return os.path.basename(file).split(".ko")[0].replace("-", "_")


class Archive:
    """The cpio format that the kernel reads ("newc")."""

    def __init__(self):
        self.parts, self.count = [], 0

    def add(self, name, mode, data=b"", device=(0, 0)):
        self.count += 1
        name = name.encode() + b"\0"
        fields = [self.count, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name), 0]
        head = b"070701" + b"".join(b"%08X" % f for f in fields) + name
        self.parts += [head, bytes(-len(head) % 4), data, bytes(-len(data) % 4)]

    def bytes(self):
        self.add("TRAILER!!!", 0)
        return b"".join(self.parts)


def initramfs(out, busybox, init, folder, names):
    archive = Archive()
    for name in ["bin", "dev", "proc", "sys", "modules", "lower", "installed", "out", "rw", "new"]:
        archive.add(name, 0o040755)
    archive.add("dev/console", 0o020600, device=(5, 1))
    archive.add("bin/busybox", 0o100755, open(busybox, "rb").read())
    archive.add("init", 0o100755, open(init, "rb").read())
    files = in_order(folder, names)
    for file in files:
        archive.add("modules/" + os.path.basename(file), 0o100644, open(file, "rb").read())
    archive.add("modules/order", 0o100644, "".join(f"{os.path.basename(f)}\n" for f in files).encode())
    write(out, archive.bytes())


if __name__ == "__main__":
    if sys.argv[1:2] == ["vmlinux"] and len(sys.argv) == 4:
        vmlinux(*sys.argv[2:])
    elif sys.argv[1:2] == ["initramfs"] and len(sys.argv) > 6:
        initramfs(*sys.argv[2:6], sys.argv[6:])
    else:
        sys.exit(__doc__)
