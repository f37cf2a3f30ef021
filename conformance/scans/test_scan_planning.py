"""Checks of scan planning on tables without data, which any catalog can run.

test_scan_planning_files.py judges the content of plans.
"""

from collections.abc import Callable
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import shared_namespace, shared_table
from icecheck.client.planned_scan import (
    expect_state,
    planned,
    settled,
)
from icecheck.conformance.scans.planned_files import PLAN_OF_NOTHING, expect_no_snapshot
from icecheck.findings.shared_symptoms import SCHEMA
from icecheck.findings.statuses import ANY_SUCCESS_OR_4XX
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check
from icecheck.objects.arranging import (
    UNKNOWN_PLAN,
    UNKNOWN_PLAN_TASK,
    last_word,
    of_the_same_shape,
)
from icecheck.objects.committing import shared_snapshots
from icecheck.objects.reading import not_applicable, object_in
from icecheck.replies.expect import Reply, equal
from icecheck.replies.matching import ABSENT, show
from icecheck.targets.target import Namespace

_CANCELLED_AND_PLANNED = declare(
    "cancelled-and-planned",
    "Plans on after a plan was cancelled",
    Severity.REFUSED,
    "whoever runs the catalog: scans that nobody waits for take its time",
)

_RANDOM_LENGTH = 12
"""An id whose last word is so long counts nothing: a neighbour of it was never given."""
UNKNOWN_SNAPSHOT = 7_999_999_999_999_999_999
_Asking = Callable[[Catalog, Table, str], Reply]
_ASKING: dict[str, _Asking] = {
    "fetchPlanningResult": Catalog.fetch_planning_result,
    "cancelPlanning": Catalog.cancel_planning,
}


def _missing(catalog: Catalog) -> list[tuple[Namespace, str]]:
    """Return a missing table in an existing namespace, and one in a missing namespace."""
    namespace = shared_namespace(catalog)
    return [
        (namespace, catalog.new_name()),
        (catalog.new_namespace_name(), catalog.new_name()),
    ]


def _absent(namespace: Namespace, name: str) -> Table:
    return Table(namespace, name, {}, None)


# ---- planTableScan


@check("planTableScan.empty-table", proves="planTableScan.200")
def test_scan_of_an_empty_table(catalog: Catalog) -> None:
    """A scan of a table that has no snapshot yet is planned, and has no tasks."""
    table = shared_table(catalog)
    equal(planned(catalog, table).locations, [], symptom=PLAN_OF_NOTHING)


@check("planTableScan.state")
def test_state_of_a_plan(catalog: Catalog) -> None:
    """An answer to a scan says its state, and has what a client needs in that state."""
    reply = catalog.plan_table_scan(shared_table(catalog)).expect(200)
    expect_state(reply, "completed", "submitted")


@check("planTableScan.completed-has-plan-id")
def test_a_completed_plan_has_an_id(catalog: Catalog) -> None:
    """A plan that is answered as completed has a plan-id."""
    reply = catalog.plan_table_scan(shared_table(catalog)).expect(200)
    expect_state(reply, "completed", "submitted")
    body = object_in(reply)
    if body.get("status") != "completed":
        raise not_applicable("the catalog plans in the background")
    plan_id = body.get("plan-id", ABSENT)
    if not isinstance(plan_id, str):
        kind = "required" if plan_id is ABSENT else "type"
        raise reply.violation(SCHEMA.of(kind), "a plan-id", show(plan_id), pointer="/plan-id")


@check("planTableScan.java-body", proves="planTableScan.every-member")
def test_scan_with_every_member(catalog: Catalog) -> None:
    """A request with every member that a plain scan can have is planned."""
    table = shared_table(catalog)
    everything: dict[str, Any] = {
        "select": ["id", "data"],
        "filter": {"type": "gt", "term": "id", "value": 5},
        "case_sensitive": True,
        "use_snapshot_schema": False,
        "stats_fields": ["id"],
    }
    planned(catalog, table, **everything)


@check(
    "planTableScan.point-and-range", proves="planTableScan.400", needs=("metadata-only-snapshots",)
)
def test_scan_of_a_point_and_a_range(catalog: Catalog) -> None:
    """A scan that names a snapshot and a range of snapshots is refused."""
    table, [first, second] = shared_snapshots(catalog)
    reply = catalog.plan_table_scan(
        table, snapshot_id=second, start_snapshot_id=first, end_snapshot_id=second
    )
    reply.expect(400, 406)


@check(
    "planTableScan.range-without-end",
    proves="planTableScan.range-needs-its-end",
    needs=("metadata-only-snapshots",),
)
def test_scan_of_a_range_without_end(catalog: Catalog) -> None:
    """A scan of a range that does not say where it ends is refused."""
    table, [first, _] = shared_snapshots(catalog)
    catalog.plan_table_scan(table, start_snapshot_id=first).expect(400, 406)


@check("planTableScan.malformed-refused", proves="planTableScan.malformed-body")
def test_malformed_scans(catalog: Catalog) -> None:
    """A scan request that nobody can read is refused."""
    table = shared_table(catalog)
    wrong: dict[str, Any] = {
        "no JSON": b"{",
        "no object": [],
        "a select that is no list": {"select": "id"},
        "a filter without a value": {"filter": {"type": "eq", "term": "id"}},
    }
    names: dict[str, str | Namespace] = {"namespace": table.namespace, "table": table.name}
    for what, body in wrong.items():
        catalog.call("planTableScan", names, body=body).expect(400, detail=f"sent {what}")
    unknown = {"filter": {"type": "icecheck", "term": "id", "value": 1}}
    reply = catalog.call("planTableScan", names, body=unknown)
    reply.expect(400, 406, detail="sent an unknown kind of filter")


@check("planTableScan.unknown-snapshot", proves="planTableScan.unknown-snapshot-refused")
def test_scan_of_an_unknown_snapshot(catalog: Catalog) -> None:
    """A scan of a snapshot that the table does not have is refused, not planned as empty."""
    table = shared_table(catalog)
    expect_no_snapshot(catalog, table, UNKNOWN_SNAPSHOT)


@check("planTableScan.negative-min-rows")
def test_scan_for_fewer_than_no_rows(catalog: Catalog) -> None:
    """A scan that asks for fewer than no rows is planned or refused, and is no server error."""
    reply = catalog.plan_table_scan(shared_table(catalog), min_rows_requested=-1)
    if reply.status >= 500 and not reply.unsupported:
        raise reply.wrong_status(ANY_SUCCESS_OR_4XX, detail="asked for fewer than no rows")


@check("planTableScan.missing-table", proves="planTableScan.404")
def test_scan_of_a_missing_table(catalog: Catalog) -> None:
    """Planning a scan of a table, or in a namespace, that does not exist is refused."""
    for namespace, name in _missing(catalog):
        catalog.plan_table_scan(_absent(namespace, name)).expect(404)


# ---- fetchPlanningResult


@check("fetchPlanningResult.unknown-plan", proves="fetchPlanningResult.404")
def test_result_of_an_unknown_plan(catalog: Catalog) -> None:
    """Asking for the result of a plan that does not exist is refused."""
    reply = _of_an_unknown_plan(catalog, Catalog.fetch_planning_result)
    reply.expect(404, detail="for an id that was never given")


def _of_an_unknown_plan(catalog: Catalog, ask: _Asking) -> Reply:
    """Return the answer about a plan that never was.

    An id of another shape than the catalog's own may be refused with 400 for that, and one of the
    same shape where ids can be checked. Raises NotOffered where that may be so.
    """
    table = shared_table(catalog)
    reply = ask(catalog, table, UNKNOWN_PLAN)
    if reply.status != 400:
        return reply
    given = _given_id(catalog)
    if given is None or len(last_word(given)) < _RANDOM_LENGTH:
        raise not_applicable("which ids were never given, the id of a plan does not tell")
    unknown = of_the_same_shape(given)
    reply = ask(catalog, table, unknown)
    if reply.status == 400:
        others = (each for name, each in _ASKING.items() if catalog.claims(name) and each != ask)
        if all(other(catalog, table, unknown).status == 400 for other in others):
            raise not_applicable("the catalog refuses ids by their form")
    return reply


def _expect_no_table(catalog: Catalog, ask: _Asking, unknown: str) -> None:
    """Expect that a plan, or a task, is not found where there is no table.

    Where its id is refused with 400 for a table that is there too, it is refused for its form: the
    id of a plan is taken then.
    """
    for namespace, name in _missing(catalog):
        reply = ask(catalog, _absent(namespace, name), unknown)
        if reply.status == 400 and ask(catalog, shared_table(catalog), unknown).status == 400:
            given = None if ask not in _ASKING.values() else _given_id(catalog)
            if given is None:
                raise not_applicable("the catalog refuses ids by their form")
            reply = ask(catalog, _absent(namespace, name), given)
        reply.expect(404)


def _given_id(catalog: Catalog) -> str | None:
    """Return the id of a plan of the shared table, if plans there have ids."""
    planned_scan = catalog.plan_table_scan(shared_table(catalog)).expect(200)
    given = object_in(planned_scan).get("plan-id")
    return given if isinstance(given, str) else None


@check("fetchPlanningResult.missing-table")
def test_result_for_a_missing_table(catalog: Catalog) -> None:
    """Asking for a plan of a table that does not exist is refused."""
    _expect_no_table(catalog, Catalog.fetch_planning_result, UNKNOWN_PLAN)


# ---- cancelPlanning


@check("cancelPlanning.missing-table", proves="cancelPlanning.404")
def test_cancelling_for_a_missing_table(catalog: Catalog) -> None:
    """Cancelling a plan of a table that does not exist is refused."""
    _expect_no_table(catalog, Catalog.cancel_planning, UNKNOWN_PLAN)


@check("cancelPlanning.unknown-plan")
def test_a_plan_that_never_was_is_not_cancelled(catalog: Catalog) -> None:
    """Cancelling a plan whose id was never given is refused."""
    reply = _of_an_unknown_plan(catalog, Catalog.cancel_planning)
    reply.expect(404, detail="for an id that was never given")


@check("cancelPlanning.ends-the-plan")
def test_a_cancelled_plan_is_not_planned_on(catalog: Catalog) -> None:
    """A plan that was cancelled is not still being planned."""
    table = shared_table(catalog)
    plan_id = catalog.plan_table_scan(table).expect(200).json().get("plan-id")
    if not isinstance(plan_id, str) or not catalog.claims("fetchPlanningResult"):
        raise not_applicable("the scan is planned at once, or nobody can ask for its plan")
    if not catalog.cancel_planning(table, plan_id).ok:
        raise not_applicable("the catalog cancels no plan: another check judges that")
    reply = catalog.fetch_planning_result(table, plan_id)
    # A plan that was completed before may be kept: what it holds "can" be released.
    if reply.status == 200 and object_in(reply).get("status") == "submitted":
        last = settled(catalog, table, plan_id)
        if last is None or last.get("status") == "completed":
            raise reply.violation(_CANCELLED_AND_PLANNED, "cancelled, or 404", "submitted")


# ---- fetchScanTasks


@check("fetchScanTasks.unknown-task", proves="fetchScanTasks.404")
def test_unknown_plan_task(catalog: Catalog) -> None:
    """Handing in a plan task that was never given out is refused."""
    table = shared_table(catalog)
    reply = catalog.fetch_scan_tasks(table, UNKNOWN_PLAN_TASK)
    if reply.status == 400:
        raise not_applicable("the catalog may refuse plan tasks by their form")
    reply.expect(404)


@check("fetchScanTasks.missing-table")
def test_tasks_of_a_missing_table(catalog: Catalog) -> None:
    """Handing in a plan task for a table that does not exist is refused."""
    _expect_no_table(catalog, Catalog.fetch_scan_tasks, UNKNOWN_PLAN_TASK)


@check("fetchScanTasks.malformed-refused", proves="fetchScanTasks.400")
def test_request_without_a_plan_task(catalog: Catalog) -> None:
    """A request that names no plan task is refused."""
    table = shared_table(catalog)
    names: dict[str, str | Namespace] = {"namespace": table.namespace, "table": table.name}
    wrong: dict[str, Any] = {
        "no JSON": b"{",
        "no object": [],
        "no plan-task": {},
        "a plan-task that is no string": {"plan-task": {}},
    }
    for what, body in wrong.items():
        catalog.call("fetchScanTasks", names, body=body).expect(400, detail=f"sent {what}")
