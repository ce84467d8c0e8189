"""What devices there are, and what they can do."""
import ctypes
import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from . import _native
from ._native import text
from .errors import Code, error


class Media(enum.IntEnum):
    """What a device delivers."""

    VIDEO = 1
    AUDIO = 2
    METADATA = 3
    OTHER = 0


class SampleFormat(enum.IntEnum):
    """How a sample of sound is stored."""

    S16_LE = 1
    S24_3LE = 2
    S32_LE = 3
    FLOAT_LE = 4


@dataclass(frozen=True)
class Range:
    """From the least to the most, in steps."""

    least: int
    most: int
    step: int


@dataclass(frozen=True)
class FrameSize:
    """A frame size, or a range of them. Intervals are seconds from frame to frame."""

    width: Range
    height: Range
    intervals: tuple[Fraction, ...]
    # Instead of `intervals`, any from the first to the second.
    interval_range: tuple[Fraction, Fraction] | None = None

    @property
    def size(self) -> tuple[int, int]:
        """The largest one."""
        return self.width.most, self.height.most

    @property
    def rates(self) -> tuple[float, ...]:
        """Frames a second."""
        return tuple(float(1 / interval) for interval in self.intervals if interval)


@dataclass(frozen=True)
class VideoFormat:
    """A pixel format of a camera, and its sizes. Emulated: made from another one."""

    # Four letters, as in YUYV.
    pixel_format: str
    # The driver's words.
    name: str
    is_emulated: bool
    sizes: tuple[FrameSize, ...]


@dataclass(frozen=True)
class AudioFormat:
    """What a microphone can record."""

    sample_formats: tuple[SampleFormat, ...]
    rate: Range
    channels: Range


@dataclass(frozen=True)
class Device:
    """A camera or a microphone."""

    id: str
    name: str
    media: Media
    driver: str
    # How it is connected, as in usb-0000:00:14.0-2.
    connection: str
    # built-in, external, capture-card, virtual or synthetic.
    type: str
    # unspecified, front, back or external.
    position: str
    aliases: tuple[str, ...]
    video_formats: tuple[VideoFormat, ...]
    audio_formats: tuple[AudioFormat, ...]

    @property
    def is_camera(self) -> bool:
        return self.media is Media.VIDEO

    @property
    def is_microphone(self) -> bool:
        return self.media is Media.AUDIO


def fourcc(name: str) -> int:
    """The number of a pixel format's name, as in linux/videodev2.h, or of a format that has none, as in 0x0000001f."""
    if re.fullmatch("0x[0-9a-fA-F]{8}", name):
        return int(name, 16)
    is_big = name.endswith("-BE")
    letters = name.removesuffix("-BE")
    if not letters.isascii() or not 1 <= len(letters) <= 4:
        raise error(Code.INVALID_ARGUMENT, f"'{name}' is no pixel format; use four letters, as in YUYV")
    return int.from_bytes(letters.ljust(4).encode(), "little") | is_big << 31


def fourcc_name(code: int) -> str:
    """The name of a pixel format's number."""
    letters = (code & 0x7FFFFFFF).to_bytes(4, "little").decode("ascii", "replace")
    if not letters.isascii() or not letters.isprintable() or not letters.strip():
        return f"0x{code:08x}"
    return letters.rstrip() + ("-BE" if code >> 31 else "")


def items(pointers: Any) -> Iterator[Any]:
    """What an array of pointers leads to, up to the NULL at its end."""
    index = 0
    while pointers and pointers[index]:
        pointer = pointers[index]
        yield pointer.contents if hasattr(pointer, "contents") else pointer
        index += 1


def fraction(value: _native.Fraction) -> Fraction:
    """0 for what is not one."""
    return Fraction(value.numerator, value.denominator) if value.denominator else Fraction(0)


def _range(value: _native.Range) -> Range:
    return Range(value.least, value.most, value.step)


def _size(value: _native.FrameSize) -> FrameSize:
    intervals = tuple(fraction(value.intervals[index]) for index in range(value.interval_count))
    ends = None if intervals else (fraction(value.shortest), fraction(value.longest))
    return FrameSize(_range(value.width), _range(value.height), intervals, ends)


def _audio(value: _native.AudioOffer) -> AudioFormat:
    formats = tuple(one for one in SampleFormat if value.sample_formats >> one & 1)
    return AudioFormat(formats, _range(value.rate), _range(value.channels))


def _device(value: _native.Device) -> Device:
    media = Media(value.media) if value.media in Media.__members__.values() else Media.OTHER
    video = tuple(
        VideoFormat(fourcc_name(offer.pixel_format), text(offer.name), bool(offer.is_emulated),
                    tuple(map(_size, items(offer.sizes))))
        for offer in items(value.video)
    )
    return Device(
        text(value.id),
        text(value.name),
        media,
        text(value.driver),
        text(value.bus),
        text(value.device_type),
        text(value.position),
        tuple(map(text, items(value.aliases))),
        video,
        tuple(map(_audio, items(value.audio))),
    )


def list_devices(client: int) -> list[Device]:
    """Asks the daemon."""
    found = _native.DeviceList()
    _native.check(_native.lib.devices(client, ctypes.byref(found)))
    try:
        return [_device(item) for item in items(found)]
    finally:
        _native.lib.devices_free(found)
