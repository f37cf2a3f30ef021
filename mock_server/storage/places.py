"""The files on disk that a server may touch: only those below given directories.

Every location from a client, or from a file that a client names, is turned into a path here and
nowhere else. Locations of other schemes than `file:` are no paths: their files are in memory.
"""

import os
import posixpath
import re
from collections.abc import Iterable
from pathlib import Path
from stat import S_ISLNK
from urllib.parse import unquote_to_bytes

import msgspec

S3_SCHEMES = ("s3", "s3a", "s3n")
"""The schemes of S3's locations: clients differ in which they write."""

_PATH_BYTES_MAX = 4096
"""Linux's PATH_MAX. Longer paths would take long to resolve, and cannot exist."""

_UNNAMED = frozenset({"", ".", ".."})
_DOTTED = re.compile(r"//|/\.\.?(?:/|\Z)|/\Z")
_ORDINARY = re.compile(r"(?:file://|s3://[^/]+)(?:/[^/.][^/]*)*")
_LOCATION = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(//[^/]*)?(.*)", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


class LocationRefused(PermissionError):
    """Raised for a location on disk outside of a server's places; existing or not."""

    def __init__(self, location: str) -> None:
        super().__init__(
            f"{location} is outside the places that this server may use; whoever starts it can "
            "allow another one: --allow-location URI, or MockCatalog(allow_locations=[...])"
        )


class Places(msgspec.Struct, frozen=True):
    """The directories below which files may be read, written and deleted.

    `directories` are absolute and free of symbolic links.
    """

    directories: tuple[str, ...] = ()

    def with_location(self, location: str) -> "Places":
        """Return these places and one more if it is on disk; OSError for a bad `file:` URI."""
        path = local_path(location)
        return self if path is None else Places((*self.directories, os.path.realpath(path)))

    def with_name(self, location: str, name: str) -> "Places":
        """Return these places and a directory in a location; a link elsewhere permits nothing."""
        path = local_path(location)
        if path is None:
            return self
        return Places((*self.directories, f"{os.path.realpath(path).rstrip('/')}/{name}"))

    def path_of(self, location: str) -> str | None:
        """Return the path of a location on disk, its directory resolved; None if it is in memory.

        LocationRefused if the path, read as it is or with its percent escapes decoded (as some
        engines do), leads out of these places, also by `..` or a symbolic link; OSError if the
        location is malformed, relative, or on another host.
        """
        path = _local_text(location)
        if path is None or ("%" not in location and self._leads_straight_to(path)):
            return path
        directory, _, name = path.rpartition("/")
        if name == "..":
            raise LocationRefused(location)
        in_directory = f"{os.path.realpath(directory or '/').rstrip('/')}/{name}"
        # Most files are no link: then there is nothing left to resolve, and once is enough.
        resolved = [os.path.realpath(in_directory) if _is_link(in_directory) else in_directory]
        if "%" in location:
            resolved.append(os.path.realpath(_decoded(path)))
        if not all(map(self._hold, resolved)):
            raise LocationRefused(location)
        return in_directory

    def _leads_straight_to(self, path: str) -> bool:
        """Return whether a path is below a place and has no link from there on, as nearly all."""
        for place in self.directories:
            above = place.rstrip("/")
            if path.startswith(f"{above}/"):
                names = steps(path[len(above) + 1 :])
                return names is not None and _has_no_links(place, names)
        return False

    def _hold(self, resolved: str) -> bool:
        return any(
            resolved == directory or resolved.startswith(f"{directory.rstrip('/')}/")
            for directory in self.directories
        )


NOWHERE = Places()
"""No places on disk."""


def allowed_places(locations: Iterable[str]) -> Places:
    """Return the places named at the start of a server; ValueError for one not on disk."""
    places = NOWHERE
    for location in locations:
        try:
            found = places.with_location(location_uri(location))
        except OSError as error:
            raise ValueError(f"cannot allow the location {location!r}: {error}") from error
        if found is places:
            raise ValueError(f"cannot allow the location {location!r}: only file: needs it")
        places = found
    return places


def location_uri(text: str) -> str:
    """Return a user's location as a URI: a path without a scheme, also `~`, becomes `file:`."""
    if _SCHEME.match(text) is None:
        text = f"file://{Path(text).expanduser().resolve()}"
    text = text.rstrip("/")
    return "file:///" if text.lower() == "file:" else text


def local_path(location: str) -> Path | None:
    """Return the path of `file:/p`, `file:///p`, `file://localhost/p` or `/p`; None in memory.

    The scheme counts in any case. Nothing is unescaped: engines take the text after the scheme
    literally. OSError for a NUL, for a `file:` URI that is relative or names another host, and for
    a path that is too long.
    """
    path = _local_text(location)
    return None if path is None else Path(path)


def _local_text(location: str) -> str | None:
    """Return `local_path` as a text in its one spelling: a Path costs more than what is read."""
    if "\0" in location:
        raise OSError("a location cannot contain NUL")
    rest = location
    if not location.startswith("/"):
        scheme, colon, rest = location.partition(":")
        if not colon or scheme.lower() != "file":
            return None
        if rest.startswith("//"):
            host, slash, path = rest[2:].partition("/")
            if host.lower() not in {"", "localhost"}:
                raise OSError(f"a file on another host cannot be reached: {location}")
            rest = slash + path
        if not rest.startswith("/"):
            raise OSError(f"a file: location needs an absolute path: {location}")
    if len(rest.encode()) > _PATH_BYTES_MAX:
        raise OSError(f"a path cannot be longer than {_PATH_BYTES_MAX} bytes")
    path = f"/{rest.lstrip('/')}"
    return str(Path(path)) if _has_other_spelling(path) else path


def _has_other_spelling(path: str) -> bool:
    """Return whether Path writes a path otherwise: without empty segments and single dots."""
    if "//" in path or "/./" in path or path.endswith("/."):
        return True
    return path.endswith("/") and path != "/"


def is_on_disk(location: str) -> bool:
    """Return whether a location is a path on this machine; a malformed one is none."""
    try:
        return local_path(location) is not None
    except OSError:
        return False


def same_file(one: str, other: str) -> bool:
    """Return whether two locations are of one file, in any spelling."""
    if one == other:
        return True
    try:
        paths = local_path(one), local_path(other)
    except OSError:
        return False
    first, second = paths
    if first is None or second is None or first.name != second.name:
        return False
    return os.path.realpath(first) == os.path.realpath(second)


def one_spelling(location: str) -> str:
    """Return a location as it is to be compared with others: each place has one spelling.

    A path gets its `file://`; a scheme is in lower case, those of S3 are one; no segment is empty
    or a dot, and none is at the end. Links are not followed. What is no location stays as it is.
    """
    # A warehouse has many locations, and nearly all are spelled so.
    if _ORDINARY.fullmatch(location):
        return location
    try:
        path = _local_text(location)
    except OSError:
        return location
    above = "file://"
    if path is None:
        parts = _LOCATION.fullmatch(location)
        if parts is None:
            return location
        scheme, authority, path = parts.groups("")
        scheme = scheme.lower()
        above = f"{'s3' if scheme in S3_SCHEMES else scheme}:{authority}"
    return above + (path if _DOTTED.search(path) is None else _without_dots(path))


def _without_dots(path: str) -> str:
    return posixpath.normpath("/" + path.lstrip("/")).rstrip("/")


def steps(path: str) -> list[str] | None:
    """Return the names in a relative path that leads only downwards; None for another path."""
    names = path.split("/")
    return names if "\0" not in path and _UNNAMED.isdisjoint(names) else None


def _has_no_links(place: str, names: list[str]) -> bool:
    """Return whether neither a place is a link nor one of the names that lead on from it.

    Where one is missing, so are those behind it.
    """
    above = place.rstrip("/")
    try:
        if S_ISLNK(os.lstat(place).st_mode):
            return False
        for name in names:
            above += f"/{name}"
            if S_ISLNK(os.lstat(above).st_mode):
                return False
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _is_link(path: str) -> bool:
    return os.path.islink(path)  # noqa: PTH114 - a Path costs more than the look


def _decoded(path: str) -> str:
    decoded = os.fsdecode(unquote_to_bytes(path))
    if "\0" in decoded:
        raise OSError("a location cannot contain NUL")
    return decoded
