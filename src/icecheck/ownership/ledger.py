"""The ledger: every object that a run made, so that exactly those are removed and nothing else."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Protocol

Namespace = tuple[str, ...]
Kind = str
"""One of ``namespace``, ``table`` and ``view``."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One object that this run may have created; a namespace has an empty ``name``."""

    kind: Kind
    namespace: Namespace
    name: str = ""

    @property
    def own_name(self) -> str:
        """The object's own name: the last level of a namespace, or the name of a table or view."""
        return self.name if self.kind != "namespace" else "".join(self.namespace[-1:])

    def __str__(self) -> str:
        return f"{self.kind} {'.'.join((*self.namespace, *filter(None, (self.name,))))}"


@cache
def _token(owner: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(owner)}(?![A-Za-z0-9])", re.IGNORECASE)


def bears_token(owner: str, name: str) -> bool:
    """Return whether a name contains the token of a run as a whole word.

    Case does not matter, because some catalogs fold names.
    """
    return _token(owner).search(name) is not None


class LedgerJournal(Protocol):
    """Where ledgers record their entries, so that they survive a crash."""

    def made(self, entry: Entry) -> None:
        """Record an object that is about to be made."""

    def gone(self, entry: Entry) -> None:
        """Record that an object was deleted, or never made."""


class Ledger:
    """The objects that were made and are not yet removed, in order of creation.

    ``remarks`` say in words why an object was not removed.

    ``owner`` is the token that every name of this run contains; an object without it is never
    entered, so it can never be deleted. ``plainly_named`` is shared by the ledgers of a run: it
    counts how often they have entered each object in a namespace of the run whose own name does not
    contain the token, less those that turned out never to have been made. ``undropped``, also
    shared, are the kinds of objects that the catalog says it drops and keeps: they stay entered.
    """

    def __init__(
        self,
        owner: str,
        journal: LedgerJournal | None = None,
        plainly_named: Counter[Entry] | None = None,
        undropped: Collection[str] = (),
    ) -> None:
        self.owner = owner
        self._journal = journal
        self._plainly_named = Counter() if plainly_named is None else plainly_named
        self._undropped = undropped
        self.remarks: dict[Entry, str] = {}
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
            if self._journal is not None:
                self._journal.made(entry)
            self._entries[entry] = None
            self.created += 1
            if not bears_token(self.owner, entry.own_name):
                self._plainly_named[entry] += 1

    def forget(self, entry: Entry, *, deleted: bool) -> None:
        """Remove an entry: the object was deleted, or turned out never to have been made."""
        if entry in self._entries and not (deleted and entry.kind in self._undropped):
            del self._entries[entry]
            if self._journal is not None:
                self._journal.gone(entry)
            self.deleted += deleted
            self.created -= not deleted
            if not deleted and entry in self._plainly_named:
                self._plainly_named[entry] -= 1

    def owns(self, entry: Entry) -> bool:
        """Return whether the run's token is in the object's own name or its namespace.

        It must be a whole word: another run's token may begin with it.
        """
        return any(bears_token(self.owner, part) for part in (*entry.namespace, entry.name))

    def is_own(self, entry: Entry) -> bool:
        """Return whether an object that was found on the catalog may be removed.

        It may if a ledger of the run has entered it, or if its own name contains the token. Objects
        that somebody else has put into a namespace of the run may not.
        """
        return self._plainly_named[entry] > 0 or bears_token(self.owner, entry.own_name)

    def newest_first(self) -> tuple[Entry, ...]:
        """Return the remaining objects, in the order in which they must be removed."""
        return tuple(reversed(self._entries))

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries))

    def __contains__(self, entry: object) -> bool:
        return entry in self._entries

    def __len__(self) -> int:
        return len(self._entries)
