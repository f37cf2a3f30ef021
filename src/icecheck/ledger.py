"""The ledger: every object that a run made, so that exactly those are removed and nothing else."""

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Entry", "Kind", "Ledger"]

Namespace = tuple[str, ...]
Kind = str
"""``namespace``, ``table`` or ``view``."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One object that this run may have created; a namespace has an empty ``name``."""

    kind: Kind
    namespace: Namespace
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {'.'.join((*self.namespace, *filter(None, (self.name,))))}"


class Ledger:
    """What was made and is not yet removed, in order of creation.

    ``owner`` is the token that every name of this run contains; an object without it is never
    entered, so it can never be deleted.
    """

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.created = 0
        self.deleted = 0
        self.foreign: list[str] = []
        self._entries: dict[Entry, None] = {}

    def add(self, entry: Entry) -> None:
        """Enter an object, before the request that makes it is sent."""
        if not self.owns(entry):
            self.foreign.append(str(entry))
            return
        if entry not in self._entries:
            self._entries[entry] = None
            self.created += 1

    def forget(self, entry: Entry, *, deleted: bool) -> None:
        """Strike an object out: it was deleted, or it turned out never to have been made."""
        if entry in self._entries:
            del self._entries[entry]
            self.deleted += deleted
            self.created -= not deleted

    def owns(self, entry: Entry) -> bool:
        """Whether the run's token stands in the object's own name or its namespace."""
        return any(self.owner in part for part in (*entry.namespace, entry.name))

    def newest_first(self) -> tuple[Entry, ...]:
        """Return what is left, in the order in which it must be removed."""
        return tuple(reversed(self._entries))

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries))

    def __contains__(self, entry: object) -> bool:
        return entry in self._entries

    def __len__(self) -> int:
        return len(self._entries)
