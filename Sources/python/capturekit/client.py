"""The connection to captured."""
import ctypes
import enum
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from . import _events, _native, devices
from ._events import Event, Events, Watch
from ._native import argument, check, lib, milliseconds
from ._waiting import Closing, Handle, call
from .controls import Controls
from .devices import Device
from .sessions import Session

if TYPE_CHECKING:
    from .library import Library

_BUSES = {None: 0, "system": 1, "session": 2}
Bus = Literal["system", "session"]


class Status(enum.IntEnum):
    """What the person has answered."""

    NOT_DETERMINED = 0
    RESTRICTED = 1
    DENIED = 2
    AUTHORIZED = 3
    LIMITED = 4


class DeviceChange(NamedTuple):
    """A device that came (True) or went."""

    id: str
    is_there: bool


class Consent:
    """What the person allows this program: camera, microphone, library-add, library-read-write. Any thread."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self.reasons: dict[str, str] = {}

    def status(self, service: str) -> Status:
        """What was answered. Never asks."""
        return Status(self._call(lambda client, _: lib.consent_status(client, argument(service, "a service"))))

    def explain(self, service: str, reason: str) -> None:
        """Says why this program captures, for one without metadata. The question shows it."""
        words = argument(service, "a service"), argument(reason, "a reason")
        self._call(lambda client, _: lib.consent_explain(client, *words))
        self.reasons[service] = reason

    def request(self, *services: str, timeout: float | None = None) -> None:
        """Asks for what was never answered, in one question, and waits. Raises Denied, NobodyToAsk and others unless
        all is allowed. timeout: seconds; giving up, as by Ctrl-C, withdraws the question."""
        names = (ctypes.c_char_p * (len(services) + 1))(*[argument(service, "a service") for service in services], None)
        self._call(lambda client, cancel: lib.consent_request(client, names, milliseconds(timeout), cancel))

    def _call(self, function: Callable[[int, int], int]) -> int:
        def work(cancel: int) -> int:
            with self._handle as client:
                return check(function(client, cancel))

        return call(work)


class Client(Closing):
    """A connection, which connect() makes. Any thread may use it. Its end is the end of its sessions."""

    def __init__(self, bus: Bus | None = None) -> None:
        pointer, keeper = ctypes.c_void_p(), ctypes.c_void_p()
        number = _BUSES[bus]
        self._bus = bus

        def work(_: int) -> None:
            check(lib.connect(number, ctypes.byref(pointer)))

        call(work)
        assert pointer.value is not None
        # A session without inputs, which the daemon does not know, keeps the memory while other threads are in calls.
        result = lib.session_new(pointer, ctypes.byref(keeper))
        if result < 0:
            problem = _native.failure(result)
            lib.disconnect(pointer)
            raise problem
        self._handle = Handle(pointer.value, lambda _: lib.session_free(keeper), "connection",
                              lambda client, _: lib.disconnect(client))
        self._events = Events(self._handle)
        self._library: Library | None = None
        self._making = threading.Lock()
        self.consent = Consent(self._handle)

    def devices(self) -> list[Device]:
        """The devices that are there. Asks nobody."""

        def work(_: int) -> list[Device]:
            with self._handle as client:
                return devices.list_devices(client)

        return call(work)

    def cameras(self) -> list[Device]:
        """The cameras that are there."""
        return [device for device in self.devices() if device.is_camera]

    def microphones(self) -> list[Device]:
        """The microphones that are there."""
        return [device for device in self.devices() if device.is_microphone]

    def watch_devices(self) -> Watch[DeviceChange]:
        """Devices that come and go, from now on. To miss none, call this before devices()."""

        def told(event: Event) -> DeviceChange | None:
            if event.kind in (_events.DEVICE_ADDED, _events.DEVICE_REMOVED):
                return DeviceChange(event.device, event.kind == _events.DEVICE_ADDED)
            return None

        # They stay on: watches do not count in libcapture, and cost nothing.
        return Watch(self._events, lambda client, on: lib.devices_watch(client, 1) if on else 0, told)

    def session(self) -> Session:
        """A new session, to which inputs are added."""
        return Session(self._events)

    def controls(self, device: Device | str) -> Controls:
        """The controls of a device."""
        return Controls(self._events, device.id if isinstance(device, Device) else device)

    @property
    def library(self) -> "Library":
        """The person's media library, over a connection of its own to the same bus. Needs PyGObject (python3-gi)."""
        from .library import Library

        with self._making:
            if self._library is None:
                self._library = Library(self._bus, self.consent.reasons)
            return self._library

    def close(self) -> None:
        """Ends the connection, and all that waits on it. Buffers that are held stay."""
        self._handle.close()
        if self._library is not None:
            self._library.close()


def connect(bus: Bus | None = None) -> Client:
    """Connects to the bus: None for what CAPTURED_BUS says, session or system; without it the system bus."""
    return Client(bus)
