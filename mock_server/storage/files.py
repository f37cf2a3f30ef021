"""The files of a server: `file:` locations and paths on disk, every other scheme in memory."""

import contextlib
import errno
import os
import stat
import tempfile
import threading
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from icecheck.mock_server.storage.places import NOWHERE, Places, local_path, steps

FILE_BYTES_MAX = 256 * 1024 * 1024
"""The maximum size of a metadata file, compressed or not: a bomb must not fill the memory."""

MEMORY_BYTES_MAX = 1024 * 1024 * 1024
"""The maximum size of all files in memory together, unless a server has another setting."""

_FILE_DIGITS_MAX = 9

_BINARY = getattr(os, "O_BINARY", 0)
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | _BINARY
# Without O_NONBLOCK, opening a pipe would wait for somebody who writes to it.
_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY
# Engines may run as another user, whatever the mask of this one.
_MODE = 0o644


class Held(Protocol):
    """The files that are not on disk, by location."""

    def check(self, location: str) -> None:
        """Raise OSError if nothing can be held there."""

    def get(self, location: str) -> bytes | None:
        """Return the content of a file, or None; OSError if it cannot be had from there."""

    def hold(self, location: str, content: bytes) -> None:
        """Keep a file; OSError if that is not possible."""

    def forget(self, location: str) -> None:
        """Forget a file; a missing one is no error."""

    def forget_below(self, location: str) -> None:
        """Forget every file under a location."""

    def has_below(self, location: str) -> bool:
        """Return whether there is a file under a location."""


class HeldFiles:
    """The files that a server keeps in memory, by location.

    Together they may take `bytes_max`; beyond that the oldest are forgotten, so that a server can
    run for weeks.
    """

    __slots__ = ("_bytes", "_bytes_max", "_files", "_lock")

    def __init__(self, bytes_max: int = MEMORY_BYTES_MAX) -> None:
        self._lock = threading.Lock()
        self._files: dict[str, bytes] = {}
        self._bytes = 0
        self._bytes_max = bytes_max

    def check(self, _location: str) -> None:
        """Do nothing: a file in memory can have any location."""

    def get(self, location: str) -> bytes | None:
        """Return the content of a file, or None."""
        return self._files.get(location)

    def hold(self, location: str, content: bytes) -> None:
        """Keep a file, as the newest one."""
        self.forget(location)
        with self._lock:
            self._files[location] = content
            self._bytes += len(content)
            while self._bytes > self._bytes_max:
                oldest = next(iter(self._files))
                self._bytes -= len(self._files.pop(oldest))

    def forget(self, location: str) -> None:
        """Forget a file; a missing one is no error."""
        with self._lock:
            self._bytes -= len(self._files.pop(location, b""))

    def has_below(self, location: str) -> bool:
        """Return whether there is a file under a location."""
        prefix = location.rstrip("/") + "/"
        return any(held.startswith(prefix) for held in tuple(self._files))

    def forget_below(self, location: str) -> None:
        """Forget every file under a location."""
        prefix = location.rstrip("/") + "/"
        for held in [held for held in tuple(self._files) if held.startswith(prefix)]:
            self.forget(held)


class MadeDirectory(msgspec.Struct, frozen=True):
    """A directory that was made a moment ago, and its path: nothing in it can be a link yet."""

    location: str
    path: str

    def path_of(self, location: str) -> str | None:
        """Return the path of a location in it; None if that takes a look at more than its text."""
        if "%" in location or not location.startswith(f"{self.location}/"):
            return None
        below = location[len(self.location) :]
        return None if steps(below[1:]) is None else self.path + below


class Files:
    """Reads and writes whole files by location; every failure is an OSError.

    Files on disk are those in `places`, and no others: reading or writing elsewhere raises
    LocationRefused, and removing there does nothing. All other files are in `held`: in memory, or
    in the object store.
    """

    __slots__ = ("_held", "_places")

    def __init__(self, places: Places = NOWHERE, held: Held | None = None) -> None:
        self._places = places
        self._held: Held = HeldFiles() if held is None else held

    def check(self, location: str) -> None:
        """Raise OSError if the location does not permit writing at it, or below it."""
        if self._places.path_of(location) is None:
            self._held.check(location)

    def write(self, location: str, content: bytes, made: MadeDirectory | None = None) -> None:
        """Write a file so that no reader ever sees a part of it; makes its directory.

        `made` is a directory that this publication has made.
        """
        path = None if made is None else made.path_of(location)
        path = path or self._places.path_of(location)
        if path is None:
            self._held.hold(location, content)
            return
        handle, temporary = _new_file_beside(path)
        try:
            _fill(handle, content)
            os.replace(temporary, path)  # noqa: PTH105 - a Path costs more than what it does
        except OSError:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
            raise

    def make_directory(self, location: str, names: Sequence[str] = ()) -> MadeDirectory | None:
        """Make a directory and its parents, and those of these names in it.

        Returns it if it was not there before. Does nothing for locations in memory.
        """
        path = self._places.path_of(location)
        if path is None:
            return None
        try:
            for each in (path, *[f"{path}/{name}" for name in names]):
                os.mkdir(each)  # noqa: PTH102 - a Path costs more than what it does
        except OSError:
            # Its parents are not there; or a part of it is, as somebody else has made it.
            if not names:
                _make_directory(path)
            for name in names:
                self.make_directory(f"{location}/{name}")
            return None
        return MadeDirectory(location, path)

    def read(self, location: str) -> bytes:
        """Return the content of a file, uncompressed if its name says gzip; raises OSError."""
        path = self._places.path_of(location)
        content = self._held.get(location) if path is None else _content_of(path)
        if content is None:
            raise FileNotFoundError(f"no such file: {location}")
        if len(content) > FILE_BYTES_MAX:
            raise OSError(f"larger than {FILE_BYTES_MAX} bytes: {location}")
        return _gunzip(content, location) if is_gzip(location) else content

    def hold_below(self, location: str) -> bool:
        """Return whether there is a file under a location; no where these places do not reach."""
        try:
            path = self._places.path_of(location)
            if path is None:
                return self._held.has_below(location)
        except OSError:
            return False
        return any(names for _, _, names in os.walk(path))

    def remove(self, location: str) -> None:
        """Remove a file; a missing one, or one that these places do not hold, is left alone."""
        with contextlib.suppress(OSError):
            path = self._places.path_of(location)
            if path is None:
                self._held.forget(location)
            else:
                Path(path).unlink()


def _make_directory(path: str) -> None:
    """Make a directory, most likely in one that is there."""
    try:
        os.mkdir(path)  # noqa: PTH102 - a Path costs more than what it does
    except OSError:
        Path(path).mkdir(parents=True, exist_ok=True)


def _new_file_beside(path: str) -> tuple[int, str]:
    """Open a new file in the directory of a path, which is made; return it and its path."""
    directory, _, name = path.rpartition("/")
    temporary = f"{directory}/.{name}.tmp"
    # One may be there from a server that was killed, or the name is too long for it.
    with contextlib.suppress(OSError):
        try:
            return os.open(temporary, _WRITING, _MODE), temporary
        except FileNotFoundError:
            _make_directory(directory)
        return os.open(temporary, _WRITING, _MODE), temporary
    return tempfile.mkstemp(prefix=".", suffix=".tmp", dir=directory)


def _fill(handle: int, content: bytes) -> None:
    """Write a new file and close it; a file object would cost as much as the file."""
    try:
        if os.write(handle, content) < len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if stat.S_IMODE(os.fstat(handle).st_mode) != _MODE:  # to look is cheaper than to set
            os.fchmod(handle, _MODE)
    finally:
        os.close(handle)


def _content_of(path: str) -> bytes | None:
    """Return what a file has, or a beginning that is too large; None if there is no file."""
    try:
        handle = os.open(path, _READING)
    except PermissionError:
        raise
    except OSError:
        return None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            return None
        parts, size = [], 0
        while size <= FILE_BYTES_MAX and (part := os.read(handle, found.st_size + 1)):
            parts.append(part)
            size += len(part)
        return b"".join(parts)
    finally:
        os.close(handle)


def check_writable(location: str) -> None:
    """Raise ValueError unless files can be written in the directory of a `file:` location.

    The directory may still have to be made.
    """
    path = local_path(location)
    if path is None:
        return
    there = next(part for part in (path, *path.parents) if part.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        why = "cannot be written to" if there.is_dir() else "is no directory"
        raise ValueError(f"tables cannot live below {path}: {there} {why}")


def is_gzip(location: str) -> bool:
    """Return whether a metadata file is compressed, by the name that Iceberg's writers choose."""
    return location.endswith((".gz.metadata.json", ".metadata.json.gz"))


def gzipped(content: bytes) -> bytes:
    """Return the content as a gzip file without a time stamp: equal content gives equal bytes."""
    compressor = zlib.compressobj(1, zlib.DEFLATED, 31)
    return compressor.compress(content) + compressor.flush()


def metadata_file_number(metadata_location: str | None) -> int:
    """Return the number of the next metadata file: 0 for a new table or an unnumbered name."""
    name = (metadata_location or "").rpartition("/")[2]
    digits, dash, _ = name.partition("-")
    if dash and digits.isascii() and digits.isdigit() and len(digits) <= _FILE_DIGITS_MAX:
        return int(digits) + 1
    return 0


def _gunzip(content: bytes, location: str) -> bytes:
    try:
        decompressor = zlib.decompressobj(31)
        plain = decompressor.decompress(content, FILE_BYTES_MAX)
    except zlib.error as error:
        raise OSError(f"not gzip: {location}") from error
    if decompressor.unconsumed_tail or not decompressor.eof:
        raise OSError(f"truncated, or larger than {FILE_BYTES_MAX} bytes: {location}")
    return plain
