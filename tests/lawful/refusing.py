"""Freedoms of refusals: the status, the type and the body of errors, and what is refused."""

import json
from collections.abc import Callable
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply, Request
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.requests import sent_json, sent_name
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_error,
    wrap,
)
from icecheck.mock_server.defects.kit.updating import refuse_updates_as
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.security.callers import Security
from tests.lawful.freedom import Freedom
from tests.lawful.lawful import Install

Body = dict[str, Any]


def _errors(alter: Callable[[Body], Body], *, statuses: frozenset[int] = frozenset()) -> Install:
    """Return an installation that changes the `error` object of refusals with these statuses."""

    def altered(refused: Problem, reply: Reply) -> Reply:
        if (statuses and refused.status not in statuses) or not reply.body.startswith(b"{"):
            return reply
        body = json.loads(reply.body)
        if not isinstance(body.get("error"), dict):
            return reply
        content = json.dumps(body | {"error": alter(body["error"])}).encode()
        return msgspec.structs.replace(reply, body=content)

    def install(registries: Registries) -> None:
        for operation_id in registries.operations:
            if operation_id != "getToken":
                alter_error(registries, operation_id, altered)

    return install


def _own_types(error: Body) -> Body:
    return error | {"type": f"acme.catalog.E{error['code']}"}


def _with_stack(error: Body) -> Body:
    return error | {"stack": ["at acme.Catalog", "at acme.Main"], "message": ""}


def _other_types(error: Body) -> Body:
    return error | {"type": "RESTException"}


def _parents_first(status: int) -> Install:
    """Return an installation that refuses a namespace whose parent is not there."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        parent = tuple(sent_json(call)["namespace"])[:-1]
        if parent and state.namespace(parent) is None:
            raise Problem(status, "NoSuchNamespaceException", "The parent does not exist")
        return outcome

    return lambda registries: wrap(registries, "createNamespace", around)


def _names_by_kind(registries: Registries) -> None:
    """Let a table and a view of one namespace have one name, when they are created."""
    for operation_id, other in (("createTable", "view"), ("createView", "table")):
        wrap(registries, operation_id, _beside_the(other))


def _beside_the(other: str) -> Callable[[Faithful, WarehouseState, Call], Outcome]:
    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        name = sent_name(call)
        found = getattr(state, other)(call.namespace, name) if name else None
        if found is None:
            return faithful(state, call)
        without = getattr(state, f"without_{other}")(call.namespace, name)
        outcome = faithful(without, call)
        kept = getattr(outcome.state, f"with_{other}")(call.namespace, name, found)
        return msgspec.structs.replace(outcome, state=kept)

    return around


def _unfit(status: int) -> Install:
    """Return an installation that refuses updates that cannot be applied with another status."""

    def install(registries: Registries) -> None:
        refuse_updates_as(registries, status, *registries.updates)
        refuse_updates_as(
            registries, status, *(a for a in registries.view_updates if a not in registries.updates)
        )

    return install


def _strangers(status: int, type_: str) -> Install:
    """Return an installation that answers bad and missing credentials with another status."""

    def install(registries: Registries) -> None:
        faithful = registries.gates["authorization"]

        def gate(request: Request, security: Security) -> Reply | None:
            refusal = faithful(request, security)
            if refusal is None:
                return None
            error = {"message": "You are not known here", "type": type_, "code": status}
            headers = (("content-type", "application/json"),)
            return Reply(status, headers, json.dumps({"error": error}).encode())

        registries.gates["authorization"] = gate

    return install


def _reserved_properties(registries: Registries) -> None:
    """Refuse to change a property of a namespace that belongs to the server."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        sent = sent_json(call)
        if {"location", "owner"} & {*(sent.get("updates") or ()), *(sent.get("removals") or ())}:
            raise Problem(403, "ForbiddenException", "This property is the server's")
        return outcome

    wrap(registries, "updateProperties", around)


REFUSING: dict[str, Freedom] = {
    "own-error-types": Freedom(
        "L1927-L1930: the type is internal", _errors(_own_types), about="types", outside=True
    ),
    "one-error-type": Freedom(
        "L1927-L1930: the type is internal", _errors(_other_types), about="types", outside=True
    ),
    "errors-with-stack": Freedom(
        "L1937-L1940: stack is optional", _errors(_with_stack), outside=True
    ),
    "parents-first-400": Freedom(
        "silent: parents that are missing", _parents_first(400), about="parents"
    ),
    "parents-first-404": Freedom(
        "silent: parents that are missing", _parents_first(404), about="parents"
    ),
    "names-by-kind": Freedom(
        "L571, L1519: 409 is said of a table, and of a view", _names_by_kind
    ),
    "unfit-updates-409": Freedom(
        "silent: no status is said for an update that does not fit", _unfit(409), about="unfit"
    ),
    "unfit-updates-422": Freedom(
        "silent: no status is said for an update that does not fit", _unfit(422), about="unfit"
    ),
    "strangers-403": Freedom(
        "L4530: 401 is a SHOULD, L4548: 403", _strangers(403, "Forbidden"), about="strangers"
    ),
    "strangers-419": Freedom(
        "L4640: an optional status", _strangers(419, "TimedOut"), about="strangers"
    ),
    "reserved-namespace-properties": Freedom(
        "L467: properties need not be supported", _reserved_properties
    ),
}  # fmt: skip
"""Name -> the freedom."""
