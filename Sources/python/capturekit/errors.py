"""What can go wrong, by captured's codes."""
import enum


class Code(enum.IntEnum):
    """Errors, by the numbers of libcapture and the names of captured's D-Bus errors."""

    USAGE = 1
    INVALID_ARGUMENT = 2
    BAD_DATA = 3
    NO_SUCH_DEVICE = 4
    NO_SUCH_SESSION = 5
    NO_SUCH_ASSET = 6
    NO_SUCH_ALBUM = 7
    STALE_TOKEN = 8
    OVER_QUOTA = 9
    NO_SUCH_FORMAT = 10
    UNREACHABLE = 11
    INTERNAL = 12
    INPUT_OUTPUT = 13
    DEVICE_LOST = 14
    NO_SIGNAL = 15
    RECORDER_LOST = 16
    BUSY = 17
    DISMISSED = 18
    TIMED_OUT = 19
    UNDECIDED = 20
    NOBODY_TO_ASK = 21
    ASKED_TOO_OFTEN = 22
    DENIED = 23
    RESTRICTED = 24
    REVOKED = 25
    SWITCHED_OFF = 26
    USER_AWAY = 27
    NOT_PERMITTED = 28
    MISSING_USAGE_DESCRIPTION = 29
    WRONG_STATE = 30
    UNKNOWN = 31

    @property
    def word(self) -> str:
        """The code as D-Bus has it, such as NobodyToAsk."""
        return self.name.title().replace("_", "")

    @property
    def exit_code(self) -> int:
        """The exit code that capturectl has for it, as in sysexits.h."""
        return _EXIT_CODES.get(self, 70)


def code_of(word: str) -> Code:
    """The code of a name on D-Bus."""
    return _BY_WORD.get(word, Code.UNKNOWN)


_BY_WORD = {code.word: code for code in Code}
_EXIT_CODES = {
    code: number
    for number, codes in {
        64: "Usage",
        65: "InvalidArgument BadData StaleToken NoSuchFormat",
        66: "NoSuchDevice NoSuchSession NoSuchAsset NoSuchAlbum",
        69: "Unreachable",
        74: "OverQuota InputOutput DeviceLost NoSignal RecorderLost",
        75: "Busy Dismissed TimedOut Undecided NobodyToAsk AskedTooOften WrongState",
        77: "Denied Restricted Revoked SwitchedOff UserAway NotPermitted",
        78: "MissingUsageDescription",
    }.items()
    for code in map(code_of, codes.split())
}


class CaptureError(Exception):
    """A failure: its code, and a sentence for a person. `error(code, message)` makes one of the right class."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return self.message

    @property
    def exit_code(self) -> int:
        """What a program that ends because of it exits with."""
        return self.code.exit_code


class Denied(CaptureError):
    """The person said no, or policy did (Restricted)."""


class Revoked(CaptureError):
    """The consent was withdrawn while it was used."""


class SwitchedOff(CaptureError):
    """All cameras or microphones are switched off, or the user is away."""


class NobodyToAsk(CaptureError):
    """The person was never asked, and cannot be now."""


class Dismissed(CaptureError):
    """The question was closed without an answer, or the wait was cancelled."""


class TimedOut(CaptureError):
    """There was no answer in time."""


class Unreachable(CaptureError):
    """The daemon or the bus is not there, or went away."""


class Busy(CaptureError):
    """Another program has the device, or the control."""


class DeviceLost(CaptureError):
    """The device went away."""


class NoSuchDevice(CaptureError):
    """There is no such device."""


class NoSuchFormat(CaptureError):
    """The device cannot do exactly what was asked for."""


_CLASSES: dict[Code, type[CaptureError]] = {
    **{code_of(kind.__name__): kind for kind in CaptureError.__subclasses__()},
    Code.RESTRICTED: Denied,
    Code.USER_AWAY: SwitchedOff,
}


def error(code: Code, message: str) -> CaptureError:
    """The error of a code, of the class that programs catch."""
    return _CLASSES.get(code, CaptureError)(code, message)
