"""registerTable: a metadata file becomes a table, in place."""

from collections.abc import Callable
from typing import Any

from icecheck.check import check
from icecheck.client import NO_BODY, Catalog, Table
from icecheck.conformance import metadata_view as view
from icecheck.expect import NotOffered, equal
from icecheck.verdict import SkipKind


def _location(table: Table) -> str:
    if table.metadata_location is None:
        raise NotOffered("the catalog tells no metadata location")
    return table.metadata_location


def _unregistered(catalog: Catalog, prepare: Callable[[Table], Table] | None = None) -> Table:
    """Make a table and drop it again without purge: its metadata file is free to register."""
    table = catalog.given_table()
    if prepare is not None:
        table = prepare(table)
    _location(table)
    catalog.drop_table(table.namespace, table.name).expect(200, 204)
    return table


@check("registerTable.succeeds", proves="registerTable.200")
def test_register_table(catalog: Catalog) -> None:
    """Registering a metadata file answers the table."""
    table = _unregistered(catalog)
    name = catalog.new_name()
    reply = catalog.register_table(table.namespace, name, _location(table)).expect(200)
    reply.expect_json({"metadata": {"table-uuid": table.uuid}})


@check("registerTable.malformed-refused", proves="registerTable.400")
def test_malformed_bodies(catalog: Catalog) -> None:
    """A registration with an unusable body is refused with 400."""
    table = _unregistered(catalog)
    name = catalog.new_name()
    wrong: dict[str, Any] = {
        "no body": NO_BODY,
        "no JSON": b"{",
        "no object": ["x"],
        "no name": {"metadata-location": _location(table)},
        "no metadata location": {"name": name},
    }
    for what, body in wrong.items():
        reply = catalog.call("registerTable", {"namespace": table.namespace}, body=body)
        reply.expect(400, detail=f"sent {what}")
    catalog.load_table(table.namespace, name).expect(404, detail="nothing may be registered")


@check("registerTable.missing-namespace", proves="registerTable.404")
def test_missing_namespace(catalog: Catalog) -> None:
    """Registering into a namespace that does not exist is refused."""
    table = _unregistered(catalog)
    missing = catalog.new_namespace_name()
    catalog.register_table(missing, catalog.new_name(), _location(table)).expect(404)


@check(
    "registerTable.already-exists", proves=("registerTable.409", "registerTable.overwrite-default")
)
def test_existing_table(catalog: Catalog) -> None:
    """Registering over an existing table is refused and leaves it as it was."""
    table = _unregistered(catalog)
    existing = catalog.given_table(table.namespace)
    before = catalog.loaded(existing)
    catalog.register_table(table.namespace, existing.name, _location(table)).expect(409)
    after = catalog.loaded(existing)
    equal(after.metadata, before.metadata, symptom="changed-although-refused")


@check("registerTable.keeps-identity", proves="registerTable.same-table")
def test_same_table(catalog: Catalog) -> None:
    """A registered table has the uuid, schema, snapshots and refs of its metadata file."""
    table = _unregistered(catalog, catalog.given_snapshot)
    name = catalog.new_name()
    catalog.register_table(table.namespace, name, _location(table)).expect(200)
    reply = catalog.load_table(table.namespace, name).expect(200)
    metadata = reply.member("metadata")
    kept = {m: table.metadata.get(m) for m in ("table-uuid", "current-snapshot-id", "refs")}
    reply.expect_json(kept, at=["metadata"], symptom="effect-missing:registered-metadata")
    equal(
        view.current_schema(metadata).get("fields"),
        view.current_schema(table.metadata).get("fields"),
        symptom="effect-missing:registered-metadata",
    )


@check("registerTable.keeps-location", proves="registerTable.in-place")
def test_in_place(catalog: Catalog) -> None:
    """A registered table's metadata location is the file that was given."""
    table = _unregistered(catalog)
    name = catalog.new_name()
    catalog.register_table(table.namespace, name, _location(table)).expect(200)
    reply = catalog.load_table(table.namespace, name).expect(200)
    reply.expect_json(
        {"metadata-location": table.metadata_location}, symptom="registered-elsewhere"
    )


@check("registerTable.accepts-commits", proves="registerTable.writable")
def test_registered_table_is_writable(catalog: Catalog) -> None:
    """A registered table accepts commits like any other."""
    table = _unregistered(catalog)
    name = catalog.new_name()
    catalog.register_table(table.namespace, name, _location(table)).expect(200)
    update = {"action": "set-properties", "updates": {"turn": "1"}}
    catalog.update_table(table.namespace, name, [update]).expect(200)
    catalog.load_table(table.namespace, name).expect(200).expect_json(
        {"turn": "1"}, at=["metadata", "properties"], symptom="effect-missing:table-properties"
    )


@check("registerTable.unreadable", proves="registerTable.unreadable-refused")
def test_unreadable_file(catalog: Catalog) -> None:
    """A metadata location without a metadata file registers nothing."""
    table = _unregistered(catalog)
    name = catalog.new_name()
    nowhere = _location(table).rpartition("/")[0] + f"/{name}.metadata.json"
    reply = catalog.register_table(table.namespace, name, nowhere)
    if reply.ok:
        raise reply.violation("status", "a refusal", str(reply.status), detail="no such file")
    catalog.load_table(table.namespace, name).expect(404, detail="nothing may be registered")


@check("registerTable.overwrites", proves="registerTable.overwrite")
def test_overwrite(catalog: Catalog) -> None:
    """With overwrite, the metadata of an existing table is replaced by the file's."""
    table = catalog.given_table(properties={"turn": "0"})
    first = _location(table)
    catalog.given_commit(table, [{"action": "set-properties", "updates": {"turn": "1"}}])
    reply = catalog.register_table(table.namespace, table.name, first, overwrite=True)
    if 400 <= reply.status < 500:
        raise NotOffered(
            f"the catalog answers overwrite with {reply.status}", SkipKind.NOT_APPLICABLE
        )
    reply.expect(200)
    catalog.load_table(table.namespace, table.name).expect(200).expect_json(
        {"turn": "0"}, at=["metadata", "properties"], symptom="effect-missing:overwrite"
    )
