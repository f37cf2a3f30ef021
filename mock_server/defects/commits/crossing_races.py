"""Defects that only readers beside concurrent changes show."""

import time

from msgspec import structs

from icecheck.mock_server.core.context import Call, Delay, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.commits.late_sight import (
    CROSSING_MS,
    LateSight,
    decide_late,
    publish_nothing,
)
from icecheck.mock_server.defects.kit.declaring import defect
from icecheck.mock_server.defects.kit.remembering import by_name
from icecheck.mock_server.defects.kit.requests import rename_ends
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap

_FLIGHT_MS = 50
# An event loop may wake up a little early; a client must not be answered during the flight.
_MARGIN_MS = 10


@defect(
    "race-loads-share-an-answer",
    breaks="race.random-reads",
    suffering="A writer that has been told of success reads its table without its own commit.",
)
def _loads_share_an_answer(registries: Registries) -> None:
    """Loads of a table that arrive while another one is under way get the answer to that one."""
    flights: dict[object, tuple[float, Reply]] = {}

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        key, now = by_name(faithful.context, state, call), time.monotonic()
        began, shared = flights.get(key, (0.0, None))
        if shared is not None and now - began < _FLIGHT_MS / 1000:
            outcome = Outcome(state, shared)
        else:
            outcome = faithful(state, call)
            flights[key] = now, outcome.reply
        held = (*outcome.effects, Delay(_FLIGHT_MS + _MARGIN_MS))
        return structs.replace(outcome, effects=held)

    wrap(registries, "loadTable", around)


@defect(
    "race-rename-in-two-steps",
    breaks="race.random-reads",
    suffering="A job finds a table under neither name while it is renamed, and takes it for lost.",
)
def _rename_in_two_steps(registries: Registries) -> None:
    """A rename removes the old name first, and adds the new one a moment later."""
    sight = LateSight(CROSSING_MS)

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        source, _ = rename_ends(call)
        between = state if state.table(*source) is None else state.without_table(*source)
        noted = sight.wrote(faithful.context, between, outcome)
        return structs.replace(noted, state=outcome.state)

    wrap(registries, "renameTable", around)
    decide_late(registries, "loadTable", publish_nothing, sight)
    decide_late(registries, "tableExists", publish_nothing, sight)
