"""Cameras and microphones through captured, with the person's consent.

    with capturekit.connect() as client:
        client.consent.explain("camera", "Shows how bright it is")
        session = client.session()
        session.add_camera(size=(640, 480))
        with session:
            for frame in session.frames():
                print(frame.array[..., 0].mean())

Clients, sessions, consent and controls may be used by several threads at once; threads that share a reader take turns.
In the main thread, Ctrl-C ends every wait. After a fork, the child connects anew."""
from ._events import Watch
from ._native import lib, text
from ._version import VERSION as __version__
from .client import Bus, Client, Consent, DeviceChange, Status, connect
from .controls import Change, Control, ControlFlags, ControlKind, Controls
from .devices import AudioFormat, Device, FrameSize, Media, Range, SampleFormat, VideoFormat
from .errors import (
    Busy,
    CaptureError,
    Code,
    Denied,
    DeviceLost,
    Dismissed,
    NobodyToAsk,
    NoSuchDevice,
    NoSuchFormat,
    Revoked,
    SwitchedOff,
    TimedOut,
    Unreachable,
)
from .media import Flags, Frame, FrameFormat, Samples, SoundFormat
from .readers import Counters, Reader
from .sessions import Session, State


def library_version() -> str:
    """The version of libcapture."""
    return text(lib.version())


__all__ = [
    "AudioFormat", "Bus", "Busy", "CaptureError", "Change", "Client", "Code", "Consent", "Control", "ControlFlags",
    "ControlKind", "Controls", "Counters", "Denied", "Device", "DeviceChange", "DeviceLost", "Dismissed", "Flags",
    "Frame", "FrameFormat", "FrameSize", "Media", "NoSuchDevice", "NoSuchFormat", "NobodyToAsk", "Range", "Reader",
    "Revoked", "SampleFormat", "Samples", "Session", "SoundFormat", "State", "Status", "SwitchedOff", "TimedOut",
    "Unreachable", "VideoFormat", "Watch", "__version__", "connect", "library_version",
]
