"""What a connection tells unasked, handed to all who watch."""
import collections
import contextlib
import ctypes
import select
import threading
import time
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from . import _native
from ._native import check, lib, text
from ._waiting import SLICE, Closing, Handle, call
from .errors import CaptureError, Code, error

DEVICE_ADDED, DEVICE_REMOVED, CONTROL_CHANGED, CONTROLS_ENDED, DAEMON_GONE, EVENTS_LOST = range(1, 7)
Told = TypeVar("Told")


class Event:
    """A copy of libcapture's."""

    def __init__(self, event: _native.Event) -> None:
        self.kind, self.code, self.value = int(event.kind), int(event.code), int(event.value)
        self.device, self.name = text(event.device), text(event.name)


class Events:
    """The queue of a connection."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle
        self._lock = threading.Lock()
        self._watches: list[Callable[[Event], None]] = []

    def add(self, watch: Callable[[Event], None]) -> None:
        with self._lock:
            self._watches = [*self._watches, watch]

    def remove(self, watch: Callable[[Event], None]) -> None:
        with self._lock:
            self._watches = [other for other in self._watches if other != watch]

    def take_in(self) -> None:
        """What has come, without waiting."""
        event = _native.Event(size=ctypes.sizeof(_native.Event))
        with self.handle as client, self._lock:
            # Its failure is the end of the connection, which is told after the events before it.
            result = lib.dispatch(client)
            while check(lib.next_event(client, ctypes.byref(event))):
                for watch in self._watches:
                    watch(Event(event))
            check(result)

    def wait(self, seconds: float) -> None:
        """Until something has come, or not for long."""
        with self.handle as client:
            poll = select.poll()
            poll.register(lib.fd(client), select.POLLIN)
            poll.poll(max(0, seconds) * 1000)
        self.take_in()


class Watch(Closing, Generic[Told]):
    """Changes, in the order in which they came: to be iterated over, or asked by next(). Ends with the block of a
    `with`. Raises Unreachable when the daemon goes."""

    def __init__(self, events: Events, begin: Callable[[int, int], int], told: Callable[[Event], Told | None]) -> None:
        self._events, self._begin, self._told = events, begin, told
        self._waiting: collections.deque[Told | Exception | None] = collections.deque()
        self._is_open = True
        # How often changes were lost, because nobody took them.
        self.lost = 0
        # What came before is not for this one; the end of the connection is told by what follows.
        with contextlib.suppress(CaptureError):
            events.take_in()
        events.add(self._heard)
        try:
            call(lambda _: self._tell(1))
        except BaseException:
            self._is_open = False
            events.remove(self._heard)
            raise

    def _tell(self, on: int) -> int:
        with self._events.handle as client:
            return check(self._begin(client, on))

    def _heard(self, event: Event) -> None:
        if event.kind == EVENTS_LOST:
            self.lost += 1
        elif event.kind == DAEMON_GONE:
            self._waiting.append(error(Code.UNREACHABLE, "the capture daemon went away"))
        else:
            try:
                told = self._told(event)
            except Exception as end:
                self._waiting.append(None if isinstance(end, StopIteration) else end)
            else:
                if told is not None:
                    self._waiting.append(told)

    def next(self, timeout: float | None = None) -> Told | None:
        """The next change; None if none came in time, or at the end. timeout: seconds."""
        until = None if timeout is None else time.monotonic() + timeout
        self._events.take_in()
        while self._is_open:
            if self._waiting:
                told = self._waiting.popleft()
                if told is None or isinstance(told, Exception):
                    self._end()
                if isinstance(told, Exception):
                    raise told
                return told
            rest = SLICE if until is None else until - time.monotonic()
            if rest <= 0:
                break
            self._events.wait(min(rest, SLICE))
        return None

    def _end(self) -> bool:
        """Whether it was open."""
        was_open, self._is_open = self._is_open, False
        self._events.remove(self._heard)
        return was_open

    def close(self) -> None:
        """Ends it. Any thread."""
        if not self._end():
            return
        try:
            call(lambda _: self._tell(0))
        except CaptureError:
            # The daemon, or the device, is gone, and the watch with it.
            pass

    def __iter__(self) -> Iterator[Told]:
        return self

    def __next__(self) -> Told:
        told = self.next()
        if told is None:
            raise StopIteration
        return told
