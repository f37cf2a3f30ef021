"""A small world of namespaces, tables and views as it is due to be, and what each step makes of it.

Every function here is pure: from the world before, to the world after.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from icecheck.target.target import Namespace

__all__ = ["ADDED", "KEPT", "KINDS", "MARK", "WATCHED", "Held", "Thing", "World", "marked"]

Json = Mapping[str, Any]

KINDS = ("namespace", "table", "view")
MARK, KEPT, ADDED = WATCHED = ("icecheck.mark", "icecheck.kept", "icecheck.added")
"""The properties that steps set, each with a value that nothing else ever has."""


@dataclass(frozen=True, slots=True)
class Thing:
    """A namespace, a table or a view by its whole path; whether there is one is another matter."""

    kind: str
    path: Namespace

    @property
    def namespace(self) -> Namespace:
        """The path of what it is in."""
        return self.path[:-1]

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path[-1]

    @property
    def identifier(self) -> dict[str, Any]:
        """The thing as the bodies of requests name it."""
        return {"namespace": [*self.namespace], "name": self.name}


@dataclass(frozen=True, slots=True)
class Held:
    """What a load of a thing is due to show, member by member.

    Members that are not in ``due`` are the server's to assign: the first load that shows them
    settles them. Of ``loose`` ones the load may show more than is due. ``life`` and ``version``
    tell two states apart: whoever has moved is the same, whoever was made anew is not.
    """

    due: Json
    loose: frozenset[str] = frozenset()
    life: int = 0
    version: int = 0

    @property
    def state(self) -> tuple[int, int]:
        """What an entity tag stands for."""
        return self.life, self.version


@dataclass(frozen=True, slots=True)
class World:
    """What there is below ``root``, what there was, and what has been moved away.

    ``vacated``: something that was there is called otherwise now, and may still lie where the
    catalog would put what is made next under the name. ``lives`` counts what was ever made;
    ``last`` is what things showed when they were dropped, their files kept.
    """

    root: Namespace
    held: Mapping[Thing, Held]
    gone: frozenset[Thing] = frozenset()
    vacated: frozenset[Thing] = frozenset()
    lives: int = 0
    last: Mapping[Thing, Json] = field(default_factory=dict)

    def has(self, thing: Thing) -> bool:
        """Whether it is there."""
        return thing in self.held

    def has_namespace(self, path: Namespace) -> bool:
        """Whether something can be made in there."""
        return path == self.root or Thing("namespace", path) in self.held

    def is_free(self, thing: Thing) -> bool:
        """Whether nothing at all has the name, and there is a namespace to make it in."""
        taken = any(Thing(kind, thing.path) in self.held for kind in KINDS)
        return not taken and self.has_namespace(thing.namespace)

    def inside(self, namespace: Namespace) -> Iterator[Thing]:
        """Yield what is directly in a namespace."""
        return (each for each in self.held if each.namespace == namespace)

    def named(self, namespace: Namespace, kind: str) -> list[Namespace]:
        """Return the paths that a list of one kind in a namespace is due to have, sorted."""
        return sorted(each.path for each in self.inside(namespace) if each.kind == kind)

    def made(self, thing: Thing, due: Json) -> "World":
        """Return the world with something new in it."""
        held = {**self.held, thing: Held(due, life=self.lives + 1)}
        gone, vacated = self.gone - {thing}, self.vacated - {thing}
        return replace(self, held=held, gone=gone, vacated=vacated, lives=self.lives + 1)

    def changed(
        self, thing: Thing, due: Json, *, loose: tuple[str, ...] = (), left_open: tuple[str, ...]
    ) -> "World":
        """Return the world in which something is another version of itself."""
        before = self.held[thing]
        kept = {member: value for member, value in before.due.items() if member not in left_open}
        after = Held({**kept, **due}, frozenset(loose), before.life, before.version + 1)
        return replace(self, held={**self.held, thing: after})

    def settled(self, thing: Thing, due: Json) -> "World":
        """Return the world with what a first look at a thing has shown."""
        held = self.held[thing]
        return replace(self, held={**self.held, thing: replace(held, due=due, loose=frozenset())})

    def pinned(self, thing: Thing, member: str, value: Any) -> "World":
        """Return the world in which something is due to show what an answer has told of it."""
        held = self.held[thing]
        return replace(
            self, held={**self.held, thing: replace(held, due={**held.due, member: value})}
        )

    def without(self, thing: Thing, *, purged: bool = False) -> "World":
        """Return the world without something: its name is free."""
        held = {each: value for each, value in self.held.items() if each != thing}
        last = {each: value for each, value in self.last.items() if each != thing}
        if not purged:
            last[thing] = self.held[thing].due
        return replace(self, held=held, gone=self.gone | {thing}, last=last)

    def moved(self, source: Thing, target: Thing) -> "World":
        """Return the world in which something has another name; its files may have moved along."""
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

    def watching(self, thing: Thing) -> "World":
        """Return the same world, in which something that is not there is looked for too."""
        return replace(self, gone=self.gone | {thing})


def marked(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the watched ones among properties; None is for those that are not there."""
    return {key: properties.get(key) for key in WATCHED}
