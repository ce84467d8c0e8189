"""The person's media library, over D-Bus. Needs PyGObject (the package python3-gi), which is imported with this module.

    with capturekit.connect() as client:
        client.consent.explain("library-add", "Keeps the photo in your library")
        print(client.library.add("holiday.jpg"))"""
import contextlib
import enum
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Literal

from ._bus import Connection, variant
from ._waiting import Closing
from .errors import CaptureError, Code, code_of, error

Kind = Literal["photo", "movie", "sound"]


class LibraryStatus(enum.IntEnum):
    """What this program may read."""

    NOT_DETERMINED = 0
    RESTRICTED = 1
    DENIED = 2
    AUTHORIZED = 3
    LIMITED = 4


@dataclass(frozen=True)
class Asset:
    """A photo, movie or sound in the library."""

    id: str
    kind: str
    name: str
    media_type: str
    # Seconds since 1970.
    created: float
    added: float
    # Seconds; 0 for a photo.
    duration: float
    width: int
    height: int
    size: int
    is_favourite: bool
    # Of the current content, in hexadecimal digits.
    sha256: str


class Picked:
    """What the person has picked, as it was then."""

    def __init__(self, library: "Library", request: int, index: int, name: str, kind: str,
                 media_type: str, size: int) -> None:
        self._library, self._place = library, (request, index)
        self.name, self.kind, self.media_type, self.size = name, kind, media_type, size

    def open(self) -> IO[bytes]:
        """Its content, until something else is picked."""
        return self._library._bus.open("OpenPicked", variant("(uu)", self._place))


class Library(Closing):
    """The library of this program's user. What was never decided is asked by the first call that needs it, which waits
    for the answer. Any thread. Client.library makes one."""

    def __init__(self, bus: str | None = None, reasons: Mapping[str, str] | None = None) -> None:
        self._bus = Connection(bus, {} if reasons is None else reasons)

    def add(self, file: str | os.PathLike[str] | IO[bytes], *, name: str | None = None, album: str | None = None,
            created: float | None = None, is_favourite: bool = False) -> str | None:
        """Adds a photo, movie or sound, wholly or not at all. Returns its id, or None if this program may not read it
        back. An open file is read from its beginning. album: an id. created: seconds since 1970."""
        with contextlib.ExitStack() as stack:
            if isinstance(file, (str, os.PathLike)):
                named = name or os.path.basename(os.fspath(file))
                try:
                    opened: IO[bytes] = stack.enter_context(open(file, "rb"))
                except OSError as problem:
                    raise error(Code.INPUT_OUTPUT, f"cannot open {os.fspath(file)}: {problem.strerror}") from None
            else:
                named, opened = name or "", file
            facts: dict[str, Any] = {"name": variant("s", named)} if named else {}
            if album is not None:
                facts["album"] = variant("s", album)
            if created is not None:
                facts["created"] = variant("x", int(created * 1000))
            if is_favourite:
                facts["favourite"] = variant("b", True)
            ticket = stack.enter_context(self._bus.ticket(opened.fileno()))
            life = self._bus.life
            (request,) = self._bus.ask("Library", "Import", variant("(sa{sv})", (ticket, facts)))
        asset: str | None = self._bus.finished(request, life).get("id")
        return asset

    def list(self, kinds: Iterable[Kind] = (), *, album: str | None = None, order: str = "created",
             is_favourite: bool | None = None, since: float | None = None, limit: int | None = None) -> Iterator[Asset]:
        """The assets that this program may read, newest first. None of them if it may not read: see status()."""
        query: dict[str, Any] = {"order": variant("s", order)}
        if chosen := list(kinds):
            query["kinds"] = variant("as", chosen)
        if album is not None:
            query["album"] = variant("s", album)
        if is_favourite is not None:
            query["favourite"] = variant("b", is_favourite)
        if since is not None:
            query["from"] = variant("x", int(since * 1000))
        rest, page = limit, ""
        while rest is None or rest > 0:
            query["limit"] = variant("u", min(rest or 100, 100))
            if page:
                query["page"] = variant("s", page)
            assets, page, _ = self._bus.deciding("Library", "Fetch", variant("(a{sv})", (query,)))
            yield from map(_asset, assets)
            if not page:
                return
            rest = None if rest is None else rest - len(assets)

    def get(self, id: str) -> Asset:
        """One asset."""
        (found,) = self._bus.deciding("Library", "GetAsset", variant("(s)", (id,)))
        return _asset(found)

    def open(self, id: str, *, original: bool = False) -> IO[bytes]:
        """An asset's content, to read. original: as it was before it was edited."""
        return self._bus.open("Open", variant("(ss)", (id, "original" if original else "current")))

    def thumbnail(self, id: str, size: Literal["small", "medium", "large"] = "small") -> bytes:
        """A JPEG of it, of at most 256, 1024 or 2048 pixels."""
        with self._bus.open("Thumbnail", variant("(ss)", (id, size))) as file:
            return file.read()

    def export(self, id: str, path: str | os.PathLike[str]) -> None:
        """Writes an asset into a new file, if it is what was added: its hash is compared."""
        asset = self.get(id)
        hashed, where = hashlib.sha256(), os.fspath(path)
        with self.open(id) as content:
            try:
                with open(where, "xb") as file:
                    try:
                        while part := content.read(1 << 20):
                            hashed.update(part)
                            file.write(part)
                        if hashed.hexdigest() != asset.sha256:
                            raise error(Code.BAD_DATA, f"the content of {asset.name} is not what was added")
                    except BaseException:
                        os.unlink(where)
                        raise
            except OSError as problem:
                raise error(Code.INPUT_OUTPUT, f"cannot write {where}: {problem.strerror}") from None

    def delete(self, ids: Iterable[str]) -> int:
        """Moves assets to the bin, if the person confirms it. Returns how many."""
        wanted, life = variant("(as)", (list(ids),)), self._bus.life
        (request,) = self._bus.deciding("Library", "Delete", wanted)
        return int(self._bus.finished(request, life)["count"])

    def pick(self, kinds: Iterable[Kind] = (), limit: int = 1) -> Sequence[Picked]:
        """Lets the person pick. Needs no consent: the program gets what was picked, and no more. Dismissed if nothing
        was."""
        options = {"limit": variant("u", limit)}
        if chosen := list(kinds):
            options["kinds"] = variant("as", chosen)
        life = self._bus.life
        (request,) = self._bus.ask("Library", "Pick", variant("(a{sv})", (options,)))
        found = self._bus.finished(request, life)
        rows = zip(found["names"], found["kinds"], found["media-types"], found["sizes"])
        return [Picked(self, request, index, *row) for index, row in enumerate(rows)]

    def status(self) -> LibraryStatus:
        """What this program may read. Never asks."""
        return LibraryStatus(self._bus.ask("Authorization", "GetStatus", variant("(s)", ("library-read-write",)))[0])

    def take_photo(self, name: str, *, device: str | None = None, format: str = "jpeg") -> str | None:
        """Takes a photo with a camera into the library, without a file in between. Returns its id, or None if this
        program may not read it back. Asks for the camera, then for reading, and if that is refused, for adding."""
        camera = {"name": _text("camera"), "media-type": _text("video"), "preset": _text("photo")}
        if device is not None:
            camera["device"] = _text(device)
        photo = {"name": _text("photo"), "kind": _text("photo"), "format": _text(format),
                 "library": variant("a{sv}", {"name": _text(name)})}
        description = {"inputs": variant("aa{sv}", [camera]), "outputs": variant("aa{sv}", [photo]),
                       "connections": variant("a(ss)", [("camera", "photo")]), "attached": variant("b", True)}
        life = self._bus.life
        (path,) = self._bus.ask("Manager", "CreateSession", variant("(a{sv}a{ss})", (description, {})))
        heard = self._bus.sessions.setdefault(path, {})
        try:
            self._bus.ask("Session", "Start", None, path)
            self._bus.wait(lambda: heard.get("State") in ("stopped", "failed", "interrupted"), life)
        except BaseException:
            with contextlib.suppress(CaptureError):
                self._bus.ask("Session", "Stop", None, path)
            raise
        finally:
            del self._bus.sessions[path]
        code, message = heard.get("outcome") or (heard.get("ReasonCode", ""), heard.get("Reason", ""))
        if code:
            raise error(code_of(code), message)
        saved: str | None = heard.get("saved", {}).get("id")
        return saved

    def close(self) -> None:
        """Ends the connection, and all that waits on it."""
        self._bus.close()


def _text(value: str) -> Any:
    return variant("s", value)


def _asset(found: Mapping[str, Any]) -> Asset:
    return Asset(
        id=found["id"],
        kind=found.get("kind", ""),
        name=found.get("name", ""),
        media_type=found.get("media-type", ""),
        created=found.get("created", 0) / 1000,
        added=found.get("added", 0) / 1000,
        duration=found.get("duration", 0) / 1e9,
        width=found.get("width", 0),
        height=found.get("height", 0),
        size=found.get("size", 0),
        is_favourite=found.get("favourite", False),
        sha256=found.get("sha256", ""),
    )
