"""The requests to a server, in order: a bounded memory for tests and for people."""

import itertools
from collections import deque

import msgspec

PATH_LENGTH_MAX = 4096
"""A longer path is cut off and kept without its names, so that memory stays bounded."""


class JournalEntry(msgspec.Struct, frozen=True, gc=False):
    """One handled request; `operation` is "" where no route matched, names are as resolved."""

    sequence: int
    method: str
    path: str
    operation: str
    warehouse: str
    namespace: tuple[str, ...]
    name: str
    status: int
    duration_us: int


class Journal:
    """The latest requests to a server. Appending and reading need no lock."""

    __slots__ = ("_entries", "_sequence")

    def __init__(self, entries_max: int = 10_000) -> None:
        self._entries: deque[JournalEntry] = deque(maxlen=entries_max)
        self._sequence = itertools.count(1)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def last_sequence(self) -> int:
        """The number of the newest remembered request; 0 if nothing is remembered."""
        try:
            return self._entries[-1].sequence
        except IndexError:
            return 0

    def record(
        self,
        method: str,
        path: str,
        operation: str,
        warehouse: str,
        namespace: tuple[str, ...],
        name: str,
        status: int,
        duration_us: int,
    ) -> None:
        """Remember one request; the oldest is forgotten when the journal is full."""
        sequence = next(self._sequence)
        if len(path) > PATH_LENGTH_MAX:
            path, namespace, name = path[:PATH_LENGTH_MAX], (), ""
        self._entries.append(
            JournalEntry(
                sequence, method, path, operation, warehouse, namespace, name, status, duration_us
            )
        )

    def entries(
        self,
        operation: str | None = None,
        *,
        warehouse: str | None = None,
        namespace: tuple[str, ...] | None = None,
        name: str | None = None,
        status: int | None = None,
    ) -> tuple[JournalEntry, ...]:
        """Return the remembered requests that match all given criteria, in order."""
        return tuple(
            entry
            for entry in tuple(self._entries)
            if (operation is None or entry.operation == operation)
            and (warehouse is None or entry.warehouse == warehouse)
            and (namespace is None or entry.namespace == namespace)
            and (name is None or entry.name == name)
            and (status is None or entry.status == status)
        )

    def count(self, operation: str | None = None, **matching: object) -> int:
        """Return the number of matching requests; takes the arguments of `entries`."""
        return len(self.entries(operation, **matching))  # type: ignore[arg-type]

    def clear(self) -> None:
        """Forget everything; sequence numbers go on."""
        self._entries.clear()
