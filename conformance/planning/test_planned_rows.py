"""Checks of scans that ask for a number of rows, and no more (1.11.0, L4653-L4660)."""

from icecheck.client.catalog import Catalog
from icecheck.client.planned_scan import planned
from icecheck.conformance.kit.manifest_files import PlannedFile, given_files
from icecheck.conformance.scans.planned_files import PLANNED_FILES, V2, expect_planned, lost
from icecheck.judging.check import check
from icecheck.replies.expect import equal

_NAMES = ("a.parquet", "b.parquet", "c.parquet", "d.parquet")
_ROWS = 10 * len(_NAMES)


@check("planTableScan.min-rows-requested", needs=V2)
def test_rows_that_are_asked_for_are_planned(catalog: Catalog) -> None:
    """A scan that asks for more rows than are certain to match plans every file."""
    with given_files(catalog) as files:
        # A file has ten rows with ids up to a thousand: nobody knows whether one of them is 5.
        files.append(*(PlannedFile(name, ids=(0, 1000)) for name in _NAMES))
        found = planned(catalog, files.table, min_rows_requested=_ROWS + 1)
        expect_planned(files, found, _NAMES, detail="more rows asked for than there are")
        five = {"type": "eq", "term": "id", "value": 5}
        every = planned(catalog, files.table, filter=five)
        found = planned(catalog, files.table, filter=five, min_rows_requested=2)
        names = files.names_of(every.locations)
        equal(
            lost(files, found, names), [], symptom=PLANNED_FILES, detail="rows that may not match"
        )
