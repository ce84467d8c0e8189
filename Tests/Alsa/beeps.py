"""Measures the synthetic microphone's beeps: 1 kHz for 50 ms at every whole second."""
import array, wave


class Beeps:
    def __init__(self, path):
        with wave.open(str(path)) as file:
            self.rate, self.channels, self.width = file.getframerate(), file.getnchannels(), file.getsampwidth()
            data = file.readframes(file.getnframes())
        step = self.channels * self.width
        data = data[:len(data) // step * step]
        # The first channel, as parts of full scale.
        if self.width in (2, 4):
            samples = array.array({2: "h", 4: "i"}[self.width], data)[::self.channels]
        elif self.width == 3:
            samples = [int.from_bytes(data[at:at + 3], "little", signed=True) for at in range(0, len(data), step)]
        else:
            samples = [byte - 128 for byte in data[::step]]
        full = 1 << (8 * self.width - 1)
        self.values = [sample / full for sample in samples]
        self.seconds = len(self.values) / self.rate
        self.starts, self.pitches = [], []
        self.find()

    def find(self):
        loud = [i for i, value in enumerate(self.values) if abs(value) > 1 / 32]
        first = previous = None
        for i in loud + [len(self.values) + self.rate]:
            if previous is not None and i - previous > self.rate // 4:
                self.add(first, previous)
                first = None
            first = i if first is None else first
            previous = i

    def add(self, first, last):
        # One that began before the file did, or ends after it, tells neither its start nor its pitch.
        if first < self.rate // 200 or last - first < self.rate // 50:
            return
        self.starts.append(first / self.rate)
        part = self.values[first:last]
        rises = [i + part[i] / (part[i] - part[i + 1]) for i in range(len(part) - 1) if part[i] < 0 <= part[i + 1]]
        if len(rises) > 5:
            self.pitches.append((len(rises) - 1) * self.rate / (rises[-1] - rises[0]))

    def faults(self, rate, channels, seconds):
        """What is wrong with it, as text; empty if it is as it should be."""
        found = []
        if (self.rate, self.channels) != (rate, channels):
            found.append(f"{self.rate} Hz, {self.channels} channels")
        if abs(self.seconds - seconds) > 0.3:
            found.append(f"{self.seconds} s")
        if len(self.starts) < int(seconds) - 1 or not self.pitches:
            found.append(f"beeps at {self.starts}")
        found += [f"{pitch} Hz" for pitch in self.pitches if abs(pitch - 1000) > 5]
        apart = [b - a for a, b in zip(self.starts, self.starts[1:])]
        found += [f"{gap} s from beep to beep" for gap in apart if abs(gap - 1) > 0.003]
        return ", ".join(found)
