#!/usr/bin/env python3
"""Reads a ring by its documented layout, with nothing but Python's standard library.

    read_ring.py FILE        reads every buffer that is there and prints one line of JSON for each, after one for the
                             format. FILE is the ring's memfd, as in /proc/self/fd/3.

The layout is described in docs/ring.md. A program that waits for buffers instead calls
futex(2) FUTEX_WAIT on the word at 1032; one that polls just looks at `published` again.
"""
import json
import mmap
import os
import struct
import sys
import zlib


def open_ring(path):
    descriptor = os.open(path, os.O_RDONLY)
    return mmap.mmap(descriptor, os.fstat(descriptor).st_size, mmap.MAP_SHARED, mmap.PROT_READ)


def read_header(ring):
    magic, version, header_size, kind, slots, stride, order, descriptors, data, size, descriptor_size, kept = (
        struct.unpack_from("<8sIIIIQQQQQII", ring, 0)
    )
    assert magic == b"CAPRING\0" and version == 1 and header_size == 4096 and descriptor_size == 128
    assert size <= len(ring) and data + slots * stride <= size and 1 <= kept < slots
    header = {"slots": slots, "stride": stride, "order": order, "descriptors": descriptors, "data": data}
    if kind == 1:
        fourcc, width, height, numerator, denominator = struct.unpack_from("<4sIIII", ring, 128)
        (count,) = struct.unpack_from("<I", ring, 164)
        planes = [struct.unpack_from("<QQQ", ring, 168 + 24 * index) for index in range(count)]
        format = {"pixelFormat": fourcc.decode(), "width": width, "height": height, "planes": planes}
        format["interval"] = [numerator, denominator]
    elif kind == 3:
        fourcc, capacity = struct.unpack_from("<4sI", ring, 384)
        format, planes = {"format": fourcc.decode(), "capacity": capacity}, [(0, 0, capacity)]
    else:
        code, rate, channels, period = struct.unpack_from("<IIII", ring, 320)
        format = {"sampleFormat": code, "sampleRate": rate, "channels": channels, "periodFrames": period}
        planes = [(0, 0, stride)]
    return header, format, planes


def read_buffer(ring, header, planes, sequence):
    """The buffer of a sequence, or None when it was overwritten before or while it was read."""
    (slot,) = struct.unpack_from("<I", ring, header["order"] + 4 * (sequence % header["slots"]))
    descriptor = header["descriptors"] + 128 * slot
    generation, found, timestamp, device_sequence, position = struct.unpack_from("<QQqQQ", ring, descriptor)
    *used, flags, lost, published = struct.unpack_from("<4I2Iq", ring, descriptor + 40)
    if generation % 2 == 1 or found != sequence:
        return None
    base = header["data"] + slot * header["stride"]
    content = [ring[base + offset : base + offset + min(used[i], size)] for i, (offset, _, size) in enumerate(planes)]
    if struct.unpack_from("<Q", ring, descriptor)[0] != generation:
        return None
    return {
        "sequence": sequence,
        "timestamp": timestamp,
        "deviceSequence": device_sequence,
        "position": position,
        "flags": flags,
        "lostBefore": lost,
        "published": published,
        "planes": [{"bytes": len(plane), "crc": zlib.crc32(plane)} for plane in content],
    }


def main():
    ring = open_ring(sys.argv[1])
    header, format, planes = read_header(ring)
    print(json.dumps(format))
    published, _, end, oldest = struct.unpack_from("<QIIQ", ring, 1024)
    for sequence in range(oldest, published):
        buffer = read_buffer(ring, header, planes, sequence)
        print(json.dumps(buffer if buffer else {"sequence": sequence, "missed": True}))
    print(json.dumps({"end": end, "drops": struct.unpack_from("<7Q", ring, 1088)}))


main()
