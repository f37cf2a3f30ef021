"""The first and second objects of a reused name, and how a check tells them apart."""

import contextlib
from collections.abc import Mapping
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import NO_BODY, Catalog, Query, Table
from icecheck.client.given import given_namespace, given_snapshot, given_table, reloaded
from icecheck.findings.shared_symptoms import EFFECT_MISSING, FIRST_LIFE_SHOWS
from icecheck.judging.probes import has_capability
from icecheck.objects import metadata_view
from icecheck.objects.evolving import column_id, last_partition_id, schema_addition, wider_schema
from icecheck.objects.reading import (
    LISTING,
    expect_unlisted,
    not_applicable,
    refuses_place,
    tables_in,
)
from icecheck.objects.views import (
    VIEW_SCHEMA,
    create_view_body,
    view_version,
)
from icecheck.replies.expect import Blocked, NotOffered, Reply
from icecheck.replies.matching import show
from icecheck.targets.target import Namespace

Json = dict[str, Any]

MARK = "icecheck.life"
FIRST = "icecheck.first"
"""A property that only the first object has."""
FIRST_LIFE = {MARK: "first", FIRST: "yes"}
SECOND_LIFE = {MARK: "second"}
_OTHER_SCHEMA = bodies.schema(
    bodies.struct_field(1, "other", "string", required=True), bodies.struct_field(2, "n", "int")
)
REFS = (("snapshots", "refs"),)
_OTHER_SQL = "SELECT 'b' AS other, 2 AS n"


def warm(catalog: Catalog, namespace: Namespace, name: str) -> None:
    """Send all requests about a table, beside loads, whose answers a server may cache."""
    if catalog.claims("tableExists"):
        catalog.table_exists(namespace, name)
    if catalog.claims("listTables"):
        catalog.list_tables(namespace)
    if catalog.claims("loadCredentials"):
        _credentials(catalog, namespace, name)


def _credentials(catalog: Catalog, namespace: Namespace, name: str) -> Reply:
    return catalog.load_credentials(namespace, name)


def given_first_table(catalog: Catalog) -> tuple[Table, dict[str, Query]]:
    """Make a table with a history in its own namespace, and have the server cache it.

    Returns the table as it is loaded, and the entity tags of its creation and of its loads with the
    query of each: the second table has as many commits as the first one had at some time.
    """
    table = given_table(catalog, given_namespace(catalog), properties=FIRST_LIFE)
    made = catalog.exchanges[-1].header("etag")
    told: list[tuple[str | None, Query]] = [(made, ())]
    with contextlib.suppress(Blocked, NotOffered):  # a table without snapshots is cached too
        table = given_snapshot(catalog, table)
    if catalog.claims("updateTable"):
        _furnish(catalog, table)
    table = reloaded(catalog, table)
    told.append((catalog.exchanges[-1].header("etag"), ()))
    where = (table.namespace, table.name)
    told.append((catalog.load_table(*where, query=REFS).header("etag"), REFS))
    warm(catalog, *where)
    tags: dict[str, Query] = {}
    for tag, query in told:
        if tag is not None:
            tags.setdefault(tag, query)
    return table, tags


def _furnish(catalog: Catalog, table: Table) -> None:
    """Give a table files, layouts and keys, as far as the catalog accepts them."""
    rooms: list[list[Json]] = [_files(table)]
    with contextlib.suppress(Blocked):  # the answer shows no column ids
        rooms.append(_layout(table))
    if has_capability(catalog, "format-version-3"):
        key = {"key-id": "first", "encrypted-key-metadata": "aWNl"}
        upgrade = {"action": "upgrade-format-version", "format-version": 3}
        rooms.append([upgrade, {"action": "add-encryption-key", "encryption-key": key}])
    where = (table.namespace, table.name)
    with catalog.arranging():
        if not catalog.update_table(*where, [each for room in rooms for each in room]).ok:
            for updates in filter(None, rooms):
                catalog.update_table(*where, updates)


def _layout(table: Table) -> list[Json]:
    column = column_id(table, "id")
    field = bodies.partition_field(
        column, "bucket[4]", "first_life", last_partition_id(table.metadata) + 1
    )
    return [
        schema_addition(table.metadata, wider_schema(table)),
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": bodies.partition_spec(field, spec_id=1)},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": bodies.sort_order(column)},
        {"action": "set-default-sort-order", "sort-order-id": -1},
    ]


def _files(table: Table) -> list[Json]:
    ids = [each["snapshot-id"] for each in table.metadata.get("snapshots") or []]
    return [
        *(bodies.set_statistics(bodies.statistics_file(table.metadata, each)) for each in ids),
        *(
            bodies.set_partition_statistics(bodies.partition_statistics_file(table.metadata, each))
            for each in ids
        ),
        *(bodies.snapshot_ref(each, "first-life", "tag") for each in ids),
    ]


def expect_no_first_tag(
    catalog: Catalog, namespace: Namespace, name: str, uuid: str, tags: Mapping[str, Query]
) -> None:
    """Judge that no entity tag of the first table is current for the second table of its name."""
    for tag, query in tags.items():
        headers = {"If-None-Match": tag}
        expect_second_table(catalog.load_table(namespace, name, query, headers), uuid)


def second_table(name: str) -> Json:
    """Return the body that creates the second table of a name."""
    return bodies.create_table_body(name, table_schema=_OTHER_SCHEMA, properties=SECOND_LIFE)


def expect_no_table(
    catalog: Catalog, namespace: Namespace, name: str, *, lists: bool = True
) -> None:
    """Judge that no operation finds a table under this name: no list either, if asked for."""
    asked = [catalog.load_table(namespace, name)]
    if catalog.claims("tableExists"):
        asked.append(catalog.table_exists(namespace, name))
    if catalog.claims("loadCredentials"):
        asked.append(_credentials(catalog, namespace, name))
    for reply in asked:
        expect_nothing(reply, "table")
    if lists and catalog.claims("listTables"):
        listed = catalog.list_tables(namespace)
        expect_unlisted(listed, namespace, name, EFFECT_MISSING.of("drop-table"))


def expect_nothing(reply: Reply, kind: str) -> None:
    """Judge that an answer says that this name does not exist."""
    if reply.ok or reply.status == 304:
        raise reply.violation(
            EFFECT_MISSING.of(f"drop-{kind}"), "404", reply.status, detail="after it was gone"
        )


def expect_second_table(reply: Reply, uuid: str) -> None:
    """Judge that an answer describes the second table of a name and shows nothing of the first."""
    metadata = metadata_view.metadata_in(there_again(reply))
    properties = metadata.get("properties") or {}
    wrong = {
        "its uuid": str(metadata.get("table-uuid")).lower() == uuid.lower(),
        "its properties": properties.get(MARK) != "second" or FIRST in properties,
        "its snapshots": bool(metadata.get("snapshots") or metadata.get("refs")),
        "its statistics": bool(metadata.get("statistics") or metadata.get("partition-statistics")),
        "its encryption keys": bool(metadata.get("encryption-keys")),
        "its history": bool(metadata.get("snapshot-log")),
        "its partitions": bool(metadata_view.default_spec(metadata).get("fields")),
        "its sort order": bool(metadata_view.default_sort_order(metadata).get("fields")),
        "its columns": metadata_view.shape(metadata_view.current_schema(metadata))
        != metadata_view.shape(_OTHER_SCHEMA),
    }
    expect_nothing_of_first(reply, wrong)


def expect_nothing_of_first(reply: Reply, wrong: dict[str, bool]) -> None:
    """Judge that none of these conditions is true; the keys describe data of the first object."""
    if seen := [what for what, is_so in wrong.items() if is_so]:
        raise reply.violation(
            FIRST_LIFE_SHOWS,
            "what was created last under this name",
            "what bore the name before",
            detail=f"of the first one: {', '.join(seen)}",
        )


def there_again(reply: Reply) -> Reply:
    """Judge that the re-created object is answered, and neither as missing nor as unchanged."""
    if reply.status == 304:
        raise reply.violation(
            FIRST_LIFE_SHOWS,
            "what was created last under this name",
            "what bore the name before",
            detail="it is said not to have changed",
        )
    return reply.expect(200, 204)


def expect_listed_once(reply: Reply, namespace: Namespace, name: str) -> None:
    """Judge that a list has a table or view exactly once."""
    count = tables_in(reply).count((namespace, name))
    if count != 1:
        raise reply.violation(
            LISTING,
            "a list of what is there",
            "another list",
            detail=f"{show(name)} is in it {count} times",
        )


def unusable_renames(catalog: Catalog, source: Json) -> dict[str, Any]:
    """Return what is wrong with a body -> a body of a rename of this identifier."""
    target = {**source, "name": catalog.new_name()}
    return {
        "no body": NO_BODY,
        "no JSON": b"{",
        "no object": [source, target],
        "no source": {"destination": target},
        "no destination": {"source": source},
        "a destination that is a string": {"source": source, "destination": "t"},
    }


def reused(reply: Reply, detail: str = "") -> Reply:
    """End the check if the catalog refuses the location, where renamed files may still lie."""
    if refuses_place(reply):
        why = f"the catalog refuses the old name's default location with {reply.status}"
        raise not_applicable(why)
    return reply.expect(200, detail=detail)


def second_view(namespace: Namespace, name: str) -> Json:
    """Return the body that creates the second view of a name."""
    version = view_version(_OTHER_SQL, namespace=namespace, dialects=("trino",))
    return create_view_body(
        name, namespace, version=version, schema=_OTHER_SCHEMA, properties=SECOND_LIFE
    )


def expect_no_view(catalog: Catalog, namespace: Namespace, name: str) -> None:
    """Judge that no operation finds a view under this name."""
    asked = [catalog.load_view(namespace, name)]
    if catalog.claims("viewExists"):
        asked.append(catalog.view_exists(namespace, name))
    for reply in asked:
        expect_nothing(reply, "view")
    if catalog.claims("listViews"):
        listed = catalog.list_views(namespace)
        expect_unlisted(listed, namespace, name, EFFECT_MISSING.of("drop-view"))


def expect_second_view(reply: Reply, uuid: str) -> None:
    """Judge that an answer describes the second view of a name and shows nothing of the first."""
    metadata = metadata_view.metadata_in(there_again(reply))
    properties = metadata.get("properties") or {}
    shapes = [metadata_view.shape(each) for each in metadata.get("schemas") or ()]
    queries = [
        each.get("sql")
        for version in metadata.get("versions") or ()
        for each in version.get("representations") or ()
    ]
    wrong = {
        "its uuid": str(metadata.get("view-uuid")).lower() == uuid.lower(),
        "its properties": properties.get(MARK) != "second" or FIRST in properties,
        "its queries": queries != [_OTHER_SQL],
        "its columns": metadata_view.shape(VIEW_SCHEMA) in shapes,
    }
    expect_nothing_of_first(reply, wrong)
