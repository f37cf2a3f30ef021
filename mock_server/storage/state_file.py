"""The file in which a server keeps the names of its tables: one line for each change."""

import os
import weakref
from pathlib import Path

import msgspec

DIRECTORY = ".icecheck"
"""Below a root; no warehouse can have a directory of this name."""
_STATE, _LOCK = "state.jsonl", "lock"
_FORMAT = 1


class _Header(msgspec.Struct, rename={"format": "icecheck-catalog"}):
    format: int
    starts: int = 0


class StateFile:
    """Lines in a file below a root, for one process at a time until `close`.

    A line that `append` has returned from survives the end of the process, however it ends; a
    system that crashes may lose the last ones. ValueError if another process has the root, or the
    file is of a later release; OSError if it cannot be written.
    """

    __slots__ = (
        "__weakref__",
        "_close",
        "_directory",
        "_handle",
        "_path",
        "_size",
        "_unlock",
        "starts",
    )

    def __init__(self, root: Path) -> None:
        self._directory = root / DIRECTORY
        self._path = self._directory / _STATE
        self._directory.mkdir(parents=True, exist_ok=True)
        lock = _locked(self._directory / _LOCK, root)
        self._unlock = weakref.finalize(self, os.close, lock)
        self._handle = lock
        self._close = self._unlock
        self._size = 0
        self.starts = 0

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return not self._unlock.alive

    def read(self) -> list[bytes]:
        """Return the lines that were kept; what a process had not written to its end is left out.

        ValueError for a file of another format.
        """
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return []
        header, *lines = content.split(b"\n")[:-1] or [b""]
        try:
            known = msgspec.json.decode(header, type=_Header)
        except msgspec.DecodeError:
            known = _Header(0)
        self.starts = known.starts
        if known.format != _FORMAT:
            raise ValueError(
                f"{self._path} is not of this release of icecheck: serve this root with the "
                "release that wrote it, or name another root"
            )
        return lines

    def rewrite(self, lines: list[bytes]) -> None:
        """Replace the file by these lines, whole or not at all, and begin to append to it."""
        partial = self._path.with_suffix(".partial")
        header = msgspec.json.encode(_Header(_FORMAT, self.starts + 1))
        content = b"\n".join([header, *lines, b""])
        partial.write_bytes(content)
        partial.replace(self._path)
        self._handle = os.open(self._path, os.O_WRONLY | os.O_APPEND)
        self._close = weakref.finalize(self, os.close, self._handle)
        self._size = len(content)

    def append(self, line: bytes) -> None:
        """Keep one more line; on OSError the file is as it was before."""
        if self.is_closed:
            raise OSError(f"{self._path} was closed: this catalog has ended")
        content = line + b"\n"
        try:
            if os.write(self._handle, content) < len(content):
                raise OSError(f"no room for {self._path}")
        except OSError:
            os.ftruncate(self._handle, self._size)
            raise
        self._size += len(content)

    def line_words(self, number: int) -> str:
        """Return where a line stands, for messages; the first one has the number 0."""
        return f"line {number + 2} of {self._path}"

    def close(self) -> None:
        """Let another process have the root; what is appended afterwards is refused."""
        self._close()
        self._unlock()


def _locked(path: Path, root: Path) -> int:
    """Return the handle that holds the lock; ValueError if another process has it."""
    try:
        import fcntl
    except ImportError:
        raise ValueError("tables can be kept on systems with flock only") from None
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        owner = os.pread(handle, 20, 0).decode("ascii", "replace").strip()
        os.close(handle)
        raise ValueError(
            f"another catalog has the root {root} (process {owner or 'unknown'}): stop it, or name "
            "another root"
        ) from None
    os.ftruncate(handle, 0)
    os.pwrite(handle, str(os.getpid()).encode(), 0)
    return handle
