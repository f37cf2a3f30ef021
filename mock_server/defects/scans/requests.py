"""Defects of planning requests: wrongly accepted or wrongly refused."""

from collections import Counter

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, defect
from icecheck.mock_server.defects.kit.places import answer_of, request_of
from icecheck.mock_server.defects.kit.requests import Json, sent_json, with_json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    answer_status,
    refuse_as,
    wrap,
)
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem

_LOST_ROWS = "Queries miss rows, and nothing says so."
_TOO_MANY_ROWS = "Queries count rows that are not theirs, and nothing says so."


def _answer_instead(registries: Registries, operation_id: str, type_: str, body: Json) -> None:
    """Answer 200 with a body where the faithful server refuses with an error of this type."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(state, call)
        except Problem as refused:
            if refused.type != type_:
                raise
            return Outcome(state, replies.json_reply(body))

    wrap(registries, operation_id, around)


@defect(
    "plan-needs-a-snapshot",
    on="planTableScan",
    breaks="planTableScan.200",
    suffering="The first query of a new table fails.",
)
def _needs_a_snapshot(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A table without snapshots cannot be scanned."""
    entry = state.table(call.namespace, call.name)
    if entry is not None and not entry.metadata.snapshots:
        raise problem.bad_request("The table has no current snapshot")
    return faithful(state, call)


declare(
    "plan-submitted-without-id",
    "Planning goes on in the background, and the answer does not say under which id.",
    by(alter_body, "planTableScan", lambda _: {"status": "submitted"}),
    breaks="planTableScan.200",
    suffering="Clients wait for a plan that they cannot ask for.",
)


@defect(
    "plan-unknown-member",
    on="planTableScan",
    breaks="planTableScan.every-member",
    suffering="Clients that ask for column statistics cannot plan.",
)
def _unknown_member(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A request that asks for statistics is refused."""
    if "stats-fields" in sent_json(call):
        raise problem.bad_request("Unknown field: stats-fields")
    return faithful(state, call)


@defect(
    "plan-point-wins",
    on=request_of("planTableScan"),
    breaks="planTableScan.400",
    suffering=_TOO_MANY_ROWS,
)
def _point_wins(body: Json) -> Json:
    """A scan of a point and a range is planned for the point."""
    if "snapshot-id" not in body:
        return body
    dropped = {"start-snapshot-id", "end-snapshot-id"}
    return {name: value for name, value in body.items() if name not in dropped}


@defect(
    "plan-half-a-range",
    on=request_of("planTableScan"),
    breaks="planTableScan.range-needs-its-end",
    suffering=_TOO_MANY_ROWS,
)
def _half_a_range(body: Json) -> Json:
    """A range without end is planned as if it had no start either."""
    if "end-snapshot-id" in body:
        return body
    return {name: value for name, value in body.items() if name != "start-snapshot-id"}


@defect(
    "plan-unread-filter",
    on="planTableScan",
    breaks="planTableScan.malformed-body",
    suffering=_TOO_MANY_ROWS,
)
def _unread_filter(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A filter that the server does not know is left out, and the scan planned without it."""
    try:
        return faithful(state, call)
    except Problem as refused:
        body = sent_json(call)
        if refused.status != 400 or "filter" not in body:
            raise
        del body["filter"]
        return faithful(state, with_json(call, body))


declare(
    "plan-malformed-500",
    "A malformed request is an internal error.",
    by(refuse_as, "planTableScan", 400, 500, "InternalServerError"),
    breaks="planTableScan.malformed-body",
    suffering="Clients repeat a request that can never succeed.",
)


@defect(
    "plan-expired-snapshot-empty",
    on="planTableScan",
    breaks="planTableScan.unknown-snapshot-refused",
    suffering="An expired snapshot reads as an empty table.",
)
def _expired_snapshot_empty(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A snapshot that does not exist has no files."""
    entry = state.table(call.namespace, call.name)
    wanted = sent_json(call).get("snapshot-id")
    if entry is None or not isinstance(wanted, int):
        return faithful(state, call)
    if wanted in {snapshot.snapshot_id for snapshot in entry.metadata.snapshots}:
        return faithful(state, call)
    empty: Json = {"status": "completed", "file-scan-tasks": []}
    return Outcome(state, replies.json_reply(empty))


declare(
    "plan-missing-table-400",
    "A scan of a missing table is a bad request.",
    by(refuse_as, "planTableScan", 404, 400, "BadRequestException"),
    breaks="planTableScan.404",
    suffering="Clients take a dropped table for a mistake of their own.",
)


@defect(
    "plan-result-forgotten",
    on="fetchPlanningResult",
    breaks="fetchPlanningResult.200",
    suffering="Clients plan again and again, and never read.",
)
def _result_forgotten(_faithful: Faithful, _state: WarehouseState, _call: Call) -> Outcome:
    """A plan cannot be asked for."""
    raise Problem(404, "NoSuchPlanIdException", "No such plan")


@defect(
    "plan-unknown-is-cancelled",
    breaks="fetchPlanningResult.404",
    suffering="Clients believe that somebody has cancelled their plan.",
)
def _unknown_is_cancelled(registries: Registries) -> None:
    """A plan that never was is said to be cancelled."""
    cancelled: Json = {"status": "cancelled"}
    _answer_instead(registries, "fetchPlanningResult", "NoSuchPlanIdException", cancelled)


declare(
    "plan-result-of-a-missing-table-500",
    "Asking for a plan of a missing table is an internal error.",
    by(refuse_as, "fetchPlanningResult", 404, 500, "InternalServerError"),
    breaks="fetchPlanningResult.missing-table",
    suffering="Clients keep on asking for the plan of a dropped table.",
)

declare(
    "plan-cancelled-200",
    "A cancellation is answered 200.",
    by(answer_status, "cancelPlanning", 200),
    breaks="cancelPlanning.204",
    suffering="Strict clients take the cancellation for failed.",
)

declare(
    "plan-cancelled-for-a-missing-table",
    "A plan of a missing table is cancelled all the same.",
    by(refuse_as, "cancelPlanning", 404, 204),
    breaks="cancelPlanning.404",
    suffering="A client that names the wrong table believes its plan cancelled.",
)


@defect(
    "plan-task-loses-a-file",
    on=answer_of("fetchScanTasks"),
    breaks="fetchScanTasks.200",
    suffering=_LOST_ROWS,
)
def _task_loses_a_file(body: Json) -> Json:
    """A plan task gives one file too few."""
    return {**body, "file-scan-tasks": body.get("file-scan-tasks", [])[1:]}


@defect("plan-task-unknown-is-empty", breaks="fetchScanTasks.404", suffering=_LOST_ROWS)
def _task_unknown_is_empty(registries: Registries) -> None:
    """A plan task that the server has forgotten has no files."""
    empty: Json = {"file-scan-tasks": []}
    _answer_instead(registries, "fetchScanTasks", "NoSuchPlanTaskException", empty)


declare(
    "plan-task-of-a-missing-table-400",
    "A plan task for a missing table is a bad request.",
    by(refuse_as, "fetchScanTasks", 404, 400, "BadRequestException"),
    breaks="fetchScanTasks.missing-table",
    suffering="Clients take a dropped table for a mistake of their own.",
)

declare(
    "plan-task-unread",
    "A request without a plan task is one with an unknown plan task.",
    by(refuse_as, "fetchScanTasks", 400, 404, "NoSuchPlanTaskException"),
    breaks="fetchScanTasks.400",
    suffering="A client that sends the wrong member is told that its plan has expired.",
)

declare(
    "plan-cancelled-at-once",
    "A server that is busy answers a scan as one that was cancelled.",
    by(alter_body, "planTableScan", lambda _: {"status": "cancelled"}),
    breaks="planTableScan.state",
    suffering="Clients have neither tasks nor a reason.",
)

declare(
    "plan-tasks-before-completion",
    "Tasks are answered while the plan is still submitted.",
    by(alter_body, "fetchPlanningResult", lambda body: {**body, "status": "submitted"}),
    breaks="fetchPlanningResult.state",
    suffering="Clients read a part of the files, or some of them twice.",
)


@defect(
    "plan-cancelled-in-vain",
    breaks="cancelPlanning.ends-the-plan",
    suffering="Scans that nobody waits for take the time of the catalog.",
)
def _cancelled_in_vain(registries: Registries) -> None:
    """Planning goes on in the background, whoever cancels it meanwhile."""
    asked: Counter[str] = Counter()

    def submitted(body: Json) -> Json:
        return {"status": "submitted", "plan-id": body["plan-id"]}

    def fetched(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        asked[call.parameters["plan-id"]] += 1
        if asked[call.parameters["plan-id"]] > 2:
            return outcome
        return Outcome(state, replies.json_reply({"status": "submitted"}))

    def in_vain(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if state.table(call.namespace, call.name) is None:
            return faithful(state, call)
        return Outcome(state, replies.NO_CONTENT)

    alter_body(registries, "planTableScan", submitted)
    wrap(registries, "cancelPlanning", in_vain)
    wrap(registries, "fetchPlanningResult", fetched)
