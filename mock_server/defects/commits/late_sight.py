"""Building blocks for defects that lose races: operations that see other writes too late.

A server that checks and then writes, without a lock around both, decides on a state that another
request may be replacing. Here the state is replaced at once and seen late: for a while after a
write, the operations that share a `LateSight` decide as if it had not happened. The answer to the
write is delayed for as long, so a client that sends one request after another never notices: only
concurrent requests show the defect. Nothing blocks a thread or waits inside the server's lock, so
the same requests lose the same races in process and on a server that handles one request at a time.
"""

import time
from collections.abc import Callable, Mapping

import msgspec

from icecheck.mock_server.core.context import Call, Context, Delay, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem

Publish = Callable[[WarehouseState, WarehouseState, Call], WarehouseState]
"""Puts the result of a late decision (second) into the present state (first)."""

_WINDOW_MS = 50
CROSSING_MS = 100
"""The window of what crosses requests of other operations, which come after one of their own."""
# An event loop may wake up a little early; a client must not be answered inside the window.
_MARGIN_MS = 10


class LateSight:
    """Holds, for each warehouse, the states replaced less than a window ago, oldest first.

    Only the holder of the warehouse's lock writes; readers see one list or the next.
    """

    __slots__ = ("_replaced", "_window_ms")

    def __init__(self, window_ms: int = _WINDOW_MS) -> None:
        self._window_ms = window_ms
        self._replaced: dict[str, list[tuple[float, WarehouseState]]] = {}

    def state(self, context: Context, present: WarehouseState) -> WarehouseState:
        """Return the state of a window ago, as an operation with late sight sees it."""
        recent = self._recent(context)
        return recent[0][1] if recent else present

    def wrote(self, context: Context, before: WarehouseState, outcome: Outcome) -> Outcome:
        """Record a write, and delay its answer until all operations see it."""
        if outcome.state is before:
            return outcome
        moment = (time.monotonic(), before)
        self._replaced[context.warehouse] = [*self._recent(context), moment]
        held = (*outcome.effects, Delay(self._window_ms + _MARGIN_MS))
        return msgspec.structs.replace(outcome, effects=held)

    def _recent(self, context: Context) -> list[tuple[float, WarehouseState]]:
        since = time.monotonic() - self._window_ms / 1000
        return [each for each in self._replaced.get(context.warehouse, []) if each[0] >= since]


def publish_nothing(
    present: WarehouseState, _decided: WarehouseState, _call: Call
) -> WarehouseState:
    """Publish the present state: what only reads decides late, and changes nothing."""
    return present


def decide_late(
    registries: Registries, operation_id: str, publish: Publish, sight: LateSight | None = None
) -> None:
    """Let an operation decide on the late state; its result overwrites the present one."""
    seen = LateSight() if sight is None else sight

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(seen.state(faithful.context, state), call)
        published = publish(state, outcome.state, call)
        return seen.wrote(
            faithful.context, state, msgspec.structs.replace(outcome, state=published)
        )

    wrap(registries, operation_id, around)


def refuse_late(registries: Registries, operation_id: str, publish: Publish) -> None:
    """Let an operation detect a conflict only after its write: refused, but carried out."""
    seen = LateSight()

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return seen.wrote(faithful.context, state, faithful(state, call))
        except Problem as problem:
            late = faithful(seen.state(faithful.context, state), call)
            published = publish(state, late.state, call)
            reply = replies.problem_reply(problem)
            return msgspec.structs.replace(late, state=published, reply=reply)

    wrap(registries, operation_id, around)


def mistell_losers(registries: Registries, *operation_ids: str, status: int) -> None:
    """Let operations answer with this status what they refuse while another write is new."""
    seen = LateSight()

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return seen.wrote(faithful.context, state, faithful(state, call))
        except Problem as problem:
            if seen.state(faithful.context, state) is state:
                raise
            told = "could not serialize access due to concurrent update"
            raise Problem(status, "InternalServerError", told) from problem

    for operation_id in operation_ids:
        wrap(registries, operation_id, around)


def note_writes(registries: Registries, operation_id: str, sight: LateSight) -> None:
    """Let other operations see the writes of a faithful operation late."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        return sight.wrote(faithful.context, state, faithful(state, call))

    wrap(registries, operation_id, around)


def overlook_each_other(
    registries: Registries, some: Mapping[str, Publish], others: Mapping[str, Publish]
) -> None:
    """Let two sorts of operations decide without what the other sort has just written."""
    ours, theirs = LateSight(CROSSING_MS), LateSight(CROSSING_MS)
    for operation_id, publish in some.items():
        _decide(registries, operation_id, publish, theirs)
    for operation_id, publish in others.items():
        note_writes(registries, operation_id, theirs)
        _decide(registries, operation_id, publish, ours)
    for operation_id in some:
        note_writes(registries, operation_id, ours)


def _decide(registries: Registries, operation_id: str, publish: Publish, sight: LateSight) -> None:
    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        seen = sight.state(faithful.context, state)
        outcome = faithful(seen, call)
        if seen is state:
            return outcome
        return msgspec.structs.replace(outcome, state=publish(state, outcome.state, call))

    wrap(registries, operation_id, around)
