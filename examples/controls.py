#!/usr/bin/python3
"""Lists the settings of the first camera, or changes one of them.

    capturectl run controls.py
    capturectl run controls.py brightness 140

It needs the package capturekit, which docs/python.md describes.
"""
import sys
import capturekit

def control(change):
    with capturekit.connect() as client:
        # The question shows this text, the first time. Nobody is asked if the camera is allowed already.
        client.consent.explain("camera", "Shows and changes the camera's settings")
        client.consent.request("camera")
        cameras = client.cameras()
        if not cameras:
            sys.exit("there is no camera")
        controls = client.controls(cameras[0])
        if change:
            name, value = change
            controls[name] = value
        for setting in controls.all():
            print(f"{setting.name} = {setting.value} ({setting.minimum} to {setting.maximum})")

try:
    change = sys.argv[1:]
    if change:
        name, value = change
        change = name, int(value)
except ValueError:
    print("usage: capturectl run controls.py [NAME VALUE]", file=sys.stderr)
    sys.exit(64)
try:
    control(change)
except capturekit.CaptureError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)  # as capturectl has it
