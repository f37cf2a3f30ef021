"""Judgement of the files in a plan by their names, and what checks of planning share."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.client.planned_scan import (
    Planned,
    expect_state,
    planned,
)
from icecheck.conformance.kit.manifest_files import ManifestFiles, given_files
from icecheck.findings.symptoms import OTHER_ROWS, Severity, declare
from icecheck.objects.reading import not_applicable
from icecheck.replies.expect import Blocked, Violation, equal

PLANNED_FILES = declare(
    "planned-files",
    "Plans other files than those that the scan is about",
    Severity.FALSE_OR_LOST,
    OTHER_ROWS,
    told=("what the scan is about", "something else"),
)
PLANNED_DELETES = declare(
    "planned-deletes",
    "Plans a data file with other delete files than those that apply to it",
    Severity.FALSE_OR_LOST,
    OTHER_ROWS,
)
PLANNED_FILE = declare(
    "planned-file",
    "States wrong facts about planned files",
    Severity.FALSE_OR_LOST,
    OTHER_ROWS,
    told=("what is known of it", "something else"),
    qualifiers_apart=False,
)
PLANNED_FILE_TIMES = declare(
    "planned-file:times",
    "Writes times in planned files otherwise than documented",
    Severity.SHAPE,
    family=PLANNED_FILE,
)
RESIDUAL_FORGETS_THE_FILTER = declare(
    "residual-forgets-the-filter",
    "Sends no residual filter for a file of which only some rows match",
    Severity.FALSE_OR_LOST,
    OTHER_ROWS,
)
PLAN_OF_NOTHING = declare(
    "plan-of-nothing",
    "Plans files for a scan that finds nothing",
    Severity.FALSE_OR_LOST,
    OTHER_ROWS,
)

Json = Any

V2 = ("format-version-2",)
HISTORY = (*V2, "snapshot-history")
IN_A = ("a",)
"""The partition of files that differ in other properties."""
MANY = 150
"""Enough files for a catalog with plan tasks to use them."""


@contextmanager
def given_odd_files(catalog: Catalog, what: str, **members: Any) -> Iterator[ManifestFiles]:
    """Yield a table as `given_files`; end the check if the catalog makes none with ``what``."""
    with ExitStack() as stack:
        try:
            files = stack.enter_context(given_files(catalog, **members))
        except Blocked as refused:
            raise not_applicable(f"the catalog makes no table with {what}") from refused
        yield files


def expect_planned(
    files: ManifestFiles, found: Planned, names: Iterable[str], detail: str = ""
) -> None:
    """Judge that exactly these files are planned, each once."""
    planned_names = files.names_of(found.locations)
    equal(planned_names, sorted(names), symptom=PLANNED_FILES, detail=detail)


def expect_among(
    files: ManifestFiles, found: Planned, names: Iterable[str], detail: str = ""
) -> None:
    """Judge that these files are planned, each once; others may be planned too."""
    due = sorted(names)
    of_these = [name for name in files.names_of(found.locations) if name in due]
    equal(of_these, due, symptom=PLANNED_FILES, detail=detail)


def expect_undecided(task: Mapping[str, Any], detail: str) -> None:
    """Judge that the residual filter of a file with some matching rows is neither true nor false.

    Without a residual filter the whole filter remains.
    """
    residual = task.get("residual-filter")
    kind = residual.get("type") if isinstance(residual, dict) else residual
    decided = kind in (True, False, "true", "false")
    equal(decided, False, symptom=RESIDUAL_FORGETS_THE_FILTER, detail=detail)


def expect_no_snapshot(catalog: Catalog, table: Table, snapshot_id: int, **members: Any) -> None:
    """Judge that a scan of a snapshot that the table does not have is refused or fails."""
    reply = catalog.plan_table_scan(table, snapshot_id=snapshot_id, **members)
    if reply.status == 200 and reply.json().get("status") == "submitted":
        # A server that plans in the background may fail later.
        reply = catalog.fetch_planning_result(table, str(reply.json().get("plan-id")))
    if reply.status == 200 and reply.json().get("status") in {"failed", "submitted"}:
        expect_state(reply, "failed", "submitted")
        return
    reply.expect_refused()


def lost(files: ManifestFiles, found: Planned, names: Iterable[str]) -> list[str]:
    """Return which of these files are not planned exactly once, whatever else is planned."""
    planned_names = files.names_of(found.locations)
    return [name for name in names if planned_names.count(name) != 1]


def passes(value: Json, operation: str, *others: Json) -> bool:
    """Return whether a value passes a comparison with others."""
    results: dict[str, Callable[[], bool]] = {
        "eq": lambda: value in others,
        "in": lambda: value in others,
        "not-eq": lambda: value not in others,
        "not-in": lambda: value not in others,
        "lt": lambda: value < others[0],
        "lt-eq": lambda: value <= others[0],
        "gt": lambda: value > others[0],
        "gt-eq": lambda: value >= others[0],
        "starts-with": lambda: value.startswith(others[0]),
        "not-starts-with": lambda: not value.startswith(others[0]),
    }
    return results[operation]()


def takes(catalog: Catalog, table: Table, **members: Any) -> bool:
    """Return whether an optional scan is planned, at once or in the background."""
    try:
        planned(catalog, table, **members)
    except Violation:
        return False
    return True
