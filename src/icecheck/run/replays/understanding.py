"""The checks whose findings can be run again, and how the steps of their files are read."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from icecheck.conformance.fuzzed import replaying
from icecheck.findings.replay import Replay, ReplayUnusable
from icecheck.scenarios.races import programs
from icecheck.scenarios.races.test_random_races import RACES
from icecheck.scenarios.random import actions
from icecheck.scenarios.random.test_namespaces_and_tables import CHECK


def _of_request(operation_id: str) -> Callable[[str], frozenset[str]]:
    def operations(steps: str) -> frozenset[str]:
        replaying.body_in(operation_id, steps)
        return frozenset((operation_id,))

    return operations


_OPERATIONS_IN: Mapping[str, Callable[[str], frozenset[str]]] = {
    CHECK: lambda steps: actions.operations_of(actions.from_json(steps)),
    **dict.fromkeys(RACES, lambda steps: programs.operations_of(programs.from_json(steps))),
    **{check: _of_request(operation) for check, operation in replaying.OPERATION_OF.items()},
}
"""Check id -> reads steps, and returns the operations that they need."""


_REQUESTS = tuple(replaying.OPERATION_OF)
_REQUESTS_OF_A_ROUND = 2


def checks_of_round(seed: int) -> tuple[str, ...]:
    """Return the ids of the checks that an exploration judges with a seed.

    Those of drawn requests take turns: to draw for all of them takes four times as long as the
    histories and races of a round.
    """
    first = seed * _REQUESTS_OF_A_ROUND
    turn = (_REQUESTS[(first + at) % len(_REQUESTS)] for at in range(_REQUESTS_OF_A_ROUND))
    return (CHECK, *RACES, *turn)


def understood(replay: Replay) -> Replay:
    """Return a replay with the operations that it needs.

    Raises ReplayUnusable if no such check draws anything, or if its steps are none of that check.
    """
    read = _OPERATIONS_IN.get(replay.check)
    if read is None:
        known = ", ".join((CHECK, *RACES, "generated.OPERATION.fuzzed"))
        raise ReplayUnusable(f"nothing of {replay.check} can be run again; what can is of {known}")
    try:
        return replace(replay, operations=read(replay.steps))
    except ValueError as error:
        raise ReplayUnusable(str(error)) from None
