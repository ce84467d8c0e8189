"""The settings of a camera."""
import ctypes
import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from . import _events, _native
from ._events import Event, Events, Watch
from ._native import argument, check, lib, text
from ._waiting import call
from .devices import items
from .errors import Code, error


class ControlKind(enum.IntEnum):
    """What a control takes."""

    INTEGER = 1
    BOOLEAN = 2
    MENU = 3
    BUTTON = 4
    RECTANGLE = 5
    OTHER = 6


class ControlFlags(enum.IntFlag):
    """What is said of a control."""

    READ_ONLY = 1
    VOLATILE = 2
    INACTIVE = 4
    IN_USE = 8
    RESTRICTED = 16


@dataclass(frozen=True)
class Control:
    """A control, as it is at this moment."""

    name: str
    # The driver's words.
    label: str
    kind: ControlKind
    minimum: int
    maximum: int
    step: int
    default: int
    value: int
    # Empty for none.
    unit: str
    flags: ControlFlags
    # Now.
    is_writable: bool
    # Of a menu: the words of its values.
    choices: Mapping[int, str]


class Change(NamedTuple):
    """A control and its new value."""

    name: str
    value: int


class Controls(Mapping[str, int]):
    """The values of a device's controls by their names, to read and to set. Each look asks the daemon. Any thread."""

    def __init__(self, events: Events, device: str) -> None:
        self._events, self.device = events, device
        self._id = argument(device, "a device's id")

    def all(self) -> list[Control]:
        """All of them, in the device's order."""
        return call(lambda _: self._list())

    def info(self, name: str) -> Control:
        """One of them; KeyError if there is none of that name."""
        for control in self.all():
            if control.name == name:
                return control
        raise KeyError(name)

    def __getitem__(self, name: str) -> int:
        return self.info(name).value

    def __setitem__(self, name: str, value: int) -> None:
        if not -(2**63) <= value < 2**63:
            raise error(Code.INVALID_ARGUMENT, f"{value} is out of the range of any control")

        def work(_: int) -> int:
            with self._events.handle as client:
                return check(lib.control_set(client, self._id, argument(name, "a control's name"), value))

        call(work)

    def __iter__(self) -> Iterator[str]:
        return iter([control.name for control in self.all()])

    def __len__(self) -> int:
        return len(self.all())

    def watch(self) -> Watch[Change]:
        """Every change from now on, by whomever: `with controls.watch() as changes: for name, value in changes: ...`.
        Raises Revoked or DeviceLost at its end."""

        def told(event: Event) -> Change | None:
            if event.device == self.device and event.kind == _events.CONTROL_CHANGED:
                return Change(event.name, event.value)
            if event.device == self.device and event.kind == _events.CONTROLS_ENDED:
                if not event.code:
                    raise StopIteration
                code = Code(abs(event.code)) if abs(event.code) in Code.__members__.values() else Code.UNKNOWN
                raise error(code, f"changes of {self.device} are no longer told: {code.word}")
            return None

        return Watch(self._events, lambda client, on: lib.controls_watch(client, self._id, on), told)

    def _list(self) -> list[Control]:
        found = _native.ControlList()
        with self._events.handle as client:
            check(lib.controls(client, self._id, ctypes.byref(found)))
            try:
                return [_control(item) for item in items(found)]
            finally:
                lib.controls_free(found)


def _control(value: _native.Control) -> Control:
    choices = {value.choices[index].value: text(value.choices[index].name) for index in range(value.choice_count)}
    return Control(
        text(value.name),
        text(value.label),
        ControlKind(value.kind) if 1 <= value.kind <= 5 else ControlKind.OTHER,
        value.minimum,
        value.maximum,
        value.step,
        value.default_value,
        value.value,
        text(value.unit),
        ControlFlags(value.flags & 31),
        bool(value.is_writable),
        choices,
    )
