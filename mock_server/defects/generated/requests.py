"""Defects of the treatment of generated requests; one for each operation."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from icecheck.contract.document import resolve
from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply, Request
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import answer_refusal
from icecheck.mock_server.defects.kit.declaring import (
    Install,
    by,
    declare,
    declare_each,
    defect,
)
from icecheck.mock_server.defects.kit.documented import since_of
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_call,
    alter_request_body,
    refuse_as,
    wrap,
)
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.protocol.served_contract import KNOWN
from icecheck.mock_server.security.callers import Security

_BROKEN = replies.error_reply(500, "NullPointerException", "something that nobody thought of")
_UNIONS = ("allOf", "anyOf", "oneOf")
# The setup of checks needs these: they fail with 500 only on requests that they should refuse.
_ARRANGING = frozenset({"createNamespace", "createTable", "createView", "updateTable"})


def _operations(kind: str) -> Iterator[str]:
    for requirement in KNOWN.requirements:
        family, _, rest = requirement.partition(".")
        operation_id, _, each = rest.partition(".")
        if family == "generated" and each == kind:
            yield operation_id


def _malformed_is_a_breakdown(operation_id: str) -> None:

    declare(
        f"malformed-500-{operation_id}",
        f"{operation_id} answers 500 where the request is malformed.",
        by(refuse_as, operation_id, 400, 500),
        breaks=f"generated.{operation_id}.refused",
        suffering="A mistake of a client looks like a failure of the catalog, and is tried again.",
    )


for _operation in _operations("refused"):
    _malformed_is_a_breakdown(_operation)


# ---- values of another type are taken for text


def _types(node: Mapping[str, Any]) -> set[str]:
    """Return the types that a value may have by a schema."""
    node = resolve(KNOWN.raw, node)
    parts = [part for union in _UNIONS for part in node.get(union, ())]
    own = {str(node["type"])} if "type" in node else set()
    return own.union(*map(_types, parts))


def _as_text(value: Any, node: Mapping[str, Any]) -> Any:
    """Return a value with text for every number and boolean that the schema wants as text."""
    if isinstance(value, int | float):
        return json.dumps(value) if _types(node) == {"string"} else value
    node = resolve(KNOWN.raw, node)
    for union in _UNIONS:
        for part in node.get(union, ()):
            value = _as_text(value, part)
    if isinstance(value, list) and "items" in node:
        return [_as_text(each, node["items"]) for each in value]
    if isinstance(value, dict):
        known = node.get("properties", {})
        others = node.get("additionalProperties")
        others = others if isinstance(others, dict) else {}
        return {name: _as_text(each, known.get(name, others)) for name, each in value.items()}
    return value


def _scalars_are_text(operation_id: str) -> None:
    schema = KNOWN.operations[operation_id].request_schema or {}

    title = f"{operation_id} reads numbers and booleans as text where text is due."
    _declare_mistyped(
        operation_id,
        title,
        by(alter_request_body, operation_id, lambda body: _as_text(body, schema)),
    )


def _odd_page_sizes_are_none(operation_id: str) -> None:
    def lenient(call: Call) -> Call:
        kept = {k: v for k, v in call.query.items() if k != "pageSize" or v.isdigit()}
        return msgspec.structs.replace(call, query=kept)

    title = f"{operation_id} overlooks a page size that is no number."
    _declare_mistyped(operation_id, title, by(alter_call, operation_id, lenient))


def _odd_plan_switches_are_off(operation_id: str) -> None:
    switches = ("case-sensitive", "use-snapshot-schema")

    def lenient(body: dict[str, Any]) -> dict[str, Any]:
        odd = {name for name in switches if not isinstance(body.get(name), bool)}
        return {name: value for name, value in body.items() if name not in odd}

    title = f"{operation_id} overlooks a switch that is no boolean."
    _declare_mistyped(operation_id, title, by(alter_request_body, operation_id, lenient))


def _odd_tasks_are_empty(operation_id: str) -> None:
    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if not isinstance(sent_json(call).get("plan-task"), int | float):
            return faithful(state, call)
        return Outcome(state, replies.json_reply({"file-scan-tasks": []}))

    title = f"{operation_id} answers that a task which is a number has no files."
    _declare_mistyped(operation_id, title, by(wrap, operation_id, around))


def _bare_changes_are_empty(operation_id: str) -> None:
    def lenient(body: dict[str, Any]) -> dict[str, Any]:
        empty: dict[str, Any] = {"requirements": [], "updates": []}
        changes = body.get("table-changes")
        if not isinstance(changes, list):
            return body
        filled = [empty | each if isinstance(each, dict) else each for each in changes]
        return {**body, "table-changes": filled}

    title = f"{operation_id} reads requirements and updates that are missing as none."
    _declare_mistyped(operation_id, title, by(alter_request_body, operation_id, lenient))


def _declare_mistyped(operation_id: str, title: str, install: Install) -> None:
    declare(
        f"mistyped-accepted-{operation_id}",
        title,
        install,
        breaks=f"generated.{operation_id}.mistyped",
        suffering="Nobody learns of a mistake in a client until another catalog refuses it.",
    )


_LENIENT = {
    "planTableScan": _odd_plan_switches_are_off,
    "fetchScanTasks": _odd_tasks_are_empty,
    "commitTransaction": _bare_changes_are_empty,
    **dict.fromkeys(("listNamespaces", "listTables", "listViews"), _odd_page_sizes_are_none),
}

for _operation in _operations("mistyped"):
    _LENIENT.get(_operation, _scalars_are_text)(_operation)


# ---- requests that are only unusual


def _unusual_is_a_breakdown(operation_id: str) -> None:
    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            outcome = faithful(state, call)
        except Problem:
            return Outcome(state, _BROKEN)
        if operation_id in _ARRANGING:
            return outcome
        return msgspec.structs.replace(outcome, reply=_BROKEN)

    how = "whatever it refuses" if operation_id in _ARRANGING else "everything, and does it"
    declare(
        f"breakdown-{operation_id}",
        f"{operation_id} answers 500 to {how}.",
        by(wrap, operation_id, around),
        breaks=f"generated.{operation_id}.accepted",
        suffering="A request that is only unusual meets a stack trace.",
    )


for _operation in _operations("accepted"):
    _unusual_is_a_breakdown(_operation)


# ---- requests that are wrong in what their schemas do not say


def breaks_down_on(registries: Registries, operation_id: str, on: Callable[[Call], bool]) -> None:
    """Let an operation answer 500 to requests of a kind."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        return Outcome(state, _BROKEN) if on(call) else faithful(state, call)

    wrap(registries, operation_id, around)


declare_each(
    ("page-token-is-an-offset", "generated.listTables.accepted",
     "A page token is read as an offset, without a look at its sign.",
     "A client that goes on with a token of yesterday meets a stack trace.",
     by(breaks_down_on, "listTables", lambda call: call.query.get("pageToken", "")[:1] == "-")),
    ("page-token-of-another-list", "generated.listViews.accepted",
     "A page token is believed to be of this list if it can be decoded.",
     "A client that mixes up two lists meets a stack trace.",
     by(breaks_down_on, "listViews",
        lambda call: len(call.query.get("pageToken", "")) > len("99999999999999999999"))),
    ("unknown-member-is-a-breakdown", "generated.replaceView.accepted",
     "Objects are read into classes that have no place for an unknown member.",
     "A client of the next version of the document meets a stack trace.",
     by(breaks_down_on, "replaceView", lambda call: b"not-in-the-document" in call.request.body)),
)  # fmt: skip


@defect(
    "other-media-are-a-breakdown",
    breaks="generated.wrong-beside-the-schema",
    suffering="A script that forgets its content type takes the catalog to be out of order.",
)
def _other_media(registries: Registries) -> None:
    """A body is decoded by its content type, and forms have a decoder that fails on JSON."""

    def gate(request: Request, _security: Security) -> Reply | None:
        media = request.headers.get("content-type", "")
        is_broken = media.startswith("application/x-www-form") and request.body[:1] == b"{"
        return _BROKEN if is_broken else None

    registries.gates["media"] = gate


def _no_file(_: Faithful, state: WarehouseState, call: Call, refused: Problem) -> Outcome:
    """Answer 500 where a metadata file cannot be read, whoever named it."""
    if {"name", "metadata-location"} <= sent_json(call).keys():
        return Outcome(state, _BROKEN)
    raise refused


def _declare_no_file(name: str, operation_id: str) -> None:
    declare(
        name,
        "A metadata file that cannot be read is a failure of the store, whoever named it.",
        by(answer_refusal, operation_id, 400, _no_file),
        breaks="generated.wrong-beside-the-schema",
        suffering="A misspelled location takes the catalog to be out of order.",
        since=since_of(operation_id),
    )


_declare_no_file("no-file-is-a-breakdown", "registerTable")
_declare_no_file("no-file-of-a-view-is-a-breakdown", "registerView")
