"""Building blocks for defects of idempotency keys (1.11.0, L2079)."""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from icecheck.mock_server.core.context import (
    Call,
    Context,
    KeyedOperation,
    Operation,
    Outcome,
    Registries,
    Reply,
)
from icecheck.mock_server.core.keyed_answers import KeyedAnswer
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import Place
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.protocol.served_contract import KEY_HEADER


class FaithfulKeys(msgspec.Struct, frozen=True):
    """A request with a key, as the faithful server has it: what it does once, and what it answers.

    `operation` is that of the request without its key.
    """

    keyed: KeyedOperation
    operation: Operation
    context: Context

    def __call__(self, state: WarehouseState, call: Call) -> Outcome:
        """Answer as the faithful server would in this state; raises Problem to refuse."""
        return self.keyed(self.operation, self.context, state, call)

    def plainly(self, state: WarehouseState, call: Call) -> Outcome:
        """Answer as if the request had no key; raises Problem to refuse."""
        return self.operation(self.context, state, call)

    def held(self, state: WarehouseState, call: Call) -> KeyedAnswer | None:
        """Return the answer that is remembered for a request, or None for a new one."""
        headers = call.request.headers
        caller = self.context.security.name_of(headers.get("authorization"))
        return state.keyed.get(caller, headers[KEY_HEADER].lower(), self.context.clock.now_ms())


AroundKeys: TypeAlias = Callable[[FaithfulKeys, WarehouseState, Call], Outcome]
"""Replaces the meaning of keys: gets the faithful one, the state and the call."""


def around_keys(registries: Registries, operation_id: str, around: AroundKeys) -> None:
    """Replace the meaning that keys have for an operation."""
    keyed = registries.keyed[operation_id]

    def replaced(
        operation: Operation, context: Context, state: WarehouseState, call: Call, /
    ) -> Outcome:
        return around(FaithfulKeys(keyed, operation, context), state, call)

    registries.keyed[operation_id] = replaced


def keys_of(*operation_ids: str) -> Place[AroundKeys]:
    """Return the place that replaces the meaning of keys for these operations."""

    def place(function: AroundKeys) -> Callable[[Registries], None]:
        def install(registries: Registries) -> None:
            for each in operation_ids:
                around_keys(registries, each, function)

        return install

    return place


def ignore_keys(registries: Registries, *operation_ids: str) -> None:
    """Give keys no meaning for these operations."""
    for each in operation_ids:
        del registries.keyed[each]


def answer_again_otherwise(
    registries: Registries, operation_id: str, alter: Callable[[Reply], Reply]
) -> None:
    """Alter the answers to requests that come again; `alter` may raise a Problem instead."""

    def around(faithful: FaithfulKeys, state: WarehouseState, call: Call) -> Outcome:
        if faithful.held(state, call) is None:
            return faithful(state, call)
        outcome = faithful(state, call)
        return replace(outcome, reply=alter(outcome.reply))

    around_keys(registries, operation_id, around)


def show_again_otherwise(
    registries: Registries, operation_id: str, alter: Callable[[Any], Any]
) -> None:
    """Alter the JSON body of the successes that requests which come again are answered with."""

    def altered(reply: Reply) -> Reply:
        if reply.status >= 300:
            return reply
        return replace(reply, body=json.dumps(alter(json.loads(reply.body))).encode())

    answer_again_otherwise(registries, operation_id, altered)


def refuse_again(registries: Registries, operation_id: str, status: int, type_: str) -> None:
    """Refuse what comes again."""

    def refusing(_: Reply) -> Reply:
        raise Problem(status, type_, "This was asked before")

    answer_again_otherwise(registries, operation_id, refusing)


def acknowledge_only(registries: Registries, operation_id: str) -> None:
    """Answer a request with a key as if it were carried out, remember that, and do nothing."""

    def around(faithful: FaithfulKeys, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        return replace(outcome, state=state.with_keyed(outcome.state.keyed))

    around_keys(registries, operation_id, around)


def carry_out_again(
    registries: Registries,
    operation_id: str,
    alter: Callable[[Call], Call] = lambda call: call,
    *,
    where: Callable[[Reply], bool] = lambda _: True,
) -> None:
    """Answer what comes again as it was answered, and carry it out once more behind that.

    `alter` makes the request that is carried out then; `where` holds for the first answers of the
    requests that are.
    """

    def around(faithful: FaithfulKeys, state: WarehouseState, call: Call) -> Outcome:
        held = faithful.held(state, call)
        outcome = faithful(state, call)
        if held is None or not where(held.reply):
            return outcome
        try:
            more = faithful.plainly(state, alter(call))
        except Problem:
            return outcome
        return replace(more, reply=outcome.reply)

    around_keys(registries, operation_id, around)
