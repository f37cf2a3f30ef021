"""The ledger on disk: each object is recorded before it is requested, and struck out later.

A run that is killed leaves the file behind; `icecheck clean` removes the objects in it.
"""

import contextlib
import errno
import json
import os
import shlex
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from icecheck.ownership.ledger import Entry
from icecheck.targets.target import NAME_PATTERN, Target, UsageError
from icecheck.targets.unwritable import Unwritable, writing

LEDGER_FILE = "ledger.jsonl"
_FORMAT = "icecheck-ledger/1"


class LedgerFile:
    """Appends to the ledger of one run, from any thread; every line is written at once.

    A file that an earlier run has left there, because objects may remain, is renamed. Raises
    UsageError when the file cannot be written at all, and Unwritable when it can no longer be
    written: an object that is not recorded must not be made.
    """

    def __init__(self, path: Path, owner: str, target: Target) -> None:
        self.path = path
        self._lock = threading.Lock()
        header: dict[str, Any] = {"format": _FORMAT, "owner": owner, "url": target.base_url}
        header |= {"warehouse": target.warehouse, "prefix": target.prefix}
        header |= {"name-pattern": target.name_pattern}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _put_aside(path)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
            self._handle = os.open(path, flags, 0o600)
            os.write(self._handle, _line(header))
        except OSError as error:
            raise UsageError(f"the ledger {path} cannot be written ({error.strerror})") from None

    def made(self, entry: Entry) -> None:
        """Record an object that is about to be made."""
        self._write({"made": _builtins(entry)})

    def gone(self, entry: Entry) -> None:
        """Record that an object was deleted, or never made.

        If that cannot be written the object stays in the file, and `icecheck clean` finds it gone.
        """
        with contextlib.suppress(Unwritable):
            self._write({"gone": _builtins(entry)})

    def close(self, *, keep: bool) -> None:
        """Close the file, and remove it unless ``keep``."""
        os.close(self._handle)
        if not keep:
            self.path.unlink(missing_ok=True)

    def _write(self, event: Mapping[str, Any]) -> None:
        # One write on a descriptor opened for appending: data in the kernel survives the end of
        # this process. If only part of a line fits, it is cut off again, so that the next line
        # stays whole.
        line = _line(event)
        with self._lock, writing(self.path):
            before = os.fstat(self._handle).st_size
            try:
                written = os.write(self._handle, line)
                if written < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except OSError:
                os.ftruncate(self._handle, before)
                raise


@dataclass(frozen=True, slots=True)
class WrittenLedger:
    """The content of a ledger on disk: owner, URL, and the objects that may remain, in order."""

    owner: str
    url: str
    warehouse: str | None
    prefix: str | None
    entries: tuple[Entry, ...]
    name_pattern: str = NAME_PATTERN

    @property
    def run_id(self) -> str:
        """The id of the run that wrote it."""
        before, _, after = self.name_pattern.partition("{run}")
        return self.owner.removeprefix(before).removesuffix(after)


def read_ledger(path: Path) -> WrittenLedger:
    """Read a ledger; an incomplete last line is ignored.

    Raises UsageError if the file is no ledger.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    try:
        header = json.loads(lines[0])
        if header["format"] != _FORMAT:
            raise ValueError
        left: Counter[Entry] = Counter()
        for number, line in enumerate(lines[1:], 2):
            _replay(line, left, is_last=number == len(lines))
        owner, url = str(header["owner"]), str(header["url"])
        pattern = str(header.get("name-pattern", NAME_PATTERN))
        written = WrittenLedger(
            owner, url, header["warehouse"], header["prefix"], tuple(left), pattern
        )
        if not written.run_id or pattern.replace("{run}", written.run_id) != owner:
            raise ValueError
        return written
    except (IndexError, KeyError, TypeError, ValueError, RecursionError):
        raise UsageError(
            f"{path} is no ledger of a run: it is the file {LEDGER_FILE} in a run's output"
        ) from None


def _put_aside(path: Path) -> None:
    """Rename the ledger of an earlier run that may still have objects on its catalog."""
    try:
        earlier = read_ledger(path)
    except UsageError:
        return  # no ledger of ours: a report's directory holds other files too
    if earlier.entries:
        path.rename(path.with_name(f"{path.stem}-{earlier.run_id}{path.suffix}"))


def _replay(line: str, left: Counter[Entry], *, is_last: bool) -> None:
    """Apply one line to the remaining objects.

    Two checks may request the same object: the one that was refused does not remove the other's
    entry.
    """
    try:
        event = json.loads(line)
    except ValueError:
        if is_last:
            return
        raise
    [(what, (kind, namespace, name))] = event.items()
    entry = Entry(str(kind), tuple(map(str, namespace)), str(name))
    if what == "made":
        left[entry] += 1
    elif left[entry] > 1:
        left[entry] -= 1
    else:
        del left[entry]


def _line(event: Mapping[str, Any]) -> bytes:
    return json.dumps(event).encode() + b"\n"


def _builtins(entry: Entry) -> list[Any]:
    return [entry.kind, list(entry.namespace), entry.name]


def clean_command(url: str, ledger: Path) -> str:
    """Return the advice that names the command which removes a ledger's objects."""
    command = f"icecheck clean {shlex.quote(url)} --ledger {shlex.quote(str(ledger))}"
    return f"to clean up, with the same credentials: {command}"
