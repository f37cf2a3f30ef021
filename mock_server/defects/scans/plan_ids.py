"""Defects of the ids of plans, and of scans that ask for a number of rows."""

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import answer_refusal, refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.places import answer_of
from icecheck.mock_server.defects.kit.requests import Json, sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_answer
from icecheck.mock_server.defects.scans.plans import without_members
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem

_MISSED_ROWS = "Queries with a limit find fewer rows than there are."


def _unknown_is(registries: Registries, status: int) -> None:
    """Answer otherwise to the cancellation of a plan that is not there."""

    def answer(_: Faithful, state: WarehouseState, _call: Call, refused: Problem) -> Outcome:
        if refused.type != "NoSuchPlanIdException":
            raise refused
        if status == 204:
            return Outcome(state, replies.NO_CONTENT)
        raise Problem(status, "BadRequestException", refused.message)

    answer_refusal(registries, "cancelPlanning", 404, answer)


def _rows_of_files(call: Call, body: Json) -> Json:
    """Plan files until their rows are as many as are asked for, whatever the filter leaves."""
    wanted, tasks = sent_json(call).get("min-rows-requested"), body.get("file-scan-tasks")
    if wanted is None or not tasks:
        return body
    kept: list[Json] = []
    for task in tasks:
        if sum(each["data-file"]["record-count"] for each in kept) < wanted:
            kept.append(task)
    return body | {"file-scan-tasks": kept}


def _as_many_files(call: Call, body: Json) -> Json:
    wanted, tasks = sent_json(call).get("min-rows-requested"), body.get("file-scan-tasks")
    return body if wanted is None or not tasks else body | {"file-scan-tasks": tasks[:wanted]}


def _all_but_one(call: Call, body: Json) -> Json:
    asked, tasks = "min-rows-requested" in sent_json(call), body.get("file-scan-tasks")
    return body | {"file-scan-tasks": tasks[:-1]} if asked and tasks else body


def _fewer_than_none(_: WarehouseState, call: Call) -> bool:
    return (sent_json(call).get("min-rows-requested") or 0) < 0


declare_each(
    ("plan-for-negative-rows-is-500", "planTableScan.negative-min-rows",
     "A scan for fewer than no rows is a server error.",
     "A client asks again and again for what never comes.",
     by(refuse_where, "planTableScan", _fewer_than_none, 500, "InternalServerError")),
    ("plan-unknown-is-cancelled-too", "cancelPlanning.unknown-plan",
     "Whatever is asked to be cancelled is.",
     "A client that names the wrong plan believes that it is cancelled.", by(_unknown_is, 204)),
    ("plan-unknown-is-a-bad-request", "cancelPlanning.unknown-plan",
     "A plan that is not there is a bad request to cancel one.",
     "Clients take a plan that is gone for a mistake of their own.", by(_unknown_is, 400)),
    ("plan-stops-at-rows-of-files", "planTableScan.min-rows-requested",
     "Files are planned until they have as many rows as are asked for, filtered or not.",
     _MISSED_ROWS, by(alter_answer, "planTableScan", _rows_of_files)),
    ("plan-stops-at-so-many-files", "planTableScan.min-rows-requested",
     "As many files are planned as rows are asked for.", _MISSED_ROWS,
     by(alter_answer, "planTableScan", _as_many_files)),
    ("plan-stops-before-the-last-file", "planTableScan.min-rows-requested",
     "Where rows are asked for, planning stops one file too early.", _MISSED_ROWS,
     by(alter_answer, "planTableScan", _all_but_one)),
)  # fmt: skip


@defect(
    "plan-id-for-tasks-only",
    on=answer_of("planTableScan"),
    breaks="planTableScan.completed-has-plan-id",
    suffering="Clients that are generated from the document cannot read the plan.",
)
def _for_tasks_only(body: Json) -> Json:
    """A plan that is told in one answer has no id, as before 1.11.0."""
    return body if body.get("plan-tasks") else without_members(body, "plan-id")


@defect(
    "plan-id-null",
    on="planTableScan",
    breaks="planTableScan.completed-has-plan-id",
    suffering="Clients that are generated from the document cannot read the plan.",
)
def _null(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A plan of which nothing is kept has the id null."""
    outcome = faithful(state, call)
    body = outcome.reply.body.replace(b'"plan-id":"', b'"plan-id":null,"held":"')
    return replace(outcome, reply=replace(outcome.reply, body=body))
