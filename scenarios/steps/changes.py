"""What a commit is made of: named changes, each made for the metadata that there are."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.judging.probes import has_capability
from icecheck.objects.after_updates import after_updates
from icecheck.objects.committing import keeps_updates
from icecheck.replies.expect import SHAPE_ERRORS
from icecheck.scenarios.model.world import ADDED, MARK

Json = dict[str, Any]
Metadata = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Base:
    """The metadata for which a change is made.

    ``now`` are those after the changes before it in the same commit, ``before`` those that an
    answer has shown: only their ids are known to be the server's. ``number`` makes names and ids
    that no other commit of the history has.
    """

    now: Metadata
    before: Metadata
    number: int

    def known(self, members: str, id_member: str) -> list[int]:
        """Return the sorted ids in a list of metadata that the server has told and still has."""
        listed = (each.get(members) or () for each in (self.before, self.now))
        told, there = ({each.get(id_member) for each in entries} for entries in listed)
        return sorted(each for each in told & there if isinstance(each, int))

    def next(self, members: str, id_member: str) -> int:
        """Return the id after the highest one in a list of metadata."""
        return 1 + max((each.get(id_member, 0) for each in self.now.get(members) or ()), default=0)

    def unlike(self, members: str) -> int:
        """Return a number for something new in a list, which no other change makes there."""
        more = len(self.now.get(members) or ()) - len(self.before.get(members) or ())
        return 1000 * max(0, more) + self.number


Make = Callable[[Base], Sequence[Json]]
"""Returns updates; none where the metadata lack what the change needs."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a table or a view, and the capabilities that it needs.

    A catalog must accept what is ``due``. Any other change it may refuse until it has accepted one
    of the same name.
    """

    make: Make
    needs: tuple[str, ...] = ()
    due: bool = False


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names of the changes of tables, or of views, and of what makes a commit fail.

    ``wrong`` changes must be refused, ``stale`` are requirements that do not hold. ``family`` is
    the beginning of the ids of the requirements about these updates.
    """

    changes: Mapping[str, Change]
    wrong: Mapping[str, Json]
    stale: Mapping[str, Callable[[Metadata], Json]]
    family: str

    def knows(self, words: Collection[str]) -> bool:
        """Return whether these are names of changes and, at the end, of what makes them fail."""
        return all(word in {*self.changes, *self.wrong, *self.stale} for word in words)

    def statuses_of(self, words: Collection[str]) -> tuple[int, ...]:
        """Return the statuses of a commit that must be refused; none of one that need not be."""
        if any(word in self.stale for word in words):
            return (409,)
        return tuple(range(400, 500)) if any(word in self.wrong for word in words) else ()

    def is_due(self, words: Collection[str]) -> bool:
        """Return whether a catalog must accept a commit of these changes."""
        return all(word in self.changes and self.changes[word].due for word in words)

    def made(
        self, catalog: Catalog, words: Sequence[str], metadata: Metadata, number: int
    ) -> list[Json]:
        """Return the updates of these changes that a catalog offers and carries out, in order."""
        updates: list[Json] = []
        for word in words:
            change = self.changes.get(word)
            if change is None or not all(has_capability(catalog, each) for each in change.needs):
                continue
            try:
                base = Base(after_updates(metadata, updates), metadata, number)
                more = change.make(base)
            except SHAPE_ERRORS:
                continue  # other checks judge what the metadata lack
            if keeps_updates(catalog, more, self.family):
                updates += more
        return updates + [self.wrong[word] for word in words if word in self.wrong]

    def failing(self, words: Collection[str], metadata: Metadata) -> list[Json]:
        """Return the requirements among these words, none of which holds."""
        return [self.stale[word](metadata) for word in words if word in self.stale]


# ---- what tables and views have in common


def changed_properties(base: Base) -> list[Json]:
    """Set the mark, and set another property or remove it if it is there."""
    there = base.now.get("properties") or {}
    turn: Json = {"action": "remove-properties", "removals": [ADDED]}
    if ADDED not in there:
        turn = bodies.set_properties({ADDED: f"{base.number} too"})
    return [bodies.set_properties({MARK: str(base.number)}), turn]


def relocated(base: Base) -> list[Json]:
    """Move to a location beside the present one, if that is told."""
    home = str(base.now.get("location") or "").rstrip("/")
    return [{"action": "set-location", "location": f"{home}_{base.number}"}] if home else []
