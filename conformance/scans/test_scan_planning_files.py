"""Checks of the content of plans, on tables whose manifests the suite has written.

A planner may prune as much as it likes: a file that a filter excludes may be planned anyway. A file
that may have matching rows must be planned once, with every delete file that applies to it.
"""

from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_commit
from icecheck.client.planned_scan import expect_state, planned
from icecheck.conformance.kit.manifest_files import (
    EQUALITY_DELETES,
    POSITION_DELETES,
    ManifestFiles,
    PlannedFile,
    given_files,
)
from icecheck.conformance.scans.planned_files import (
    MANY,
    PLANNED_DELETES,
    PLANNED_FILE,
    PLANNED_FILES,
    V2,
    expect_among,
    expect_planned,
    lost,
)
from icecheck.findings.verdict import SkipKind
from icecheck.judging.check import check
from icecheck.objects import metadata_view as view
from icecheck.objects.evolving import column_id, schema_addition
from icecheck.replies.expect import NotOffered, Reply, equal

_TASKS = "plan-tasks"
_FOUR = ("a.parquet", "b.parquet", "c.parquet", "d.parquet")

Json = Any


# ---- which snapshot


@check("planTableScan.every-file", needs=V2)
def test_every_file_is_planned(catalog: Catalog) -> None:
    """A scan without a filter plans every data file of the table, once."""
    with given_files(catalog) as files:
        files.append(PlannedFile("a.parquet"), PlannedFile("b.parquet", "b"))
        files.append(PlannedFile("c.parquet"))
        found = planned(catalog, files.table)
        expect_planned(files, found, ["a.parquet", "b.parquet", "c.parquet"])


@check("planTableScan.file-facts", needs=V2)
def test_facts_of_a_file(catalog: Catalog) -> None:
    """A planned data file has the size, the row count and the partition that its manifest says."""
    with given_files(catalog) as files:
        files.append(PlannedFile("b.parquet", "b", size_bytes=12_345))
        found = planned(catalog, files.table)
        expect_planned(files, found, ["b.parquet"])
        members = found.tasks[0]["data-file"]
        due = {
            "file-size-in-bytes": 12_345,
            "record-count": 10,
            "partition": ["b"],
            "spec-id": files.table.metadata["default-spec-id"],
        }
        for member, value in due.items():
            equal(members.get(member), value, symptom=PLANNED_FILE.of(member))
        equal(
            str(members["file-format"]).lower(), "parquet", symptom=PLANNED_FILE.of("file-format")
        )


@check("planTableScan.removed-files", needs=V2)
def test_removed_files(catalog: Catalog) -> None:
    """A file that a later snapshot has removed is not planned."""
    with given_files(catalog) as files:
        files.append(PlannedFile("a.parquet"), PlannedFile("b.parquet", "b"))
        files.remove("a.parquet")
        expect_planned(files, planned(catalog, files.table), ["b.parquet"])


@check("planTableScan.snapshot-id", proves="planTableScan.point-in-time", needs=V2)
def test_point_in_time(catalog: Catalog) -> None:
    """A scan that names a snapshot plans the files of that snapshot."""
    with given_files(catalog) as files:
        first = files.append(PlannedFile("a.parquet"))
        files.append(PlannedFile("b.parquet"))
        expect_planned(files, planned(catalog, files.table, snapshot_id=first), ["a.parquet"])


@check(
    "planTableScan.main-branch",
    proves="planTableScan.main-by-default",
    needs=(*V2, "branches"),
)
def test_main_by_default(catalog: Catalog) -> None:
    """A scan that names no snapshot plans the main branch, whatever was committed last."""
    with given_files(catalog) as files:
        files.append(PlannedFile("a.parquet"))
        files.append(PlannedFile("b.parquet"), ref="audit")
        expect_planned(files, planned(catalog, files.table), ["a.parquet"])


@check("planTableScan.incremental", needs=V2)
def test_incremental(catalog: Catalog) -> None:
    """A scan of a range plans what was appended after its start, up to and with its end."""
    with given_files(catalog) as files:
        first = files.append(PlannedFile("a.parquet"))
        files.append(PlannedFile("b.parquet"))
        third = files.append(PlannedFile("c.parquet"))
        files.append(PlannedFile("d.parquet"))
        found = planned(catalog, files.table, start_snapshot_id=first, end_snapshot_id=third)
        expect_planned(files, found, ["b.parquet", "c.parquet"])


# ---- how many rows


@check("planTableScan.min-rows-requested", needs=V2)
def test_rows_that_are_asked_for_are_planned(catalog: Catalog) -> None:
    """A scan that asks for more rows than are certain to match plans every file."""
    with given_files(catalog) as files:
        # A file has ten rows with ids up to a thousand: nobody knows whether one of them is 5.
        files.append(*(PlannedFile(name, ids=(0, 1000)) for name in _FOUR))
        found = planned(catalog, files.table, min_rows_requested=10 * len(_FOUR) + 1)
        expect_planned(files, found, _FOUR, detail="more rows asked for than there are")
        five = {"type": "eq", "term": "id", "value": 5}
        every = planned(catalog, files.table, filter=five)
        found = planned(catalog, files.table, filter=five, min_rows_requested=2)
        names = files.names_of(every.locations)
        equal(
            lost(files, found, names), [], symptom=PLANNED_FILES, detail="rows that may not match"
        )


# ---- filters


def _predicate(operation: str, column: str, **members: Json) -> Json:
    return {"type": operation, "term": column, **members}


_A = _predicate("eq", "category", value="a")
_B = _predicate("eq", "category", value="b")
# The exact upper bound of a file: only a row with that value matches.
_HIGH = _predicate("gt-eq", "id", value=109)
_FIRST_LETTER = {"type": "transform", "transform": "truncate[1]", "term": "category"}
_TRUNCATED_B = {"type": "eq", "term": _FIRST_LETTER, "value": "b"}
_LOW_A, _HIGH_A, _LOW_B = "low-a.parquet", "high-a.parquet", "low-b.parquet"
_FILTERS: dict[str, tuple[Json, tuple[str, ...]]] = {
    "everything": (True, (_LOW_A, _HIGH_A, _LOW_B)),
    "an equal partition value": (_A, (_LOW_A, _HIGH_A)),
    "another value": (_predicate("not-eq", "category", value="a"), (_LOW_B,)),
    "one of two values": (_predicate("in", "category", values=["b", "c"]), (_LOW_B,)),
    "none of two values": (_predicate("not-in", "category", values=["b", "c"]), (_LOW_A, _HIGH_A)),
    "a prefix": (_predicate("starts-with", "category", value="b"), (_LOW_B,)),
    "a value that is there": (_predicate("not-null", "category"), (_LOW_A, _HIGH_A, _LOW_B)),
    "numbers from 109": (_HIGH, (_HIGH_A,)),
    "numbers up to 0": (_predicate("lt-eq", "id", value=0), (_LOW_A, _LOW_B)),
    "one number": (_predicate("eq", "id", value=109), (_HIGH_A,)),
    "both of two": ({"type": "and", "left": _A, "right": _HIGH}, (_HIGH_A,)),
    "either of two": ({"type": "or", "left": _B, "right": _HIGH}, (_HIGH_A, _LOW_B)),
    "what does not match": ({"type": "not", "child": _A}, (_LOW_B,)),
    "numbers above 99, or a transformed column": (
        {"type": "or", "left": _predicate("gt", "id", value=99), "right": _TRUNCATED_B},
        (_HIGH_A, _LOW_B),
    ),
    "another prefix, and numbers below 10": (
        {
            "type": "and",
            "left": _predicate("not-starts-with", "category", value="b"),
            "right": _predicate("lt", "id", value=10),
        },
        (_LOW_A,),
    ),
    "a missing value, or another one": (
        {"type": "or", "left": _predicate("is-null", "category"), "right": _B},
        (_LOW_B,),
    ),
}


@check("planTableScan.filter", needs=V2)
def test_filters_lose_nothing(catalog: Catalog) -> None:
    """A scan with a filter plans every file that may have matching rows."""
    with given_files(catalog) as files:
        files.append(
            PlannedFile(_LOW_A, "a", (0, 9)),
            PlannedFile(_HIGH_A, "a", (100, 109)),
            PlannedFile(_LOW_B, "b", (0, 9)),
        )
        for what, (filter_, names) in _FILTERS.items():
            found = planned(catalog, files.table, filter=filter_)
            expect_among(files, found, names, f"asked for {what}")


@check("planTableScan.constant-filters", needs=V2)
def test_filters_that_are_constant(catalog: Catalog) -> None:
    """A filter that is the object for true keeps every file; that for false is accepted."""
    with given_files(catalog) as files:
        files.append(PlannedFile("a.parquet", "a"), PlannedFile("b.parquet", "b"))
        found = planned(catalog, files.table, filter={"type": "true"})
        expect_among(files, found, ["a.parquet", "b.parquet"], "asked for everything")
        planned(catalog, files.table, filter={"type": "false"})


@check("planTableScan.case-insensitive", needs=V2)
def test_names_without_case(catalog: Catalog) -> None:
    """With case-sensitive false, a column is found under a name in other letters."""
    with given_files(catalog) as files:
        files.append(PlannedFile("a.parquet", "a"), PlannedFile("b.parquet", "b"))
        filter_ = _predicate("eq", "CATEGORY", value="b")
        found = planned(catalog, files.table, filter=filter_, select=["ID"], case_sensitive=False)
        expect_among(files, found, ["b.parquet"])


@check("planTableScan.schemas", proves="planTableScan.schema-of-the-scan", needs=V2)
def test_schema_of_a_scan(catalog: Catalog) -> None:
    """use-snapshot-schema decides whether names are of the snapshot's schema or the table's."""
    with given_files(catalog) as files:
        first = files.append(PlannedFile("a.parquet", "a"), PlannedFile("b.parquet", "b"))
        category = column_id(files.table, "category")
        renamed = {**view.current_schema(files.table.metadata), "schema-id": 1}
        renamed["fields"] = [
            {**field, "name": "kind"} if field["id"] == category else field
            for field in renamed["fields"]
        ]
        updates = [
            schema_addition(files.table.metadata, renamed),
            {"action": "set-current-schema", "schema-id": -1},
        ]
        table = given_commit(catalog, files.table, updates)
        for old, name in ((True, "category"), (False, "kind")):
            filter_ = _predicate("eq", name, value="b")
            found = planned(
                catalog, table, filter=filter_, snapshot_id=first, use_snapshot_schema=old
            )
            expect_among(files, found, ["b.parquet"], f"use-snapshot-schema {old}")


# ---- delete files


@check("planTableScan.position-deletes", needs=V2)
def test_position_deletes(catalog: Catalog) -> None:
    """A data file is planned with the position deletes that name it, or may do so."""
    with given_files(catalog) as files:
        files.append(PlannedFile("a.parquet", "a"), PlannedFile("b.parquet", "b"))
        files.append(
            PlannedFile("named.parquet", content=POSITION_DELETES, refers_to="a.parquet"),
            PlannedFile(
                "bound.parquet", content=POSITION_DELETES, refers_to="a.parquet", by_bounds=True
            ),
            # The bounds include several files; the last one is a.parquet.
            PlannedFile(
                "range.parquet",
                content=POSITION_DELETES,
                refers_to="a.parquet",
                by_bounds=True,
                facts={"lower_bounds": files.path_bound("0.parquet")},
            ),
            # Without bounds its rows may belong to any file in the partition.
            PlannedFile("anywhere.parquet", content=POSITION_DELETES),
        )
        found = planned(catalog, files.table)
        expect_planned(files, found, ["a.parquet", "b.parquet"])
        deletes = files.names_of(found.deletes_of(files.location("a.parquet")))
        due = ["anywhere.parquet", "bound.parquet", "named.parquet", "range.parquet"]
        equal(deletes, due, symptom=PLANNED_DELETES)


@check("planTableScan.equality-deletes", needs=V2)
def test_equality_deletes(catalog: Catalog) -> None:
    """Equality deletes go with the older files of their partition, and with no others."""
    with given_files(catalog) as files:
        files.append(PlannedFile("old.parquet", "a"), PlannedFile("elsewhere.parquet", "b"))
        # The older file's greatest id is the least id that is deleted.
        files.append(
            PlannedFile("deletes.parquet", "a", (9, 20), content=EQUALITY_DELETES),
            PlannedFile("bare.parquet", "a", content=EQUALITY_DELETES, measured=False),
        )
        files.append(PlannedFile("new.parquet", "a"))
        found = planned(catalog, files.table)
        expect_planned(files, found, ["old.parquet", "elsewhere.parquet", "new.parquet"])
        due = {"old.parquet": ["bare.parquet", "deletes.parquet"]}
        for name in ("old.parquet", "new.parquet", "elsewhere.parquet"):
            deletes = files.names_of(found.deletes_of(files.location(name)))
            equal(deletes, due.get(name, []), symptom=PLANNED_DELETES, detail=name)


# ---- plans that are fetched in parts


@check("fetchScanTasks.large-scan", proves="fetchScanTasks.200", needs=V2)
def test_large_scan(catalog: Catalog) -> None:
    """The plan tasks of a large scan give every file once."""
    with given_files(catalog) as files:
        names = _given_many(files)
        found = planned(catalog, files.table)
        expect_planned(files, found, names)
        if not found.plan_tasks:
            reason = f"the catalog plans {MANY} files without plan tasks"
            raise NotOffered(reason, SkipKind.NOT_APPLICABLE)


@check(
    "fetchPlanningResult.known-plan",
    proves=("fetchPlanningResult.200", "fetchPlanningResult.state"),
    needs=V2,
)
def test_result_of_a_known_plan(catalog: Catalog) -> None:
    """The result of a plan that the catalog holds can be fetched, with tasks once completed."""
    with given_files(catalog) as files:
        first, plan_id = _held_plan(catalog, files)
        reply = catalog.fetch_planning_result(files.table, plan_id)
        _skip_if_over(catalog, first, reply)
        reply.expect(200)
        expect_state(reply, "completed", "submitted")


@check("cancelPlanning.known-plan", proves="cancelPlanning.204", needs=V2)
def test_cancelling_a_plan(catalog: Catalog) -> None:
    """Cancelling a plan that the catalog holds is answered 204."""
    with given_files(catalog) as files:
        first, plan_id = _held_plan(catalog, files)
        reply = catalog.cancel_planning(files.table, plan_id)
        if catalog.contract.is_at_least("1.11.0"):
            _skip_if_over(catalog, first, reply)
        reply.expect(204)


def _skip_if_over(catalog: Catalog, first: Json, reply: Reply) -> None:
    """Raise NotOffered for a 404 about a plan that is over.

    Since 1.11.0 each completed plan has an id (L3610), also one of which nothing is held; before, a
    plan with an id was one of which something is (L664), and with plan tasks surely.
    """
    over = first.get("status") == "completed"
    needs_no_state = catalog.contract.is_at_least("1.11.0") or not first.get(_TASKS)
    if reply.status == 404 and over and needs_no_state:
        raise NotOffered("nothing of the plan was left", SkipKind.NOT_APPLICABLE)


def _given_many(files: ManifestFiles) -> list[str]:
    names = [f"{number:03}.parquet" for number in range(MANY)]
    files.append(*(PlannedFile(name) for name in names))
    return names


def _held_plan(catalog: Catalog, files: ManifestFiles) -> tuple[Json, str]:
    """Return the answer to a scan and the id of its plan; nothing of the plan was fetched yet."""
    _given_many(files)
    answer = catalog.plan_table_scan(files.table).expect(200).json()
    plan_id = answer.get("plan-id")
    if not isinstance(plan_id, str):
        reason = f"the catalog plans {MANY} files without a plan id"
        raise NotOffered(reason, SkipKind.NOT_APPLICABLE)
    return answer, plan_id
