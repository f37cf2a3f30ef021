"""A check of drawn tables: each is as it was after it was dropped and registered again."""

from dataclasses import replace
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_dropped, given_table, shared_namespace
from icecheck.conformance.fuzzed.drawing import drawn_bodies
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.judging.check import generated_check
from icecheck.objects.arranging import require
from icecheck.objects.reading import not_applicable
from icecheck.objects.round_trip import expect_as_before, shown_of
from icecheck.replies.expect import Reply
from icecheck.replies.matching import show

_TABLES = 4


@generated_check("roundtrip.registerTable.drawn", proves="roundtrip.registerTable")
def test_drawn_tables_are_registered_again(catalog: Catalog) -> None:
    """Drawn tables that are dropped and registered again have everything that they had."""
    require(catalog, "createTable", "loadTable", "dropTable", "registerTable")
    seed = catalog.session.seed
    moved = 0
    for body in drawn_bodies("createTable", catalog.contract, seed, _TABLES):
        table = _created(catalog, body)
        if table is None:
            continue
        again, reply = _moved(catalog, table)
        what = f"a drawn table, {show(table.metadata.get('schemas'), 200)}"
        if 400 <= reply.status < 500:
            _expect_none_registered(catalog)
        reply.expect(200, detail=what)
        symptom = EFFECT_MISSING.of("registered-metadata")
        expect_as_before(catalog, again, symptom, f"{what}, registered again")
        moved += 1
    if not moved:
        raise not_applicable("the catalog makes none of the drawn tables")


def _created(catalog: Catalog, body: dict[str, Any]) -> Table | None:
    """Create a table; return it as a load shows it, or None if the catalog makes no such table."""
    namespace, name = shared_namespace(catalog), catalog.new_name()
    if not catalog.create_table(namespace, body | {"name": name, "stage-create": False}).ok:
        return None
    loaded = catalog.load_table(namespace, name).expect(200)
    table = shown_of(loaded, Table(namespace, name, {}, None))
    if table.metadata_location is None:
        raise not_applicable("the catalog tells no metadata location")
    return table


def _moved(catalog: Catalog, table: Table) -> tuple[Table, Reply]:
    """Drop a table and register its file; return it under its new name, and the answer."""
    again = replace(table, name=catalog.new_name())
    given_dropped(catalog, table.namespace, table.name)
    location = str(table.metadata_location)
    return again, catalog.register_table(again.namespace, again.name, location)


def _expect_none_registered(catalog: Catalog) -> None:
    """End the check if the file of a plain table is refused too: then no such file is taken."""
    _, reply = _moved(catalog, given_table(catalog))
    if 400 <= reply.status < 500:
        raise not_applicable("the catalog registers no file of a table that was dropped")
