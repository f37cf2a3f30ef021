"""Checks that all operations find a table or view under its current name and no other."""

from icecheck.client.catalog import Catalog
from icecheck.conformance.names.name_resolution import TABLES, VIEWS, judge_whereabouts
from icecheck.findings.verdict import Group
from icecheck.judging.check import check
from icecheck.objects.arranging import require


@check("whereabouts.table", proves="whereabouts.table", group=Group.GENERATED)
def test_where_a_table_is(catalog: Catalog) -> None:
    """Every operation finds a table under the name that it has now, and is refused under others."""
    require(catalog, "createNamespace", "dropNamespace", "createTable", "loadTable", "dropTable")
    judge_whereabouts(catalog, TABLES, VIEWS)


@check("whereabouts.view", proves="whereabouts.view", group=Group.GENERATED)
def test_where_a_view_is(catalog: Catalog) -> None:
    """Every operation finds a view under the name that it has now, and is refused under others."""
    require(catalog, "createNamespace", "dropNamespace", "createView", "loadView", "dropView")
    judge_whereabouts(catalog, VIEWS, TABLES)
