"""Defects of planning requests: wrongly accepted or wrongly refused."""

from collections import Counter

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.requests import Json, sent_json, with_json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    alter_request_body,
    answer_status,
    refuse_as,
    wrap,
)
from icecheck.mock_server.defects.scans.plans import RANGE, without_members
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem

_LOST_ROWS = "Queries miss rows, and nothing says so."
_TOO_MANY_ROWS = "Queries count rows that are not theirs, and nothing says so."


def _is_of_no_table(state: WarehouseState, call: Call) -> bool:
    return state.table(call.namespace, call.name) is None


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


declare_each(
    ("plan-needs-a-snapshot", "planTableScan.200", "A table without snapshots cannot be scanned.",
     "The first query of a new table fails.",
     by(
         refuse_where,
         "planTableScan",
         lambda state, call: (
             (entry := state.table(call.namespace, call.name)) and not entry.metadata.snapshots
         ),
     )),
    ("plan-unknown-member", "planTableScan.every-member",
     "A request that asks for statistics is refused.",
     "Clients that ask for column statistics cannot plan.",
     by(refuse_where, "planTableScan", lambda _, call: "stats-fields" in sent_json(call))),
    ("plan-point-wins", "planTableScan.400",
     "A scan of a point and a range is planned for the point.", _TOO_MANY_ROWS,
     by(alter_request_body, "planTableScan",
        lambda body: without_members(body, *RANGE) if "snapshot-id" in body else body)),
    ("plan-half-a-range", "planTableScan.range-needs-its-end",
     "A range without end is planned as if it had no start either.", _TOO_MANY_ROWS,
     by(
         alter_request_body,
         "planTableScan",
         lambda body: (
             body if "end-snapshot-id" in body else without_members(body, "start-snapshot-id")
         ),
     )),
    ("plan-result-forgotten", "fetchPlanningResult.200", "A plan cannot be asked for.",
     "Clients plan again and again, and never read.",
     by(refuse_where, "fetchPlanningResult", lambda _state, _call: True, 404,
        "NoSuchPlanIdException")),
    ("plan-unknown-is-cancelled", "fetchPlanningResult.404",
     "A plan that never was is said to be cancelled.",
     "Clients believe that somebody has cancelled their plan.",
     by(_answer_instead, "fetchPlanningResult", "NoSuchPlanIdException", {"status": "cancelled"})),
    ("plan-task-loses-a-file", "fetchScanTasks.200", "A plan task gives one file too few.",
     _LOST_ROWS,
     by(alter_body, "fetchScanTasks",
        lambda body: {**body, "file-scan-tasks": body.get("file-scan-tasks", [])[1:]})),
    ("plan-task-unknown-is-empty", "fetchScanTasks.404",
     "A plan task that the server has forgotten has no files.", _LOST_ROWS,
     by(_answer_instead, "fetchScanTasks", "NoSuchPlanTaskException", {"file-scan-tasks": []})),
    ("plan-submitted-without-id", "planTableScan.200",
     "Planning goes on in the background, and the answer does not say under which id.",
     "Clients wait for a plan that they cannot ask for.",
     by(alter_body, "planTableScan", lambda _: {"status": "submitted"})),
    ("plan-malformed-500", "planTableScan.malformed-body",
     "A malformed request is an internal error.",
     "Clients repeat a request that can never succeed.",
     by(refuse_as, "planTableScan", 400, 500, "InternalServerError")),
    ("plan-missing-table-400", "planTableScan.404", "A scan of a missing table is a bad request.",
     "Clients take a dropped table for a mistake of their own.",
     by(refuse_as, "planTableScan", 404, 400, "BadRequestException")),
    ("plan-result-of-a-missing-table-500", "fetchPlanningResult.missing-table",
     "Asking for a plan of a missing table is an internal error.",
     "Clients keep on asking for the plan of a dropped table.",
     by(refuse_as, "fetchPlanningResult", 404, 500, "InternalServerError")),
    ("plan-cancelled-200", "cancelPlanning.204", "A cancellation is answered 200.",
     "Strict clients take the cancellation for failed.", by(answer_status, "cancelPlanning", 200)),
    ("plan-cancelled-for-a-missing-table", "cancelPlanning.404",
     "A plan of a missing table is cancelled all the same.",
     "A client that names the wrong table believes its plan cancelled.",
     by(refuse_as, "cancelPlanning", 404, 204)),
    ("plan-task-of-a-missing-table-400", "fetchScanTasks.missing-table",
     "A plan task for a missing table is a bad request.",
     "Clients take a dropped table for a mistake of their own.",
     by(refuse_where, "fetchScanTasks", _is_of_no_table)),
    ("plan-task-unread", "fetchScanTasks.400",
     "A request without a plan task is one with an unknown plan task.",
     "A client that sends the wrong member is told that its plan has expired.",
     by(refuse_as, "fetchScanTasks", 400, 404, "NoSuchPlanTaskException")),
    ("plan-cancelled-at-once", "planTableScan.state",
     "A server that is busy answers a scan as one that was cancelled.",
     "Clients have neither tasks nor a reason.",
     by(alter_body, "planTableScan", lambda _: {"status": "cancelled"})),
    ("plan-tasks-before-completion", "fetchPlanningResult.state",
     "Tasks are answered while the plan is still submitted.",
     "Clients read a part of the files, or some of them twice.",
     by(alter_body, "fetchPlanningResult", lambda body: {**body, "status": "submitted"})),
)  # fmt: skip


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
