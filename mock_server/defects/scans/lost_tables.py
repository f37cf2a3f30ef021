"""Defects of plans that outlast their table."""

import msgspec

from icecheck.mock_server.core.context import Call, Context, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.remembering import note_after, note_outcome, place_of
from icecheck.mock_server.defects.kit.requests import Name, sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.planning.plans import Plans
from icecheck.mock_server.planning.scan_tasks import scan_tasks_json
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem


def _answer_where_planned(registries: Registries, operation_id: str, reply: Reply) -> None:
    """Give this answer for a table that is gone, if a scan of it was planned before."""
    planned: set[Name] = set()

    def asked(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if state.table(call.namespace, call.name) is None and place_of(call) in planned:
            return Outcome(state, reply)
        return faithful(state, call)

    note_after(registries, "planTableScan", lambda call: planned.add(place_of(call)))
    wrap(registries, operation_id, asked)


declare_each(
    ("plan-result-after-the-drop", "planTableScan.lost-table",
     "A plan of a table that is gone is said to be cancelled.",
     "Clients believe that somebody has cancelled their plan, and plan again.",
     by(_answer_where_planned, "fetchPlanningResult",
        replies.json_reply({"status": "cancelled"}))),
    ("plan-task-after-the-drop", "planTableScan.lost-table",
     "A plan task of a table that is gone gives no files.",
     "Queries miss rows, and nothing says so.",
     by(_answer_where_planned, "fetchScanTasks", replies.json_reply({"file-scan-tasks": []}))),
    ("plan-cancelled-after-the-drop", "planTableScan.lost-table",
     "A plan can be cancelled under every name that its table ever had.",
     "A client that names a former table believes its plan cancelled.",
     by(_answer_where_planned, "cancelPlanning", replies.NO_CONTENT)),
)  # fmt: skip


@defect(
    "plan-task-of-the-former-table",
    breaks="planTableScan.lost-table",
    suffering="Queries of a new table read the files of the one before.",
)
def _task_of_the_former_table(registries: Registries) -> None:
    """Plan tasks are looked up by themselves, under whatever table they are handed in."""
    owners: dict[str, tuple[Plans, tuple[str, str]]] = {}

    def planning(context: Context, state: WarehouseState, call: Call, outcome: Outcome) -> None:
        entry = state.table(call.namespace, call.name)
        plan_id = msgspec.json.decode(outcome.reply.body).get("plan-id")
        if entry is not None and plan_id is not None:
            owners[plan_id] = (context.plans, (context.warehouse, entry.metadata.table_uuid))

    def asked(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        plan_task = str(sent_json(call).get("plan-task"))
        known = owners.get(plan_task.rpartition(".")[0])
        if known is None or state.table(call.namespace, call.name) is None:
            return faithful(state, call)
        plans, owner = known
        found = plans.find_task(plan_task, owner, faithful.context.clock.now_ms())
        if found is None:
            raise Problem(404, "NoSuchPlanTaskException", "Plan task does not exist")
        view, number = found
        body = scan_tasks_json(view.page(number), (), view.scan)
        return Outcome(state, replies.json_reply(body))

    note_outcome(registries, "planTableScan", planning)
    wrap(registries, "fetchScanTasks", asked)
