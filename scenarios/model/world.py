"""The expected state of namespaces, tables and views, and the change that each step makes to it.

Every function here is pure and returns a new state.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from icecheck.objects.after_updates import after_updates, as_assigned
from icecheck.replies.expect import SHAPE_ERRORS
from icecheck.targets.target import Namespace

Json = Mapping[str, Any]

KINDS = ("namespace", "table", "view")
MARK, KEPT, ADDED = WATCHED = ("icecheck.mark", "icecheck.kept", "icecheck.added")
"""The properties that steps set, each with a value that no other object has."""


_IDENTITY = ("table-uuid", "view-uuid")


@dataclass(frozen=True, slots=True)
class Thing:
    """The kind and full path of a namespace, table or view, which need not exist."""

    kind: str
    path: Namespace

    @property
    def namespace(self) -> Namespace:
        """The path of the namespace that it is in."""
        return self.path[:-1]

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path[-1]

    @property
    def identifier(self) -> dict[str, Any]:
        """The thing in the form that request bodies use."""
        return {"namespace": [*self.namespace], "name": self.name}


@dataclass(frozen=True, slots=True)
class Held:
    """What a load of an existing thing must show, member by member.

    The server assigns members that are not in ``due``: the first load that shows them fixes them.
    ``shown`` are the whole metadata of a table or a view as it was last settled; ``foreseen`` are
    those that are due after the commits since, if there were any, with the ids that were sent.
    ``life`` and ``version`` identify a state: a renamed thing keeps its ``life``, one that was made
    again gets a new one.
    """

    due: Json
    shown: Json = field(default_factory=dict)
    foreseen: Json | None = None
    life: int = 0
    version: int = 0

    @property
    def state(self) -> tuple[int, int]:
        """The state that an entity tag identifies."""
        return self.life, self.version


@dataclass(frozen=True, slots=True)
class World:
    """The things that exist below ``root``, those that are gone, and the names that were vacated.

    ``vacated``: the former thing of the name was renamed, and its files may lie where the catalog
    would put the next thing of the name; a registered table, which lies elsewhere, changes nothing
    about that. ``lives`` counts the things ever made; ``last`` is what
    things showed when they were dropped without purging their files. ``supported`` are the sorts of
    steps that have succeeded. ``staged`` are the marks of the tables that were staged under a name
    and are not yet committed, ``once_staged`` all names under which one ever was. ``bare`` are the
    kinds of things that begin without properties, because the catalog loses those of a creation.
    """

    root: Namespace
    held: Mapping[Thing, Held]
    gone: frozenset[Thing] = frozenset()
    vacated: frozenset[Thing] = frozenset()
    lives: int = 0
    last: Mapping[Thing, Json] = field(default_factory=dict)
    supported: frozenset[str] = frozenset()
    staged: Mapping[Thing, str] = field(default_factory=dict)
    once_staged: frozenset[Thing] = frozenset()
    bare: frozenset[str] = frozenset()

    def has(self, thing: Thing) -> bool:
        """Return whether a thing exists."""
        return thing in self.held

    def has_namespace(self, path: Namespace) -> bool:
        """Return whether a namespace exists, so that something can be made in it."""
        return path == self.root or Thing("namespace", path) in self.held

    def is_free(self, thing: Thing) -> bool:
        """Return whether a name is unused by all kinds and its namespace exists."""
        taken = any(Thing(kind, thing.path) in self.held for kind in KINDS)
        return not taken and self.has_namespace(thing.namespace)

    def inside(self, namespace: Namespace) -> Iterator[Thing]:
        """Yield the things directly in a namespace."""
        return (each for each in self.held if each.namespace == namespace)

    def named(self, namespace: Namespace, kind: str) -> list[Namespace]:
        """Return the sorted paths that a list of one kind in a namespace must have."""
        return sorted(each.path for each in self.inside(namespace) if each.kind == kind)

    def made(self, thing: Thing, due: Json, *, registered: bool = False) -> "World":
        """Return the state with a new thing in it."""
        if thing.kind in self.bare and not registered:
            due = {**due, "properties": marked({})}
        held = {**self.held, thing: Held(due, life=self.lives + 1)}
        gone = self.gone - {thing}
        vacated = self.vacated if registered else self.vacated - {thing}
        staged = {each: mark for each, mark in self.staged.items() if each != thing}
        lives = self.lives + 1
        return replace(self, held=held, gone=gone, vacated=vacated, lives=lives, staged=staged)

    def registered(self, thing: Thing, source: Thing) -> "World":
        """Return the state with a new thing from the file of a dropped one, which is in use then.

        A file of two tables is nobody's to remove: none of them could be judged any more.
        """
        own = {"location", "metadata-location"}
        due = {member: value for member, value in self.last[source].items() if member not in own}
        made = self.made(thing, due, registered=True)
        left = {each: value for each, value in self.last.items() if each != source}
        return replace(made, last=left)

    def changed(self, thing: Thing, due: Json) -> "World":
        """Return the state with a new version of a namespace, in which these members differ."""
        before = self.held[thing]
        after = replace(before, due={**before.due, **due}, version=before.version + 1)
        return replace(self, held={**self.held, thing: after})

    def committed(self, thing: Thing, updates: Sequence[dict[str, Any]]) -> "World":
        """Return the state after a commit to a table or a view.

        A catalog may write a new version for a commit that changes nothing, or none.
        """
        held = self.held[thing]
        before = held.shown if held.foreseen is None else held.foreseen
        due = {member: held.due[member] for member in _IDENTITY if member in held.due}
        foreseen: Json | None = None
        try:
            foreseen = after_updates(before, updates)
            due["properties"] = marked(foreseen.get("properties") or {})
        except SHAPE_ERRORS:
            before = {}  # too little is shown to foresee what the commit does
        if foreseen == before:
            return self.perhaps_changed(thing, "metadata-location")
        after = replace(held, due=due, shown=before and held.shown, foreseen=foreseen)
        after = replace(after, version=held.version + 1)
        return replace(self, held={**self.held, thing: after})

    def perhaps_changed(self, thing: Thing, *left_open: str) -> "World":
        """Return the state after a request that changes nothing, for which a catalog may still
        write a new version: these members are open.
        """
        held = self.held[thing]
        due = {member: value for member, value in held.due.items() if member not in left_open}
        return replace(self, held={**self.held, thing: replace(held, due=due)})

    def assigned(self, thing: Thing, metadata: Json) -> "World":
        """Return the state after an answer that shows metadata: they have the server's ids."""
        held = self.held[thing]
        if held.foreseen is not None:
            foreseen = as_assigned(held.shown, held.foreseen, metadata)
            held = replace(held, foreseen=foreseen)
        elif not held.shown:
            held = replace(held, shown=metadata)
        return replace(self, held={**self.held, thing: held})

    def settled(self, thing: Thing, due: Json, metadata: Json) -> "World":
        """Return the state in which a thing must show what its first load has shown."""
        settled = replace(self.held[thing], due=due, shown=metadata, foreseen=None)
        return replace(self, held={**self.held, thing: settled})

    def pinned(self, thing: Thing, member: str, value: Any) -> "World":
        """Return the state in which a thing must show the value of a member from an answer."""
        held = self.held[thing]
        return replace(
            self, held={**self.held, thing: replace(held, due={**held.due, member: value})}
        )

    def without(self, thing: Thing, *, purged: bool = False) -> "World":
        """Return the state without a thing: its name is free."""
        held = {each: value for each, value in self.held.items() if each != thing}
        last = {each: value for each, value in self.last.items() if each != thing}
        if not purged:
            last[thing] = self.held[thing].due
        return replace(self, held=held, gone=self.gone | {thing}, last=last)

    def moved(self, source: Thing, target: Thing) -> "World":
        """Return the state in which a thing has another name; its files may have moved too."""
        held = self.held[source]
        unplaced = {
            member: value
            for member, value in held.due.items()
            if member not in {"location", "metadata-location"}
        }
        left = self.without(source, purged=True)
        return replace(
            left,
            held={**left.held, target: replace(held, due=unplaced)},
            gone=left.gone - {target},
            vacated=(left.vacated | {source}) - {target},
        )

    def supporting(self, sort: str) -> "World":
        """Return the state in which a step of this sort, if it has one, has succeeded."""
        return replace(self, supported=self.supported | {sort}) if sort else self

    def with_staged(self, thing: Thing, mark: str) -> "World":
        """Return the state in which a table with this mark is staged; it does not exist yet."""
        staged, once = {**self.staged, thing: mark}, self.once_staged | {thing}
        return replace(self.watching(thing), staged=staged, once_staged=once)

    def watching(self, thing: Thing) -> "World":
        """Return the state in which the absence of a thing is also judged."""
        return replace(self, gone=self.gone | {thing})


def marked(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the watched properties; None stands for a missing one."""
    return {key: properties.get(key) for key in WATCHED}
