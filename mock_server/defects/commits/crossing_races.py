"""Defects that only concurrent requests of different operations show, or readers beside them."""

import time

from msgspec import structs

from icecheck.mock_server.core.context import Call, Delay, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.commits.late_sight import (
    LateSight,
    decide_late,
    note_writes,
    publish_nothing,
)
from icecheck.mock_server.defects.kit.declaring import defect
from icecheck.mock_server.defects.kit.remembering import by_name
from icecheck.mock_server.defects.kit.requests import Name, rename_ends, sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.protocol.problem import Problem

# A table is renamed or committed to over several requests of others.
_WINDOW_MS = 100
_FLIGHT_MS = 50
# An event loop may wake up a little early; a client must not be answered during the flight.
_MARGIN_MS = 10


def _publish_rename(present: WarehouseState, decided: WarehouseState, call: Call) -> WarehouseState:
    """Move what the rename has read, where the names are still as they were."""
    source, target = rename_ends(call)
    moved = decided.table(*target)
    if moved is None or present.table(*source) is None or present.table(*target) is not None:
        raise Problem(409, "CommitFailedException", "Somebody else has changed the names")
    return present.without_table(*source).with_table(*target, moved)


@defect(
    "race-rename-loses-commits",
    breaks="race.random-changes",
    suffering="Rows that were committed while a table was renamed are gone.",
)
def _rename_loses_commits(registries: Registries) -> None:
    """A rename writes the table that it has read, without the commits since, under the new name."""
    sight = LateSight(_WINDOW_MS)
    note_writes(registries, "updateTable", sight)
    decide_late(registries, "renameTable", _publish_rename, sight)


@defect(
    "race-transaction-over-commits",
    breaks="race.random-changes",
    suffering="A transaction takes back what other writers have just committed to its tables.",
)
def _transaction_over_commits(registries: Registries) -> None:
    """Transactions have a lock of their own, which plain commits do not take."""
    sight = LateSight(_WINDOW_MS)
    note_writes(registries, "updateTable", sight)

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(sight.state(faithful.context, state), call)
        for change in sent_json(call)["table-changes"]:
            name: Name = (tuple(change["identifier"]["namespace"]), change["identifier"]["name"])
            entry = outcome.state.table(*name)
            if entry is not None and state.table(*name) is not None:
                state = state.with_table(*name, entry)
        return structs.replace(outcome, state=state)

    wrap(registries, "commitTransaction", around)


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
    sight = LateSight(_WINDOW_MS)

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        source, _ = rename_ends(call)
        between = state if state.table(*source) is None else state.without_table(*source)
        noted = sight.wrote(faithful.context, between, outcome)
        return structs.replace(noted, state=outcome.state)

    wrap(registries, "renameTable", around)
    decide_late(registries, "loadTable", publish_nothing, sight)
    decide_late(registries, "tableExists", publish_nothing, sight)
