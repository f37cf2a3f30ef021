"""The files of a server: `file:` locations on disk, every other scheme in memory."""

import contextlib
import os
import re
import tempfile
import threading
import zlib
from pathlib import Path

FILE_BYTES_MAX = 256 * 1024 * 1024
"""A metadata file may not be bigger, compressed or not: a bomb must not fill the memory."""

MEMORY_BYTES_MAX = 1024 * 1024 * 1024
"""What all files in memory may take together, unless a server says otherwise."""

_FILE_DIGITS_MAX = 9
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


class Files:
    """Reads and writes whole files by location; every failure is an OSError.

    Files in memory may take `memory_bytes_max` together; beyond that the oldest are forgotten,
    so that a server can run for weeks.
    """

    __slots__ = ("_lock", "_memory", "_memory_bytes", "_memory_bytes_max")

    def __init__(self, memory_bytes_max: int = MEMORY_BYTES_MAX) -> None:
        self._lock = threading.Lock()
        self._memory: dict[str, bytes] = {}
        self._memory_bytes = 0
        self._memory_bytes_max = memory_bytes_max

    def write(self, location: str, content: bytes) -> None:
        """Write a file so that no reader ever sees half of it; makes its directory."""
        path = local_path(location)
        if path is None:
            self._hold(location, content)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            # mkstemp makes files for the owner alone; engines may run as somebody else.
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
            raise

    def make_directory(self, location: str) -> None:
        """Make a directory and its parents; nothing to do for locations in memory."""
        path = local_path(location)
        if path is not None:
            path.mkdir(parents=True, exist_ok=True)

    def read(self, location: str) -> bytes:
        """The content of a file, uncompressed if its name says gzip; OSError if it cannot be."""
        content = self._memory.get(location)
        if content is None:
            path = local_path(location) or Path(location)
            if not path.is_absolute() or not path.is_file():
                raise FileNotFoundError(f"no such file: {location}")
            if path.stat().st_size > FILE_BYTES_MAX:
                raise OSError(f"larger than {FILE_BYTES_MAX} bytes: {location}")
            content = path.read_bytes()
        return _gunzip(content, location) if is_gzip(location) else content

    def remove(self, location: str) -> None:
        """Remove a file; a missing one is fine."""
        path = local_path(location)
        if path is None:
            self._forget(location)
        else:
            with contextlib.suppress(OSError):
                path.unlink()

    def remove_below(self, location: str) -> None:
        """Forget every file held in memory under a location."""
        prefix = location.rstrip("/") + "/"
        for held in [held for held in tuple(self._memory) if held.startswith(prefix)]:
            self._forget(held)

    def _hold(self, location: str, content: bytes) -> None:
        self._forget(location)
        with self._lock:
            self._memory[location] = content
            self._memory_bytes += len(content)
            while self._memory_bytes > self._memory_bytes_max:
                oldest = next(iter(self._memory))
                self._memory_bytes -= len(self._memory.pop(oldest))

    def _forget(self, location: str) -> None:
        with self._lock:
            self._memory_bytes -= len(self._memory.pop(location, b""))


def location_uri(text: str) -> str:
    """A place as people write it: a path without a scheme, `~` too, becomes a `file:` location."""
    if _SCHEME.match(text) is None:
        text = f"file://{Path(text).expanduser().resolve()}"
    return text.rstrip("/")


def check_writable(location: str) -> None:
    """ValueError if a `file:` location is no directory, nor to be made one, that takes files."""
    path = local_path(location)
    if path is None:
        return
    there = next(part for part in (path, *path.parents) if part.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        why = "cannot be written to" if there.is_dir() else "is no directory"
        raise ValueError(f"tables cannot live below {path}: {there} {why}")


def local_path(location: str) -> Path | None:
    """The path behind `file:/p`, `file:///p` or `file://localhost/p`; None for other schemes.

    Nothing is unescaped: engines take the text after the scheme literally. OSError for a NUL.
    """
    if "\0" in location:
        raise OSError("a location cannot contain NUL")
    for scheme in ("file:///", "file://localhost/", "file:/"):
        if location.startswith(scheme):
            rest = location[len(scheme) :]
            # "file://host/..." also starts with "file:/"; another host is not ours.
            return None if rest.startswith("/") else Path("/" + rest)
    return None


def is_gzip(location: str) -> bool:
    """Whether a metadata file is compressed, by its name as Iceberg's writers choose it."""
    return location.endswith((".gz.metadata.json", ".metadata.json.gz"))


def gzipped(content: bytes) -> bytes:
    """The content as a gzip file without a time stamp, so that equal content gives equal bytes."""
    compressor = zlib.compressobj(1, zlib.DEFLATED, 31)
    return compressor.compress(content) + compressor.flush()


def metadata_file_number(metadata_location: str | None) -> int:
    """The number of the metadata file after this one: 0 for a new table or an unnumbered name."""
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
