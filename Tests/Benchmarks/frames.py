#!/usr/bin/env python3
"""frames.py FOLDER: makes the frames of camera.c, whose head says how they lie there."""
import subprocess, sys
from pathlib import Path

COUNT, PAGE = 16, 4096
SMALLEST = "64x48"
CAMERAS = [1, 2, 4, 8, 16]
folder = Path(sys.argv[1])


def frames(size, *how):
    command = ["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", f"testsrc2=size={size}:rate=30",
               "-frames:v", str(COUNT), *([] if size == SMALLEST else ["-vf", "noise=alls=8:allf=t"]), *how, "-"]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


def store(name, size, pictures):
    width, height = map(int, size.split("x"))
    slot = -(-width * height * 2 // PAGE) * PAGE
    with open(folder / f"{name}-{size}", "wb") as file:
        for number, picture in enumerate(pictures):
            file.seek(number * slot)
            file.write(picture)
        file.truncate(COUNT * slot)


# The sysfs of a machine with some cameras.
for count in CAMERAS:
    for number in range(count):
        place = folder / f"sys-{count}/video{number}"
        place.mkdir(parents=True, exist_ok=True)
        facts = {"index": "0", "name": "Bench Camera", "dev": f"81:{number}",
                 "uevent": f"MAJOR=81\nMINOR={number}\nDEVNAME=video{number}"}
        for name, text in facts.items():
            (place / name).write_text(text + "\n")
for size in ["1920x1080", "1280x720", "640x480"]:
    data = frames(size, "-pix_fmt", "yuyv422", "-f", "rawvideo")
    one = len(data) // COUNT
    store("YUYV", size, [data[i * one:][:one] for i in range(COUNT)])
# The smallest, without noise, is for what lasts for hours.
for size in ["1920x1080", "1280x720", SMALLEST]:
    # The end of an image stands nowhere inside of one.
    found = frames(size, "-pix_fmt", "yuvj422p", "-q:v", "5", "-f", "mjpeg").split(b"\xff\xd9")[:COUNT]
    images = [image[2:] + b"\xff\xd9" for image in found]
    comment = lambda image: (len(image) + 22).to_bytes(4, sys.byteorder) + bytes(12)
    store("MJPG", size, [b"\xff\xd8\xff\xfe\x00\x12" + comment(image) + image for image in images])
