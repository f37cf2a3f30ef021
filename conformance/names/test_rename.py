"""Checks of renameTable: the same table under another name."""

from collections.abc import Callable
from functools import partial

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import (
    another_shared_namespace,
    given_namespace,
    given_table,
    reloaded,
    shared_table,
)
from icecheck.client.given import shared_namespace as given_home
from icecheck.conformance.names.name_reuse import reused, unusable_renames
from icecheck.findings.shared_symptoms import CHANGED_ALTHOUGH_REFUSED, EFFECT_MISSING
from icecheck.judging.check import check
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import RENAME_CHANGED_THE_TABLE, given_history
from icecheck.objects.reading import expect_gone, expect_there, expect_unlisted, supported
from icecheck.replies.expect import Reply, equal
from icecheck.replies.matching import containing
from icecheck.targets.target import Namespace

MARK = "icecheck.mark"


def _rename(
    catalog: Catalog, source: tuple[Namespace, str], destination: tuple[Namespace, str]
) -> Reply:
    return supported(catalog.rename_table(source, destination))


def _renamed(
    catalog: Catalog,
    prepare: Callable[[Table], Table] | None = None,
    namespace: Namespace | None = None,
) -> tuple[Table, str]:
    """Make a table, rename it in its namespace, and return its former state with the new name."""
    table = given_table(catalog, namespace, properties={MARK: "first"})
    if prepare is not None:
        table = prepare(table)
    table = reloaded(catalog, table)
    name = catalog.new_name()
    _rename(catalog, (table.namespace, table.name), (table.namespace, name)).expect(200, 204)
    return table, name


@check("renameTable.succeeds", proves="renameTable.204")
def test_rename_table(catalog: Catalog) -> None:
    """Renaming a table is answered 204."""
    table = given_table(catalog)
    target = (table.namespace, catalog.new_name())
    _rename(catalog, (table.namespace, table.name), target).expect(204)
    # Names in a body are literal; no character has a special meaning as it has in a path.
    odd = (table.namespace, catalog.new_name("%41"))
    if catalog.load_table(*odd).status == 404 and _rename(catalog, target, odd).ok:
        found = catalog.load_table(*odd)
        if not found.ok:
            due, got = "the table under the name that was sent", "no table of that name"
            raise found.violation(EFFECT_MISSING.of("rename"), due, got, detail="a percent sign")


@check("renameTable.malformed-refused", proves="renameTable.400")
def test_malformed_bodies(catalog: Catalog) -> None:
    """A rename with an unusable body is refused with 400."""
    table = shared_table(catalog)
    for what, body in unusable_renames(catalog, table.identifier).items():
        supported(catalog.call("renameTable", body=body)).expect(400, detail=f"sent {what}")
    catalog.load_table(table.namespace, table.name).expect(200, detail="the table must stay")


@check("renameTable.missing-source", proves=("renameTable.404", "renameTable.source-missing"))
def test_missing_source(catalog: Catalog) -> None:
    """Renaming a table that does not exist is refused."""
    namespace = given_home(catalog)
    source, target = catalog.new_name(), catalog.new_name()
    _rename(catalog, (namespace, source), (namespace, target)).expect(404)
    nowhere = catalog.new_namespace_name()
    reply = _rename(catalog, (nowhere, source), (nowhere, target))
    reply.expect(404, detail="from a missing namespace")
    catalog.load_table(namespace, target).expect(404, detail="nothing may come of it")


@check(
    "renameTable.missing-target-namespace",
    proves="renameTable.target-namespace-missing",
    needs=("cross-namespace-rename",),
)
def test_missing_target_namespace(catalog: Catalog) -> None:
    """Renaming into a namespace that does not exist is refused, and the table stays."""
    table = shared_table(catalog)
    target = (catalog.new_namespace_name(), catalog.new_name())
    _rename(catalog, (table.namespace, table.name), target).expect(404)
    catalog.load_table(table.namespace, table.name).expect(200, detail="the table must stay")


@check(
    "renameTable.target-exists", proves=("renameTable.409", "renameTable.conflict-changes-nothing")
)
def test_existing_target(catalog: Catalog) -> None:
    """Renaming to a name that is taken is refused, and both tables stay as they were."""
    namespace = given_home(catalog)
    one, other = shared_table(catalog), given_table(catalog, namespace)
    _rename(catalog, (namespace, one.name), (namespace, other.name)).expect(409)
    for table in (one, other):
        reply = catalog.load_table(namespace, table.name).expect_there_or_gone()
        found = str(view.metadata_in(reply).get("table-uuid")) if reply.ok else "no table"
        if found.lower() != table.uuid.lower():
            symptom = CHANGED_ALTHOUGH_REFUSED
            raise reply.violation(symptom, "both tables as they were", found)


@check("renameTable.moves-table", proves="renameTable.moves")
def test_renamed_table_moves(catalog: Catalog) -> None:
    """A renamed table loads and is listed under the new name, and not under the old one."""
    table, name = _renamed(catalog, namespace=given_namespace(catalog))
    expect_there(catalog.load_table(table.namespace, name), "rename", "under the new name")
    expect_gone(catalog.load_table(table.namespace, table.name), "rename", "under the old name")
    listed = catalog.list_tables(table.namespace).expect(200)
    new = {"namespace": [*table.namespace], "name": name}
    listed.expect_json({"identifiers": containing(new)}, symptom=EFFECT_MISSING.of("rename"))
    expect_unlisted(listed, table.namespace, table.name, EFFECT_MISSING.of("rename"))


@check("renameTable.keeps-table", proves="renameTable.same-table")
def test_renamed_table_is_the_same(catalog: Catalog) -> None:
    """A renamed table keeps its uuid, schemas, properties and snapshots."""
    table, name = _renamed(catalog, partial(given_history, catalog))
    reply = catalog.load_table(table.namespace, name).expect(200)
    before = view.settled(table.metadata, MARK)
    after = view.settled(view.metadata_in(reply), MARK)
    for kept in (before, after):
        del kept["location"]  # a catalog may move the files with the rename
    equal(after, before, symptom=RENAME_CHANGED_THE_TABLE)


@check("renameTable.unsupported", proves="renameTable.406")
def test_unsupported_rename(catalog: Catalog) -> None:
    """A rename across namespaces is done, or refused as not supported."""
    table = given_table(catalog)
    target = (another_shared_namespace(catalog), catalog.new_name())
    reply = catalog.rename_table((table.namespace, table.name), target).expect(200, 204, 406)
    where = target if reply.ok else (table.namespace, table.name)
    catalog.load_table(*where).expect(200, detail=f"after an answer of {reply.status}")


@check(
    "renameTable.into-another-namespace",
    proves="renameTable.across-namespaces",
    needs=("cross-namespace-rename",),
)
def test_rename_across_namespaces(catalog: Catalog) -> None:
    """A table can be renamed into another namespace."""
    table = given_table(catalog)
    new = (another_shared_namespace(catalog), catalog.new_name())
    _rename(catalog, (table.namespace, table.name), new).expect(200, 204)
    moved = expect_there(catalog.load_table(*new), "rename", "in the other namespace")
    moved.expect_json(
        {"metadata": {"table-uuid": view.same_uuid(table.uuid)}}, symptom=RENAME_CHANGED_THE_TABLE
    )
    expect_gone(catalog.load_table(table.namespace, table.name), "rename", "under the old name")


@check("renameTable.frees-old-name", proves="renameTable.old-name-free")
def test_old_name_is_free(catalog: Catalog) -> None:
    """After a rename the old name can be used for another table."""
    table, name = _renamed(catalog)
    reply = catalog.create_table(table.namespace, bodies.create_table_body(table.name))
    reused(reply, "a table under the old name")
    moved = catalog.load_table(table.namespace, name).expect(200)
    moved.expect_json(
        {"metadata": {"table-uuid": view.same_uuid(table.uuid)}}, symptom=RENAME_CHANGED_THE_TABLE
    )
