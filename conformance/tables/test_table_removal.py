"""Checks of dropTable: only the named table is gone, and its files stay without purge."""

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import (
    given_dropped,
    given_loaded,
    given_namespace,
    given_table,
    reloaded,
    shared_namespace,
    shared_table,
)
from icecheck.findings.shared_symptoms import EFFECT_MISSING, EFFECT_ON_ANOTHER, FIRST_LIFE_SHOWS
from icecheck.findings.symptoms import ANOTHER_THING, Severity, declare
from icecheck.judging.check import check
from icecheck.judging.probes import is_declined, is_refusal, saw
from icecheck.objects import metadata_view as view
from icecheck.objects.reading import expect_gone, expect_unlisted, not_applicable
from icecheck.replies.expect import NotOffered
from icecheck.replies.matching import containing

_ANOTHER_TABLE_CAME_BACK = declare(
    "another-table-came-back",
    "Registering the file of a dropped table brings another table",
    Severity.FALSE_OR_LOST,
    ANOTHER_THING,
)
_DROPPED_TABLE_CAME_BACK = declare(
    "dropped-table-came-back",
    "Creating a table under the name of a dropped one brings the dropped one back",
    Severity.FALSE_OR_LOST,
    ANOTHER_THING,
    family=FIRST_LIFE_SHOWS,
)

PURGE = [("purgeRequested", "true")]
NO_PURGE = [("purgeRequested", "false")]


@check("dropTable.succeeds", proves="dropTable.204")
def test_drop_table(catalog: Catalog) -> None:
    """Dropping a table is answered 204."""
    table = given_table(catalog)
    catalog.drop_table(table.namespace, table.name).expect(204)


@check("dropTable.missing", proves="dropTable.404")
def test_missing_table(catalog: Catalog) -> None:
    """Dropping a table that does not exist is refused."""
    namespace = shared_namespace(catalog)
    catalog.drop_table(namespace, catalog.new_name()).expect(404)
    missing = catalog.new_namespace_name()
    catalog.drop_table(missing, catalog.new_name()).expect(404, detail="in a missing namespace")


@check("dropTable.twice", proves="dropTable.404")
def test_drop_twice(catalog: Catalog) -> None:
    """Dropping a dropped table is refused."""
    table = given_table(catalog)
    given_dropped(catalog, table.namespace, table.name)
    catalog.drop_table(table.namespace, table.name).expect(404)


@check("dropTable.bad-purge-parameter", proves="dropTable.400")
def test_bad_purge_parameter(catalog: Catalog) -> None:
    """A purgeRequested parameter that is no boolean is refused, and nothing is dropped."""
    table = shared_table(catalog)
    query = [("purgeRequested", "perhaps")]
    catalog.drop_table(table.namespace, table.name, query).expect(400)
    catalog.load_table(table.namespace, table.name).expect(200)


@check("dropTable.leaves-nothing", proves="dropTable.gone")
def test_dropped_table_is_gone(catalog: Catalog) -> None:
    """A dropped table does not load, is not listed, and its name can be used again."""
    table = reloaded(catalog, given_table(catalog, given_namespace(catalog)))
    catalog.drop_table(table.namespace, table.name).expect(200, 204)
    _expect_gone(catalog, table, "a dropped table")
    again = catalog.create_table(table.namespace, bodies.create_table_body(table.name))
    again.expect(200, detail="the dropped table's name")
    # An earlier load may be cached and must not be answered now.
    now = catalog.load_table(table.namespace, table.name).expect(200)
    for reply in (again, now):
        if reply.member("metadata", "table-uuid") == table.uuid:
            raise reply.violation(
                _DROPPED_TABLE_CAME_BACK, "another table", "the dropped one's uuid"
            )
    # Send the default value of the parameter explicitly, as Spark's Java client does.
    catalog.drop_table(table.namespace, table.name, NO_PURGE).expect(200, 204)
    _expect_gone(catalog, table, "a table dropped with purgeRequested=false")


def _expect_gone(catalog: Catalog, table: Table, what: str) -> None:
    expect_gone(catalog.load_table(table.namespace, table.name), "drop-table", what)
    if catalog.claims("listTables"):
        listed = catalog.list_tables(table.namespace).expect(200)
        expect_unlisted(
            listed, table.namespace, table.name, EFFECT_MISSING.of("table-still-listed")
        )


@check("dropTable.spares-others", proves="dropTable.only-that-table")
def test_other_tables_stay(catalog: Catalog) -> None:
    """Dropping a table leaves tables with similar names alone."""
    namespace = given_namespace(catalog)
    table = given_table(catalog, namespace)
    longer = f"{table.name}_2"
    # In SQL's LIKE an underscore matches any character.
    similar = table.name.replace("_", "x", 1)
    for name in (longer, similar):
        catalog.create_table(namespace, bodies.create_table_body(name)).expect(200)
    catalog.drop_table(namespace, table.name).expect(200, 204)
    for name in (longer, similar):
        catalog.load_table(namespace, name).expect(200, detail="a table that was not dropped")
    identifiers = [{"namespace": [*namespace], "name": n} for n in (longer, similar)]
    listed = catalog.list_tables(namespace).expect(200)
    listed.expect_json(
        {"identifiers": containing(*identifiers)}, symptom=EFFECT_ON_ANOTHER.of("drop-table")
    )


@check("dropTable.with-purge", proves="dropTable.purge-accepted")
def test_purge(catalog: Catalog) -> None:
    """A drop with purge is accepted."""
    table = given_table(catalog)
    reply = catalog.drop_table(table.namespace, table.name, PURGE)
    saw(catalog, "purge", present=not is_refusal(reply))
    reply.expect(200, 204)


@check("dropTable.purged-is-gone", proves="dropTable.purge-drops")
def test_purged_table_is_gone(catalog: Catalog) -> None:
    """A drop with purge drops the table too, or is refused and leaves it."""
    table = given_table(catalog, given_namespace(catalog))
    reply = catalog.drop_table(table.namespace, table.name, PURGE)
    if is_declined(reply):
        kept = catalog.load_table(table.namespace, table.name)
        kept.expect(200, detail="the table of a purge that was refused")
        raise not_applicable(f"the catalog refuses a drop with purge: it answers {reply.status}")
    reply.expect(200, 204)
    _expect_gone(catalog, table, "a purged table")


@check("dropTable.as-pyiceberg", proves="dropTable.capital-boolean")
def test_drop_as_pyiceberg_drops(catalog: Catalog) -> None:
    """A drop with purgeRequested=False, as PyIceberg spells it, is accepted."""
    table = given_table(catalog)
    catalog.drop_table(table.namespace, table.name, [("purgeRequested", "False")]).expect(200, 204)


@check("dropTable.without-purge", proves="dropTable.keeps-files-without-purge")
def test_files_stay(catalog: Catalog) -> None:
    """A drop without purge keeps the metadata file: the table can be registered again."""
    if not catalog.serves("registerTable"):  # the only way to look for the file
        raise NotOffered("the catalog registers no tables")
    table = given_loaded(catalog, given_table(catalog, properties={"icecheck.mark": "kept"}))
    if table.metadata_location is None:
        raise NotOffered("the catalog tells no metadata location")
    for query in ([], NO_PURGE):
        detail = "registering the dropped table's metadata file" + (
            " after purgeRequested=false" if query else ""
        )
        catalog.drop_table(table.namespace, table.name, query).expect(200, 204)
        back = catalog.register_table(table.namespace, table.name, table.metadata_location)
        back.expect(200, detail=detail)
        back.expect_json(
            {"metadata": {"table-uuid": view.same_uuid(table.uuid)}},
            symptom=_ANOTHER_TABLE_CAME_BACK,
        )
