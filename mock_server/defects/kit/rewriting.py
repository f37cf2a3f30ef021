"""Building blocks for defects: wrap an operation and change its answer or its effect."""

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import msgspec

from icecheck.mock_server.core.context import Call, Context, Operation, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.requests import sent_json, with_json
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem

ANOTHER_UUID = "00000000-0000-4000-8000-000000000000"


class Faithful(msgspec.Struct, frozen=True):
    """The operation that a defect replaces, with the context of the request's warehouse."""

    operation: Operation
    context: Context

    def __call__(self, state: WarehouseState, call: Call) -> Outcome:
        """Answer as the faithful server would in this state; raises Problem to refuse."""
        return self.operation(self.context, state, call)


Around: TypeAlias = Callable[[Faithful, WarehouseState, Call], Outcome]
"""Replaces an operation: gets the faithful one, the state and the call."""


def with_answer(outcome: Outcome, body: Any) -> Outcome:
    """Return an outcome with another JSON body in its answer; all else stays as it is."""
    reply = msgspec.structs.replace(outcome.reply, body=json.dumps(body).encode())
    return msgspec.structs.replace(outcome, reply=reply)


def as_another(member: str) -> Callable[[Any], Any]:
    """Return what gives the table or view in an answer another uuid: `table-uuid`, `view-uuid`."""
    return lambda body: body | {"metadata": body["metadata"] | {member: ANOTHER_UUID}}


def wrap(registries: Registries, operation_id: str, around: Around) -> None:
    """Replace an operation by a function that gets the faithful one as its first argument."""
    faithful = registries.operations[operation_id]

    def wrapped(context: Context, state: WarehouseState, call: Call, /) -> Outcome:
        return around(Faithful(faithful, context), state, call)

    registries.operations[operation_id] = wrapped


def wrap_each(registries: Registries, operation_ids: Iterable[str], around: Around) -> None:
    """Replace several operations by one function, as `wrap`."""
    for operation_id in [*operation_ids]:
        wrap(registries, operation_id, around)


def answer_status(registries: Registries, operation_id: str, status: int) -> None:
    """Answer successes with another status, effect and body unchanged."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        reply = msgspec.structs.replace(outcome.reply, status=status)
        return msgspec.structs.replace(outcome, reply=reply)

    wrap(registries, operation_id, around)


def forget_effect(registries: Registries, operation_id: str) -> None:
    """Answer like the faithful server, and change nothing."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        return msgspec.structs.replace(outcome, state=state, effects=())

    wrap(registries, operation_id, around)


def refuse_as(
    registries: Registries,
    operation_id: str,
    status: int,
    new_status: int,
    new_type: str | None = None,
) -> None:
    """Refuse with another status (and type) where the faithful server refuses with `status`.

    A `new_status` below 300 is answered as a success without effect.
    """

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(state, call)
        except Problem as problem:
            if problem.status != status:
                raise
            if new_status < 300:
                content = () if new_status == 204 else (("content-type", "application/json"),)
                body = b"" if new_status == 204 else b"{}"
                return Outcome(state, Reply(new_status, content, body))
            raise Problem(new_status, new_type or problem.type, problem.message) from None

    wrap(registries, operation_id, around)


def alter_body(registries: Registries, operation_id: str, alter: Callable[[Any], Any]) -> None:
    """Change the JSON body of successful answers; `alter` gets and returns parsed JSON."""
    alter_answer(registries, operation_id, lambda _call, body: alter(body))


def alter_answer(
    registries: Registries, operation_id: str, alter: Callable[[Call, Any], Any]
) -> None:
    """Change the JSON body of successful answers, with the call at hand."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        if not outcome.reply.body or outcome.reply.status >= 400:
            return outcome
        return with_answer(outcome, alter(call, json.loads(outcome.reply.body)))

    wrap(registries, operation_id, around)


def alter_error(
    registries: Registries, operation_id: str, alter: Callable[[Problem, Reply], Reply]
) -> None:
    """Change how refusals look; `alter` gets the faithful error reply, or an altered one.

    Refusals of the token endpoint have OAuth's form, and stay.
    """

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            outcome = faithful(state, call)
        except Problem as problem:
            return Outcome(state, alter(problem, replies.problem_reply(problem)))
        if outcome.reply.status < 400 or call.operation_id == "getToken":
            return outcome
        altered = alter(Problem(outcome.reply.status, "", ""), outcome.reply)
        return msgspec.structs.replace(outcome, reply=altered)

    wrap(registries, operation_id, around)


def alter_request_body(
    registries: Registries, operation_id: str, alter: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    """Let the faithful operation see another JSON object than the sent one."""

    def altered(call: Call) -> Call:
        body = sent_json(call)
        if not body:
            return call
        return with_json(call, alter(body))

    alter_call(registries, operation_id, altered)


def alter_created(registries: Registries, member: str, alter: Callable[[Any], Any]) -> None:
    """Let createTable see another value of a member, where one is sent that is not empty."""

    def altered(body: dict[str, Any]) -> dict[str, Any]:
        return body | {member: alter(body[member])} if body.get(member) else body

    alter_request_body(registries, "createTable", altered)


def alter_created_columns(
    registries: Registries, alter: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    """Let createTable see other top-level columns than the sent ones."""

    def altered(schema: Any) -> Any:
        if not isinstance(schema, dict) or not isinstance(schema.get("fields"), list):
            return schema
        return schema | {"fields": [*map(alter, schema["fields"])]}

    alter_created(registries, "schema", altered)


def alter_call(registries: Registries, operation_id: str, alter: Callable[[Call], Call]) -> None:
    """Let the faithful operation see another call than the sent one."""
    alter_calls(registries, (operation_id,), alter)


def alter_calls(
    registries: Registries, operation_ids: Iterable[str], alter: Callable[[Call], Call]
) -> None:
    """Let several operations see other calls, as `alter_call`."""
    wrap_each(registries, operation_ids, lambda faithful, state, call: faithful(state, alter(call)))
