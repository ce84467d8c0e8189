"""Frames and sound where they are, in the memory that captured shares."""
import ctypes
import enum
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from . import _native, _pixels
from ._native import lib
from .devices import SampleFormat, fourcc_name, fraction
from .errors import Code, error

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Flags(enum.IntFlag):
    """What is said of a frame, or of a period of sound."""

    KEYFRAME = 1
    MONOTONIC = 2
    STAMPED_ON_ARRIVAL = 4
    START_OF_EXPOSURE = 8
    SILENCE = 16
    DISCONTINUITY = 32


@dataclass(frozen=True)
class FrameFormat:
    """How the frames of a stream are. Numbers of colour as in linux/videodev2.h."""

    pixel_format: str
    width: int
    height: int
    # Seconds from frame to frame; 0: unknown.
    interval: Fraction
    # Bytes from row to row, of each memory plane; 0 if compressed.
    strides: tuple[int, ...]
    color_space: int
    transfer: int
    encoding: int
    quantization: int
    # 0 progressive, 1 interlaced with the top field first, 2 with the bottom field first.
    field: int

    @property
    def rate(self) -> float:
        """Frames a second; 0: unknown."""
        return float(1 / self.interval) if self.interval else 0.0


@dataclass(frozen=True)
class SoundFormat:
    """How the sound of a stream is."""

    sample_format: SampleFormat
    rate: int
    channels: int
    # The most samples of each channel in a period.
    period: int


class _Hold:
    """Keeps a ring mapped as long as Python has something that points into it."""

    __slots__ = ("buffer",)

    def __init__(self, buffer: _native.Buffer) -> None:
        lib.buffer_hold(ctypes.byref(buffer))
        self.buffer = buffer

    # At the interpreter's end, modules lose their names before objects.
    def __del__(self, release: Any = lib.buffer_release, byref: Any = ctypes.byref) -> None:
        release(byref(self.buffer))


def _view(hold: _Hold, plane: _native.Plane, size: int) -> memoryview:
    """The memory of a plane, to read. All that is made of it keeps the hold."""
    # One type for all buffers of a stream: those are not cheap to make.
    block: Any = (ctypes.c_ubyte * size).from_address(plane.data)
    block.hold = hold
    return memoryview(block).toreadonly().cast("B")[: plane.used]


class Buffer:
    """What frames and periods of sound have in common.

    Its memory stays mapped while something of Python leads to it, but its content is captured's, who may write the next
    buffer there. Use it, then ask is_intact(); or take a copy(). Any thread may use it."""

    def __init__(self, buffer: _native.Buffer, hold: _Hold | None, memory: list[memoryview],
                 is_intact: bool) -> None:
        self._buffer, self._hold, self._was_intact = buffer, hold, is_intact
        # The bytes of each memory plane.
        self.memory = tuple(memory)
        # Counts the buffers of a ring, without gaps.
        self.sequence: int = buffer.sequence
        # When it was captured, and when captured published it: ns on CLOCK_MONOTONIC, as time.monotonic_ns().
        self.timestamp: int = buffer.timestamp
        self.published: int = buffer.published
        # The device's own count, with what was lost.
        self.device_sequence: int = buffer.device_sequence
        # Buffers just before it that were overwritten before they were read.
        self.missed: int = buffer.missed
        # Frames or periods just before it that the device lost.
        self.lost: int = buffer.lost
        # How often the stream went on in another ring; its format may differ then.
        self.moves: int = buffer.moves
        self.flags = Flags(buffer.flags & 63)

    def is_intact(self) -> bool:
        """Whether all that was read of it until now was whole. Of a copy: whether it was when it was taken."""
        if self._hold is None:
            return self._was_intact
        return bool(lib.buffer_is_intact(ctypes.byref(self._buffer)))

    def _copied(self) -> tuple[_native.Buffer, None, list[memoryview], bool]:
        copies = [memoryview(bytes(one)) for one in self.memory]
        return self._buffer, None, copies, self.is_intact()

    @property
    def is_copy(self) -> bool:
        """Whether the bytes are this object's own."""
        return self._hold is None


class Frame(Buffer):
    """A frame of a camera."""

    def __init__(self, buffer: _native.Buffer, hold: _Hold | None, memory: list[memoryview], is_intact: bool,
                 format: FrameFormat) -> None:
        super().__init__(buffer, hold, memory, is_intact)
        self.format = format

    def copy(self) -> "Frame":
        """A frame with bytes of its own; is_intact() says whether it is whole."""
        return Frame(*self._copied(), self.format)

    @property
    def planes(self) -> "tuple[NDArray[Any], ...]":
        """The colour planes as arrays that are to be read, without a copy. Needs numpy."""
        form = self.format
        return _pixels.planes(form.pixel_format, form.width, form.height, list(self.memory), list(form.strides))

    @property
    def array(self) -> "NDArray[Any]":
        """The picture as an array that is to be read, without a copy: (height, width, 3) for RGB3, (height, width, 2)
        for YUYV, (height, width) for grey. Formats with several planes have `planes` instead. Needs numpy."""
        found = self.planes
        if len(found) != 1:
            raise error(Code.INVALID_ARGUMENT, f"{self.format.pixel_format} has {len(found)} planes; use planes")
        return found[0]

    def __repr__(self) -> str:
        form = self.format
        return f"<Frame {self.sequence}: {form.pixel_format} {form.width}x{form.height} at {self.timestamp}>"


_SAMPLES = {SampleFormat.S16_LE: "<i2", SampleFormat.S32_LE: "<i4", SampleFormat.FLOAT_LE: "<f4"}


class Samples(Buffer):
    """A period of sound of a microphone."""

    def __init__(self, buffer: _native.Buffer, hold: _Hold | None, memory: list[memoryview], is_intact: bool,
                 format: SoundFormat) -> None:
        super().__init__(buffer, hold, memory, is_intact)
        self.format = format
        # Samples of each channel before it, since the stream began.
        self.position: int = buffer.position

    def copy(self) -> "Samples":
        """Samples with bytes of their own; is_intact() says whether they are whole."""
        return Samples(*self._copied(), self.format)

    @property
    def array(self) -> "NDArray[Any]":
        """The samples as an array that is to be read, without a copy: (samples, channels), and of S24_3LE the three
        bytes of each. Needs numpy."""
        import numpy

        form = self.format
        kind = _SAMPLES.get(form.sample_format)
        shape = (len(self), form.channels) if kind else (len(self), form.channels, 3)
        return _pixels.of_bytes(self.memory[0], numpy.dtype(kind or "u1"), shape)

    def __len__(self) -> int:
        """Samples of each channel."""
        width = {SampleFormat.S16_LE: 2, SampleFormat.S24_3LE: 3}.get(self.format.sample_format, 4)
        return len(self.memory[0]) // (width * self.format.channels)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<Samples {self.sequence}: {len(self)} of {self.format.channels} channels at {self.timestamp}>"


def frame_format(form: _native.Format) -> FrameFormat:
    return FrameFormat(
        fourcc_name(form.pixel_format),
        form.width,
        form.height,
        fraction(form.interval),
        tuple(form.planes[index].stride for index in range(min(form.plane_count, 4))),
        form.color_space,
        form.transfer,
        form.encoding,
        form.quantization,
        form.field,
    )


def sound_format(form: _native.Format) -> SoundFormat:
    return SoundFormat(SampleFormat(form.sample_format), form.rate, form.channels, form.period_frames)


def taken(buffer: _native.Buffer) -> tuple[_native.Buffer, _Hold, list[memoryview], bool]:
    """What a reader has just brought, held."""
    hold = _Hold(buffer)
    sizes = buffer.format.contents.planes
    count = min(buffer.plane_count, 4)
    return buffer, hold, [_view(hold, buffer.planes[index], sizes[index].size) for index in range(count)], True
