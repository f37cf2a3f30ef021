"""Every update of the document has all parts that updates need here."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.conformance.generated.sample_values import sample_of
from icecheck.judging.judge import judge
from icecheck.mock_server.core.context import Call, Outcome
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.operations.served import default_registries
from icecheck.objects.after_updates import FORESEEN
from tests.interop.oracle.drawn_updates import WEIGHTS, Updates
from tests.kill.killing import checks_of, mock_session
from tests.kit.contracts import NEWEST

SERVED = default_registries(NEWEST.version)
WALKS = {
    "updateTable": ("states.life", "states.created-at-once"),
    "commitTransaction": ("states.life-by-transactions", "states.created-at-once-by-transaction"),
    "replaceView": ("states.view-life",),
}
"""For each operation that commits, the checks that take a table or a view through every update."""
_ROWS = "src/icecheck/contract/requirements"
ROOT = Path(__file__).parents[2]
DRAWN = ROOT / "conformance/fuzzed/drawn_commits.py"
MADE_BY_HELPERS = {bodies.set_properties({})["action"], bodies.snapshot_ref(1)["action"]}
"""The actions that do not stand in it by name."""
STATES = ("test_states", "test_view_states")


@cache
def walked(operation_id: str) -> Mapping[str, bool]:
    """Return the actions that the walks by this operation send, and whether the mock takes them.

    An action is taken if the mock accepted one commit with it.
    """
    taken: dict[str, bool] = {}

    def noted(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        body = json.loads(call.request.body)
        changes = body.get("table-changes", [body])
        actions = {update["action"] for change in changes for update in change["updates"]}
        for action in actions:
            taken.setdefault(action, False)
        outcome = faithful(state, call)  # raises where the mock refuses, and where it fails
        if outcome.reply.status < 300:
            taken.update(dict.fromkeys(actions, True))
        return outcome

    walks = [c for c in checks_of(*STATES, contract=NEWEST) if c.id in WALKS[operation_id]]
    assert len(walks) == len(WALKS[operation_id])
    with mock_session(spec=NEWEST.version) as (mock, session):
        wrap(mock.registries, operation_id, noted)
        for walk in walks:
            judge(walk, Catalog(session, walk.id))
    return taken


def _unwalked(action: str, operation_id: str, stages: str) -> Iterator[str]:
    """Yield what an action lacks in the walks by an operation."""
    walk, taken = WALKS[operation_id][0], walked(operation_id)
    if action not in taken:
        yield f"no stage of {walk} in conformance/states/{stages}"
    elif not taken[action]:
        yield (
            f"no {operation_id} of {walk} with it is accepted by the mock: what it answers says "
            f"`icecheck run --mock -v --check {walk}`"
        )


def lacking(of_tables: Iterable[str], of_views: Iterable[str]) -> list[str]:
    """Return one line for each part that one of these updates lacks."""
    return [
        *(f"{each}: {words}" for each in of_tables for words in _lacking_of_table(each)),
        *(f"{each}, of a view: {words}" for each in of_views for words in _lacking_of_view(each)),
    ]


def _lacking_of_table(action: str) -> Iterator[str]:
    if action not in SERVED.updates:
        yield "no class under @table_update in mock_server/updates"
    if f"roundtrip.updateTable.{action}" not in _round_trips():
        yield (
            "no round trip of edge values in conformance/round_trips/test_roundtrip_updates.py "
            "(its changes in edge_updates.py, edge_layout.py or edge_history.py beside it), "
            f"which proves a row in {_ROWS}/roundtrip_tables.toml"
        )
    if not _has_row(f"update.{action}."):
        yield f"no row update.{action}.effect in {_ROWS}/updates.toml"
    for operation_id in ("updateTable", "commitTransaction"):
        yield from _unwalked(action, operation_id, "*_stages.py")
    if action not in MADE_BY_HELPERS and f'"{action}"' not in DRAWN.read_text("utf-8"):
        yield f"never drawn in {DRAWN.relative_to(ROOT)}"
    yield from _lacking_of_any(action)


def _lacking_of_view(action: str) -> Iterator[str]:
    if action not in SERVED.view_updates:
        yield "no class under @view_update in mock_server/updates"
    yield from _unwalked(action, "replaceView", "view_stages.py")
    if not _has_row(f"view-update.{action}."):
        yield f"no row view-update.{action}.effect in {_ROWS}/view_commits.toml"
    yield from _lacking_of_any(action)


def _lacking_of_any(action: str) -> Iterator[str]:
    if action not in FORESEEN:
        yield "no effect in src/icecheck/objects/after_updates.py"
    if action not in _sampled():
        yield "no sample in conformance/generated/sample_values.py"
    if action not in WEIGHTS:
        yield "no weight in tests/interop/oracle/drawn_updates.py"
    if not hasattr(Updates, drawing := f"_{action.replace('-', '_')}"):
        yield f"no method Updates.{drawing} in tests/interop/oracle/drawn_updates.py"


@cache
def _round_trips() -> frozenset[str]:
    return frozenset(c.id for c in checks_of("test_roundtrip_updates", contract=NEWEST))


def _has_row(beginning: str) -> bool:
    return any(id_.startswith(beginning) for id_ in NEWEST.requirements)


@cache
def _sampled() -> frozenset[str]:
    """Return the actions whose schema has a sample from which requests are generated."""
    mapping = NEWEST.raw["components"]["schemas"]["BaseUpdate"]["discriminator"]["mapping"]
    found = set()
    for action, schema in mapping.items():
        try:
            found.add(sample_of(schema.rpartition("/")[2])["action"])
        except KeyError:
            continue
        assert action in found
    return frozenset(found)


def test_every_update_has_all_that_is_there_for_updates() -> None:
    told = lacking(NEWEST.table_updates, NEWEST.view_updates)
    assert not told, "\n".join(told)


def test_an_update_that_the_mock_never_accepts_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = {action: action != "set-location" for action in walked("updateTable")}
    monkeypatch.setitem(globals(), "walked", lambda _operation_id: sent)
    (one, other) = lacking(["set-location"], [])
    assert "no updateTable of states.life with it is accepted by the mock" in one
    assert "no commitTransaction of states.life-by-transactions" in other


def test_a_new_update_is_told_everything_it_lacks_at_once() -> None:
    told = "\n".join(lacking(["rename-column"], ["rename-column"]))
    assert told.count("rename-column: no") == 9
    assert told.count("rename-column, of a view: no") == 7
    for place in ("after_updates", "sample_values", "no weight", "Updates._rename_column"):
        assert told.count(place) == 2
