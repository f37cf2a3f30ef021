"""The requests to a server, in order: a bounded memory for tests and for people."""

import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from icecheck.mock_server.core.journal_entry import Content, JournalEntry, Matching
from icecheck.mock_server.core.journal_files import save
from icecheck.mock_server.protocol.wire import Reply, Request

PATH_LENGTH_MAX = 4096
"""A longer path is cut off and kept without names and content, so that memory stays bounded."""

CONTENT_BYTES_MAX = 32 << 20
"""How many bytes of headers and bodies are remembered; those of the oldest go first."""

TEXT_CHARACTERS_MAX = 8 << 20
"""How long the remembered paths and names may be together; the oldest entries go first."""

_OF_ONE_ENTRY = 512
_NAME_CHARACTERS_MAX = 512
_log = logging.getLogger(__name__)


class Journal:
    """The latest requests to a server, with headers and bodies as far as there is room for them."""

    __slots__ = (
        "_bytes",
        "_changed",
        "_characters",
        "_cleared",
        "_contents",
        "_entries",
        "_entries_max",
        "_listeners",
        "_lock",
        "_sequence",
        "_waiting",
    )

    def __init__(self, entries_max: int = 10_000) -> None:
        self._entries: deque[JournalEntry] = deque()
        self._entries_max = entries_max
        self._contents: deque[Content] = deque()
        self._bytes = self._characters = self._cleared = self._waiting = 0
        self._sequence = itertools.count(1)
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._listeners: tuple[Callable[[JournalEntry], object], ...] = ()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def last_sequence(self) -> int:
        """The number of the newest remembered request; 0 if nothing is remembered."""
        try:
            return self._entries[-1].sequence
        except IndexError:
            return 0

    def listen(self, listener: Callable[[JournalEntry], object]) -> None:
        """Call a function with each entry from now on, in the thread that answers the request."""
        self._listeners = (*self._listeners, listener)

    def record(
        self,
        request: Request,
        reply: Reply,
        *,
        operation: str,
        warehouse: str,
        namespace: tuple[str, ...],
        name: str,
        principal: str,
        duration_us: int,
        fault: str,
        answered: bool,
    ) -> None:
        """Remember one request; the oldest is forgotten when the journal is full."""
        path, size = request.raw_path, _size(request, reply)
        is_long = len(path) > PATH_LENGTH_MAX
        if is_long:
            path, namespace, name, size = path[:PATH_LENGTH_MAX], (), "", 0
        characters = len(path) + len(name) + sum(map(len, namespace))
        content = Content(request, reply, size, characters)
        if is_long:
            content.forget()
        with self._lock:
            entry = JournalEntry(
                next(self._sequence), time.time_ns() // 1_000_000, request.method, path, operation,
                warehouse[:_NAME_CHARACTERS_MAX], namespace, name, principal, reply.status,
                duration_us, fault, answered, content,
            )  # fmt: skip
            self._entries.append(entry)
            self._characters += characters
            while self._characters > TEXT_CHARACTERS_MAX or len(self._entries) > self._entries_max:
                self._characters -= self._entries.popleft().content.characters
            self._contents.append(content)
            self._bytes += size
            # What entries that are gone had goes with them: there are never more of either.
            while self._bytes > CONTENT_BYTES_MAX or len(self._contents) > len(self._entries):
                oldest = self._contents.popleft()
                oldest.forget()
                self._bytes -= oldest.size
            if self._waiting:
                self._changed.notify_all()
        for listener in self._listeners:
            try:
                listener(entry)
            except Exception:  # noqa: BLE001 - the request was answered: it is no error of it
                _log.exception("a listener of the journal failed")

    def find(self, operation: str | None = None, **matching: object) -> tuple[JournalEntry, ...]:
        """Return the remembered requests that match all given members of Matching, in order."""
        return self.matching(_wanted(operation, matching))

    def matching(self, wanted: Matching) -> tuple[JournalEntry, ...]:
        """Return the remembered requests that match, in order."""
        with self._changed:
            entries = tuple(self._entries)
        return tuple(filter(wanted.matches, entries))

    def count(self, operation: str | None = None, **matching: object) -> int:
        """Return the number of matching requests; takes the arguments of `find`."""
        return len(self.find(operation, **matching))

    def wait_for(
        self,
        operation: str | None = None,
        *,
        count: int = 1,
        timeout: float = 5.0,
        **matching: object,
    ) -> tuple[JournalEntry, ...]:
        """Return matching requests as soon as there are `count` of them, those so far among them.

        TimeoutError after `timeout` seconds says what there was instead.
        """
        wanted = _wanted(operation, matching)
        if self.waited_for(wanted, count, timeout):
            return self.matching(wanted)
        found = len(self.matching(wanted))
        seen = [entry.operation or entry.path for entry in self.find(since=wanted.since)]
        raise TimeoutError(
            f"{found} of {count} requests came in {timeout} s; these did: {', '.join(seen[-20:])}"
        )

    def waited_for(self, wanted: Matching, count: int, timeout: float) -> bool:
        """Wait until `count` requests match, `timeout` seconds at most; return whether they do."""
        found, seen, cleared = 0, wanted.since, self._cleared

        def are_there() -> bool:
            nonlocal found, seen, cleared
            if cleared != self._cleared:
                found, cleared = 0, self._cleared
            for entry in reversed(self._entries):
                if entry.sequence <= seen:
                    break
                found += wanted.matches(entry)
            seen = max(seen, self.last_sequence)
            return found >= count

        with self._changed:
            self._waiting += 1
            try:
                return self._changed.wait_for(are_there, timeout)
            finally:
                self._waiting -= 1

    def assert_sequence(
        self, operations: Sequence[str], *, ignore: Sequence[str] = (), **matching: object
    ) -> None:
        """Raise AssertionError unless the matching requests are these operations, in this order.

        Operations in `ignore` may come at any place.
        """
        entries = self.find(None, **matching)
        seen = [entry.operation or entry.path for entry in entries]
        seen = [each for each in seen if each not in ignore]
        if seen != [*operations]:
            raise AssertionError(
                f"expected the requests {', '.join(operations)}; there were {', '.join(seen)}"
            )

    def save(self, path: str | Path) -> None:
        """Write what is remembered into a file, as HAR (`.har`) or JSON lines (`.jsonl`).

        ValueError for another suffix.
        """
        save(self.find(), Path(path))

    def clear(self) -> None:
        """Forget everything; sequence numbers go on."""
        with self._changed:
            self._entries.clear()
            for content in self._contents:
                content.forget()
            self._contents.clear()
            self._bytes = self._characters = 0
            self._cleared += 1


def _wanted(operation: str | None, matching: dict[str, object]) -> Matching:
    return Matching(operation, **matching)  # type: ignore[arg-type]


def _size(request: Request, reply: Reply) -> int:
    """Return about how many bytes of memory a request and its reply take."""
    headers = request.headers_bytes
    if not headers:  # it came in process
        headers = sum([len(name) + len(value) for name, value in request.headers.items()])
    target = len(request.raw_path) + len(request.query_string)
    return _OF_ONE_ENTRY + target + headers + len(request.body) + len(reply.body)
