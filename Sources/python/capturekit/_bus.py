"""The connection to captured that the media library has, by PyGObject."""
import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

try:
    from gi.repository import Gio, GLib
except ImportError as _problem:
    raise ImportError(f"the media library needs PyGObject (package python3-gi): {_problem}") from None

from ._waiting import SLICE, call
from .errors import CaptureError, Code, Denied, code_of, error

NAME = "org.capturekit.Capture1"
ROOT = "/org/capturekit/Capture1"
# How long a call waits for the daemon, which itself waits for no person.
_LIMIT_MS = 25_000
# What the daemon answers, and what its signals have. Other types are not taken.
_ANSWERS = {
    "Import": "(u)", "Fetch": "(aa{sv}su)", "GetAsset": "(a{sv})", "Open": "(h)", "OpenPicked": "(h)",
    "Thumbnail": "(h)", "Delete": "(u)", "Pick": "(u)", "Cancel": "()", "GetStatus": "(u)", "RequestAccess": "(u)",
    "CancelAccess": "()", "SetUsageDescriptions": "()", "OpenDoor": "(hu)", "CreateSession": "(o)", "Start": "()",
    "Stop": "()",
}
_SIGNALS = {
    "Finished": "(ussa{sv})", "AccessDecided": "(ussa{su})", "PropertiesChanged": "(sa{sv}as)",
    "OutputSaved": "(sa{sv})", "OutputFinished": "(sssa{sv})", "NameOwnerChanged": "(sss)",
}


def variant(signature: str, value: Any) -> Any:
    """A value for a call."""
    return GLib.Variant(signature, value)


class Connection:
    """Calls, and what comes of them. A thread takes in the signals."""

    def __init__(self, bus: str | None, reasons: Mapping[str, str]) -> None:
        self._reasons = reasons
        self._told: dict[str, str] = {}
        self._news = threading.Condition()
        self._outcomes: dict[tuple[str, Any], tuple[str, str, dict[str, Any]]] = {}
        self.sessions: dict[str, dict[str, Any]] = {}
        # The unique name of the daemon: other programs of the bus can send signals, too.
        self._owner = ""
        # How often the daemon went.
        self.life = 0
        self._is_closed = False
        self._context = GLib.MainContext.new()
        self._loop = GLib.MainLoop.new(self._context, False)
        self._bus = call(lambda _: self._connect(bus))
        self._thread = threading.Thread(target=self._loop.run, name="capturekit-library", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends all that waits on it, too."""
        with self._news:
            if self._is_closed:
                return
            self._is_closed = True
            self._news.notify_all()
        try:
            call(lambda _: self._bus.close_sync(None))
        except GLib.Error:
            # It was closed from the other side.
            pass
        self._loop.quit()
        if threading.current_thread() is not self._thread:
            self._thread.join(5)

    def _connect(self, name: str | None) -> Any:
        chosen = name or ("session" if os.environ.get("CAPTURED_BUS") == "session" else "system")
        kind = Gio.BusType.SESSION if chosen == "session" else Gio.BusType.SYSTEM
        flags = Gio.DBusConnectionFlags
        # What is subscribed here is told in the loop's thread.
        self._context.push_thread_default()
        try:
            address = Gio.dbus_address_get_for_bus_sync(kind, None)
            bus = Gio.DBusConnection.new_for_address_sync(
                address, flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None)
            bus.set_exit_on_close(False)
            none = Gio.DBusSignalFlags.NONE
            for interface, member in [("Library", "Finished"), ("Authorization", "AccessDecided"), ("Session", None)]:
                bus.signal_subscribe(NAME, f"{NAME}.{interface}", member, None, None, none, self._heard)
            bus.signal_subscribe(NAME, "org.freedesktop.DBus.Properties", "PropertiesChanged", None, f"{NAME}.Session",
                                 none, self._heard)
            bus.signal_subscribe("org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged", None, NAME,
                                 none, self._heard)
            with contextlib.suppress(GLib.Error):  # It does not run yet.
                owner = bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                      "GetNameOwner", variant("(s)", (NAME,)), GLib.VariantType("(s)"),
                                      Gio.DBusCallFlags.NONE, _LIMIT_MS, None)
                self._owner = owner.unpack()[0]
            return bus
        except GLib.Error as problem:
            raise _error(problem) from None
        finally:
            self._context.pop_thread_default()

    def _heard(self, _bus: Any, sender: str, path: str, _interface: str, signal: str, arguments: Any) -> None:
        if arguments.get_type_string() != _SIGNALS.get(signal):
            return
        values = arguments.unpack()
        with self._news:
            if signal == "NameOwnerChanged":
                if self._owner and values[2] != self._owner:
                    self._told.clear()
                    self.life += 1
                self._owner = values[2]
            elif sender != self._owner:
                return
            elif signal in ("Finished", "AccessDecided"):
                number, code, message, more = values
                self._outcomes[signal, number] = code, message, more
                # Nobody fetches those of waits that were given up.
                while len(self._outcomes) > 100:
                    self._outcomes.pop(next(iter(self._outcomes)))
            else:
                # It may come before the call has returned the session's path.
                heard = self.sessions.setdefault(path, {})
                if signal == "PropertiesChanged":
                    heard.update(values[1])
                elif signal == "OutputSaved":
                    heard["saved"] = values[1]
                else:
                    heard["outcome"] = values[1], values[2]
                while len(self.sessions) > 100:
                    self.sessions.pop(next(iter(self.sessions)))
            self._news.notify_all()

    def wait(self, is_done: Callable[[], bool], life: int) -> None:
        with self._news:
            while not is_done():
                if self._is_closed:
                    raise error(Code.WRONG_STATE, "the library is closed")
                if self.life != life:
                    raise error(Code.UNREACHABLE, "the capture daemon went away")
                if self._bus.is_closed():
                    raise error(Code.UNREACHABLE, "the connection to the bus is lost")
                self._news.wait(SLICE)

    def finished(self, number: int, life: int, signal: str = "Finished") -> dict[str, Any]:
        """Waits for the outcome of a request. life: as it was before that was made."""
        key = signal, number
        try:
            self.wait(lambda: key in self._outcomes, life)
        except BaseException:
            with contextlib.suppress(CaptureError):
                if signal == "Finished":
                    self.ask("Library", "Cancel", variant("(u)", (number,)))
                else:
                    self.ask("Authorization", "CancelAccess", variant("(u)", (number,)))
            raise
        code, message, result = self._outcomes.pop(key)
        if code:
            raise error(code_of(code), message)
        return result

    def deciding(self, interface: str, member: str, arguments: Any) -> Any:
        """A call, after the person has decided about reading if that is needed."""
        try:
            return self.ask(interface, member, arguments)
        except CaptureError as undecided:
            if undecided.code is not Code.UNDECIDED:
                raise
        life = self.life
        (number,) = self.ask("Authorization", "RequestAccess", variant("(as)", (["library-read-write"],)))
        if number:
            # After a no, the call finds nothing.
            with contextlib.suppress(Denied):
                self.finished(number, life, "AccessDecided")
        return self.ask(interface, member, arguments)

    def open(self, member: str, arguments: Any) -> IO[bytes]:
        descriptor = self.deciding("Library", member, arguments)[0]
        return os.fdopen(descriptor, "rb")

    @contextlib.contextmanager
    def ticket(self, descriptor: int) -> Iterator[str]:
        """What stands for a descriptor in a call: it goes over a socket of the daemon's, which stays open until
        then."""
        door, number = self.ask("Manager", "OpenDoor", None)

        def work(_: int) -> str:
            socket.send_fds(passing, [b"file"], [descriptor])
            return passing.recv(300).decode(errors="replace")

        with socket.socket(fileno=door) as passing:
            passing.settimeout(_LIMIT_MS / 1000)
            try:
                answer = call(work)
            except OSError as problem:
                raise error(Code.INPUT_OUTPUT, f"cannot pass a file to the capture daemon: {problem}") from None
            if not answer.isdigit():
                why = answer.removeprefix("refused").strip(": ")
                raise error(Code.NOT_PERMITTED, f"the capture daemon takes no file: {why}")
            yield f"{number}.{answer}"

    def ask(self, interface: str, member: str, arguments: Any, path: str = ROOT) -> Any:
        """Calls, and returns what the answer has; a descriptor as its number."""
        if self._is_closed:
            raise error(Code.WRONG_STATE, "the library is closed")
        self._tell_reasons()
        return call(lambda _: self._call(interface, member, arguments, path))

    def _tell_reasons(self) -> None:
        """Why this program asks, once for each daemon."""
        reasons = dict(self._reasons)
        if reasons and reasons != self._told:
            call(lambda _: self._call("Authorization", "SetUsageDescriptions", variant("(a{ss})", (reasons,)), ROOT))
            self._told = reasons

    def _call(self, interface: str, member: str, arguments: Any, path: str) -> Any:
        kind = _ANSWERS[member]
        try:
            answer, passed = self._bus.call_with_unix_fd_list_sync(
                NAME, path, f"{NAME}.{interface}", member, arguments, GLib.VariantType(kind),
                Gio.DBusCallFlags.NONE, _LIMIT_MS, None, None)
            values = answer.unpack()
            if "h" not in kind:
                return values
            # The answers have one descriptor, which comes first.
            if passed is None or not 0 <= values[0] < passed.get_length():
                raise error(Code.BAD_DATA, f"the capture daemon answered {member} without a descriptor")
            return (passed.get(values[0]), *values[1:])
        except GLib.Error as problem:
            raise _error(problem) from None


# What the bus's errors mean, by the last words of their names; CaptureKit says the same.
_GONE = {
    **dict.fromkeys(["ServiceUnknown", "NameHasNoOwner"], "the capture daemon is not running"),
    **dict.fromkeys(["NoReply", "Timeout", "TimedOut"], "the capture daemon went away or did not answer"),
    **dict.fromkeys(["Disconnected", "NoServer", "NoNetwork"], "the connection to the bus is lost"),
}


def _error(problem: Any) -> CaptureError:
    """What the bus says, by captured's codes."""
    name = Gio.DBusError.get_remote_error(problem) or ""
    said = problem.message.removeprefix(f"GDBus.Error:{name}: ")
    word = name.rsplit(".", 1)[-1]
    if name.startswith(NAME + ".Error."):
        return error(code_of(word), said)
    if problem.matches(Gio.io_error_quark(), Gio.IOErrorEnum.INVALID_ARGUMENT):
        return error(Code.BAD_DATA, f"the capture daemon said what cannot be ({said})")
    if word in _GONE:
        return error(Code.UNREACHABLE, f"{_GONE[word]} ({said})")
    if not name or word == "FileNotFound" or ".Spawn." in name or name.startswith("org.freedesktop.systemd1."):
        return error(Code.UNREACHABLE, f"the capture daemon cannot be reached ({said})")
    if word in ("AccessDenied", "AuthFailed", "InteractiveAuthorizationRequired"):
        return error(Code.NOT_PERMITTED, f"not allowed to call the capture daemon ({said})")
    if word == "UnknownObject":
        return error(Code.NO_SUCH_SESSION, said)
    if word in ("InvalidArgs", "InvalidSignature"):
        return error(Code.INVALID_ARGUMENT, said)
    return error(Code.INTERNAL, f"the capture daemon failed: {said} ({name})")
