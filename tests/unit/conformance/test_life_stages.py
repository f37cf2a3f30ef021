"""The stages of a table's life: the mock refuses none; what is asserted is true, or is not."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_namespace
from icecheck.conformance.states.stage_assertions import nearly_true, true_assertions
from icecheck.conformance.states.table_stages import stages_of
from icecheck.conformance.states.view_stages import (
    FIRST_SCHEMA,
    PROPERTIES,
    SQL,
    stages_of_views,
)
from icecheck.conformance.states.walk import VIEWS, Step, given_born, lead, live
from icecheck.findings.verdict import Outcome
from icecheck.judging.judge import judge
from icecheck.mock_server.core.context import Call
from icecheck.mock_server.core.context import Outcome as Result
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.defects.kit.updating import alter_update
from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.protocol.replies import problem_reply
from icecheck.objects.committing import Send, by_transaction, by_update
from icecheck.objects.views import View, given_view, loaded_view, view_version
from tests.kill.killing import checks_of, mock_session

ANOTHER = "9c12d441-03fe-4693-9a96-a0705ddf69c1"


@cache
def steps_on_the_mock(send: Send, group_size: int = 1) -> tuple[tuple[Step[Table], ...], int]:
    """What a table went through on the faithful mock, and how many stages it should have."""
    steps: list[Step[Table]] = []

    def visit(step: Step[Table]) -> Table:
        steps.append(step)
        return step.after

    with mock_session() as (_, session):
        catalog = Catalog(session, "life")
        due = sum(1 for _ in stages_of(catalog))
        live(catalog, given_born(catalog), visit, send, group_size=group_size)
        catalog.undo()
    return tuple(steps), due


@pytest.mark.parametrize("send", [by_update, by_transaction])
def test_the_mock_takes_every_stage(send: Send) -> None:
    steps, due = steps_on_the_mock(send)
    assert [step.ordinal for step in steps] == [*range(1, due + 1)]


def test_the_mock_takes_every_stage_of_a_view() -> None:
    whats: list[str] = []

    def visit(step: Step[View]) -> View:
        whats.append(step.what)
        return step.after

    with mock_session() as (_, session):
        catalog = Catalog(session, "life")
        home = given_namespace(catalog)
        members = {"schema": FIRST_SCHEMA, "properties": PROPERTIES}
        made = given_view(catalog, home, version=view_version(SQL[0], namespace=home), **members)
        lead(catalog, VIEWS, loaded_view(catalog, made), stages_of_views(home), visit)
        catalog.undo()
    assert whats == [stage.what for stage in stages_of_views(home)]


def test_the_mock_takes_stages_in_groups() -> None:
    steps, _ = steps_on_the_mock(by_update, 3)
    whats = [step.what.split(" + ") for step in steps]
    assert max(map(len, whats)) == 3
    assert sum(map(len, whats)) == len(steps_on_the_mock(by_update)[0])
    (upgraded,) = [each for each in whats if "format version 3" in each]
    assert upgraded[-1] == "format version 3"  # what follows needs it


@pytest.mark.parametrize("status", [400, 500])
def test_what_is_refused_together_is_done_in_parts(status: int) -> None:
    def refuse(_faithful: Callable[[Any, Draft], None], _update: Any, _draft: Draft) -> None:
        raise Problem(status, "Refused", "no")

    whats: dict[int, list[str]] = {1: [], 4: []}
    for group_size, taken in whats.items():

        def visit(step: Step[Table], taken: list[str] = taken) -> Table:
            taken.extend(step.what.split(" + "))
            return step.after

        with mock_session() as (mock, session):
            alter_update(mock.registries, "set-partition-statistics", refuse)
            catalog = Catalog(session, "life")
            live(catalog, given_born(catalog), visit, group_size=group_size)
            catalog.undo()
    assert whats[4] == whats[1]
    assert len(whats[1]) == len(steps_on_the_mock(by_update)[0]) - 2  # one sets, one removes


def test_a_refused_commit_that_has_an_effect_is_found_in_the_next_state() -> None:
    def committing(faithful: Faithful, state: WarehouseState, call: Call) -> Result:
        try:
            return faithful(state, call)
        except Problem as refused:
            kept = [u for u in sent_json(call)["updates"] if u["action"] == "set-properties"]
            body = json.dumps({"requirements": [], "updates": kept}).encode()
            changed = replace(call, request=replace(call.request, body=body))
            return Result(faithful(state, changed).state, problem_reply(refused))

    (check,) = [each for each in checks_of("test_states") if each.id == "states.conflicts"]
    with mock_session() as (mock, session):
        wrap(mock.registries, "updateTable", committing)
        verdict = judge(check, Catalog(session, check.id))
    (finding,) = verdict.findings
    assert finding.symptom.slug == "changed-although-refused"
    assert "the commit that asserted" in finding.detail


def outcome_with(action: str, breaks: Callable[[Any, Draft], bool]) -> Outcome:
    """What is said of a mock that answers some updates with 500."""

    def breaking(faithful: Callable[[Any, Draft], None], update: Any, draft: Draft) -> None:
        if breaks(update, draft):
            raise Problem(500, "InternalServerError", "broken")
        faithful(update, draft)

    (check,) = [each for each in checks_of("test_states") if each.id == "states.life"]
    with mock_session() as (mock, session):
        alter_update(mock.registries, action, breaking)
        return judge(check, Catalog(session, check.id)).outcome


def test_an_update_that_a_catalog_never_takes_is_for_its_own_check() -> None:
    assert outcome_with("add-encryption-key", lambda _update, _draft: True) is Outcome.PASS


def test_an_update_that_breaks_in_some_state_only_is_a_finding() -> None:
    def is_rollback(update: Any, draft: Draft) -> bool:
        return update.ref_name == "main" and bool(draft.metadata.refs) and not draft.added_snapshots

    assert outcome_with("set-snapshot-ref", is_rollback) is Outcome.FAIL


def test_what_is_current_is_not_always_what_came_last() -> None:
    steps, _ = steps_on_the_mock(by_update)
    lagging = {
        pointer
        for step in steps
        for pointer, members, id_member in (
            ("current-schema-id", "schemas", "schema-id"),
            ("default-spec-id", "partition-specs", "spec-id"),
            ("default-sort-order-id", "sort-orders", "order-id"),
            ("current-snapshot-id", "snapshots", "snapshot-id"),
        )
        if (there := step.after.metadata[members])
        and step.after.metadata[pointer] != there[-1][id_member]
    }
    assert len(lagging) == 4


def test_nothing_that_is_nearly_true_is_true() -> None:
    steps, _ = steps_on_the_mock(by_update)
    for step in steps:
        holds = true_assertions(step.after.metadata, besides_main=True)
        wrong = [*nearly_true(step.after.metadata, ANOTHER, besides_main=True)]
        assert [each for each in wrong if each.assertion in holds or each.truth not in holds] == []
