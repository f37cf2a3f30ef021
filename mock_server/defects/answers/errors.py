"""Defects of refusals: malformed ones, and refusals of lawful requests."""

import json
from collections.abc import Callable, Sequence

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.requests import Json, sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_error, refuse_as, wrap
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem


def _alter_errors(registries: Registries, alter: Callable[[Problem, Json], Json]) -> None:
    """Change the JSON of every refusal of every operation."""

    def altered(refused: Problem, reply: Reply) -> Reply:
        body = alter(refused, json.loads(reply.body))
        return replies.json_reply(body, refused.status)

    for operation_id in [*registries.operations]:
        alter_error(registries, operation_id, altered)


def _page_for(registries: Registries, concerns: Callable[[int], bool]) -> None:
    def page(refused: Problem, reply: Reply) -> Reply:
        if not concerns(refused.status):
            return reply
        return Reply(refused.status, (("content-type", "text/html"),), b"<html>Error</html>")

    for operation_id in [*registries.operations]:
        alter_error(registries, operation_id, page)


def _every_404_as(registries: Registries, operation_ids: Sequence[str], type_: str) -> None:
    for operation_id in operation_ids:
        refuse_as(registries, operation_id, 404, 404, type_)


@defect(
    "error-missing-table-as-namespace",
    breaks="error.type-of-what-is-missing",
    suffering="Spark says that the namespace is missing when it is a table.",
)
def _missing_table_as_namespace(registries: Registries) -> None:
    """A table that is missing in a namespace which exists is called a missing namespace."""
    operations = ["loadTable", "updateTable", "dropTable", "loadCredentials", "reportMetrics"]
    _every_404_as(registries, operations, "NoSuchNamespaceException")


declare_each(
    ("error-code-as-text", "error.envelope", "The code of an error is a string.",
     "The Java client takes every error for an unknown one.",
     by(_alter_errors,
        lambda refused, body: {"error": body["error"] | {"code": str(refused.status)}})),
    ("error-own-type-names", "error.type-names", "Errors carry type names of the server's own.",
     "The Java client cannot tell a missing namespace from a missing table.",
     by(
         _alter_errors,
         lambda refused, body: {
             "error": body["error"] | {"type": f"catalog.error.{refused.status}"}
         },
     )),
    ("error-bare", "error.envelope", "Errors come without the object around them.",
     "PyIceberg fails on the error instead of raising it.",
     by(_alter_errors, lambda _, body: body["error"])),
    ("error-code-500", "error.code-equals-status",
     "The code in every error is 500, whatever the status.",
     "The Java client takes a missing table for a failed server.",
     by(_alter_errors, lambda _, body: {"error": body["error"] | {"code": 500}})),
    ("error-page", "http.json-content-type", "Errors are pages of HTML.",
     "Clients show a page of HTML instead of the reason.", by(_page_for, lambda _: True)),
    ("error-missing-namespace-as-table", "error.type-of-missing-namespace",
     "Whatever is missing where a table is created, the error says table.",
     "Spark says that the table which it is to create does not exist.",
     by(_every_404_as, ["createTable", "registerTable"], "NoSuchTableException")),
    ("error-missing-namespace-as-view", "error.type-of-missing-namespace",
     "Whatever is missing where a view is created, the error says view.",
     "Spark says that the view which it is to create does not exist.",
     by(_every_404_as, ["createView"], "NoSuchViewException")),
    ("error-page-of-conflicts", "http.json-content-type",
     "What is there already, or has changed since, is told in a page of HTML.",
     "The Java client cannot tell why a commit failed.",
     by(_page_for, lambda status: status == 409)),
    ("error-rename-blames-the-view", "error.type-of-what-is-missing",
     "Whatever a rename of a view does not find, the error says view.",
     "Whoever renames a view into a missing namespace is told that the view is missing.",
     by(_every_404_as, ["renameView"], "NoSuchViewException")),
    ("error-rename-blames-the-table", "error.type-of-what-is-missing",
     "Whatever a rename of a table does not find, the error says table.",
     "Whoever renames a table into a missing namespace is told that the table is missing.",
     by(_every_404_as, ["renameTable"], "NoSuchTableException")),
    ("error-missing-view-as-namespace", "error.type-of-what-is-missing",
     "A view that is missing in a namespace which exists is called a missing namespace.",
     "Spark says that the namespace is missing when it is a view.",
     by(_every_404_as, ["loadView", "replaceView", "dropView"], "NoSuchNamespaceException")),
    ("error-missing-plan-as-table", "error.type-of-what-is-missing",
     "A plan, or a task, that is not known is called a missing table.",
     "An engine gives a scan up for good where it could plan it again.",
     by(_every_404_as, ["fetchPlanningResult", "fetchScanTasks"], "NoSuchTableException")),
    ("error-unknown-members", "error.unknown-members",
     "A request with a member that the server does not know is refused.",
     "A newer client cannot speak to this catalog.",
     by(refuse_where, "createNamespace",
        lambda _, call: not sent_json(call).keys() <= {"namespace", "properties"})),
)  # fmt: skip


@defect(
    "no-content-with-body",
    breaks="http.no-body-on-204",
    suffering="The next answer on the connection is read out of step.",
)
def _no_content_with_body(registries: Registries) -> None:
    """Answers with 204 carry an empty JSON object."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        reply = outcome.reply
        if reply.status != 204:
            return outcome
        full = Reply(204, (*reply.headers, ("content-type", "application/json")), b"{}")
        return msgspec.structs.replace(outcome, reply=full)

    for operation_id in [*registries.operations]:
        wrap(registries, operation_id, around)


@defect(
    "several-faults-500",
    breaks="error.several-faults",
    suffering="Java clients take the outcome of a commit for unknown, and keep its files for ever.",
)
def _several_faults_500(registries: Registries) -> None:
    """What is wrong with a commit is looked up in its table, also where there is none."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(state, call)
        except Problem:
            updates = sent_json(call).get("updates", ())
            known = all(each.get("action") in registries.updates for each in updates)
            if known or state.table(call.namespace, call.name) is not None:
                raise
            raise Problem(500, "InternalServerError", "No value present") from None

    wrap(registries, "updateTable", around)


@defect(
    "several-faults-rename-204",
    on="renameTable",
    breaks="error.several-faults",
    suffering="A job that renames a misspelled table goes on as if it had replaced the other one.",
)
def _several_faults_rename_204(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Where the target of a rename is there and its source is not, it counts as done before."""
    try:
        return faithful(state, call)
    except Problem:
        ends = [sent_json(call).get(end) for end in ("source", "destination")]
        named = [end for end in ends if isinstance(end, dict)]
        if len(named) != len(ends):
            raise
        there = [state.table(tuple(end["namespace"]), end["name"]) for end in named]
        if there[0] is None and there[1] is not None:
            return Outcome(state, replies.NO_CONTENT)
        raise


@defect(
    "error-body-pasted-together",
    breaks="error.envelope",
    suffering="A name with a quotation mark in it: the client reports an error in the error.",
)
def _error_body_pasted(registries: Registries) -> None:
    """An error's message is put between quotation marks as it is."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(state, call)
        except Problem as refused:
            members = f'"message":"{refused.message}","type":"{refused.type}"'
            body = f'{{"error":{{{members},"code":{refused.status}}}}}'.encode()
            return Outcome(state, Reply(refused.status, replies.JSON_CONTENT, body))

    for operation_id in set(registries.operations) - {"getToken"}:
        wrap(registries, operation_id, around)
