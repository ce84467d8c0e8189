#!/usr/bin/python3
"""Takes a photo with the first camera into your media library, without a file in between.

    capturectl run library_photo.py NAME.jpg

It needs the packages capturekit, which docs/python.md describes, and python3-gi.
"""
import sys
import capturekit

def take(name):
    with capturekit.connect() as client:
        # The questions show these texts, the first time.
        client.consent.explain("camera", "Takes a photo")
        client.consent.explain("library-add", "Keeps the photo in your library")
        client.consent.explain("library-read-write", "Tells you the photo's number in your library")
        return client.library.take_photo(name)

if len(sys.argv) != 2:
    print("usage: capturectl run library_photo.py NAME.jpg", file=sys.stderr)
    sys.exit(64)
try:
    print(take(sys.argv[1]) or "added; this program may not read it back")
except capturekit.CaptureError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)  # as capturectl has it
