"""Histories on the mock: a faithful one follows the model, planted bugs are found and cut down."""

import json

import httpx
import msgspec
import pytest
from tests.findings import told

from icecheck.client.catalog import Catalog
from icecheck.contract import load
from icecheck.judging.check import check_of
from icecheck.judging.judge import judge
from icecheck.mock_server.core.context import Outcome
from icecheck.mock_server.protocol import problem, replies
from icecheck.replies.expect import Violation
from icecheck.scenarios.random.machine import play
from icecheck.scenarios.random.replaying import SHRINKING_REQUESTS_MAX, replay
from icecheck.scenarios.random.steps import (
    AddColumn,
    AddSnapshot,
    CommitProperties,
    CommitStale,
    CreateNamespace,
    CreateTable,
    DropNamespace,
    DropTable,
    ListTables,
    LoadTable,
    MoveTable,
    RegisterBack,
    RemoveRef,
    SetRef,
    StageCreate,
    UpdateProperties,
    from_json,
)
from icecheck.scenarios.random.test_namespaces_and_tables import (
    test_histories_follow_the_model as scenario,
)
from icecheck.wire.connection import Connection
from icecheck.wire.unreachable import Unreachable

CHECK = check_of(scenario, load())
TOUR = (
    CreateNamespace(0, "1"),
    CreateTable(0, 0, "1"),
    UpdateProperties(0, "icecheck.a", "2", "icecheck.owner"),
    StageCreate(0, 1),
    CommitProperties(0, 0, "icecheck.a", "2", "icecheck.owner"),
    AddColumn(0, 0),
    AddSnapshot(0, 0),
    AddSnapshot(0, 0),
    SetRef(0, 0, "v1", "tag"),
    SetRef(0, 0, "b1", "branch"),
    RemoveRef(0, 0, "b1"),
    CommitStale(0, 0),
    RegisterBack(0, 0),
    ListTables(0),
    CreateNamespace(1, "2"),
    MoveTable(0, 0, 1, 1),
    LoadTable(0, 0),
    DropNamespace(0),
    DropTable(1, 1),
    DropNamespace(1),
)


def shortest_of(violation):
    """Return the history that a violation asks to replay."""
    return from_json(violation.finding.detail.partition("; replay ")[2])


def kinds(steps):
    return [type(step) for step in steps]


def no_effect(_update, _draft):
    """Stand for an update of the mock that forgets to change anything."""


def forgotten(outcome, state, _call):
    """Stand for the end of an operation that answers and forgets what it did."""
    return msgspec.structs.replace(outcome, state=state)


def test_a_history_with_every_kind_of_step_follows_the_model(catalog):
    assert play(catalog, TOUR, compare_every=1) is None


@pytest.mark.parametrize("isolation", ["nested", "flat"])
def test_the_check_passes_and_leaves_nothing(isolation, open_catalog, mock):
    for seed in (0, 5):
        catalog = open_catalog(seed=seed, isolation=isolation)
        verdict = judge(CHECK, catalog)
        catalog.session.close()
        assert verdict.outcome == "pass", verdict.summary
        assert verdict.requests < 900


def test_the_same_seed_sends_the_same_requests(open_catalog, mock):
    sent = []
    for _ in range(2):
        before = mock.snapshot()
        catalog = open_catalog(seed=3)
        judge(CHECK, catalog)
        sent.append([(e.method, e.url) for e in catalog.exchanges])
        catalog.session.close()
        mock.restore(before)
    assert sent[0] == sent[1]


def test_every_history_has_names_of_its_own(catalog):
    play(catalog, TOUR[:2])
    play(catalog, TOUR[:2])
    bodies = [json.loads(e.request_body) for e in catalog.exchanges if e.method == "POST"]
    assert bodies[0]["namespace"] != bodies[2]["namespace"]


def test_a_dropped_name_that_cannot_be_used_again_is_found_in_four_steps(catalog, misbehave):
    gone = set()

    def remember(outcome, state, call):
        gone.add((call.namespace, call.name))
        return outcome

    def refuse(outcome, state, call):
        if (call.namespace, json.loads(call.request.body)["name"]) in gone:
            raise problem.already_exists("It was here")
        return outcome

    misbehave("dropTable", remember)
    misbehave("createTable", refuse)
    with pytest.raises(Violation) as caught:
        scenario(catalog)
    assert told(caught.value.finding) == ("status", "200", "409")
    steps = shortest_of(caught.value)
    assert kinds(steps) == [CreateNamespace, CreateTable, DropTable, CreateTable]


def test_a_rename_that_leaves_the_source_is_found_in_a_few_steps(catalog, misbehave):
    def keep_source(outcome, state, call):
        source = json.loads(call.request.body)["source"]
        place = (tuple(source["namespace"]), source["name"])
        kept = outcome.state.with_table(*place, state.table(*place))
        return msgspec.structs.replace(outcome, state=kept)

    misbehave("renameTable", keep_source)
    with pytest.raises(Violation) as caught:
        scenario(catalog)
    assert caught.value.finding.symptom.slug == "effect:tables-listed"
    found = kinds(shortest_of(caught.value))
    assert found[-1] is MoveTable
    assert len(found) in {3, 4}  # the fourth makes the namespace that the table goes to


def test_properties_that_come_back_are_found_in_three_steps(catalog, misbehave):
    held = {}

    def remember(outcome, state, call):
        held[call.namespace] = state.namespace(call.namespace).properties
        return outcome

    def bring_back(outcome, state, call):
        namespace = tuple(json.loads(call.request.body)["namespace"])
        made = outcome.state.namespace(namespace).properties
        back = outcome.state.with_namespace(namespace, made | held.get(namespace, {}))
        return msgspec.structs.replace(outcome, state=back)

    misbehave("dropNamespace", remember)
    misbehave("createNamespace", bring_back)
    with pytest.raises(Violation) as caught:
        scenario(catalog)
    assert caught.value.finding.symptom.slug == "effect:namespace-properties"
    steps = shortest_of(caught.value)
    assert kinds(steps) == [CreateNamespace, DropNamespace, CreateNamespace]


@pytest.mark.parametrize(
    ("action", "symptom", "last"),
    [
        ("remove-properties", "effect:table-properties", CommitProperties),
        ("set-current-schema", "effect:table-columns", AddColumn),
        ("remove-snapshot-ref", "effect:table-refs", RemoveRef),
    ],
)
def test_an_update_without_effect_is_found_in_the_history_that_needs_it(
    action, symptom, last, catalog, mock
):
    mock.registries.updates[action] = no_effect
    with pytest.raises(Violation) as caught:
        replay(catalog, TOUR)
    assert caught.value.finding.symptom.slug == symptom
    assert kinds(shortest_of(caught.value))[-1] is last


def test_a_violation_says_the_shortest_history_in_words_and_points_at_its_exchange(catalog, mock):
    mock.registries.updates["remove-properties"] = no_effect
    verdict = judge(CHECK, catalog)
    finding = verdict.findings[0]
    assert "the shortest history: create namespace n0" in finding.detail
    assert finding.exchange is not None
    assert any(evidence.ordinal == finding.exchange for evidence in verdict.evidence)


def test_a_found_history_can_be_replayed_from_its_json(open_catalog, misbehave, mock):
    faithful = dict(mock.registries.operations)
    misbehave("dropTable", forgotten)
    catalog = open_catalog()
    with pytest.raises(Violation) as caught:
        scenario(catalog)
    steps = shortest_of(caught.value)
    with pytest.raises(Violation) as again:
        replay(catalog, steps)
    assert again.value.finding.key == caught.value.finding.key
    mock.registries.operations.update(faithful)
    replay(catalog, steps)


def test_shrinking_keeps_to_its_budget_of_requests(catalog, mock):
    mock.registries.updates["remove-properties"] = no_effect
    found = play(catalog, TOUR)
    before = len(catalog.exchanges)
    with pytest.raises(Violation):
        replay(catalog, TOUR)
    spent = len(catalog.exchanges) - before
    longest = 5 * len(TOUR) + 30
    assert found is not None
    assert spent < SHRINKING_REQUESTS_MAX + 3 * longest


def test_another_2xx_than_the_documented_one_does_not_hide_the_history(catalog, misbehave):
    def ok(outcome, state, call):
        return Outcome(outcome.state, replies.json_reply({}))

    misbehave("dropTable", ok)
    misbehave("dropNamespace", ok)
    misbehave("renameTable", ok)
    assert play(catalog, TOUR) is None


def test_refs_that_a_catalog_refuses_are_no_failure(catalog, mock):
    faithful = mock.registries.updates["set-snapshot-ref"]

    def only_main(update, draft):
        if update.ref_name != "main":
            raise problem.bad_request("only main")
        faithful(update, draft)

    mock.registries.updates["set-snapshot-ref"] = only_main
    replay(catalog, TOUR)


def test_moving_between_namespaces_may_be_refused(catalog, misbehave):
    def refuse(outcome, state, call):
        ends = json.loads(call.request.body)
        if ends["source"]["namespace"] != ends["destination"]["namespace"]:
            raise problem.unsupported("not across namespaces")
        return outcome

    misbehave("renameTable", refuse)
    replay(catalog, (*TOUR[:-2], MoveTable(0, 0, 0, 1)))


def test_steps_that_are_not_offered_are_left_out(open_catalog, mock):
    for operation_id in ("renameTable", "registerTable", "updateProperties"):
        del mock.registries.operations[operation_id]
    catalog = open_catalog()
    replay(catalog, TOUR)
    sent = {e.operation for e in catalog.exchanges}
    assert sent.isdisjoint({"renameTable", "registerTable", "updateProperties"})


def test_a_network_problem_is_no_failure_of_the_catalog(open_catalog, monkeypatch):
    catalog = open_catalog()
    sent = []
    send = Connection.send

    def break_off(self, wire, record):
        sent.append(wire)
        if len(sent) == 9:
            raise Unreachable("gone")
        return send(self, wire, record)

    monkeypatch.setattr(Connection, "send", break_off)
    with pytest.raises(Unreachable):
        replay(catalog, TOUR)


def test_a_check_without_an_answer_is_blocked_by_the_target(mock):
    from icecheck.client.opening import open_session
    from icecheck.targets.target import Target

    inner = mock.httpx_transport()
    count, slept = [], []

    def handler(request):
        count.append(request)
        if len(count) > 40:
            raise httpx.ConnectError("refused")
        return inner.handle_request(request)

    session = open_session(
        Target("http://catalog.invalid"), run_id="t1", transport=httpx.MockTransport(handler)
    )
    session.connection._sleep = slept.append
    verdict = judge(CHECK, Catalog(session, CHECK.id))
    assert verdict.outcome == "blocked"
    assert verdict.blocked_by == ("target",)
