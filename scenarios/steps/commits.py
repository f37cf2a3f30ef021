"""Steps that commit to one table, or to several together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Table
from icecheck.judging.probes import DOES_NOT
from icecheck.objects.committing import keeps_updates, set_property
from icecheck.objects.evolving import schema_addition, wider_schema
from icecheck.ownership.effects import read_body
from icecheck.replies.expect import Reply
from icecheck.scenarios.model.observer import Observer
from icecheck.scenarios.model.world import ADDED, MARK, Thing, World
from icecheck.scenarios.steps.step import (
    ANOTHER_UUID,
    DONE,
    NOT_SUPPORTED,
    Step,
    refused,
    world_has,
)

Json = dict[str, Any]

_NO_SUCH_SNAPSHOT = 4_242_424_242


def _same(observer: Observer, thing: Thing) -> list[Json]:
    return [{"type": "assert-table-uuid", "uuid": observer.metadata[thing].get("table-uuid")}]


def _committed(
    what: str,
    thing: Thing,
    updates: Callable[[Json], Sequence[Json]],
    *,
    needs: str = "",
    lawful: frozenset[int] = frozenset(),
) -> Step:
    """Return a commit; ``updates`` gets the metadata that the last answer has shown."""

    def send(observer: Observer) -> Reply | None:
        if thing not in observer.metadata:
            return None
        sent = updates(observer.metadata[thing])
        if not sent or not keeps_updates(observer.catalog, sent):
            return None
        return observer.catalog.update_table(
            thing.namespace, thing.name, sent, _same(observer, thing)
        )

    return Step(
        what,
        "updateTable",
        send,
        world_has(thing),
        (200,),
        lambda world, reply: world.committed(thing, sent_updates(reply)),
        (thing,),
        lawful,
        needs=needs,
    )


def sent_updates(reply: Reply) -> list[Json]:
    """Return the updates of the commit that this is the answer to."""
    return [*read_body(reply.exchange.request_body)["updates"]]


def commit(thing: Thing, change: Mapping[str, str | None]) -> Step:
    """Set properties of a table, and remove those whose value is None."""
    updates = {key: value for key, value in change.items() if value is not None}

    def sent(metadata: Json) -> list[Json]:
        # The document does not say whether a property that is not there can be removed.
        there = metadata.get("properties") or {}
        removals = [key for key, value in change.items() if value is None and key in there]
        changes: list[Json] = []
        if updates:
            changes.append(bodies.set_properties(updates))
        if removals:
            changes.append({"action": "remove-properties", "removals": removals})
        return changes

    return _committed("a commit of properties", thing, sent)


def commit_snapshot(thing: Thing, ordinal: int) -> Step:
    """Commit a snapshot without files to main."""

    def updates(metadata: Json) -> list[Json]:
        parent = metadata.get("current-snapshot-id")
        is_first = not isinstance(parent, int) or parent == -1
        added = bodies.snapshot(metadata, ordinal, parent=None if is_first else parent)
        return [
            {"action": "add-snapshot", "snapshot": added},
            bodies.snapshot_ref(added["snapshot-id"]),
        ]

    return _committed("a commit of a snapshot", thing, updates, needs="metadata-only-snapshots")


def add_column(thing: Thing, name: str) -> Step:
    """Add a column and make the new schema the current one."""

    def updates(metadata: Json) -> list[Json]:
        table = Table(thing.namespace, thing.name, metadata, None)
        return [
            schema_addition(metadata, wider_schema(table, name)),
            {"action": "set-current-schema", "schema-id": -1},
        ]

    step = _committed("a commit of a column", thing, updates)

    def possible(world: World) -> bool:
        return world.has(thing) and "columns" in world.held[thing].due

    return replace(step, possible=possible)


_OF_REFS = {"branch": "branches", "tag": "tags"}
"""Type of a ref -> the capability without which the catalog keeps none beside main."""


def name_snapshot(thing: Thing, name: str, ref_type: str) -> Step:
    """Point a branch or tag at the current snapshot of a table."""

    def updates(metadata: Json) -> list[Json]:
        return [bodies.snapshot_ref(metadata.get("current-snapshot-id", 0), name, ref_type)]

    step = _committed(f"a commit of a {ref_type}", thing, updates, lawful=DOES_NOT)

    def possible(world: World) -> bool:
        return world.has(thing) and world.held[thing].due.get("current-snapshot-id") is not None

    return replace(step, possible=possible, needs=_OF_REFS[ref_type])


def refused_name(thing: Thing, name: str, ref_type: str) -> Step:
    """Point a branch or tag of a table without snapshots at one that never existed."""

    def send(observer: Observer) -> Reply:
        ref = bodies.snapshot_ref(_NO_SUCH_SNAPSHOT, name, ref_type)
        return observer.catalog.update_table(thing.namespace, thing.name, [ref])

    def possible(world: World) -> bool:
        return world.has(thing) and world.held[thing].due.get("snapshots") == {}

    what = f"a commit of a {ref_type} on no snapshot"
    # The status is a SHOULD: a catalog may answer what cannot be carried out with 409.
    refusals = range(400, 500)
    step = refused(what, "updateTable", send, *refusals, possible=possible, around=(thing,))
    return replace(step, needs=_OF_REFS[ref_type])


def remove_name(thing: Thing, name: str) -> Step:
    """Remove a branch or tag that is there: the document is silent about a missing one."""

    def possible(world: World) -> bool:
        return world.has(thing) and name in world.held[thing].due.get("refs", {})

    update = {"action": "remove-snapshot-ref", "ref-name": name}
    removal = _committed("a removal of a ref", thing, lambda _: [update], lawful=DOES_NOT)
    return replace(removal, possible=possible)


def _change(thing: Thing, mark: str, uuid: Any) -> Json:
    return {
        "identifier": thing.identifier,
        "requirements": [{"type": "assert-table-uuid", "uuid": uuid}],
        "updates": [set_property(mark, MARK)],
    }


def commit_together(marks: Mapping[Thing, str]) -> Step:
    """Commit a property to each of several tables in one transaction."""

    def send(observer: Observer) -> Reply | None:
        if any(each not in observer.metadata for each in marks):
            return None
        return observer.catalog.commit_transaction(
            [
                _change(each, mark, observer.metadata[each].get("table-uuid"))
                for each, mark in marks.items()
            ]
        )

    def after(world: World, _reply: Reply) -> World:
        for each, mark in marks.items():
            world = world.committed(each, [set_property(mark, MARK)])
        return world

    return Step(
        "a transaction",
        "commitTransaction",
        send,
        world_has(*marks),
        DONE,
        after,
        (*marks,),
        NOT_SUPPORTED,
        relies=("transaction.every-table-changes", "update.set-properties.effect"),
    )


def refused_together(first: Thing, last: Thing) -> Step:
    """Commit to two tables in one transaction, to the last under a requirement that fails."""

    def send(observer: Observer) -> Reply | None:
        if first not in observer.metadata:
            return None
        uuid = observer.metadata[first].get("table-uuid")
        changes = [_change(first, "unwanted", uuid), _change(last, "unwanted", ANOTHER_UUID)]
        return observer.catalog.commit_transaction(changes)

    return refused(
        "a refused transaction",
        "commitTransaction",
        send,
        409,
        possible=world_has(first, last),
        around=(first, last),
    )


def refused_commit(thing: Thing, *statuses: int) -> Step:
    """Commit to a table with another table's uuid (409), or to a missing table (404).

    A table that is only staged is missing, but the requirement may be held against it (L1049), also
    when another one has had the name since: it is the table if both statuses are given.
    """
    there, staged = 404 not in statuses, len(statuses) > 1

    def send(observer: Observer) -> Reply:
        return observer.catalog.update_table(
            thing.namespace,
            thing.name,
            [set_property("unwanted", MARK), set_property("unwanted", ADDED)],
            [{"type": "assert-table-uuid", "uuid": ANOTHER_UUID}],
        )

    return refused(
        "a refused commit",
        "updateTable",
        send,
        *statuses,
        possible=lambda w: w.has(thing) is there and (there or (thing in w.once_staged) is staged),
        around=(thing,),
    )
