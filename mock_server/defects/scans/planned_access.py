"""Defects of plans that come with credentials for their files, and of who plans at all."""

from typing import Any

from icecheck.mock_server.core.context import Call, Registries
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.places import answer_of
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.rewriting import alter_answer, alter_body
from icecheck.mock_server.defects.scans.plans import without_members

_CREDENTIALS = "storage-credentials"
_NO_ACCESS = "Queries fail when they open the first file."
_LOST_ROWS = "Queries miss rows, and nothing says so."
_UNOPENED = "Spark cannot open the table."


def _asked_for(call: Call) -> str:
    return call.request.headers.get("x-iceberg-access-delegation", "")


def _names_several(_state: Any, call: Call) -> bool:
    return "," in _asked_for(call)


def _with_prefix(body: Json, prefix: str) -> Json:
    listed = body.get(_CREDENTIALS)
    return body if not listed else body | {_CREDENTIALS: [{**listed[0], "prefix": prefix}]}


def _data_only(body: Json) -> Json:
    listed = body.get(_CREDENTIALS)
    if not listed or not body.get("file-scan-tasks"):
        return body
    of_data = [each["data-file"]["file-path"] for each in body["file-scan-tasks"]]
    return body | {_CREDENTIALS: [{**listed[0], "prefix": path} for path in of_data]}


def _first_files(body: Json) -> Json:
    tasks = body.get("file-scan-tasks") or []
    half = tasks[: len(tasks) // 2]
    return body | {"file-scan-tasks": half} if body.get(_CREDENTIALS) else body


def _without_plan_tasks(body: Json) -> Json:
    return without_members(body, "plan-tasks") if body.get(_CREDENTIALS) else body


def _of_a_plan(call: Call, body: Json) -> Json:
    return {_CREDENTIALS: []} if "planId" in call.query else body


def _in_mode(registries: Registries, mode: str) -> None:
    """Name a mode of planning in the config of every table."""

    def named(body: Json) -> Json:
        config = body.get("config") or {}
        return body | {"config": config | {"scan-planning-mode": mode}}

    alter_body(registries, "loadTable", named)


declare_each(
    ("plan-refused-for-several-mechanisms", "planTableScan.access-delegation-list",
     "The header for access is compared with one mechanism, not read as a list.",
     "PyIceberg cannot have a scan planned.", by(refuse_where, "planTableScan", _names_several)),
    ("plan-not-told-for-several-mechanisms", "planTableScan.access-delegation-list",
     "A plan cannot be asked for with several mechanisms of access.",
     "PyIceberg waits for a plan in vain.",
     by(refuse_where, "fetchPlanningResult", _names_several)),
    ("plan-credentials-of-a-neighbour", "planTableScan.storage-credentials",
     "The credentials that come with a plan are for another bucket.", _NO_ACCESS,
     by(alter_body, "planTableScan", lambda body: _with_prefix(body, "s3://another/"))),
    ("plan-credentials-for-data-only", "planTableScan.storage-credentials",
     "The credentials that come with a plan are for its data files, and none for its deletes.",
     "Queries of a table with deletes fail.", by(alter_body, "planTableScan", _data_only)),
    ("plan-with-credentials-without-tasks", "planTableScan.every-file-with-credentials",
     "A plan that comes with credentials has lost its plan tasks.", _LOST_ROWS,
     by(alter_body, "planTableScan", _without_plan_tasks)),
    ("plan-with-credentials-for-half", "planTableScan.every-file-with-credentials",
     "A plan that comes with credentials has the files of one batch of them.", _LOST_ROWS,
     by(alter_body, "planTableScan", _first_files)),
    ("credentials-of-a-plan-unknown", "loadCredentials.of-a-plan",
     "A request for credentials that names a plan is a bad request.",
     "Scans fail that outlast the credentials of their plan.",
     by(refuse_where, "loadCredentials", lambda _, call: "planId" in call.query)),
    ("credentials-of-a-plan-withheld", "loadCredentials.of-a-plan",
     "Who names a plan gets an empty list of credentials.",
     "Scans fail that outlast the credentials of their plan.",
     by(alter_answer, "loadCredentials", _of_a_plan)),
    ("table-planned-by-the-catalog", "loadTable.scan-planning-mode",
     "The mode of planning is a word of an earlier draft.", _UNOPENED, by(_in_mode, "catalog")),
    ("table-planned-by-nobody", "loadTable.scan-planning-mode",
     "The mode of planning is empty where none was chosen.", _UNOPENED, by(_in_mode, "")),
)  # fmt: skip


@defect(
    "table-planned-where-nobody-plans",
    breaks="loadTable.scan-planning-mode-served",
    suffering=_UNOPENED,
)
def _nobody_plans(registries: Registries) -> None:
    """Planning was taken out of service, and the config of tables still demands it."""
    for operation_id in ("planTableScan", "fetchPlanningResult", "cancelPlanning"):
        registries.operations.pop(operation_id, None)
    _in_mode(registries, "server")


@defect(
    "table-planned-without-a-list",
    on=answer_of("getConfig"),
    breaks="loadTable.scan-planning-mode-served",
    suffering=_UNOPENED,
)
def _without_a_list(body: Json) -> Json:
    """No endpoints are listed, so that clients assume the default ones, without planning."""
    return without_members(body, "endpoints")
