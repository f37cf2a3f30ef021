"""Building blocks for defects that refuse too much, or change the state otherwise."""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Context, Outcome, Registries
from icecheck.mock_server.core.state import Kind, WarehouseState
from icecheck.mock_server.defects.kit.requests import Levels, Name
from icecheck.mock_server.defects.kit.rewriting import Faithful, with_answer, wrap
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem

Done: TypeAlias = Callable[[Context, WarehouseState, Call, WarehouseState], WarehouseState]
"""Makes the state that is kept, from the states before a call and after it."""
Where: TypeAlias = Callable[[WarehouseState, Call], Any]
"""Whether a call is meant, in this state."""


def refuse_where(
    registries: Registries,
    operation_id: str | tuple[str, ...],
    where: Where,
    status: int = 400,
    type_: str = "BadRequestException",
) -> None:
    """Refuse the calls for which `where` holds, before anything else is looked at."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if where(state, call):
            raise Problem(status, type_, "Refused")
        return faithful(state, call)

    for each in (operation_id,) if isinstance(operation_id, str) else operation_id:
        wrap(registries, each, around)


def answer_refusal(
    registries: Registries,
    operation_id: str,
    status: int,
    answer: Callable[[Faithful, WarehouseState, Call, Problem], Outcome],
) -> None:
    """Give another answer where the faithful server refuses with this status.

    `answer` raises the Problem that it gets where it has nothing else to say.
    """

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(state, call)
        except Problem as refused:
            if refused.status != status:
                raise
            return answer(faithful, state, call, refused)

    wrap(registries, operation_id, around)


def change_and_refuse(
    registries: Registries,
    operation_id: str,
    status: int,
    change: Callable[[Faithful, WarehouseState, Call], WarehouseState],
) -> None:
    """Refuse with this status as the faithful server does, and keep a changed state all the same.

    `change` gets the faithful operation and the state before.
    """

    def answer(faithful: Faithful, state: WarehouseState, call: Call, refused: Problem) -> Outcome:
        return Outcome(change(faithful, state, call), replies.problem_reply(refused))

    answer_refusal(registries, operation_id, status, answer)


def write_and_refuse(
    registries: Registries,
    operation_id: str,
    cleared: Callable[[WarehouseState, Call], WarehouseState],
) -> None:
    """Write where a name is taken, in a state that `cleared` returns, and refuse with 409."""
    change_and_refuse(
        registries,
        operation_id,
        409,
        lambda faithful, state, call: faithful(cleared(state, call), call).state,
    )


def see_otherwise(
    registries: Registries,
    operation_id: str,
    change: Callable[[WarehouseState, Call], WarehouseState],
) -> None:
    """Let an operation see, and go on from, another state than the present one."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        return faithful(change(state, call), call)

    wrap(registries, operation_id, around)


def make_namespace(
    registries: Registries,
    operation_id: str,
    named: Callable[[Call], Levels] = lambda call: call.namespace,
) -> None:
    """Let an operation make the namespace that `named` returns where there is none."""

    def change(state: WarehouseState, call: Call) -> WarehouseState:
        namespace = named(call)
        known = not namespace or state.namespace(namespace) is not None
        return state if known else state.with_namespace(namespace, {})

    see_otherwise(registries, operation_id, change)


def do_after(registries: Registries, operation_id: str, done: Done) -> None:
    """Change more once an operation has succeeded, or less; the answer stays as it is."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        return replace(outcome, state=done(faithful.context, state, call, outcome.state))

    wrap(registries, operation_id, around)


def show_after(
    registries: Registries,
    operation_id: str,
    shown: Callable[[WarehouseState, Call, Any], Any],
) -> None:
    """Answer other JSON on success; `shown` gets the state before, the call and the body."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        if not outcome.reply.body:
            return outcome
        return with_answer(outcome, shown(state, call, json.loads(outcome.reply.body)))

    wrap(registries, operation_id, around)


def without(state: WarehouseState, name: Name, *kinds: Kind) -> WarehouseState:
    """Return a state in which no object of these kinds has the name."""
    kind = state.kind_of(*name)
    if kind is None or kind not in kinds:
        return state
    return state.without_table(*name) if kind == "table" else state.without_view(*name)


def without_all(state: WarehouseState, namespace: Levels, *kinds: Kind) -> WarehouseState:
    """Return a state in which the namespace holds no object of these kinds."""
    entry = state.namespace(namespace)
    for name in (
        () if entry is None else [n for n, _ in (*entry.tables.after(), *entry.views.after())]
    ):
        state = without(state, (namespace, name), *kinds)
    return state


def put_back(state: WarehouseState, before: WarehouseState, name: Name) -> WarehouseState:
    """Return a state with the object that had the name before; the namespace must exist."""
    table, view = before.table(*name), before.view(*name)
    if table is not None:
        state = state.with_table(*name, table)
    return state if view is None else state.with_view(*name, view)
