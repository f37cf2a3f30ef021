"""What round trips of tables find, what they leave alone, and what they cost."""

import json
import re

import msgspec
import pytest

from icecheck.client.catalog import Table
from icecheck.conformance.round_trips import edge_layout
from icecheck.conformance.round_trips import test_roundtrip_tables as tables
from icecheck.conformance.round_trips import test_roundtrip_updates as updates
from icecheck.findings.verdict import Group
from icecheck.judging.check import declaration_of
from icecheck.mock_server.protocol import problem, replies
from icecheck.objects import edge_values
from icecheck.objects.round_trip import Change, together
from tests.kit.findings import told
from tests.lawful.lawful_commits import LAWFUL_COMMITS

FUNCTIONS = [*vars(tables).values(), *vars(updates).values()]
CHECKS = {declaration_of(f).id: f for f in FUNCTIONS if declaration_of(f) is not None}
REQUESTS_MAX = 64
SET_PROPERTIES = "roundtrip.updateTable.set-properties"

TAME = re.compile(r"[\w.\-/:{}\[\],() ]*", re.ASCII)


def strings_in(value):
    if isinstance(value, dict):
        return [s for k, v in value.items() for s in [k, *strings_in(v)]]
    if isinstance(value, list):
        return [s for each in value for s in strings_in(each)]
    return [value] if isinstance(value, str) else []


def is_odd(body):
    return any(not TAME.fullmatch(s) or not s.strip() or len(s) > 200 for s in strings_in(body))


def around(mock, operation_id, wrapper):
    faithful = mock.registries.operations[operation_id]
    mock.registries.operations[operation_id] = lambda context, state, call: wrapper(
        faithful, context, state, call
    )


@pytest.fixture
def prudish(new_mock):
    """A mock that refuses whatever is odd, and with this status."""

    def made(status=400):
        mock = new_mock()

        def refuse(faithful, context, state, call):
            if is_odd(json.loads(call.request.body)):
                raise problem.Problem(status, "Odd", "Not with me")
            return faithful(context, state, call)

        for operation_id in ("createTable", "updateTable"):
            around(mock, operation_id, refuse)
        return mock

    return made


@pytest.mark.parametrize("check_id", CHECKS)
def test_a_check_is_generated_passes_and_keeps_its_budget(check_id, run_check):
    assert declaration_of(CHECKS[check_id]).group is Group.GENERATED
    verdict, _ = run_check(CHECKS[check_id])
    assert verdict.outcome == "pass", verdict.summary
    words = "later changes are left out: make several in one commit (round_trip.together)"
    assert verdict.requests <= REQUESTS_MAX, words


@pytest.mark.parametrize("check_id", CHECKS)
def test_a_catalog_that_refuses_what_is_odd_is_not_blamed(check_id, run_check, prudish):
    verdict, _ = run_check(CHECKS[check_id], mock=prudish())
    assert verdict.outcome in {"pass", "skip"}, verdict.summary
    assert verdict.requests <= REQUESTS_MAX


def test_tamer_values_are_sent_where_odd_ones_are_refused(run_check, prudish):
    verdict, requests = run_check(CHECKS[SET_PROPERTIES], mock=prudish())
    commits = [json.loads(body) for _, _, body in requests if b'"requirements"' in body]
    sent = [update for commit in commits for update in commit["updates"]]
    halves = [u["updates"] for u in sent if u["action"] == "set-properties" and u["updates"]]
    assert verdict.outcome == "pass"
    sizes = {len(each) for each in halves}
    assert max(sizes) > 60
    assert max(sizes) // 4 in sizes
    assert any(not is_odd(each) for each in halves)


@pytest.mark.parametrize("action", ["add-sort-order", "add-spec", "add-schema"])
def test_changes_of_a_refused_commit_are_sent_one_by_one(action, run_check, new_mock):
    mock = new_mock()

    def refuse(faithful, context, state, call):
        if len(json.loads(call.request.body)["updates"]) > 1:
            raise problem.bad_request("One update in each commit")
        return faithful(context, state, call)

    around(mock, "updateTable", refuse)
    verdict, requests = run_check(CHECKS[f"roundtrip.updateTable.{action}"], mock=mock)
    commits = [json.loads(body)["updates"] for _, _, body in requests if b'"requirements"' in body]
    of_action = [each for each in commits if {update["action"] for update in each} == {action}]
    in_groups = sum(len(each) for each in of_action if len(each) > 1)
    alone = sum(len(each) for each in of_action if len(each) == 1)
    assert verdict.outcome == "pass", verdict.summary
    assert alone > 1
    assert in_groups > 1


def test_an_added_definition_is_found_by_its_content_whatever_its_id():
    old, *sent = ({"order-id": n, "fields": [{"source-id": n}]} for n in range(3))
    shown = [{**sent[1], "order-id": 7}, {**sent[0], "order-id": 8}]
    after = {"sort-orders": [old, *shown]}
    table = Table((), "", {"sort-orders": [old]}, None)

    def adding(order):
        return lambda _table: Change(
            "an order",
            [order],
            lambda was, now: {
                "sort-orders": edge_layout.added("sort-orders", "order-id", order, was, now)
            },
        )

    change = together(*map(adding, sent))(table)
    assert change.named(table.metadata, after) == {"sort-orders": [old, *shown[::-1]]}


@pytest.mark.parametrize("action", ["add-schema", "add-spec", "add-sort-order"])
def test_a_catalog_that_lists_what_was_added_last_first_is_not_blamed(action, run_check, new_mock):
    mock = new_mock()
    LAWFUL_COMMITS["newest-first"](mock.registries)
    verdict, _ = run_check(CHECKS[f"roundtrip.updateTable.{action}"], mock=mock)
    assert verdict.outcome == "pass", verdict.summary


def test_a_server_error_for_an_odd_value_is_found(run_check, prudish):
    verdict, _ = run_check(CHECKS[SET_PROPERTIES], mock=prudish(500))
    assert told(verdict.findings[0]) == ("status", "2xx or 4xx", "500")


def test_a_refusal_that_leaves_something_behind_is_found(run_check, new_mock):
    mock = new_mock()

    def refuse(faithful, context, state, call):
        outcome = faithful(context, state, call)
        if is_odd(json.loads(call.request.body).get("updates")):
            refused = problem.bad_request("Not with me")
            return msgspec.structs.replace(outcome, reply=replies.problem_reply(refused))
        return outcome

    around(mock, "updateTable", refuse)
    verdict, _ = run_check(CHECKS[SET_PROPERTIES], mock=mock)
    assert verdict.findings[0].symptom.slug == "changed-although-refused"


def test_a_commit_that_also_changes_the_table_beside_is_found(run_check, new_mock):
    mock = new_mock()

    def both(faithful, context, state, call):
        outcome = faithful(context, state, call)
        tables = outcome.state.namespace(call.namespace).tables.after()
        others = [name for name, _ in tables if name != call.name]
        if not others:
            return outcome
        entry = outcome.state.table(call.namespace, call.name)
        kept = outcome.state.with_table(call.namespace, others[0], entry)
        return msgspec.structs.replace(outcome, state=kept)

    around(mock, "updateTable", both)
    verdict, _ = run_check(CHECKS[SET_PROPERTIES], mock=mock)
    assert verdict.findings[0].symptom.slug == "changed-beside:another-table"


def test_the_same_seed_sends_the_same_and_another_one_another_order(run_check):
    sent = [run_check(CHECKS[SET_PROPERTIES], seed=seed)[1] for seed in (1, 1, 2)]
    assert sent[0] == sent[1]
    assert sent[0] != sent[2]


def test_edge_values_differ_and_every_one_is_in_the_map():
    for values in (edge_values.STRINGS, edge_values.KEYS, edge_values.LONGS):
        assert len({each.value for each in values}) == len(values)
        assert len({each.what for each in values}) == len(values)
    every = edge_values.string_map()
    assert {each.value for each in edge_values.STRINGS} <= set(every.values())
    assert {each.value for each in edge_values.KEYS} <= set(every)
