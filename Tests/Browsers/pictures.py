"""The colour bars in pictures that ffmpeg takes from recordings and from the screen."""
import subprocess

from checks import LIMIT
from page import shows_bars


def picture(*source):
    """The one picture of a source of ffmpeg's: its rows of colours, empty if there is none."""
    words = ["ffmpeg", "-v", "error", "-nostdin", *map(str, source), "-frames:v", "1", "-f", "image2pipe", "-c:v", "ppm",
             "-"]
    data = subprocess.run(words, capture_output=True, timeout=LIMIT).stdout
    if not data.startswith(b"P6"):
        return []
    _, size, _, pixels = data.split(b"\n", 3)
    width, height = map(int, size.split())
    return [[tuple(pixels[at:at + 3]) for at in range(row * width * 3, (row + 1) * width * 3, 3)] for row in range(height)]


def recorded(file, seconds):
    """The picture of a recording at a time."""
    return picture("-ss", seconds, "-i", file)


def shown(display):
    return picture("-f", "x11grab", "-video_size", "1280x960", "-i", display)


def runs(row):
    """The colours of a row that are at least 20 pixels wide."""
    found, start = [], 0
    for i in range(1, len(row) + 1):
        if i == len(row) or any(abs(a - b) > 12 for a, b in zip(row[i], row[i - 1])):
            if i - start >= 20:
                found.append(row[(i + start) // 2])
            start = i
    return found


def bars_in(rows):
    """The colours of the bars, where they are in a picture; None if they are not there."""
    for row in rows[::20]:
        colours = runs(row)
        for at in range(len(colours) - 6):
            if shows_bars(colours[at:at + 7]):
                return colours[at:at + 7]
    return None
