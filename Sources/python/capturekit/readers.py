"""Readers: the buffers of a stream, one after the other."""
import asyncio
import ctypes
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from . import _native, media
from ._native import check, lib
from ._waiting import SLICE, Closing, Handle
from .media import Frame, FrameFormat, Samples, SoundFormat

Read = TypeVar("Read", bound=media.Buffer)
_NOTHING, _BUFFER, _END = range(3)
_DROPS = ("sequence_gap", "device_error", "no_slot", "overrun", "revocation", "paused", "no_signal")


@dataclass(frozen=True)
class Counters:
    """What a reader and its ring have counted."""

    # Buffers that this reader was too late for, or passed over.
    missed: int
    # Of this ring: published, and of those not read yet.
    published: int
    pending: int
    moves: int
    # What was lost before it came into the ring, by cause.
    drops: dict[str, int]


class Reader(Closing, Generic[Read]):
    """A reader of an input of a running session, from what is captured now. Iterate over it with `for` or `async for`,
    or ask next(). Threads that ask the same reader take turns; cancel() and close() may be called from any."""

    def __init__(self, session: Handle, name: bytes, make: Callable[[Any, _native.Buffer], Read],
                 form: Callable[[_native.Format], Any]) -> None:
        self._make, self._form = make, form
        # The session goes on as long as somebody reads.
        self._session: Handle | None = session
        pointer = ctypes.c_void_p()
        with session as owner:
            check(lib.reader_new(owner, name, ctypes.byref(pointer)))
        assert pointer.value is not None
        self._handle = Handle(pointer.value, lib.reader_free, "reader",
                              lambda reader, is_used: lib.reader_cancel(reader) if is_used else None)
        self._turn = threading.Lock()
        self._format: tuple[int, Any] | None = None
        self._is_cancelled = False
        self._wakers: set[Callable[[], object]] = set()
        # Whether the stream is over, after a stop that was asked for.
        self.is_at_end = False

    def next(self, timeout: float | None = None) -> Read | None:
        """The next buffer; None if none came in time, at the end (is_at_end), or after cancel(). timeout: seconds.
        Raises why the stream ended, such as Revoked, DeviceLost or Unreachable."""
        return self._wait(lib.reader_next, timeout)

    def newest(self, timeout: float | None = None) -> Read | None:
        """The same, but passes over all but the newest buffer."""
        return self._wait(lib.reader_newest, timeout)

    @property
    def counters(self) -> Counters:
        """What was missed and lost until now."""
        found = _native.Counters(size=ctypes.sizeof(_native.Counters))
        with self._turn, self._handle as reader:
            check(lib.reader_counters(reader, ctypes.byref(found)))
        return Counters(found.missed, found.published, found.pending, found.moves, dict(zip(_DROPS, found.drops)))

    def fileno(self) -> int:
        """A descriptor that is readable when next(0) has a buffer or the end. Do not read or close it."""
        with self._turn, self._handle as reader:
            return check(lib.reader_fd(reader))

    def cancel(self) -> None:
        """Ends the present wait, or else the next one. Any thread."""
        with self._handle as reader:
            self._is_cancelled = True
            lib.reader_cancel(reader)
        self._wake()

    def close(self) -> None:
        """Lets go of the stream. Buffers that are held stay. A wait in another thread ends."""
        self._handle.close()
        self._session = None
        self._wake()

    def _wake(self) -> None:
        for wake in list(self._wakers):
            wake()

    def _take(self, function: Callable[[int, Any, int], int], seconds: float) -> Read | None:
        """Waits that long at most."""
        buffer = _native.Buffer(size=ctypes.sizeof(_native.Buffer))
        with self._turn:
            if self._handle.is_closed or self.is_at_end:
                self.is_at_end = True
                return None
            with self._handle as reader:
                result = check(function(reader, ctypes.byref(buffer), _native.milliseconds(seconds)))
                if result == _BUFFER:
                    if self._format is None or self._format[0] != buffer.moves:
                        self._format = buffer.moves, self._form(buffer.format.contents)
                    return self._make(self._format[1], buffer)
                self.is_at_end = result == _END
                return None

    def _wait(self, function: Callable[[int, Any, int], int], timeout: float | None) -> Read | None:
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            rest = SLICE if until is None else min(SLICE, until - time.monotonic())
            found = self._take(function, max(0, rest))
            if found is not None or self.is_at_end or self._was_cancelled():
                return found
            if until is not None and time.monotonic() >= until:
                return None

    def _was_cancelled(self) -> bool:
        was, self._is_cancelled = self._is_cancelled, False
        return was

    async def next_async(self) -> Read | None:
        """As next() without a limit, for asyncio."""
        while True:
            found = self._take(lib.reader_next, 0)
            if found is not None or self.is_at_end or self._was_cancelled():
                return found
            await self._readable()

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        news: asyncio.Future[None] = loop.create_future()

        def come() -> None:
            if not news.done():
                news.set_result(None)

        def wake() -> object:
            return loop.call_soon_threadsafe(come)

        # Of its own: the reader may be closed meanwhile, and others may wait for it, too.
        descriptor = os.dup(self.fileno())
        self._wakers.add(wake)
        try:
            loop.add_reader(descriptor, come)
            if not self._is_cancelled and not self._handle.is_closed:
                await news
        finally:
            loop.remove_reader(descriptor)
            self._wakers.discard(wake)
            os.close(descriptor)

    def __iter__(self) -> Iterator[Read]:
        return self

    def __next__(self) -> Read:
        found = self.next()
        if found is None:
            raise StopIteration
        return found

    def __aiter__(self) -> AsyncIterator[Read]:
        return self

    async def __anext__(self) -> Read:
        found = await self.next_async()
        if found is None:
            raise StopAsyncIteration
        return found


def frame_reader(session: Handle, name: bytes) -> Reader[Frame]:
    def make(form: FrameFormat, buffer: _native.Buffer) -> Frame:
        return Frame(*media.taken(buffer), form)

    return Reader(session, name, make, media.frame_format)


def sound_reader(session: Handle, name: bytes) -> Reader[Samples]:
    def make(form: SoundFormat, buffer: _native.Buffer) -> Samples:
        return Samples(*media.taken(buffer), form)

    return Reader(session, name, make, media.sound_format)
