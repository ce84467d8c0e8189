#!/usr/bin/python3
"""Sound to play and sound to measure, by the standard library alone.

make FILE.wav HZ SECONDS [RATE [CHANNELS]]   a sine at half scale
measure FILE.wav                             prints the frequency in Hz, 0 for silence
beeps FILE.wav SECONDS                       a beep of a tenth of a second at each whole second
onsets FILE.wav                              prints when each beep in it begins, in seconds
"""
import array, math, sys, wave


def make(path, hertz, seconds, rate="48000", channels="2"):
    hertz, rate, channels = float(hertz), int(rate), int(channels)
    # A second is computed and repeated, so the frequency is taken to a whole number of periods in it.
    period = [round(16384 * math.sin(2 * math.pi * round(hertz) * i / rate)) for i in range(rate)]
    second = array.array("h", (sample for sample in period for _ in range(channels)))
    with wave.open(path, "wb") as file:
        file.setparams((channels, 2, rate, 0, "NONE", ""))
        whole = float(seconds)
        while whole > 0:
            part = second if whole >= 1 else second[: int(whole * rate) * channels]
            file.writeframes(part.tobytes())
            whole -= 1


def beeps(path, seconds):
    rate = 48000
    second = array.array("h", bytes(4 * rate))
    for i in range(rate // 10):
        second[2 * i] = second[2 * i + 1] = round(16384 * math.sin(2 * math.pi * 1000 * i / rate))
    with wave.open(path, "wb") as file:
        file.setparams((2, 2, rate, 0, "NONE", ""))
        for _ in range(int(seconds)):
            file.writeframes(second.tobytes())


def onsets(path):
    values, rate, full = samples(path, whole=True)
    last = -rate
    for i, value in enumerate(values):
        if abs(value) > full // 16:
            # Half a second of silence before it: a beep begins.
            if i - last > rate // 2:
                print(f"{i / rate:.3f}")
            last = i


def samples(path, whole=False):
    with wave.open(path, "rb") as file:
        channels, width, rate = file.getnchannels(), file.getsampwidth(), file.getframerate()
        # Two seconds from the middle tell enough.
        frames = file.getnframes()
        length = frames if whole else min(frames, 2 * rate)
        file.setpos((frames - length) // 2)
        data = file.readframes(length)
    if width not in (2, 4):
        sys.exit(f"tone: {8 * width} bit samples")
    return array.array({2: "h", 4: "i"}[width], data)[::channels], rate, 1 << (8 * width - 1)


def measure(path):
    values, rate, full = samples(path)
    if len(values) < rate // 10:
        sys.exit(f"tone: only {len(values)} samples")
    mean = sum(values) / len(values)
    peak = max(abs(v - mean) for v in values)
    if peak < full / 1000:
        print("0.0")
        return
    # Rising crossings with hysteresis, each placed between its two samples: one period apart, whatever the loudness.
    low, armed, crossings = -peak / 4, False, []
    for i in range(1, len(values)):
        before, now = values[i - 1] - mean, values[i] - mean
        if now < low:
            armed = True
        if armed and before < 0 <= now:
            crossings.append(i - 1 + before / (before - now))
            armed = False
    if len(crossings) < 2:
        print("0.0")
        return
    print(f"{(len(crossings) - 1) * rate / (crossings[-1] - crossings[0]):.2f}")


if __name__ == "__main__":
    {"make": make, "measure": measure, "beeps": beeps, "onsets": onsets}[sys.argv[1]](*sys.argv[2:])
