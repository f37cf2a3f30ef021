"""Steps that make, register and purge tables, and commit to them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from icecheck import bodies
from icecheck.conformance.committing import creation_updates, set_property
from icecheck.conformance.metadata_view import metadata_in, settled
from icecheck.conformance.world import ADDED, KEPT, MARK, Thing, World, marked
from icecheck.conformance.world_observing import Observer
from icecheck.conformance.world_steps import (
    ANOTHER_UUID,
    DOES_NOT,
    DONE,
    NOT_SUPPORTED,
    Step,
    own_uuid,
    refused,
    world_has,
)
from icecheck.expect import Reply

__all__ = [
    "commit",
    "commit_snapshot",
    "commit_staged",
    "commit_together",
    "create_table",
    "name_snapshot",
    "purge",
    "refused_commit",
    "refused_create",
    "refused_register",
    "refused_together",
    "register",
    "stage",
]

Json = dict[str, Any]

ASSERT_CREATE = {"type": "assert-create"}
_LEFT_OPEN = ("metadata-location",)


# ------------------------------------------------------------------------------ tables


def _body(thing: Thing, mark: str, *, stage_create: bool = False) -> Json:
    """Return a body that makes a table whose properties and columns nothing else has."""
    schema = bodies.schema(
        bodies.struct_field(1, "id", "long", required=True),
        bodies.struct_field(2, f"column_{mark}", "string"),
    )
    properties = {MARK: mark, KEPT: f"{mark} too"}
    return bodies.create_table_body(
        thing.name, table_schema=schema, properties=properties, stage_create=stage_create
    )


def _new_table(world: World, thing: Thing, mark: str, reply: Reply) -> World:
    """Return the world with a table whose identity and schema the answer has told."""
    told = settled(metadata_in(reply))
    known = {"table-uuid": own_uuid(world, reply, "table-uuid"), "schemas": told["schemas"]}
    fresh: Json = {"snapshots": {}, "refs": {}, "current-snapshot-id": None}
    properties = marked({MARK: mark, KEPT: f"{mark} too"})
    return world.made(thing, {**known, **fresh, "properties": properties})


def create_table(thing: Thing, mark: str) -> Step:
    """Create a table under a free name."""
    return Step(
        "creating a table",
        "createTable",
        lambda observer: observer.catalog.create_table(thing.namespace, _body(thing, mark)),
        lambda world: world.is_free(thing),
        (200,),
        lambda world, reply: _new_table(world, thing, mark, reply),
        (thing,),
    )


def refused_create(thing: Thing, status: int) -> Step:
    """Create a table where one is (409), or in no namespace (404)."""

    def possible(world: World) -> bool:
        return world.has(thing) if status == 409 else not world.has_namespace(thing.namespace)

    return refused(
        "the refused creation of a table",
        "createTable",
        lambda observer: observer.catalog.create_table(thing.namespace, _body(thing, "unwanted")),
        status,
        possible=possible,
        around=(thing,),
    )


def stage(thing: Thing, mark: str) -> Step:
    """Stage a table, which is not there until it is committed."""

    def send(observer: Observer) -> Reply:
        body = _body(thing, mark, stage_create=True)
        reply = observer.catalog.create_table(thing.namespace, body)
        if reply.ok:
            observer.staged[thing] = metadata_in(reply)
        return reply

    return Step(
        "staging a table",
        "createTable",
        send,
        lambda world: world.is_free(thing),
        (200,),
        lambda world, _: world.watching(thing),
        (thing,),
        needs="stage-create",
    )


def commit_staged(thing: Thing, mark: str) -> Step:
    """Commit the table that was staged last under the name."""

    def send(observer: Observer) -> Reply | None:
        staged = observer.staged.get(thing)
        if staged is None:
            return None
        updates = creation_updates(staged)
        return observer.catalog.update_table(thing.namespace, thing.name, updates, [ASSERT_CREATE])

    return Step(
        "committing a staged table",
        "updateTable",
        send,
        lambda world: world.is_free(thing),
        (200,),
        lambda world, reply: _new_table(world, thing, mark, reply),
        (thing,),
    )


def register(thing: Thing, source: Thing) -> Step:
    """Register the metadata file of a table that was dropped without purging it.

    Not every catalog leaves the file of a dropped table, or takes it: any refusal is its right.
    """
    kept = ("table-uuid", "schemas", "snapshots", "refs", "current-snapshot-id", "properties")

    def send(observer: Observer) -> Reply | None:
        location = observer.locations.get(source)
        if location is None:
            return None
        return observer.catalog.register_table(thing.namespace, thing.name, location)

    def after(world: World, reply: Reply) -> World:
        due = {m: v for m, v in world.last[source].items() if m in kept}
        return world.made(thing, due)

    return Step(
        "registering a table",
        "registerTable",
        send,
        lambda world: world.is_free(thing) and source in world.last and not world.has(source),
        (200,),
        after,
        (thing, source),
        frozenset({*DOES_NOT, 404}),
    )


def refused_register(thing: Thing, source: Thing) -> Step:
    """Register a dropped table's file under a taken name; some have removed the file."""

    def send(observer: Observer) -> Reply | None:
        location = observer.locations.get(source)
        if location is None:
            return None
        return observer.catalog.register_table(thing.namespace, thing.name, location)

    return replace(
        refused(
            "the refused registration of a table",
            "registerTable",
            send,
            409,
            possible=lambda world: world.has(thing) and source in world.last,
            around=(thing, source),
        ),
        lawful=frozenset({*DOES_NOT, 404}),
    )


def purge(thing: Thing) -> Step:
    """Drop a table with its files."""
    query = [("purgeRequested", "true")]
    return Step(
        "purging a table",
        "dropTable",
        lambda observer: observer.catalog.drop_table(thing.namespace, thing.name, query),
        world_has(thing),
        DONE,
        lambda world, _: world.without(thing, purged=True),
        (thing,),
        DOES_NOT,
    )


# ----------------------------------------------------------------------------- commits


def _same(observer: Observer, thing: Thing) -> list[Json]:
    return [{"type": "assert-table-uuid", "uuid": observer.metadata[thing].get("table-uuid")}]


def _committed(
    what: str,
    thing: Thing,
    updates: Callable[[Json], Sequence[Json]],
    after: Callable[[World], World],
    *,
    needs: str = "",
    lawful: frozenset[int] = frozenset(),
) -> Step:
    """Return a commit; ``updates`` gets the metadata that the last load has shown."""

    def send(observer: Observer) -> Reply | None:
        if thing not in observer.metadata:
            return None
        return observer.catalog.update_table(
            thing.namespace,
            thing.name,
            updates(observer.metadata[thing]),
            _same(observer, thing),
        )

    return Step(
        what,
        "updateTable",
        send,
        world_has(thing),
        (200,),
        lambda world, _: after(world),
        (thing,),
        lawful,
        needs=needs,
    )


def _with_mark(world: World, thing: Thing, mark: str) -> World:
    properties = {**world.held[thing].due["properties"], MARK: mark}
    return world.changed(thing, {"properties": properties}, left_open=_LEFT_OPEN)


def commit(thing: Thing, change: Mapping[str, str | None]) -> Step:
    """Commit properties to a table, and the removal of those whose value is None."""
    updates = {key: value for key, value in change.items() if value is not None}
    removals = [key for key, value in change.items() if value is None]
    sent: list[Json] = [{"action": "set-properties", "updates": updates}] if updates else []
    sent += [{"action": "remove-properties", "removals": removals}] if removals else []

    def after(world: World) -> World:
        properties = {**world.held[thing].due["properties"], **change}
        return world.changed(thing, {"properties": properties}, left_open=_LEFT_OPEN)

    return _committed("a commit of properties", thing, lambda _: sent, after)


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

    def after(world: World) -> World:
        snapshot_id = bodies.snapshot({}, ordinal)["snapshot-id"]
        due = {"current-snapshot-id": snapshot_id}
        assigned = ("snapshots", "refs", "last-sequence-number", "next-row-id")
        return world.changed(thing, due, left_open=(*assigned, *_LEFT_OPEN))

    return _committed(
        "a commit of a snapshot", thing, updates, after, needs="metadata-only-snapshots"
    )


def name_snapshot(thing: Thing, name: str, ref_type: str) -> Step:
    """Point a branch or tag at the current snapshot of a table."""

    def updates(metadata: Json) -> list[Json]:
        return [bodies.snapshot_ref(metadata.get("current-snapshot-id", 0), name, ref_type)]

    def after(world: World) -> World:
        held = world.held[thing].due
        ref = {"snapshot-id": held["current-snapshot-id"], "type": ref_type}
        due = {"refs": {**held.get("refs", {}), name: ref}}
        return world.changed(thing, due, loose=("refs",), left_open=_LEFT_OPEN)

    step = _committed(f"a commit of a {ref_type}", thing, updates, after, lawful=DOES_NOT)

    def possible(world: World) -> bool:
        return world.has(thing) and world.held[thing].due.get("current-snapshot-id") is not None

    return replace(step, possible=possible)


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
            world = _with_mark(world, each, mark)
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
    )


def refused_together(first: Thing, last: Thing) -> Step:
    """Commit to two tables, to the last under a requirement that does not hold."""

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


def refused_commit(thing: Thing, status: int) -> Step:
    """Commit to a table as if it were another one (409), or to one that is not there (404)."""

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
        status,
        possible=lambda world: world.has(thing) is (status == 409),
        around=(thing,),
    )
