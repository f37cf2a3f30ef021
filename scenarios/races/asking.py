"""Where a program takes place, and its requests as they are sent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Table
from icecheck.histories.history import Deed, Event, Release, Seen, Take, Transfer, Write
from icecheck.histories.racing import Move
from icecheck.objects.committing import creation_updates, same_table, set_property
from icecheck.objects.moves import MARK, commit_to, given, heads_in, load, rename
from icecheck.objects.reading import next_page_token, tables_in
from icecheck.replies.expect import Reply
from icecheck.scenarios.races.programs import ANY, READING, Request, in_words
from icecheck.targets.target import Namespace

_ASSERT_CREATE = {"type": "assert-create"}
# The property that a transaction sets beside a move of main.
_BESIDE = "p"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Scene:
    """The name of each label, and the tables that are there when the clients begin.

    ``staged`` are tables that commits may create.
    """

    namespace: Namespace
    places: Mapping[str, Table]
    tables: Mapping[str, Table]
    staged: Mapping[str, Table]

    @property
    def before(self) -> Event:
        """The event that a history begins with: the given tables as they were shown."""
        deeds: list[Deed] = []
        for label, table in self.tables.items():
            deeds.append(Take(label, mark_of(label)))
            main = heads_in(table.metadata)["main"]
            if main is not None:
                deeds.append(Write(label, "main", main))
        return given(*deeds)

    def move(self, request: Request) -> Move:
        """Return a request as it is sent."""
        asked = self._look(request) if request.name in READING else self._change(request)
        return replace(asked, words=in_words(request))

    def load(self, label: str) -> Move:
        """Return a load of a label."""
        return replace(
            load(self.namespace, self.places[label].name, label=label), words=f"load {label}"
        )

    def _change(self, request: Request) -> Move:
        match request.name, request.on, request.values:
            case "create", (label,), (mark,):
                body = bodies.create_table_body(self.places[label].name, properties={MARK: mark})
                names: dict[str, str | Namespace] = {"namespace": self.namespace}
                return Move("createTable", names, body, deeds=(Take(label, mark),))
            case "create-by-commit", (label,), (mark,):
                return self._create_by_commit(label, mark)
            case "drop", (label,), _:
                return Move(
                    "dropTable", self._at(label), deeds=(Release(label),), missed=_missing(label)
                )
            case "rename", (source, target), _:
                deeds = [Transfer(source, target)]
                moved = rename(self.places[source], self.places[target].name, deeds)
                return replace(moved, missed=_missing(source))
            case "set", (label,), (key, value, asserted):
                write, change = self._set(label, key, value, "" if asserted == ANY else asserted)
                # To a commit for another table than the one that is there, it may be missing.
                missed = _missing(label) if asserted == ANY else ()
                return Move("updateTable", self._at(label), change, (write,), missed)
            case "move-main", (label,), (snapshot, base):
                write, change = self._main(label, snapshot, base)
                return Move("updateTable", self._at(label), change, (write,))
            case "together", (one, other), (key, value):
                parts = [self._set(label, key, value, label) for label in (one, other)]
                return _transaction(*parts)
            case "move-main-together", (one, other), (snapshot, base, value):
                moved_main = self._main(one, snapshot, base)
                return _transaction(moved_main, self._set(other, _BESIDE, value, other))
        raise ValueError(f"{request.name} is no change")

    def _look(self, request: Request) -> Move:
        match request.name, request.on:
            case "exists", (label,):
                return Move("tableExists", self._at(label), reads=_existence(label))
            case "load", (label,):
                return self.load(label)
        return Move("listTables", {"namespace": self.namespace}, reads=self._listed)

    def _at(self, label: str) -> dict[str, str | Namespace]:
        return {"namespace": self.namespace, "table": self.places[label].name}

    def _create_by_commit(self, label: str, mark: str) -> Move:
        updates = [*creation_updates(self.staged[label].metadata), set_property(mark, MARK)]
        return commit_to(self.places[label], updates, _ASSERT_CREATE, deeds=[Take(label, mark)])

    def _set(self, label: str, key: str, value: str, asserted: str) -> tuple[Write, Json]:
        """Return what setting a property does, and the commit that does it.

        The commit asserts the uuid of a given table, if there is one of that label.
        """
        key = f"icecheck.{key}"
        holder = mark_of(asserted) if asserted in self.tables else None
        write = Write(label, key, value, holder=holder)
        return write, _commit(self.places[label], [set_property(value, key)], self._same(asserted))

    def _main(self, label: str, snapshot: str, base: str) -> tuple[Write, Json]:
        """Return what moving main does, and the commit that does it."""
        holds, target = self._same(label), snapshot_id(int(snapshot))
        holder = mark_of(label) if label in self.tables else None
        write = Write(label, "main", target, holder=holder)
        if base != ANY:
            write = replace(write, base=snapshot_id(int(base)))
            holds.append(
                {
                    "type": "assert-ref-snapshot-id",
                    "ref": "main",
                    "snapshot-id": snapshot_id(int(base)),
                }
            )
        return write, _commit(self.places[label], [bodies.snapshot_ref(target)], holds)

    def _same(self, label: str) -> list[Json]:
        return [same_table(self.tables[label])] if label in self.tables else []

    def _listed(self, reply: Reply) -> tuple[Deed, ...]:
        """Return what a list shows: the names that are there and, if it is whole, the others."""
        if reply.status != 200:
            return ()
        listed = {name.casefold() for _, name in tables_in(reply)}
        found = {label: at.name.casefold() in listed for label, at in self.places.items()}
        whole = not next_page_token(reply)
        return tuple(
            Seen(label, present=present) for label, present in found.items() if present or whole
        )


def _commit(table: Table, updates: list[Json], holds: list[Json]) -> Json:
    return {"identifier": table.identifier, "requirements": holds, "updates": updates}


def mark_of(label: str) -> str:
    """Return the mark of a given table."""
    return f"before.{label}"


def snapshot_id(number: int) -> int:
    """Return the id of a snapshot of a given table, by its number."""
    return int(bodies.snapshot({}, number + 1)["snapshot-id"])


def _missing(label: str) -> tuple[Deed, ...]:
    return (Seen(label, present=False),)


def _existence(label: str) -> Callable[[Reply], tuple[Deed, ...]]:
    def reads(reply: Reply) -> tuple[Deed, ...]:
        known = reply.ok or reply.status == 404
        return (Seen(label, present=reply.ok),) if known else ()

    return reads


def _transaction(*parts: tuple[Write, Json]) -> Move:
    body = {"table-changes": [change for _, change in parts]}
    return Move("commitTransaction", body=body, deeds=tuple(write for write, _ in parts))
