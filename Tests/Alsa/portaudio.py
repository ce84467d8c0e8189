#!/usr/bin/python3
"""Records through PortAudio: portaudio.py DEVICE RATE CHANNELS SECONDS FILE.wav"""
import sys, wave
import pyaudio

device, rate, channels, seconds, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), sys.argv[5]
audio = pyaudio.PyAudio()
found = [i for i in range(audio.get_device_count()) if audio.get_device_info_by_index(i)["name"] == device]
if not found:
    sys.exit(f"PortAudio does not find {device}")
stream = audio.open(rate, channels, pyaudio.paInt16, input=True, input_device_index=found[0], frames_per_buffer=1024)
with wave.open(path, "wb") as file:
    file.setparams((channels, 2, rate, 0, "NONE", ""))
    for _ in range(int(seconds * rate / 1024)):
        file.writeframes(stream.read(1024))
stream.close()
audio.terminate()
