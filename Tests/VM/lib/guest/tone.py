#!/usr/bin/python3
"""Sound to play and sound to measure.

make FILE.wav HZ SECONDS [RATE [CHANNELS]]   a sine at half scale
measure FILE                                 prints the frequency in Hz, 0 for silence
beeps FILE.wav SECONDS                       a beep of a tenth of a second at each whole second
onsets FILE                                  prints when each beep in it begins, in seconds
"""
import array, io, math, subprocess, sys, wave


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
    """The first sound of any file that ffmpeg reads, mixed down to one channel of 16 bits."""
    said = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-map", "0:a:0", "-ac", "1", "-c:a", "pcm_s16le",
                           "-f", "wav", "-"], stdout=subprocess.PIPE, check=True).stdout
    with wave.open(io.BytesIO(said)) as file:
        rate, data = file.getframerate(), file.readframes(file.getnframes())
    values = array.array("h", data[:len(data) & ~1])
    # Two seconds from the middle tell enough.
    length = len(values) if whole else min(len(values), 2 * rate)
    start = (len(values) - length) // 2
    return values[start:start + length], rate, 1 << 15


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
