"""When a recorded file flashes and when it beeps, on its own timeline, as any player would show it."""
import array, re, subprocess

# A flash is a white frame, luma 235; the bars between have an average far below.
BRIGHT = 200
# Of 32768: half of what the beep's first sample has. What an encoder smears before the beep stays below.
LOUD = 8192
# Seconds that a beep lasts.
LENGTH = 0.050
# Flashes and beeps are a second apart, so what is nearer than this belongs together.
PAUSE = 0.5


def flashes(path):
    """Seconds at which white frames stand."""
    said = ffmpeg(path, "-map", "0:v:0", "-vf", "scale=8:8:flags=area,format=gray,showinfo", "-fps_mode", "passthrough",
                  "-f", "null", "-").stderr.decode(errors="replace")
    found = re.findall(r"\bn: *\d+ .*?pts_time:(-?[0-9.]+) .*?mean:\[(\d+)", said)
    return [float(time) for time, mean in found if int(mean) > BRIGHT]


def beeps(path):
    """Seconds at which a whole beep begins, to the sample; those that something was cut from tell nothing."""
    done = ffmpeg(path, "-map", "0:a:0", "-af", "aformat=s16:channel_layouts=mono,ashowinfo", "-f", "s16le", "-")
    samples = array.array("h", done.stdout)
    found, place = [], 0
    for time, rate, count in re.findall(r"pts_time:(-?[0-9.]+) .*?rate:(\d+) nb_samples:(\d+)",
                                        done.stderr.decode(errors="replace")):
        frame = samples[place : place + int(count)]
        place += int(count)
        if not frame or max(max(frame), -min(frame)) < LOUD:
            continue
        for index, sample in enumerate(frame):
            if abs(sample) >= LOUD:
                now = float(time) + index / int(rate)
                if not found or now - found[-1][1] > PAUSE:
                    found.append([now, now])
                found[-1][1] = now
    return [start for start, end in found if abs(end - start - LENGTH) < 0.002]


def pairs(path):
    """Each flash that has a beep near it: (seconds of the flash, seconds that the beep comes later)."""
    heard = beeps(path)
    nearest = [(flash, min((beep - flash for beep in heard), key=abs, default=1)) for flash in flashes(path)]
    return [pair for pair in nearest if abs(pair[1]) < PAUSE]


def ffmpeg(path, *arguments):
    return subprocess.run(["ffmpeg", "-nostdin", "-hide_banner", "-copyts", "-i", path, *arguments],
                          capture_output=True, check=True)
