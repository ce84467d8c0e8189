"""Handles of libcapture, and waits that Ctrl-C interrupts.

Python runs signal handlers in the main thread, between two of its own instructions. A wait in C would keep them off. So
in the main thread, what may wait for the daemon or for a person runs in a thread of its own, while the main thread
waits in Python."""
import os
import threading
from collections.abc import Callable
from typing import Generic, Self, TypeVar

from .errors import Code, error

Result = TypeVar("Result")
# How long a call of C waits before Python looks again.
SLICE = 0.1


class Closing:
    """What the end of a `with` block closes."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Handle:
    """A pointer of libcapture. Freed once, when it is closed and no thread uses it any more. wake: ends the waits of
    other threads as it is closed; it is told whether some use the handle."""

    def __init__(self, pointer: int, free: Callable[[int], None], what: str,
                 wake: Callable[[int, bool], object] | None = None) -> None:
        self._pointer, self._free, self._what, self._wake = pointer, free, what, wake
        self._lock, self._users, self.is_closed = threading.Lock(), 0, False

    def __enter__(self) -> int:
        with self._lock:
            if self.is_closed:
                raise error(Code.WRONG_STATE, f"the {self._what} is closed")
            self._users += 1
        return self._pointer

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            is_last = self.is_closed and not self._users
        if is_last:
            self._free(self._pointer)

    def close(self) -> None:
        with self._lock:
            if self.is_closed:
                return
            self.is_closed = True
            # In use by this call, until the end.
            self._users += 1
            is_used = self._users > 1
        try:
            if self._wake:
                self._wake(self._pointer, is_used)
        finally:
            self.__exit__(None, None, None)

    def __del__(self) -> None:
        self.close()


class _Job(Generic[Result]):
    """A call, and what came of it."""

    def __init__(self, work: Callable[[int], Result], cancel: int) -> None:
        self.work, self.cancel = work, cancel
        self.result: Result
        self.problem: BaseException | None = None
        self.done = threading.Event()

    def run(self) -> None:
        try:
            self.result = self.work(self.cancel)
        except BaseException as problem:
            self.problem = problem
        finally:
            os.close(self.cancel)
            self.done.set()


def call(work: Callable[[int], Result]) -> Result:
    """Does work that may wait. Its argument is a descriptor to give up at, or -1. After Ctrl-C the work ends by
    itself."""
    if threading.current_thread() is not threading.main_thread():
        return work(-1)
    return call_until(work, os.eventfd(0, os.EFD_CLOEXEC))


def call_until(work: Callable[[int], Result], cancel: int) -> Result:
    """The same with a descriptor of the caller's, which is closed afterwards."""
    try:
        job = _Job(work, os.dup(cancel))
        threading.Thread(target=job.run, name="capturekit", daemon=True).start()
        try:
            job.done.wait()
        except BaseException:
            os.eventfd_write(cancel, 1)
            # What can be given up is over in a moment; other calls end when the daemon has answered.
            job.done.wait(1)
            raise
    finally:
        os.close(cancel)
    problem = job.problem
    if problem is not None:
        job.problem = None
        raise problem
    return job.result
