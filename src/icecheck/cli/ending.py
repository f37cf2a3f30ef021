"""How a command ends: one line on stderr and an exit code, whatever went wrong."""

import sys
import tempfile
import traceback
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

__all__ = ["LastResort", "fail"]

_SUITE_ERROR = 3
_MESSAGE_CHARACTERS_MAX = 600


def fail(message: str, code: int) -> NoReturn:
    """Say one line on stderr and exit."""
    from icecheck.card import one_line

    sys.stderr.write(f"icecheck: {one_line(message, _MESSAGE_CHARACTERS_MAX)}\n")
    sys.exit(code)


class LastResort:
    """A block whose unforeseen errors end as exit 3, with the traceback in a file.

    The file is in ``directory``, or else in a new temporary one; ``secrets`` are taken out of
    what is said and written.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory
        self.secrets: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Click's own endings are no errors of ours; neither is an interrupt.
        from click.exceptions import Abort, ClickException, Exit

        if error is None or isinstance(error, Abort | ClickException | Exit):
            return
        if isinstance(error, Exception):
            fail(self._say(error), _SUITE_ERROR)

    def _say(self, error: Exception) -> str:
        from icecheck.exchange import Redactor

        redactor = Redactor(self.secrets)
        what = redactor.text(f"{type(error).__name__}: {error}")
        words = redactor.text("".join(traceback.format_exception(error)))
        try:
            directory = self._directory or Path(tempfile.mkdtemp(prefix="icecheck-error-"))
            directory.mkdir(parents=True, exist_ok=True)
            path = directory / "error.txt"
            path.write_bytes(words.encode("utf-8", "backslashreplace"))
        except OSError as unwritable:
            return f"internal error ({what}); its traceback could not be written: {unwritable}"
        return f"internal error ({what}); please report it with {path}"
