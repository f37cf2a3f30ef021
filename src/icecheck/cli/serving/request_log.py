"""Tells of each request that the mock answers: lines on stderr, and a file of JSON lines."""

import contextlib
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from icecheck.mock_server.core.journal import Journal
    from icecheck.mock_server.core.journal_entry import JournalEntry

WAITING_MAX = 10_000
_ENDING_SECONDS = 2.0

Form = Literal["text", "json", "off"]


class RequestLog:
    """Writes lines from a thread of its own: whoever does not read them must not stop the server.

    A program that starts the server with a pipe and never reads it fills that after some hundred
    requests. Lines that nobody takes are left out then, and counted.
    """

    def __init__(self, stream: IO[bytes], make: "Callable[[JournalEntry], bytes]") -> None:
        self._stream = stream
        self._make = make
        self._waiting: queue.Queue[JournalEntry | None] = queue.Queue(WAITING_MAX)
        self._left_out = 0
        self._thread = threading.Thread(target=self._run, name="icecheck-log", daemon=True)
        self._thread.start()

    def __call__(self, entry: "JournalEntry") -> None:
        """Write a line for an entry, some time."""
        try:
            self._waiting.put_nowait(entry)
        except queue.Full:
            self._left_out += 1

    def close(self) -> None:
        """Write what is left, if it is taken soon."""
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(None)
        self._thread.join(_ENDING_SECONDS)

    def _run(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # the reader, or the stream, is gone
            while (entry := self._waiting.get()) is not None:
                self._stream.write(self._make(entry))
                if left_out := self._left_out:
                    self._left_out = 0
                    self._stream.write(b"(%d requests were not written)\n" % left_out)
                if self._waiting.empty():
                    self._stream.flush()
            self._stream.flush()


class _FileLog:
    """Appends a line for each request to a file; tells once if that fails."""

    def __init__(
        self, stream: IO[bytes], path: Path, make: "Callable[[JournalEntry], bytes]"
    ) -> None:
        self._stream = stream
        self._path = path
        self._make = make
        self._lock = threading.Lock()
        self._has_failed = False

    def __call__(self, entry: "JournalEntry") -> None:
        """Append a line."""
        line = self._make(entry)
        with self._lock, contextlib.suppress(ValueError):  # it is closed: the server ends
            try:
                self._stream.write(line)
            except OSError as error:
                if not self._has_failed:
                    self._has_failed = True
                    sys.stderr.write(
                        f"icecheck: {self._path} cannot be written: {error.strerror}\n"
                    )


@contextlib.contextmanager
def logged(journal: "Journal", form: Form, file: Path | None) -> Iterator[None]:
    """Write of each request during a block: to stderr in this form, and to a file.

    OSError if the file cannot be written.
    """
    from icecheck.mock_server.core.journal_files import entry_line, entry_words

    with contextlib.ExitStack() as ending:
        if form != "off":
            make = (
                entry_line if form == "json" else lambda entry: f"{entry_words(entry)}\n".encode()
            )
            log = RequestLog(sys.stderr.buffer, make)
            ending.callback(log.close)
            journal.listen(log)
        if file is not None:
            stream = ending.enter_context(file.open("ab", buffering=0))
            journal.listen(_FileLog(stream, file, entry_line))
        yield
