"""Sessions: cameras and microphones that are captured together."""
import asyncio
import ctypes
import enum
import os
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Literal

from . import _native
from ._events import Events
from ._native import argument, check, failure, lib, milliseconds
from ._waiting import Handle, call
from .devices import Device, SampleFormat, fourcc
from .errors import CaptureError, Code, error
from .media import Frame, Samples
from .readers import Reader, frame_reader, sound_reader


class State(enum.IntEnum):
    """Where a session stands. The last three are its end."""

    CONFIGURED = 0
    AUTHORIZING = 1
    STARTING = 2
    RUNNING = 3
    SUSPENDED = 4
    INTERRUPTED = 5
    STOPPED = 6
    FAILED = 7

    @property
    def is_final(self) -> bool:
        return self >= State.INTERRUPTED


class Session:
    """Captures from inputs that are added before the start. `with session:` starts it, if it does not run yet, and
    stops it. After its end it may start again. Any thread."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._inputs: dict[str, Literal["camera", "microphone"]] = {}
        pointer = ctypes.c_void_p()
        with events.handle as client:
            check(lib.session_new(client, ctypes.byref(pointer)))
        assert pointer.value is not None
        self._handle = Handle(pointer.value, lib.session_free, "session",
                              lambda session, is_used: lib.session_stop(session) if is_used else None)

    def add_camera(self, device: Device | str | None = None, *, name: str = "camera",
                   size: tuple[int, int] | None = None, rate: float | None = None, pixel_format: str | None = None,
                   exact: bool = False) -> str:
        """Adds a camera, and returns the input's name. device: None for the first one. size: width and height. rate:
        frames a second. exact: only what was asked for, or NoSuchFormat; else what is nearest."""
        width, height = size or (0, 0)
        request = _native.VideoRequest(size=ctypes.sizeof(_native.VideoRequest), exact=exact)
        request.width, request.height = _number(width, "a width"), _number(height, "a height")
        request.frames_per_second = rate or 0
        request.pixel_format = fourcc(pixel_format) if pixel_format else 0
        with self._handle as session:
            check(lib.session_add_camera(session, argument(name, "a name"), _id(device), ctypes.byref(request)))
        self._inputs[name] = "camera"
        return name

    def add_microphone(self, device: Device | str | None = None, *, name: str = "microphone", rate: int | None = None,
                       channels: int | None = None, sample_format: SampleFormat | None = None,
                       exact: bool = False) -> str:
        """Adds a microphone, and returns the input's name. rate: samples a second."""
        request = _native.AudioRequest(size=ctypes.sizeof(_native.AudioRequest), exact=exact)
        request.rate, request.channels = _number(rate or 0, "a rate"), _number(channels or 0, "a number of channels")
        request.sample_format = sample_format or 0
        with self._handle as session:
            check(lib.session_add_microphone(session, argument(name, "a name"), _id(device), ctypes.byref(request)))
        self._inputs[name] = "microphone"
        return name

    def start(self, timeout: float | None = None) -> None:
        """Starts and waits until media flows, which includes the person's answer. timeout: seconds. Giving up, as by
        Ctrl-C, stops it."""

        def work(cancel: int) -> int:
            with self._handle as session:
                return check(lib.session_start(session, milliseconds(timeout), cancel))

        call(work)

    def begin(self) -> None:
        """Asks the daemon to start, and returns; `state` tells how it goes."""

        def work(_: int) -> int:
            with self._handle as session:
                return check(lib.session_begin(session))

        call(work)

    def stop(self) -> None:
        """Stops, and waits until the devices are released. Readers come to their end."""

        def work(_: int) -> int:
            with self._handle as session:
                return check(lib.session_stop(session))

        call(work)

    def close(self) -> None:
        """Stops it for good, without waiting."""
        self._handle.close()

    @property
    def state(self) -> State:
        """Where it stands now."""
        self._look()
        with self._handle as session:
            return State(check(lib.session_state(session)))

    @property
    def reason(self) -> CaptureError | None:
        """Why it is suspended, interrupted or failed."""
        self._look()

        def work(_: int) -> CaptureError | None:
            with self._handle as session:
                result = lib.session_reason(session)
                return failure(result) if result < 0 else None

        return call(work)

    def _look(self) -> None:
        try:
            self._events.take_in()
        except CaptureError:
            # The session itself says that the connection is at its end.
            pass

    def frames(self, name: str | None = None) -> Reader[Frame]:
        """A reader of a camera's frames, from now on. name: the input's; None for the first camera."""
        return call(lambda _: frame_reader(self._handle, self._name("camera", name)))

    def samples(self, name: str | None = None) -> Reader[Samples]:
        """A reader of a microphone's sound, from now on."""
        return call(lambda _: sound_reader(self._handle, self._name("microphone", name)))

    async def frames_async(self, name: str | None = None) -> AsyncIterator[Frame]:
        """Frames for `async for`. The loop goes on meanwhile."""
        with await asyncio.to_thread(self.frames, name) as reader:
            async for frame in reader:
                yield frame

    async def samples_async(self, name: str | None = None) -> AsyncIterator[Samples]:
        """Sound for `async for`."""
        with await asyncio.to_thread(self.samples, name) as reader:
            async for samples in reader:
                yield samples

    def _name(self, kind: str, name: str | None) -> bytes:
        named = name or next((input for input, of in self._inputs.items() if of == kind), None)
        if named is None:
            raise error(Code.INVALID_ARGUMENT, f"the session has no {kind}; add one before the start")
        if self._inputs.get(named, kind) != kind:
            raise error(Code.INVALID_ARGUMENT, f"the input '{named}' is no {kind}")
        return argument(named, "a name")

    def __enter__(self) -> "Session":
        if self._is_to_start():
            self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        try:
            self.stop()
        except CaptureError:
            # Not in place of what ended the block.
            if value is None:
                raise

    def _is_to_start(self) -> bool:
        state = self.state
        return state is State.CONFIGURED or state.is_final

    async def __aenter__(self) -> "Session":
        if not self._is_to_start():
            return self
        cancel = os.eventfd(0, os.EFD_CLOEXEC)
        own = os.dup(cancel)

        def work() -> None:
            try:
                with self._handle as session:
                    check(lib.session_start(session, -1, own))
            finally:
                os.close(own)

        try:
            await asyncio.to_thread(work)
        except asyncio.CancelledError:
            os.eventfd_write(cancel, 1)
            raise
        finally:
            os.close(cancel)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, value: BaseException | None,
                        trace: TracebackType | None) -> None:
        await asyncio.to_thread(self.__exit__, kind, value, trace)


def _number(value: int, what: str) -> int:
    if not 0 <= value < 2**32:
        raise error(Code.INVALID_ARGUMENT, f"{value} cannot be {what}")
    return value


def _id(device: Device | str | None) -> bytes | None:
    if device is None:
        return None
    return argument(device.id if isinstance(device, Device) else device, "a device's id")
