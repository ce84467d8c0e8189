"""libcapture by ctypes. The structures are those of capture.h; Tests/Python/test compares them."""
import ctypes
import os
import sys
from ctypes import POINTER, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

from .errors import CaptureError, Code, error

NAME = "libcapture.so.0"


class Event(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("kind", c_uint32),
        ("code", c_int32),
        ("value", c_int64),
        ("device", c_char * 256),
        ("name", c_char * 64),
    ]


class Fraction(ctypes.Structure):
    _fields_ = [("numerator", c_uint32), ("denominator", c_uint32)]


class Range(ctypes.Structure):
    _fields_ = [("least", c_uint32), ("most", c_uint32), ("step", c_uint32)]


class FrameSize(ctypes.Structure):
    _fields_ = [
        ("width", Range),
        ("height", Range),
        ("interval_count", c_size_t),
        ("intervals", POINTER(Fraction)),
        ("shortest", Fraction),
        ("longest", Fraction),
        ("step", Fraction),
    ]


class VideoOffer(ctypes.Structure):
    _fields_ = [
        ("pixel_format", c_uint32),
        ("name", c_char_p),
        ("is_emulated", c_int),
        ("sizes", POINTER(POINTER(FrameSize))),
    ]


class AudioOffer(ctypes.Structure):
    _fields_ = [("sample_formats", c_uint32), ("rate", Range), ("channels", Range)]


class Device(ctypes.Structure):
    _fields_ = [
        ("id", c_char_p),
        ("name", c_char_p),
        ("media", c_int),
        ("driver", c_char_p),
        ("bus", c_char_p),
        ("device_type", c_char_p),
        ("position", c_char_p),
        ("aliases", POINTER(c_char_p)),
        ("video", POINTER(POINTER(VideoOffer))),
        ("audio", POINTER(POINTER(AudioOffer))),
    ]


class VideoRequest(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("pixel_format", c_uint32),
        ("width", c_uint32),
        ("height", c_uint32),
        ("frames_per_second", c_double),
        ("exact", c_int),
    ]


class AudioRequest(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("sample_format", c_uint32),
        ("rate", c_uint32),
        ("channels", c_uint32),
        ("exact", c_int),
    ]


class FormatPlane(ctypes.Structure):
    _fields_ = [("offset", c_uint32), ("stride", c_uint32), ("size", c_uint64)]


class Format(ctypes.Structure):
    _fields_ = [
        ("media", c_int),
        ("pixel_format", c_uint32),
        ("width", c_uint32),
        ("height", c_uint32),
        ("interval", Fraction),
        ("color_space", c_uint32),
        ("transfer", c_uint32),
        ("encoding", c_uint32),
        ("quantization", c_uint32),
        ("field", c_uint32),
        ("plane_count", c_uint32),
        ("planes", FormatPlane * 4),
        ("sample_format", c_uint32),
        ("rate", c_uint32),
        ("channels", c_uint32),
        ("period_frames", c_uint32),
    ]


class Plane(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("used", c_size_t), ("stride", c_size_t)]


class Buffer(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("flags", c_uint32),
        ("format", POINTER(Format)),
        ("sequence", c_uint64),
        ("timestamp", c_int64),
        ("published", c_int64),
        ("device_sequence", c_uint64),
        ("position", c_uint64),
        ("missed", c_uint64),
        ("lost", c_uint32),
        ("moves", c_uint32),
        ("plane_count", c_uint32),
        ("planes", Plane * 4),
        ("ring", c_void_p),
        ("generation", c_uint64),
        ("generation_word", c_void_p),
    ]


class Counters(ctypes.Structure):
    _fields_ = [
        ("size", c_uint32),
        ("moves", c_uint32),
        ("missed", c_uint64),
        ("published", c_uint64),
        ("pending", c_uint64),
        ("drops", c_uint64 * 8),
    ]


class Choice(ctypes.Structure):
    _fields_ = [("value", c_int64), ("name", c_char_p)]


class Control(ctypes.Structure):
    _fields_ = [
        ("id", c_uint32),
        ("name", c_char_p),
        ("label", c_char_p),
        ("kind", c_int),
        ("minimum", c_int64),
        ("maximum", c_int64),
        ("step", c_int64),
        ("default_value", c_int64),
        ("value", c_int64),
        ("unit", c_char_p),
        ("flags", c_uint32),
        ("is_writable", c_int),
        ("choice_count", c_size_t),
        ("choices", POINTER(Choice)),
    ]


DeviceList = POINTER(POINTER(Device))
ControlList = POINTER(POINTER(Control))

# The result and the arguments of each function. Handles are c_void_p.
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "version": (c_char_p, []),
    "message": (c_char_p, []),
    "connect": (c_int, [c_int, POINTER(c_void_p)]),
    "disconnect": (None, [c_void_p]),
    "fd": (c_int, [c_void_p]),
    "dispatch": (c_int, [c_void_p]),
    "next_event": (c_int, [c_void_p, POINTER(Event)]),
    "devices": (c_int, [c_void_p, POINTER(DeviceList)]),
    "devices_free": (None, [DeviceList]),
    "devices_watch": (c_int, [c_void_p, c_int]),
    "consent_status": (c_int, [c_void_p, c_char_p]),
    "consent_explain": (c_int, [c_void_p, c_char_p, c_char_p]),
    "consent_request": (c_int, [c_void_p, POINTER(c_char_p), c_int, c_int]),
    "session_new": (c_int, [c_void_p, POINTER(c_void_p)]),
    "session_free": (None, [c_void_p]),
    "session_add_camera": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(VideoRequest)]),
    "session_add_microphone": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(AudioRequest)]),
    "session_begin": (c_int, [c_void_p]),
    "session_start": (c_int, [c_void_p, c_int, c_int]),
    "session_stop": (c_int, [c_void_p]),
    "session_state": (c_int, [c_void_p]),
    "session_reason": (c_int, [c_void_p]),
    "reader_new": (c_int, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "reader_free": (None, [c_void_p]),
    "reader_format": (POINTER(Format), [c_void_p]),
    "reader_next": (c_int, [c_void_p, POINTER(Buffer), c_int]),
    "reader_newest": (c_int, [c_void_p, POINTER(Buffer), c_int]),
    "reader_cancel": (None, [c_void_p]),
    "reader_fd": (c_int, [c_void_p]),
    "reader_counters": (c_int, [c_void_p, POINTER(Counters)]),
    "buffer_is_intact": (c_int, [POINTER(Buffer)]),
    "buffer_hold": (None, [POINTER(Buffer)]),
    "buffer_release": (None, [POINTER(Buffer)]),
    "controls": (c_int, [c_void_p, c_char_p, POINTER(ControlList)]),
    "controls_free": (None, [ControlList]),
    "control_get": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(c_int64)]),
    "control_set": (c_int, [c_void_p, c_char_p, c_char_p, c_int64]),
    "controls_watch": (c_int, [c_void_p, c_char_p, c_int]),
}


class Library:
    """The functions, by their names without capture_."""

    def __init__(self, name: str) -> None:
        try:
            loaded = ctypes.CDLL(name)
            for function, (result, arguments) in _FUNCTIONS.items():
                entry = getattr(loaded, f"capture_{function}")
                entry.restype, entry.argtypes = result, arguments
                setattr(self, function, entry)
        except (OSError, AttributeError) as problem:
            needed = f"captured's client library {NAME} (package libcapture0)"
            raise ImportError(f"capturekit needs {needed}: {problem}") from None

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def _name() -> str:
    """Another file for tests, unless the interpreter is to ignore its environment (python3 -I)."""
    return (not sys.flags.ignore_environment and os.environ.get("CAPTUREKIT_LIBRARY")) or NAME


lib = Library(_name())


def failure(result: int) -> CaptureError:
    """The error of a result below 0, with the sentence of this thread's last call."""
    try:
        code = Code(-result)
    except ValueError:
        code = Code.UNKNOWN
    return error(code, text(lib.message()))


def check(result: int) -> int:
    """The result, or an error."""
    if result < 0:
        raise failure(result)
    return result


def text(value: bytes | None) -> str:
    return (value or b"").decode(errors="replace")


def argument(value: str, what: str) -> bytes:
    """A text for C, which ends at a zero."""
    if "\0" in value:
        raise error(Code.INVALID_ARGUMENT, f"{what} has a zero character in it")
    return value.encode(errors="surrogateescape")


def milliseconds(timeout: float | None) -> int:
    """Of seconds; -1 for None."""
    return -1 if timeout is None else max(0, min(int(timeout * 1000 + 0.999), 2**31 - 1))
