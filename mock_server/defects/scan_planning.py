"""Ways in which servers take or refuse requests to plan scans wrongly."""

from typing import Any

import msgspec

from icecheck.mock_server import problem, replies
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import (
    alter_body,
    alter_request_body,
    answer_status,
    refuse_as,
    sent_json,
    wrap,
)
from icecheck.mock_server.problem import Problem
from icecheck.mock_server.state import WarehouseState

Json = dict[str, Any]

_LOST_ROWS = "Queries miss rows, and nothing says so."
_TOO_MANY_ROWS = "Queries count rows that are not theirs, and nothing says so."


def _answer_instead(registries: Registries, operation_id: str, type_: str, body: Json) -> None:
    """Answer 200 with a body where the faithful server refuses with an error of this type."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(context, state, call)
        except Problem as refused:
            if refused.type != type_:
                raise
            return Outcome(state, replies.json_reply(body))

    wrap(registries, operation_id, around)


@defect(
    "plan-needs-a-snapshot",
    breaks="planTableScan.200",
    suffering="The first query of a new table fails.",
)
def _needs_a_snapshot(registries: Registries) -> None:
    """A table without snapshots cannot be scanned."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        entry = state.table(call.namespace, call.name)
        if entry is not None and not entry.metadata.snapshots:
            raise problem.bad_request("The table has no current snapshot")
        return faithful(context, state, call)

    wrap(registries, "planTableScan", around)


@defect(
    "plan-submitted-without-id",
    breaks="planTableScan.200",
    suffering="Clients wait for a plan that they cannot ask for.",
)
def _submitted_without_id(registries: Registries) -> None:
    """Planning goes on in the background, and the answer does not say under which id."""
    alter_body(registries, "planTableScan", lambda _: {"status": "submitted"})


@defect(
    "plan-unknown-member",
    breaks="planTableScan.every-member",
    suffering="Clients that ask for column statistics cannot plan.",
)
def _unknown_member(registries: Registries) -> None:
    """A request that asks for statistics is refused."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        if "stats-fields" in sent_json(call):
            raise problem.bad_request("Unknown field: stats-fields")
        return faithful(context, state, call)

    wrap(registries, "planTableScan", around)


@defect("plan-point-wins", breaks="planTableScan.400", suffering=_TOO_MANY_ROWS)
def _point_wins(registries: Registries) -> None:
    """A scan of a point and a range is planned for the point."""

    def without_range(body: Json) -> Json:
        if "snapshot-id" not in body:
            return body
        dropped = {"start-snapshot-id", "end-snapshot-id"}
        return {name: value for name, value in body.items() if name not in dropped}

    alter_request_body(registries, "planTableScan", without_range)


@defect("plan-half-a-range", breaks="planTableScan.range-needs-its-end", suffering=_TOO_MANY_ROWS)
def _half_a_range(registries: Registries) -> None:
    """A range without end is planned as if it had no start either."""

    def alter(body: Json) -> Json:
        if "end-snapshot-id" in body:
            return body
        return {name: value for name, value in body.items() if name != "start-snapshot-id"}

    alter_request_body(registries, "planTableScan", alter)


@defect("plan-unread-filter", breaks="planTableScan.malformed-body", suffering=_TOO_MANY_ROWS)
def _unread_filter(registries: Registries) -> None:
    """A filter that the server does not know is left out, and the scan planned without it."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(context, state, call)
        except Problem as refused:
            body = sent_json(call)
            if refused.status != 400 or "filter" not in body:
                raise
            del body["filter"]
            request = msgspec.structs.replace(call.request, body=msgspec.json.encode(body))
            return faithful(context, state, msgspec.structs.replace(call, request=request))

    wrap(registries, "planTableScan", around)


@defect(
    "plan-malformed-500",
    breaks="planTableScan.malformed-body",
    suffering="Clients repeat a request that can never succeed.",
)
def _malformed_500(registries: Registries) -> None:
    """A malformed request is an internal error."""
    refuse_as(registries, "planTableScan", 400, 500, "InternalServerError")


@defect(
    "plan-expired-snapshot-empty",
    breaks="planTableScan.unknown-snapshot-refused",
    suffering="An expired snapshot reads as an empty table.",
)
def _expired_snapshot_empty(registries: Registries) -> None:
    """A snapshot that does not exist has no files."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        entry = state.table(call.namespace, call.name)
        wanted = sent_json(call).get("snapshot-id")
        if entry is None or not isinstance(wanted, int):
            return faithful(context, state, call)
        if wanted in {snapshot.snapshot_id for snapshot in entry.metadata.snapshots}:
            return faithful(context, state, call)
        empty: Json = {"status": "completed", "file-scan-tasks": []}
        return Outcome(state, replies.json_reply(empty))

    wrap(registries, "planTableScan", around)


@defect(
    "plan-missing-table-400",
    breaks="planTableScan.404",
    suffering="Clients take a dropped table for a mistake of their own.",
)
def _missing_table_400(registries: Registries) -> None:
    """A scan of a missing table is a bad request."""
    refuse_as(registries, "planTableScan", 404, 400, "BadRequestException")


@defect(
    "plan-result-forgotten",
    breaks="fetchPlanningResult.200",
    suffering="Clients plan again and again, and never read.",
)
def _result_forgotten(registries: Registries) -> None:
    """A plan cannot be asked for."""

    def around(_faithful: Operation, _: Context, _state: WarehouseState, _call: Call) -> Outcome:
        raise Problem(404, "NoSuchPlanIdException", "No such plan")

    wrap(registries, "fetchPlanningResult", around)


@defect(
    "plan-unknown-is-cancelled",
    breaks="fetchPlanningResult.404",
    suffering="Clients believe that somebody has cancelled their plan.",
)
def _unknown_is_cancelled(registries: Registries) -> None:
    """A plan that never was is said to be cancelled."""
    cancelled: Json = {"status": "cancelled"}
    _answer_instead(registries, "fetchPlanningResult", "NoSuchPlanIdException", cancelled)


@defect(
    "plan-result-of-a-missing-table-500",
    breaks="fetchPlanningResult.missing-table",
    suffering="Clients keep on asking for the plan of a dropped table.",
)
def _result_of_a_missing_table_500(registries: Registries) -> None:
    """Asking for a plan of a missing table is an internal error."""
    refuse_as(registries, "fetchPlanningResult", 404, 500, "InternalServerError")


@defect(
    "plan-cancelled-200",
    breaks="cancelPlanning.204",
    suffering="Strict clients take the cancellation for failed.",
)
def _cancelled_200(registries: Registries) -> None:
    """A cancellation is answered 200."""
    answer_status(registries, "cancelPlanning", 200)


@defect(
    "plan-cancelled-for-a-missing-table",
    breaks="cancelPlanning.404",
    suffering="A client that names the wrong table believes its plan cancelled.",
)
def _cancelled_for_a_missing_table(registries: Registries) -> None:
    """A plan of a missing table is cancelled all the same."""
    refuse_as(registries, "cancelPlanning", 404, 204)


@defect("plan-task-loses-a-file", breaks="fetchScanTasks.200", suffering=_LOST_ROWS)
def _task_loses_a_file(registries: Registries) -> None:
    """A plan task gives one file too few."""

    def altered(body: Json) -> Json:
        return {**body, "file-scan-tasks": body.get("file-scan-tasks", [])[1:]}

    alter_body(registries, "fetchScanTasks", altered)


@defect("plan-task-unknown-is-empty", breaks="fetchScanTasks.404", suffering=_LOST_ROWS)
def _task_unknown_is_empty(registries: Registries) -> None:
    """A plan task that the server has forgotten has no files."""
    empty: Json = {"file-scan-tasks": []}
    _answer_instead(registries, "fetchScanTasks", "NoSuchPlanTaskException", empty)


@defect(
    "plan-task-of-a-missing-table-400",
    breaks="fetchScanTasks.missing-table",
    suffering="Clients take a dropped table for a mistake of their own.",
)
def _task_of_a_missing_table_400(registries: Registries) -> None:
    """A plan task for a missing table is a bad request."""
    refuse_as(registries, "fetchScanTasks", 404, 400, "BadRequestException")


@defect(
    "plan-task-unread",
    breaks="fetchScanTasks.400",
    suffering="A client that sends the wrong member is told that its plan has expired.",
)
def _task_unread(registries: Registries) -> None:
    """A request without a plan task is one with an unknown plan task."""
    refuse_as(registries, "fetchScanTasks", 400, 404, "NoSuchPlanTaskException")


@defect(
    "plan-cancelled-at-once",
    breaks="planTableScan.state",
    suffering="Clients have neither tasks nor a reason.",
)
def _cancelled_at_once(registries: Registries) -> None:
    """A server that is busy answers a scan as one that was cancelled."""
    alter_body(registries, "planTableScan", lambda _: {"status": "cancelled"})


@defect(
    "plan-tasks-before-completion",
    breaks="fetchPlanningResult.state",
    suffering="Clients read a part of the files, or some of them twice.",
)
def _tasks_before_completion(registries: Registries) -> None:
    """Tasks are answered while the plan is still submitted."""
    alter_body(registries, "fetchPlanningResult", lambda body: {**body, "status": "submitted"})
