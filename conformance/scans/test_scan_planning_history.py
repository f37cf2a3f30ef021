"""Checks of scans of snapshots and ranges of a table, after every commit and at the end.

The history has branches, a removal and a rollback. The named snapshot decides which files are
planned, whatever else a scan asks for. At the end the names of tables are freed and reused.
"""

from collections.abc import Iterator
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_dropped
from icecheck.client.planned_scan import Planned, answers, planned
from icecheck.conformance.kit.manifest_files import (
    SCHEMA,
    ManifestFiles,
    PlannedFile,
    given_files,
)
from icecheck.conformance.scans.planned_files import (
    MANY,
    V2,
    expect_no_snapshot,
    expect_planned,
    expect_undecided,
    takes,
)
from icecheck.conformance.scans.planned_history import (
    DRESSES,
    SOME_DRESSES,
    SOME_OF,
    WALK,
    Dress,
    History,
    dress,
    ranges,
)
from icecheck.findings.symptoms import OTHER_ROWS, Severity, declare
from icecheck.judging.check import generated_check
from icecheck.objects.committing import commit, shared_snapshots
from icecheck.objects.reading import not_applicable
from icecheck.replies.expect import Reply, Violation, equal

_PLANNED_FILES_OF_ANOTHER_TABLE = declare(
    "planned-files-of-another-table",
    "Plans the files of another table",
    Severity.FALSE_OR_LOST,
    OTHER_ROWS,
)

HISTORY = (*V2, "branches", "snapshot-history")


def _expect_point(catalog: Catalog, history: History, word: str, asked: str, why: str) -> None:
    """Judge the scan of a snapshot in one of the forms."""
    snapshot_id = history.points[word].snapshot_id
    found = planned(catalog, history.files.table, snapshot_id=snapshot_id, **DRESSES[asked])
    detail = f"{why}, scan of the snapshot “{word}” with {asked}"
    _expect_dressed(history.files, found, history.due(word), DRESSES[asked], detail)


def _expect_dressed(
    files: ManifestFiles, found: Planned, due: list[str], asked: Dress, detail: str
) -> None:
    """Judge which files are planned, and that a filter remains where only some rows match."""
    expect_planned(files, found, due, detail)
    if asked.get("filter") == SOME_OF:
        for task in found.tasks:
            expect_undecided(task, detail)


@generated_check("planTableScan.every-snapshot", needs=HISTORY)
def test_every_snapshot_after_every_step(catalog: Catalog) -> None:
    """A scan plans the files of the snapshot that it names, whatever happened before and since."""
    with given_files(catalog) as files:
        history = History(files)
        steps = [*WALK.items()]
        for turn in range((len(steps) + 1) // 2):
            two = steps[2 * turn : 2 * turn + 2]
            with files.at_once():
                for _, do in two:
                    do(history)
            asked, _ = dress(turn)
            # The last one and the one before it, in turn.
            word = [*history.points][-2:][turn % 2 - 1]
            _expect_point(catalog, history, word, asked, f"after {two[-1][0]}")
        for at, word in enumerate(history.points):
            asked, _ = dress(at + 3)
            _expect_point(catalog, history, word, asked, "at the end")


@generated_check("planTableScan.main-throughout", needs=HISTORY)
def test_main_after_every_step(catalog: Catalog) -> None:
    """A scan that names no snapshot plans main as it is, after each commit and each rollback."""
    with given_files(catalog) as files:
        history = History(files)
        for turn, (step, do) in enumerate(WALK.items(), start=6):
            do(history)
            asked, members = dress(turn)
            found = planned(catalog, files.table, **members)
            detail = f"after {step}, scan of main with {asked}"
            _expect_dressed(files, found, history.due(history.main), members, detail)


@generated_check("planTableScan.every-range", needs=HISTORY)
def test_every_range(catalog: Catalog) -> None:
    """A scan of a range plans what its snapshots appended, on main or on another branch."""
    with given_files(catalog) as files:
        history = History(files)
        with files.at_once():
            for do in WALK.values():
                do(history)
        for turn, each in enumerate(ranges(history)):
            asked, members = dress(turn)
            ends = {
                "start_snapshot_id": history.points[each.start].snapshot_id,
                "end_snapshot_id": history.points[each.end].snapshot_id,
            }
            try:
                found = planned(catalog, files.table, **ends, **members)
            except Violation:
                if not each.appends_only and not takes(catalog, files.table, **ends):
                    continue  # a catalog may refuse an empty range or one with a removal
                raise
            due = [f"{name}.parquet" for name in each.files]
            detail = f"after “{each.start}” up to “{each.end}” with {asked}"
            _expect_dressed(files, found, due, members, detail)


@generated_check(
    "planTableScan.expired-snapshot", proves="planTableScan.unknown-snapshot-refused", needs=HISTORY
)
def test_scan_of_a_snapshot_that_has_expired(catalog: Catalog) -> None:
    """A scan of a removed snapshot is refused, even if it was planned before."""
    with given_files(catalog) as files:
        with files.at_once():
            first = files.append(PlannedFile("a.parquet"))
            files.append(PlannedFile("b.parquet"))
        for members in SOME_DRESSES.values():
            planned(catalog, files.table, snapshot_id=first, **members)
        removal = {"action": "remove-snapshots", "snapshot-ids": [first]}
        if not commit(catalog, files.table, [removal]).ok:
            raise not_applicable("the catalog does not remove the snapshot")
        for members in SOME_DRESSES.values():
            expect_no_snapshot(catalog, files.table, first, **members)


# ---- neither a point nor a range


@generated_check("planTableScan.mixtures-refused", needs=("metadata-only-snapshots",))
def test_mixtures_of_points_and_ranges(catalog: Catalog) -> None:
    """A scan of a snapshot and of a range, or of a range without an end, is refused."""
    table, [first, second] = shared_snapshots(catalog)
    point, start, end = (
        {"snapshot_id": second},
        {"start_snapshot_id": first},
        {"end_snapshot_id": second},
    )
    wrong: dict[str, dict[str, int]] = {
        "a point and a range": {**point, **start, **end},
        "a point and a start": {**point, **start},
        "a point and an end": {**point, **end},
        "a start and no end": start,
    }
    # The first and the last with nothing else are sent by checks of their own.
    plain = ("a point and a start", "a point and an end")
    for turn, (what, ends) in enumerate(wrong.items(), start=1):
        for asked, members in (*([dress(0)] if what in plain else []), dress(turn)):
            reply = catalog.plan_table_scan(table, **ends, **members)
            reply.expect(400, 406, detail=f"sent {what} with {asked}")


# ---- reused names


@generated_check("planTableScan.table-of-the-name", needs=V2)
def test_tables_that_take_names(catalog: Catalog) -> None:
    """A scan plans the files of the table that has the name now, and of no former one."""
    with given_files(catalog) as one, given_files(catalog) as again:
        for files in (one, again):
            files.append(PlannedFile("a.parquet"))
        plain, full = SOME_DRESSES
        _expect_at(catalog, one, one.table, "as it was made", plain)
        _expect_at(catalog, again, again.table, "as it was made", plain, full)
        given_dropped(catalog, again.table.namespace, again.table.name)
        body = bodies.create_table_body(again.table.name, table_schema=SCHEMA)
        catalog.create_table(again.table.namespace, body).expect(200)
        for asked in SOME_DRESSES:
            found = planned(catalog, again.table, **DRESSES[asked])
            expect_planned(again, found, [], f"table made again, scan with {asked}")
        if _exchanged(catalog, one.table, again.table):
            why = "after two tables exchanged names"
            _expect_at(catalog, again, one.table, why, plain, due=())
            _expect_at(catalog, one, again.table, why, full)


def _expect_at(
    catalog: Catalog,
    files: ManifestFiles,
    place: Table,
    why: str,
    *forms: str,
    due: tuple[str, ...] = ("a.parquet",),
) -> None:
    """Judge that a table is planned with its own files under its current name."""
    for asked in forms:
        found = files.names_of(planned(catalog, place, **DRESSES[asked]).locations)
        equal(
            found == [*due],
            True,
            symptom=_PLANNED_FILES_OF_ANOTHER_TABLE,
            detail=f"{why}, scan with {asked}",
        )


def _exchanged(catalog: Catalog, one: Table, other: Table) -> bool:
    """Exchange the names of two tables; return whether the catalog renames tables."""
    first, second = (one.namespace, one.name), (other.namespace, other.name)
    between = (one.namespace, catalog.new_name())
    if not catalog.rename_table(first, between).ok:
        return False
    catalog.rename_table(second, first).expect(204)
    catalog.rename_table(between, second).expect(204)
    return True


@generated_check("planTableScan.lost-table", needs=V2)
def test_plans_of_a_table_that_is_gone(catalog: Catalog) -> None:
    """Under a name that a table has lost, no plan of that table can be fetched or cancelled."""
    with given_files(catalog) as files:
        files.append(*(PlannedFile(f"{at:03}.parquet") for at in range(MANY)))
        reply = catalog.plan_table_scan(files.table).expect(200)
        plan_id = reply.json().get("plan-id")
        tasks = next(answers(catalog, files.table, reply)).json().get("plan-tasks") or []
        here = (files.table.namespace, files.table.name)
        elsewhere = (files.table.namespace, catalog.new_name())
        if catalog.claims("renameTable") and catalog.rename_table(here, elsewhere).ok:
            _expect_gone(catalog, files.table, plan_id, tasks, "renamed")
            catalog.rename_table(elsewhere, here).expect(204)
        given_dropped(catalog, *here)
        _expect_gone(catalog, files.table, plan_id, tasks, "dropped")
        body = bodies.create_table_body(files.table.name, table_schema=SCHEMA)
        catalog.create_table(files.table.namespace, body).expect(200)
        for found in _of_former(catalog, files.table, plan_id, tasks):
            told = found.json().get("file-scan-tasks") if found.ok else []
            equal(len(told or ()), 0, symptom=_PLANNED_FILES_OF_ANOTHER_TABLE)


def _of_former(catalog: Catalog, table: Table, plan_id: Any, tasks: list[str]) -> Iterator[Reply]:
    """Request the rest of a plan, if it has an id or plan tasks."""
    if isinstance(plan_id, str):
        yield catalog.fetch_planning_result(table, plan_id)
    for task in tasks[:1]:
        yield catalog.fetch_scan_tasks(table, task)


def _expect_gone(catalog: Catalog, table: Table, plan_id: Any, tasks: list[str], how: str) -> None:
    """Judge that planning under a name without a table is answered 404."""
    detail = f"the table was {how}"
    catalog.plan_table_scan(table).expect(404, detail=detail)
    for found in _of_former(catalog, table, plan_id, tasks):
        found.expect(404, detail=detail)
    if isinstance(plan_id, str):
        catalog.cancel_planning(table, plan_id).expect(404, detail=detail)
