"""Defects of plans that outlast their table."""

from typing import Any

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, defect
from icecheck.mock_server.defects.kit.remembering import place_of
from icecheck.mock_server.defects.kit.requests import Name, sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.planning.plans import Plans
from icecheck.mock_server.planning.scan_tasks import scan_tasks_json
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem


def _answer_where_planned(registries: Registries, operation_id: str, reply: Reply) -> None:
    """Give this answer for a table that is gone, if a scan of it was planned before."""
    planned: set[Name] = set()

    def planning(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        planned.add(place_of(call))
        return outcome

    def asked(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if state.table(call.namespace, call.name) is None and place_of(call) in planned:
            return Outcome(state, reply)
        return faithful(state, call)

    wrap(registries, "planTableScan", planning)
    wrap(registries, operation_id, asked)


@defect(
    "plan-result-after-the-drop",
    breaks="planTableScan.lost-table",
    suffering="Clients believe that somebody has cancelled their plan, and plan again.",
)
def _result_after_the_drop(registries: Registries) -> None:
    """A plan of a table that is gone is said to be cancelled."""
    cancelled: dict[str, Any] = {"status": "cancelled"}
    _answer_where_planned(registries, "fetchPlanningResult", replies.json_reply(cancelled))


@defect(
    "plan-task-after-the-drop",
    breaks="planTableScan.lost-table",
    suffering="Queries miss rows, and nothing says so.",
)
def _task_after_the_drop(registries: Registries) -> None:
    """A plan task of a table that is gone gives no files."""
    empty: dict[str, Any] = {"file-scan-tasks": []}
    _answer_where_planned(registries, "fetchScanTasks", replies.json_reply(empty))


declare(
    "plan-cancelled-after-the-drop",
    "A plan can be cancelled under every name that its table ever had.",
    by(_answer_where_planned, "cancelPlanning", replies.NO_CONTENT),
    breaks="planTableScan.lost-table",
    suffering="A client that names a former table believes its plan cancelled.",
)


@defect(
    "plan-task-of-the-former-table",
    breaks="planTableScan.lost-table",
    suffering="Queries of a new table read the files of the one before.",
)
def _task_of_the_former_table(registries: Registries) -> None:
    """Plan tasks are looked up by themselves, under whatever table they are handed in."""
    owners: dict[str, tuple[Plans, tuple[str, str]]] = {}

    def planning(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        entry = state.table(call.namespace, call.name)
        plan_id = msgspec.json.decode(outcome.reply.body).get("plan-id")
        if entry is not None and plan_id is not None:
            owners[plan_id] = (
                faithful.context.plans,
                (faithful.context.warehouse, entry.metadata.table_uuid),
            )
        return outcome

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

    wrap(registries, "planTableScan", planning)
    wrap(registries, "fetchScanTasks", asked)
