"""Steps that make, stage, register and purge tables."""

from dataclasses import replace
from typing import Any

from icecheck.client import bodies
from icecheck.judging.probes import DOES_NOT
from icecheck.objects.committing import creation_updates
from icecheck.objects.metadata_view import metadata_in, settled
from icecheck.replies.expect import Reply
from icecheck.scenarios.model.observer import Observer
from icecheck.scenarios.model.world import KEPT, MARK, Thing, World, marked
from icecheck.scenarios.steps.step import (
    ANOTHER_UUID,
    DONE,
    Step,
    own_uuid,
    refused,
    send_drop,
    spoiled,
    world_has,
)

Json = dict[str, Any]

_STAGED = ("createTable.stage-creates-nothing",)
ASSERT_CREATE = {"type": "assert-create"}


# ------------------------------------------------------------------------------ tables


def _properties(mark: str) -> dict[str, str]:
    return {MARK: mark, KEPT: f"{mark} too"}


def _body(thing: Thing, mark: str, observer: Observer, *, stage_create: bool = False) -> Json:
    """Return a body for a table with properties and columns that no other table has.

    It has no properties where the ``observer`` knows that the catalog loses them.
    """
    schema = bodies.schema(
        bodies.struct_field(1, "id", "long", required=True),
        bodies.struct_field(2, f"column_{mark}", "string"),
    )
    properties = observer.begins_with("table", _properties(mark))
    return bodies.create_table_body(
        thing.name, table_schema=schema, properties=properties, stage_create=stage_create
    )


def _new_table(world: World, thing: Thing, mark: str, reply: Reply) -> World:
    """Return the state with a new table; its identity and schema are from the answer."""
    told = settled(metadata_in(reply))
    known = {"table-uuid": own_uuid(world, reply, "table-uuid"), "schemas": told["schemas"]}
    fresh: Json = {"snapshots": {}, "refs": {}, "current-snapshot-id": None, "statistics": []}
    properties = marked(_properties(mark))
    return world.made(thing, {**known, **fresh, "properties": properties})


def create_table(thing: Thing, mark: str) -> Step:
    """Create a table under a free name."""
    return Step(
        "creating a table",
        "createTable",
        lambda observer: observer.catalog.create_table(
            thing.namespace, _body(thing, mark, observer)
        ),
        lambda world: world.is_free(thing),
        (200,),
        lambda world, reply: _new_table(world, thing, mark, reply),
        (thing,),
    )


def create_beside(thing: Thing, mark: str, other: Thing) -> Step:
    """Create a table at the location of another one with a suffix, which is not inside that one."""

    def send(observer: Observer) -> Reply | None:
        place = observer.metadata.get(other, {}).get("location")
        if not isinstance(place, str) or not place:
            return None
        body = {**_body(thing, mark, observer), "location": f"{place.rstrip('/')}_x"}
        return observer.catalog.create_table(thing.namespace, body)

    return replace(
        create_table(thing, mark),
        what="creating a table beside another one",
        send=send,
        possible=lambda world: world.is_free(thing) and world.has(other),
        lawful=DOES_NOT,
    )


def create_namesake(namespace: Thing, mark: str) -> Step:
    """Create a table with the name of a namespace beside it; not every catalog allows both."""
    table = Thing("table", namespace.path)
    return replace(
        create_table(table, mark),
        what="creating a table called as a namespace",
        possible=lambda world: world.has(namespace) and not world.has(table),
        lawful=DOES_NOT | {409},
    )


def spoiled_create(thing: Thing) -> Step:
    """Try to create a table that is partitioned by a column that it does not have."""
    spec = bodies.partition_spec(bodies.partition_field(99, "identity", "nothing", 1000))

    def send(observer: Observer) -> Reply:
        body = {**_body(thing, "unwanted", observer), "partition-spec": spec}
        return observer.catalog.create_table(thing.namespace, body)

    return spoiled("a creation that cannot be", "createTable", send, thing)


def spoiled_register(thing: Thing, known: Thing) -> Step:
    """Try to register a missing file in the directory of a known one."""

    def send(observer: Observer) -> Reply | None:
        directory = observer.locations.get(known, "").rpartition("/")[0]
        if not directory:
            return None
        file = f"{directory}/00000-{ANOTHER_UUID}.metadata.json"
        return observer.catalog.register_table(thing.namespace, thing.name, file)

    return spoiled("a registration of no file", "registerTable", send, thing)


def refused_create(thing: Thing, status: int) -> Step:
    """Create a table where one exists (409), or in a missing namespace (404)."""

    def possible(world: World) -> bool:
        return world.has(thing) if status == 409 else not world.has_namespace(thing.namespace)

    return refused(
        "a creation of a table, which was to be refused",
        "createTable",
        lambda observer: observer.catalog.create_table(
            thing.namespace, _body(thing, "unwanted", observer)
        ),
        status,
        possible=possible,
        around=(thing,),
    )


def stage(thing: Thing, mark: str) -> Step:
    """Stage a table; it does not exist until it is committed."""

    def send(observer: Observer) -> Reply:
        body = _body(thing, mark, observer, stage_create=True)
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
        lambda world, _: world.with_staged(thing, mark),
        (thing,),
        needs="stage-create",
        relies=_STAGED,
    )


def refused_stage(thing: Thing) -> Step:
    """Stage a table where one exists."""

    def send(observer: Observer) -> Reply:
        body = _body(thing, "unwanted", observer, stage_create=True)
        return observer.catalog.create_table(thing.namespace, body)

    return refused(
        "the refused staging of a table",
        "createTable",
        send,
        409,
        possible=world_has(thing),
        around=(thing,),
        needs="stage-create",
        relies=_STAGED,
    )


def stage_beside(thing: Thing, mark: str) -> Step:
    """Stage another table under a name under which one is staged, and never commit it."""

    def send(observer: Observer) -> Reply:
        body = _body(thing, mark, observer, stage_create=True)
        return observer.catalog.create_table(thing.namespace, body)

    return replace(
        stage(thing, mark),
        what="staging another table under the name",
        send=send,
        after=lambda world, _: world.watching(thing),
    )


def commit_staged(thing: Thing) -> Step:
    """Commit the table that was last staged under the name, unless the name was used since."""

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
        lambda world: world.is_free(thing) and thing in world.staged,
        (200,),
        lambda world, reply: _new_table(world, thing, world.staged[thing], reply),
        (thing,),
    )


def register(thing: Thing, source: Thing) -> Step:
    """Register the metadata file of a table that was dropped without purge.

    A catalog may have removed the file or may not accept it: any refusal is lawful.
    """
    lawful = frozenset({*DOES_NOT, 404})

    def send(observer: Observer) -> Reply | None:
        location = observer.locations.get(source)
        if location is None or source in observer.outdated:
            return None
        reply = observer.catalog.register_table(thing.namespace, thing.name, location)
        if reply.ok or reply.status in lawful:
            return reply
        # The file's directory may be taken (409), or its reader fails (500). Only a name that is
        # refused where a new one is not tells about the catalog's names.
        another = replace(thing, path=(*thing.namespace, observer.catalog.new_name()))
        again = observer.catalog.register_table(another.namespace, another.name, location)
        if again.ok:
            send_drop(observer.catalog, another)
        return reply if again.ok else None

    return Step(
        "registering a table",
        "registerTable",
        send,
        lambda world: world.is_free(thing) and source in world.last and not world.has(source),
        (200,),
        lambda world, _: world.registered(thing, source),
        (thing, source),
        lawful,
    )


def register_over(thing: Thing, source: Thing) -> Step:
    """Register the metadata file of a dropped table in place of another table.

    A catalog may not know this option, or not replace a table by another one.
    """

    def send(observer: Observer) -> Reply | None:
        location = observer.locations.get(source)
        if location is None or source in observer.outdated:
            return None
        return observer.catalog.register_table(
            thing.namespace, thing.name, location, overwrite=True
        )

    return Step(
        "registering a table in place of another one",
        "registerTable",
        send,
        lambda world: world.has(thing) and source in world.last and not world.has(source),
        (200,),
        lambda world, _: world.registered(thing, source),
        (thing, source),
        frozenset({*DOES_NOT, 404, 409}),
    )


def refused_register(thing: Thing, source: Thing) -> Step:
    """Register a dropped table's file under a taken name; some catalogs have removed the file."""

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
