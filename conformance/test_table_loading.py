"""loadTable and tableExists: what is there, which version of it, and how much of it."""

from icecheck.check import check
from icecheck.client import Catalog, Table
from icecheck.expect import ABSENT, ANY_INTEGER, ANY_OBJECT, ANY_STRING, Matcher, equal

NO_SNAPSHOT = Matcher("absent, null or -1", lambda v: v is ABSENT or v is None or v == -1)


@check("loadTable.succeeds", proves="loadTable.200")
def test_load_table(catalog: Catalog) -> None:
    """Loading a table answers its metadata."""
    table = catalog.given_table()
    reply = catalog.load_table(table.namespace, table.name).expect(200)
    reply.expect_json({"metadata": {"table-uuid": table.uuid}}, symptom="wrong-table-answered")


@check("loadTable.missing", proves="loadTable.404")
def test_missing_table(catalog: Catalog) -> None:
    """Loading a table that does not exist is refused, in an existing namespace and in none."""
    namespace = catalog.given_namespace()
    catalog.load_table(namespace, catalog.new_name()).expect(404)
    missing = catalog.new_namespace_name()
    detail = "in a missing namespace"
    catalog.load_table(missing, catalog.new_name()).expect(404, detail=detail)


@check("loadTable.metadata-table-name", proves="loadTable.404")
def test_metadata_table_name(catalog: Catalog) -> None:
    """A table's name is no namespace: what engines ask for as table.snapshots is not found."""
    table = catalog.given_table()
    catalog.load_table((*table.namespace, table.name), "snapshots").expect(404)


@check("loadTable.shows-last-commit", proves="loadTable.latest")
def test_last_commit(catalog: Catalog) -> None:
    """Loading returns what the last commit left."""
    table = catalog.given_table(properties={"turn": "0"})
    for turn in ("1", "2"):
        update = {"action": "set-properties", "updates": {"turn": turn}}
        committed = catalog.given_commit(table, [update])
        reply = catalog.load_table(table.namespace, table.name).expect(200)
        reply.expect_json(
            {"turn": turn}, at=["metadata", "properties"], symptom="stale-read-after-commit"
        )
        reply.expect_json(
            {"metadata-location": committed.metadata_location}, symptom="stale-read-after-commit"
        )


@check("loadTable.complete", proves="loadTable.full-metadata")
def test_full_metadata(catalog: Catalog) -> None:
    """The metadata has every member that its format version requires."""
    table = catalog.given_table()
    reply = catalog.load_table(table.namespace, table.name).expect(200)
    metadata = reply.member("metadata")
    reply.expect_json(
        {"location": ANY_STRING, "last-updated-ms": ANY_INTEGER, "last-column-id": ANY_INTEGER},
        at=["metadata"],
    )
    if metadata.get("format-version", 2) >= 2:
        numbers = ("last-sequence-number", "current-schema-id", "default-spec-id",
                   "last-partition-id", "default-sort-order-id")  # fmt: skip
        reply.expect_json(dict.fromkeys(numbers, ANY_INTEGER), at=["metadata"])
        for member in ("schemas", "partition-specs", "sort-orders"):
            reply.expect_json([ANY_OBJECT], at=["metadata", member])


@check("loadTable.has-metadata-location", proves="loadTable.metadata-location")
def test_metadata_location(catalog: Catalog) -> None:
    """The answer for a committed table carries its metadata location."""
    table = catalog.given_table()
    reply = catalog.load_table(table.namespace, table.name).expect(200)
    reply.expect_json({"metadata-location": ANY_STRING}, symptom="no-metadata-location")


@check("loadTable.repeatable", proves="loadTable.stable")
def test_two_loads_agree(catalog: Catalog) -> None:
    """Two loads without a commit between them agree."""
    table = catalog.given_table()
    first, second = catalog.loaded(table), catalog.loaded(table)
    equal(second.metadata_location, first.metadata_location, symptom="load-is-not-repeatable")
    equal(second.metadata, first.metadata, symptom="load-is-not-repeatable")


@check("loadTable.no-current-snapshot", proves="loadTable.empty-table")
def test_empty_table(catalog: Catalog) -> None:
    """A table without snapshots has no current snapshot."""
    table = catalog.given_table()
    catalog.load_table(table.namespace, table.name).expect(200).expect_json(
        {"current-snapshot-id": NO_SNAPSHOT}, at=["metadata"], symptom="snapshot-out-of-nothing"
    )


def _with_history(catalog: Catalog) -> Table:
    """Make three snapshots: the first tagged, the second without a ref, the third on main."""
    table = catalog.given_snapshot(catalog.given_table(), ordinal=1)
    first = table.metadata["current-snapshot-id"]
    tag = {"action": "set-snapshot-ref", "ref-name": "kept", "type": "tag", "snapshot-id": first}
    table = catalog.given_commit(table, [tag])
    table = catalog.given_snapshot(table, ordinal=2)
    return catalog.given_snapshot(table, ordinal=3)


def _snapshot_ids(catalog: Catalog, table: Table, *query: tuple[str, str]) -> list[int]:
    reply = catalog.load_table(table.namespace, table.name, query).expect(200)
    snapshots = reply.member("metadata").get("snapshots") or []
    return sorted(s.get("snapshot-id") for s in snapshots)


@check(
    "loadTable.all-snapshots",
    proves="loadTable.snapshots-default-all",
    needs=("snapshot-history",),
)
def test_all_snapshots(catalog: Catalog) -> None:
    """Without a snapshots parameter, and with all, every snapshot is returned."""
    table = _with_history(catalog)
    made = sorted(s["snapshot-id"] for s in table.metadata["snapshots"])
    equal(_snapshot_ids(catalog, table), made, symptom="snapshots-left-out")
    asked = _snapshot_ids(catalog, table, ("snapshots", "all"))
    equal(asked, made, symptom="snapshots-left-out", detail="with snapshots=all")


@check(
    "loadTable.referenced-snapshots",
    proves="loadTable.snapshots-refs",
    needs=("snapshot-history",),
)
def test_referenced_snapshots(catalog: Catalog) -> None:
    """With snapshots=refs, every snapshot that a ref points at is returned."""
    table = _with_history(catalog)
    referenced = {r["snapshot-id"] for r in table.metadata["refs"].values()}
    got = set(_snapshot_ids(catalog, table, ("snapshots", "refs")))
    equal(sorted(referenced - got), [], symptom="snapshots-left-out", detail="with snapshots=refs")


@check("loadTable.bad-snapshots-parameter", proves="loadTable.400")
def test_bad_snapshots_parameter(catalog: Catalog) -> None:
    """A snapshots parameter that is neither all nor refs is refused."""
    table = catalog.given_table()
    query = [("snapshots", "some")]
    catalog.load_table(table.namespace, table.name, query).expect(400)


def _etag(catalog: Catalog, table: Table) -> str:
    return catalog.load_table(table.namespace, table.name).expect(200).header("etag") or ""


@check("loadTable.not-modified", proves="loadTable.304", needs=("etag",))
def test_not_modified(catalog: Catalog) -> None:
    """The ETag of the current metadata may be answered 304, and then without a body."""
    table = catalog.given_table()
    headers = {"If-None-Match": _etag(catalog, table)}
    reply = catalog.load_table(table.namespace, table.name, headers=headers).expect(200, 304)
    if reply.status == 304:
        equal(len(reply.exchange.response_body), 0, symptom="body-on-304", detail="bytes of body")


@check("etag.differs-after-commit", proves="etag.changes-with-commit", needs=("etag",))
def test_etag_changes(catalog: Catalog) -> None:
    """A commit that changes the metadata changes the ETag."""
    table = catalog.given_table()
    before = _etag(catalog, table)
    catalog.given_commit(table, [{"action": "set-properties", "updates": {"turn": "1"}}])
    equal(_etag(catalog, table) != before, True, symptom="etag-unchanged-by-commit")


@check("etag.stale-gets-new-metadata", proves="etag.stale-is-not-304", needs=("etag",))
def test_stale_etag(catalog: Catalog) -> None:
    """An ETag from before a commit is answered with the new metadata."""
    table = catalog.given_table()
    headers = {"If-None-Match": _etag(catalog, table)}
    catalog.given_commit(table, [{"action": "set-properties", "updates": {"turn": "1"}}])
    reply = catalog.load_table(table.namespace, table.name, headers=headers)
    reply.expect(200).expect_json({"turn": "1"}, at=["metadata", "properties"])


@check("tableExists.existing", proves="tableExists.204")
def test_existing_table(catalog: Catalog) -> None:
    """The existence check of an existing table is answered 204."""
    table = catalog.given_table()
    catalog.table_exists(table.namespace, table.name).expect(204)


@check("tableExists.missing", proves="tableExists.404")
def test_existence_of_missing_table(catalog: Catalog) -> None:
    """The existence check of a missing table is answered 404."""
    namespace = catalog.given_namespace()
    catalog.table_exists(namespace, catalog.new_name()).expect(404)
    catalog.table_exists(catalog.new_namespace_name(), catalog.new_name()).expect(404)


@check("tableExists.agrees", proves="tableExists.agrees-with-load")
def test_existence_agrees_with_load(catalog: Catalog) -> None:
    """The existence check agrees with loading, before and after creation and drop."""
    namespace = catalog.given_namespace()
    table = catalog.given_table(namespace)
    for stage, name in (("existing", table.name), ("never created", catalog.new_name())):
        _agrees(catalog, namespace, name, stage)
    catalog.drop_table(namespace, table.name).expect(200, 204)
    _agrees(catalog, namespace, table.name, "dropped")


def _agrees(catalog: Catalog, namespace: tuple[str, ...], name: str, stage: str) -> None:
    loads = catalog.load_table(namespace, name).ok
    exists = catalog.table_exists(namespace, name).ok
    equal(exists, loads, symptom="existence-contradicts-load", detail=f"a table {stage}")
