#!/usr/bin/python3
"""Looks at one picture of a file, decoded by ffmpeg.

bars FILE [SECONDS [TOLERANCE]]   exits 0 when it shows vivid's eight 75 % bars from left to right
patch FILE SECONDS X Y            prints red, green and blue around a place (parts of width and height)
numbers FILE WIDTH                prints what each frame of a USB test camera (Tests/VM/uvc) counts in digits
"""
import subprocess, sys

SIZE = 64
BARS = {"white": (191, 191, 191), "yellow": (191, 191, 0), "cyan": (0, 191, 191), "green": (0, 191, 0),
        "magenta": (191, 0, 191), "red": (191, 0, 0), "blue": (0, 0, 191), "black": (0, 0, 0)}
# Each row's squares, the left one counting four.
DIGITS = [(7, 5, 5, 5, 7), (2, 6, 2, 2, 7), (7, 1, 7, 4, 7), (7, 1, 7, 1, 7), (5, 5, 7, 1, 1), (7, 4, 7, 1, 7),
          (7, 4, 7, 5, 7), (7, 1, 1, 1, 1), (7, 5, 7, 5, 7), (7, 5, 7, 1, 7)]


def picture(path, seconds):
    """Scaled to a small square: a pixel is then the mean of an area, which compression hardly moves."""
    done = subprocess.run(
        # Seeking in a JPEG file, be it to 0, leaves nothing of it.
        ["ffmpeg", "-v", "error", "-nostdin", *(["-ss", str(seconds)] if float(seconds) else []), "-i", path,
         "-frames:v", "1",
         "-vf", f"scale={SIZE}:{SIZE}:flags=area", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"],
        stdout=subprocess.PIPE, check=True)
    if len(done.stdout) != 3 * SIZE * SIZE:
        sys.exit(f"picture: no frame at {seconds} s in {path}")
    return done.stdout


def mean(pixels, x, y, radius=1):
    column, row = min(int(x * SIZE), SIZE - 1), min(int(y * SIZE), SIZE - 1)
    found = [3 * (SIZE * r + c) for r in range(max(row - radius, 0), min(row + radius + 1, SIZE))
             for c in range(max(column - radius, 0), min(column + radius + 1, SIZE))]
    return tuple(round(sum(pixels[at + i] for at in found) / len(found)) for i in range(3))


def bars(path, seconds="0", tolerance="40"):
    pixels, wrong = picture(path, seconds), 0
    for i, (name, wanted) in enumerate(BARS.items()):
        # The lower half: vivid writes its text at the top.
        found = mean(pixels, (i + 0.5) / len(BARS), 0.75)
        bad = any(abs(f - w) > int(tolerance) for f, w in zip(found, wanted))
        wrong += bad
        print(f"{name}: {found}, wanted {wanted}{' WRONG' if bad else ''}")
    sys.exit(wrong > 0)


def patch(path, seconds, x, y):
    print(*mean(picture(path, seconds), float(x), float(y)))


def numbers(path, width):
    """The digits are three squares wide and five high, a square of space around each."""
    columns = int(width) // 16
    scale = max(1, columns // 30)
    count = min(6, (columns // scale - 1) // 4)
    done = subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-vf",
         f"crop=iw:{7 * 16 * scale}:0:0,scale={columns // scale}:7:flags=area,format=gray",
         # Each frame once, whatever its time.
         "-fps_mode", "passthrough", "-f", "rawvideo", "-"],
        stdout=subprocess.PIPE, check=True)
    size = columns // scale * 7
    for start in range(0, len(done.stdout), size):
        frame, number = done.stdout[start:start + size], ""
        for digit in range(count):
            rows = [sum(4 >> x for x in range(3) if frame[row * (size // 7) + 1 + digit * 4 + x] > 128)
                    for row in range(1, 6)]
            number += str(DIGITS.index(tuple(rows)))
        print(int(number))


if __name__ == "__main__":
    {"bars": bars, "patch": patch, "numbers": numbers}[sys.argv[1]](*sys.argv[2:])
