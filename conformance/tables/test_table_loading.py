"""Checks of loadTable and tableExists: existence, current version, and requested snapshots."""

from collections.abc import Mapping
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Query, Table
from icecheck.client.given import (
    given_commit,
    given_dropped,
    given_snapshot,
    given_table,
    reloaded,
    shared_namespace,
    shared_table,
    some_shared_namespace,
    some_table,
)
from icecheck.client.sender import ASKING_FOR_CREDENTIALS
from icecheck.findings.shared_symptoms import STALE_READ_AFTER_COMMIT
from icecheck.findings.symptoms import ANOTHER_THING, NOT_ALL_SEEN, Severity, declare
from icecheck.judging.check import check
from icecheck.judging.probes import has_capability, saw
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import given_snapshots
from icecheck.objects.reading import (
    BODY_ON_304,
    DANGLING_CURRENT_ID,
    ETAG_UNCHANGED_BY_COMMIT,
    EXISTENCE_CONTRADICTS_LOAD,
    LOAD_IS_NOT_REPEATABLE,
    not_applicable,
)
from icecheck.replies.expect import Reply, equal
from icecheck.replies.matching import ABSENT, ANY_INTEGER, ANY_STRING, Matcher

_ID_ABOVE_THE_LAST_ONE = declare(
    "id-above-the-last-one",
    "An id in the metadata is above the last assigned id of its kind",
    Severity.FALSE_OR_LOST,
    "every client: the next id that it assigns is in use already",
)
_METADATA_ALTERED = declare(
    "metadata-altered",
    "A load of the referenced snapshots alters other metadata",
    Severity.FALSE_OR_LOST,
    NOT_ALL_SEEN,
)
_NO_METADATA_LOCATION = declare(
    "no-metadata-location", "Answers a load without the metadata location", Severity.SHAPE
)
_SNAPSHOT_OUT_OF_NOTHING = declare(
    "snapshot-out-of-nothing",
    "Shows a current snapshot in a table that has none",
    Severity.FALSE_OR_LOST,
)
_SNAPSHOTS_LEFT_OUT = declare(
    "snapshots-left-out",
    "Leaves snapshots out of the answer to a load",
    Severity.FALSE_OR_LOST,
    NOT_ALL_SEEN,
)
_WRONG_TABLE_ANSWERED = declare(
    "wrong-table-answered",
    "Answers a load with another table than the one that was named",
    Severity.FALSE_OR_LOST,
    ANOTHER_THING,
)

STRUCT = bodies.struct_field
MARK = "icecheck.mark"
NEXT = bodies.set_properties({MARK: "1"})
# Options of a load; the table must be the same with all of them.
ASKED: tuple[tuple[Query, Mapping[str, str]], ...] = (
    ((), {}),
    ((("snapshots", "refs"),), {}),
    ((("snapshots", "all"),), {}),
    ((), ASKING_FOR_CREDENTIALS),
)
NO_SNAPSHOT = Matcher("absent, null or -1", lambda v: v is ABSENT or v is None or v == -1)

# Nested fields have ids too: the number of columns is not the last column id.
PLACES = bodies.schema(
    STRUCT(1, "id", "long", required=True),
    STRUCT(2, "at", {"type": "struct", "fields": [
        STRUCT(3, "lat", "double"), STRUCT(4, "lon", "double")]}),
)  # fmt: skip
CURRENT = (
    ("schemas", "schema-id", "current-schema-id"),
    ("partition-specs", "spec-id", "default-spec-id"),
    ("sort-orders", "order-id", "default-sort-order-id"),
)


@check("loadTable.succeeds", proves="loadTable.200")
def test_load_table(catalog: Catalog) -> None:
    """Loading a table answers the metadata of that table."""
    # The shared table is not used: its setup loads it and blocks the check if that fails.
    read_only = catalog.target.read_only
    tables = [some_table(catalog)] if read_only else [given_table(catalog) for _ in range(2)]
    for table in tables:
        reply = catalog.load_table(table.namespace, table.name).expect(200)
        expected = {"metadata": {"table-uuid": view.same_uuid(table.uuid)}}
        reply.expect_json(expected, symptom=_WRONG_TABLE_ANSWERED)


@check("loadTable.missing", proves="loadTable.404")
def test_missing_table(catalog: Catalog) -> None:
    """Loading a table that does not exist is refused, in an existing namespace or a missing one."""
    namespace = some_shared_namespace(catalog)
    catalog.load_table(namespace, catalog.new_name()).expect(404)
    missing = catalog.new_namespace_name()
    detail = "in a missing namespace"
    catalog.load_table(missing, catalog.new_name()).expect(404, detail=detail)


@check("loadTable.metadata-table-name", proves="loadTable.metadata-tables-not-found")
def test_metadata_table_name(catalog: Catalog) -> None:
    """A load of table.snapshots, as engines ask for metadata tables, is answered 404."""
    table = some_table(catalog)
    catalog.load_table((*table.namespace, table.name), "snapshots").expect(404)


@check("loadTable.shows-last-commit", proves="loadTable.latest")
def test_last_commit(catalog: Catalog) -> None:
    """Loading returns what the last commit left."""
    table = given_table(catalog, properties={MARK: "0"})
    before = reloaded(catalog, table).metadata_location
    for turn in ("1", "2"):
        update = bodies.set_properties({MARK: turn})
        committed = given_commit(catalog, table, [update])
        reply = catalog.load_table(table.namespace, table.name).expect(200)
        reply.expect_json(
            {MARK: turn}, at=["metadata", "properties"], symptom=STALE_READ_AFTER_COMMIT
        )
        location = reply.json().get("metadata-location")
        if location is not None and location == before != committed.metadata_location:
            raise reply.violation(
                STALE_READ_AFTER_COMMIT,
                "the metadata location of the new version",
                "that of the version before it",
                pointer="/metadata-location",
            )
        before = location


@check("loadTable.complete", proves="loadTable.full-metadata")
def test_full_metadata(catalog: Catalog) -> None:
    """The metadata is complete, and holds everything that its current ids refer to."""
    spec = bodies.partition_spec(bodies.partition_field(1, "bucket[4]", "id_bucket", 1000))
    order = bodies.sort_order(1)
    table = given_table(catalog, table_schema=PLACES, spec=spec, write_order=order)
    reply = catalog.load_table(table.namespace, table.name).expect(200)
    metadata = view.metadata_in(reply)
    if metadata.get("format-version", 2) < 2:
        return  # version 1 may have schema and spec in their old members only
    numbers = ("last-sequence-number", "last-column-id", "last-partition-id")
    pointers = [pointer for _, _, pointer in CURRENT]
    reply.expect_json(dict.fromkeys((*numbers, *pointers), ANY_INTEGER), at=["metadata"])
    for members, id_member, pointer in CURRENT:
        ids = [m.get(id_member) for m in _objects(metadata, members)]
        found = metadata[pointer] in ids
        equal(found, True, symptom=DANGLING_CURRENT_ID, detail=f"{pointer} among {members}")
    columns = [*view.field_ids(view.current_schema(metadata))]
    fields = [f.get("field-id") for f in _objects(view.default_spec(metadata), "fields")]
    for last, assigned in (("last-column-id", columns), ("last-partition-id", fields)):
        above = [i for i in assigned if isinstance(i, int) and i > metadata[last]]
        equal(above, [], symptom=_ID_ABOVE_THE_LAST_ONE, detail=f"{last} {metadata[last]}")


def _objects(metadata: Mapping[str, Any], members: str) -> list[dict[str, Any]]:
    return [m for m in metadata.get(members) or [] if isinstance(m, dict)]


@check("loadTable.has-metadata-location", proves="loadTable.metadata-location")
def test_metadata_location(catalog: Catalog) -> None:
    """The answer for a committed table carries its metadata location."""
    table = some_table(catalog)
    for query, headers in ASKED:
        reply = _asked(catalog, table, query, headers)
        reply.expect_json({"metadata-location": ANY_STRING}, symptom=_NO_METADATA_LOCATION)


def _asked(catalog: Catalog, table: Table, query: Query, headers: Mapping[str, str]) -> Reply:
    return catalog.load_table(table.namespace, table.name, query, headers).expect(200)


@check("loadTable.repeatable", proves="loadTable.stable")
def test_two_loads_agree(catalog: Catalog) -> None:
    """Loads without a commit between them return the same metadata."""
    table = given_table(catalog, properties={MARK: "kept"})
    first = reloaded(catalog, table)
    was = view.settled(first.metadata, MARK)
    for query, headers in ASKED:
        reply = _asked(catalog, table, query, headers)
        detail = " ".join([*(f"{key}={value}" for key, value in query), *headers])
        location = reply.json().get("metadata-location")
        if location is not None or not detail:  # the document recommends it only
            _agrees_with(first.metadata_location, location, detail)
        _agrees_with(was, view.settled(view.metadata_in(reply), MARK), detail)


def _agrees_with(was: Any, now: Any, detail: str) -> None:
    equal(now, was, symptom=LOAD_IS_NOT_REPEATABLE, detail=detail)


@check("loadTable.no-current-snapshot", proves="loadTable.empty-table")
def test_empty_table(catalog: Catalog) -> None:
    """A table without snapshots has no current snapshot."""
    table = shared_table(catalog)
    catalog.load_table(table.namespace, table.name).expect(200).expect_json(
        {"current-snapshot-id": NO_SNAPSHOT}, at=["metadata"], symptom=_SNAPSHOT_OUT_OF_NOTHING
    )


def _shown(catalog: Catalog, table: Table, *query: tuple[str, str]) -> list[object]:
    reply = catalog.load_table(table.namespace, table.name, query).expect(200)
    return [s.get("snapshot-id") for s in _objects(view.metadata_in(reply), "snapshots")]


def _left_out(catalog: Catalog, table: Table, due: list[int], *query: tuple[str, str]) -> list[int]:
    got = _shown(catalog, table, *query)
    return [snapshot_id for snapshot_id in due if snapshot_id not in got]


@check(
    "loadTable.all-snapshots",
    proves="loadTable.snapshots-default-all",
    needs=("metadata-only-snapshots", "snapshot-history"),
)
def test_all_snapshots(catalog: Catalog) -> None:
    """Without a snapshots parameter, and with all, every snapshot is returned."""
    table, made = given_snapshots(catalog, 3)
    equal(_left_out(catalog, table, made), [], symptom=_SNAPSHOTS_LEFT_OUT)
    left_out = _left_out(catalog, table, made, ("snapshots", "all"))
    equal(left_out, [], symptom=_SNAPSHOTS_LEFT_OUT, detail="with snapshots=all")


@check(
    "loadTable.referenced-snapshots",
    proves="loadTable.snapshots-refs",
    needs=("metadata-only-snapshots", "snapshot-history", "branches"),
)
def test_referenced_snapshots(catalog: Catalog) -> None:
    """With snapshots=refs, a load returns every snapshot of a ref, and all other metadata."""
    table, made = given_snapshots(catalog, 3)
    given_commit(catalog, table, [bodies.snapshot_ref(made[0], "kept"), NEXT])
    loads = [
        catalog.load_table(table.namespace, table.name, [("snapshots", asked)]).expect(200)
        for asked in ("refs", "all")
    ]
    of_refs, of_all = map(view.metadata_in, loads)
    got = [s.get("snapshot-id") for s in _objects(of_refs, "snapshots")]
    # A catalog that returns all snapshots leaves out nothing, and does not offer the reduction.
    saw(catalog, "snapshots-refs", present=made[1] not in got)
    left_out = [snapshot_id for snapshot_id in (made[0], made[-1]) if snapshot_id not in got]
    equal(left_out, [], symptom=_SNAPSHOTS_LEFT_OUT, detail="with snapshots=refs")
    whole, shown = (view.but_for_snapshots(each, MARK) for each in (of_all, of_refs))
    lost = [member for member in whole if whole[member] != shown[member]]
    equal(lost, [], symptom=_METADATA_ALTERED, detail="with snapshots=refs")


@check("loadTable.bad-snapshots-parameter", proves="loadTable.400")
def test_bad_snapshots_parameter(catalog: Catalog) -> None:
    """A snapshots parameter that is neither all nor refs is refused."""
    table = some_table(catalog)
    query = [("snapshots", "some")]
    catalog.load_table(table.namespace, table.name, query).expect(400)


def _etag(catalog: Catalog, table: Table) -> str:
    return catalog.load_table(table.namespace, table.name).expect(200).header("etag") or ""


@check("loadTable.not-modified", proves="loadTable.304", needs=("etag",))
def test_not_modified(catalog: Catalog) -> None:
    """The ETag of the current metadata may be answered 304, and then without a body."""
    table = some_table(catalog)
    headers = {"If-None-Match": _etag(catalog, table)}
    reply = catalog.load_table(table.namespace, table.name, headers=headers).expect(200, 304)
    if reply.status == 304:
        equal(len(reply.exchange.response_body), 0, symptom=BODY_ON_304, detail="bytes of body")


@check("etag.differs-after-commit", proves="etag.changes-with-commit", needs=("etag",))
def test_etag_changes(catalog: Catalog) -> None:
    """A commit that changes the metadata changes the ETag."""
    table = given_table(catalog)
    before = _etag(catalog, table)
    given_commit(catalog, table, [NEXT])
    equal(_etag(catalog, table) != before, True, symptom=ETAG_UNCHANGED_BY_COMMIT)


@check("etag.stale-gets-new-metadata", proves="etag.stale-is-not-304", needs=("etag",))
def test_stale_etag(catalog: Catalog) -> None:
    """An ETag from before a commit, of a creation or of a load, gets the new metadata."""
    table = given_table(catalog)
    tags = {catalog.exchanges[-1].header("etag"), _etag(catalog, table)} - {None}
    given_commit(catalog, table, [NEXT])
    for tag in sorted(map(str, tags)):
        headers = {"If-None-Match": tag}
        reply = catalog.load_table(table.namespace, table.name, headers=headers)
        reply.expect(200).expect_json({MARK: "1"}, at=["metadata", "properties"])
    if not all(has_capability(catalog, each) for each in ("metadata-only-snapshots", "tags")):
        return
    table = given_snapshot(catalog, table)
    tag = _etag(catalog, table)
    named = bodies.snapshot_ref(bodies.snapshot(table.metadata)["snapshot-id"], "kept", "tag")
    given_commit(catalog, table, [named])  # a change of the refs only
    reply = catalog.load_table(table.namespace, table.name, headers={"If-None-Match": tag})
    reply.expect(200, detail="after a commit of a tag").expect_json(
        {"kept": {"type": "tag"}}, at=["metadata", "refs"]
    )


@check("etag.of-a-commit")
def test_etag_of_a_commit(catalog: Catalog) -> None:
    """The ETag that a commit is answered with is of the metadata after it."""
    table = given_table(catalog)
    before = _etag(catalog, table)
    given_commit(catalog, table, [NEXT])
    tag = catalog.exchanges[-1].header("etag")
    if tag is None:
        raise not_applicable("the catalog sends no ETag with the answer to a commit")
    equal(tag != before, True, symptom=ETAG_UNCHANGED_BY_COMMIT)
    headers = {"If-None-Match": tag}
    current = catalog.load_table(table.namespace, table.name, headers=headers).expect(200, 304)
    if current.ok:
        current.expect_json({MARK: "1"}, at=["metadata", "properties"])
    given_commit(catalog, table, [bodies.set_properties({MARK: "2"})])
    reply = catalog.load_table(table.namespace, table.name, headers=headers)
    reply.expect(200, detail="after a further commit").expect_json(
        {MARK: "2"}, at=["metadata", "properties"]
    )


@check("tableExists.existing", proves="tableExists.204")
def test_existing_table(catalog: Catalog) -> None:
    """The existence check of an existing table is answered 204."""
    table = some_table(catalog)
    catalog.table_exists(table.namespace, table.name).expect(204)


@check("tableExists.missing", proves="tableExists.404")
def test_existence_of_missing_table(catalog: Catalog) -> None:
    """The existence check of a missing table is answered 404."""
    namespace = some_shared_namespace(catalog)
    catalog.table_exists(namespace, catalog.new_name()).expect(404)
    catalog.table_exists(catalog.new_namespace_name(), catalog.new_name()).expect(404)


@check("tableExists.agrees", proves="tableExists.agrees-with-load")
def test_existence_agrees_with_load(catalog: Catalog) -> None:
    """The existence check agrees with loading, before and after creation and drop."""
    namespace = shared_namespace(catalog)
    name = catalog.new_name()
    _agrees(catalog, namespace, name, "not yet created")
    catalog.create_table(namespace, bodies.create_table_body(name)).expect(200)
    _agrees(catalog, namespace, name, "created")
    given_dropped(catalog, namespace, name)
    _agrees(catalog, namespace, name, "dropped")


def _agrees(catalog: Catalog, namespace: tuple[str, ...], name: str, stage: str) -> None:
    loads = catalog.load_table(namespace, name).expect(200, 404).ok
    exists = catalog.table_exists(namespace, name).expect(200, 204, 404).ok
    equal(exists, loads, symptom=EXISTENCE_CONTRADICTS_LOAD, detail=f"a table {stage}")
