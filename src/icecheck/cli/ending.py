"""Ends a command: one line on stderr and an exit code, for every kind of error."""

import os
import sys
import tempfile
import traceback
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Self

if TYPE_CHECKING:
    from icecheck.wire.redaction import Redactor

_USAGE = 2
_SUITE_ERROR = 3
_TARGET_UNUSABLE = 4
_INTERRUPTED = 130
_NOBODY_READS = 141
_MESSAGE_CHARACTERS_MAX = 600


def fail(message: str, code: int) -> NoReturn:
    """Print one line on stderr and exit."""
    sys.stderr.write(_line(message))
    sys.exit(code)


def _line(message: str) -> str:
    from icecheck.findings.telling.finding_card import one_line

    return f"icecheck: {one_line(message, _MESSAGE_CHARACTERS_MAX)}\n"


def end_unread() -> NoReturn:
    """Exit as a program does whose reader is gone, such as `head`; nobody would read a message."""
    # What is still to be written must not fail once more when the interpreter ends.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(_NOBODY_READS)


def left_behind(directory: Path, owner: str) -> str:
    """Return how to remove what the ledger in a run's directory names; "" if nothing is left.

    The ledger of another run is ignored.
    """
    from icecheck.ownership.ledger_file import LEDGER_FILE, clean_command, read_ledger
    from icecheck.targets.target import UsageError

    path = directory / LEDGER_FILE
    try:
        written = read_ledger(path)
    except UsageError:
        return ""
    if written.owner != owner or not written.entries:
        return ""
    many = len(written.entries)
    return f"{many} object{'s' * (many > 1)} may be left; {clean_command(written.url, path)}"


class ExitOnError:
    """A block whose errors end the program with a line and an exit code.

    The code is 2 for errors that the user can correct, 4 for a target that cannot be used, 3 where
    a file of a run cannot be written or the contract is faulty, with a line for each fault.
    Unforeseen errors are 3 as well, with the traceback in a file in ``directory``, or else in a new
    temporary one; an interrupt is 130. Secrets that ``redactor`` knows are removed from all of
    that. If the run of this ``owner`` has left its ledger, the last line says how to remove the
    objects in it.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory
        self.redactor: Redactor | None = None
        self.owner = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Click handles its own exceptions.
        from click.exceptions import Abort, ClickException, Exit

        if isinstance(error, Abort | KeyboardInterrupt):
            why = str(error) or "interrupted before there was anything to report"
            self._end(why, _INTERRUPTED)
        if error is None or isinstance(error, ClickException | Exit):
            return
        if isinstance(error, Exception):
            self._fail(error)

    def _end(self, message: str, code: int) -> NoReturn:
        """Print what went wrong, then how to remove what is left, and exit."""
        try:
            fail(message, code)
        finally:
            if self._directory is not None and self.owner:
                hint = left_behind(self._directory, self.owner)
                sys.stderr.write(f"icecheck: {hint}\n" if hint else "")

    def _fail(self, error: Exception) -> NoReturn:
        from icecheck.contract import ContractError
        from icecheck.spark.unavailable import SparkUnavailable
        from icecheck.targets.target import UsageError
        from icecheck.targets.unwritable import Unwritable
        from icecheck.wire.connection import TargetUnusable
        from icecheck.wire.redaction import Redactor

        redactor = self.redactor or Redactor()
        match error:
            case BrokenPipeError():
                end_unread()
            case UsageError() | SparkUnavailable():
                self._end(redactor.text(str(error)), _USAGE)
            case Unwritable():
                self._end(redactor.text(str(error)), _SUITE_ERROR)
            case TargetUnusable():
                self._end(redactor.text(str(error)), _TARGET_UNUSABLE)
            case ContractError():
                *faults, last = redactor.text(str(error)).splitlines()
                for fault in faults:
                    sys.stderr.write(_line(fault))
                self._end(last, _SUITE_ERROR)
            case _:
                self._end(self._reported(error, redactor), _SUITE_ERROR)

    def _reported(self, error: Exception, redactor: "Redactor") -> str:
        # It puts an error in words that cannot do so itself: its own failure would hide it.
        told = traceback.TracebackException.from_exception(error)
        what = redactor.text(f"{type(error).__name__}: {told}")
        words = redactor.text("".join(told.format()))
        try:
            directory = self._directory or Path(tempfile.mkdtemp(prefix="icecheck-error-"))
            directory.mkdir(parents=True, exist_ok=True)
            path = directory / "error.txt"
            path.write_bytes(words.encode("utf-8", "backslashreplace"))
        except OSError as unwritable:
            return f"internal error ({what}); its traceback could not be written: {unwritable}"
        return f"internal error ({what}); please report it with {path}"
