"""Checks of loads that ask for the referenced snapshots only: what else they show, their tags."""

from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import given_commit
from icecheck.client.table import Table
from icecheck.findings.symptoms import NOT_ALL_SEEN, Severity, declare
from icecheck.judging.check import check
from icecheck.objects import metadata_view
from icecheck.objects.committing import given_snapshots
from icecheck.objects.reading import not_applicable
from icecheck.replies.expect import Reply

_CUT_TOO = declare(
    "cut-with-snapshots",
    "A load of the referenced snapshots leaves out more than snapshots: {what}",
    Severity.FALSE_OR_LOST,
    NOT_ALL_SEEN,
)
_ONE_TAG = declare(
    "etag-of-either-mode",
    "Gives one ETag to answers with all snapshots and with some of them",
    Severity.FALSE_OR_LOST,
    "clients that cache tables: a part of the snapshots is taken for all of them",
)

_NEEDS = ("metadata-only-snapshots", "snapshot-history", "branches")
_WHOLE = ("snapshot-log", "refs", "statistics", "partition-statistics")
"""The members that are about snapshots and that the parameter does not narrow."""


def _given_unreferenced(catalog: Catalog) -> tuple[Table, int]:
    """Make a table with three snapshots, and return it with the id of the one without a ref."""
    table, (first, second, _) = given_snapshots(catalog, 3)
    return given_commit(catalog, table, [bodies.snapshot_ref(first, "kept")]), second


def _both_loads(catalog: Catalog, table: Table, what: str) -> tuple[Reply, Reply]:
    """Load all snapshots of a table, and the referenced ones."""
    loads = [
        catalog.load_table(table.namespace, table.name, [("snapshots", asked)]).expect(
            200, detail=f"snapshots={asked}, {what}"
        )
        for asked in ("all", "refs")
    ]
    return loads[0], loads[1]


@check("loadTable.referenced-snapshots-only", proves="loadTable.snapshots-refs-only", needs=_NEEDS)
def test_only_snapshots_are_left_out(catalog: Catalog) -> None:
    """With snapshots=refs, the log of snapshots, the refs and the statistics are whole."""
    table, unreferenced = _given_unreferenced(catalog)
    _expect_whole(*_both_loads(catalog, table, "of a table without statistics"))
    taken = False
    for update in (
        bodies.set_statistics(bodies.statistics_file(table.metadata, unreferenced)),
        bodies.set_partition_statistics(
            bodies.partition_statistics_file(table.metadata, unreferenced)
        ),
    ):
        # Other checks judge whether statistics are taken and kept.
        with catalog.arranging():
            taken = catalog.update_table(table.namespace, table.name, [update]).ok or taken
    if taken:
        what = "of a table with statistics of a snapshot that no ref names"
        _expect_whole(*_both_loads(catalog, table, what))


def _expect_whole(of_all: Reply, of_refs: Reply) -> None:
    whole, shown = map(metadata_view.metadata_in, (of_all, of_refs))
    for member in _WHOLE:
        lost = [each for each in _entries(whole, member) if each not in _entries(shown, member)]
        if lost:
            due, seen = f"{len(_entries(whole, member))} entries", f"{len(lost)} of them missing"
            pointer = f"/metadata/{member}"
            raise of_refs.violation(_CUT_TOO.of(member), due, seen, pointer=pointer)


def _entries(metadata: dict[str, Any], member: str) -> list[Any]:
    value = metadata.get(member) or ()
    return [*value.items()] if isinstance(value, dict) else [*value]


@check("etag.per-snapshots-mode", needs=("etag", *_NEEDS))
def test_either_answer_has_a_tag_of_its_own(catalog: Catalog) -> None:
    """Answers with all snapshots and with fewer have different ETags."""
    table, _ = _given_unreferenced(catalog)
    of_all, of_refs = _both_loads(catalog, table, "with their tags")
    shown = [
        [each.get("snapshot-id") for each in metadata_view.metadata_in(load).get("snapshots") or ()]
        for load in (of_all, of_refs)
    ]
    if not set(shown[0]) - set(shown[1]):
        raise not_applicable("the catalog shows all snapshots where the referenced are asked for")
    tags = [load.header("etag") for load in (of_all, of_refs)]
    if None in tags:
        raise not_applicable("the catalog does not send ETags with both")
    if tags[0] == tags[1]:
        raise of_refs.violation(_ONE_TAG, "another ETag", "that of all snapshots")
