"""Histories on the mock: a faithful one follows the model, planted bugs are found and cut down."""

import json

import msgspec
import pytest

from icecheck.judging.check import check_of
from icecheck.judging.judge import judge
from icecheck.mock_server.core.context import Outcome
from icecheck.mock_server.protocol import problem, replies
from icecheck.replies.expect import Violation
from icecheck.scenarios.random.actions import ACTIONS, LOOK, Action, from_json
from icecheck.scenarios.random.playing import play
from icecheck.scenarios.random.replaying import SHORTEST, SHRINKING_REQUESTS_MAX, replay
from icecheck.scenarios.random.test_namespaces_and_tables import (
    test_histories_follow_the_model as scenario,
)
from tests.kit.contracts import CONTRACT
from tests.kit.findings import told
from tests.kit.shares import some

CHECK = check_of(scenario, CONTRACT)


def do(name, *on, values=()):
    return Action(name, on, tuple(values))


TOUR = (
    do("create-namespace", "n0", values=("1",)),
    do("create-table", "n0.x0", values=("2",)),
    do("update-properties", "n0", values=("icecheck.mark", "3", "icecheck.kept")),
    do("stage-table", "n0.x1", values=("4",)),
    do("commit-staged-table", "n0.x1"),
    do("commit-properties", "n0.x0", values=("icecheck.mark", "5", "icecheck.kept")),
    do("add-column", "n0.x0", values=("6",)),
    do("add-snapshot", "n0.x0", values=("7",)),
    do("add-snapshot", "n0.x0", values=("8",)),
    do("set-ref", "n0.x0", values=("v1", "tag")),
    do("set-ref", "n0.x0", values=("b1", "branch")),
    do("remove-ref", "n0.x0", values=("b1",)),
    do("commit-stale", "n0.x0"),
    do("commit-together", "n0.x0", "n0.x1", values=("9",)),
    do("commit-together-stale", "n0.x0", "n0.x1"),
    do(LOOK),
    do("create-namespace", "n1", values=("10",)),
    do("rename-table", "n0.x0", "n1.x1"),
    do("drop-table", "n1.x1"),
    do("register-table", "n1.x0", "n1.x1"),
    do("evolve", "n1.x0", values=("add-column+sort", "20")),
    do("evolve", "n1.x0", values=("properties+stale-uuid", "21")),
    do("evolve-together", "n1.x0", "n0.x1", values=("partition", "22")),
    do("drop-table", "n1.x0"),
    do("register-over", "n0.x1", "n1.x0"),
    do("register-table", "n1.x0", "n0.x1"),
    do("create-table", "n1.x0", values=("23",)),
    do("purge-table", "n0.x1"),
    do("create-view", "n0.x0", values=("11",)),
    do("replace-query", "n0.x0", values=("12",)),
    do("evolve-view", "n0.x0", values=("replace-schema+relocate", "24")),
    do("evolve-view", "n0.x0", values=("other-version+unknown-version", "25")),
    do("commit-stale-to-view", "n0.x0"),
    do("rename-view", "n0.x0", "n0.x1"),
    do("drop-view", "n0.x1"),
    do("create-namespace", "n0.n0", values=("13",)),
    do("drop-namespace", "n0.n0"),
    do("drop-namespace", "n0"),
    do("drop-table", "n1.x0"),
    do("drop-namespace", "n1"),
)


def shortest_of(violation):
    """Return the history that a violation asks to replay."""
    return from_json(violation.finding.steps)


def names(actions):
    return [action.name for action in actions]


def no_effect(_update, _draft):
    """Stand for an update of the mock that forgets to change anything."""


def forgotten(outcome, state, _call):
    """Stand for the end of an operation that answers and forgets what it did."""
    return msgspec.structs.replace(outcome, state=state)


def test_a_history_of_all_actions_follows_the_model(catalog):
    assert {action.name for action in TOUR} == set(ACTIONS)
    assert play(catalog, TOUR) is None


def test_a_staged_table_is_committed_once_as_it_was_staged_last(catalog):
    namespace = do("create-namespace", "n0", values=("1",))
    staged = [do("stage-table", "n0.x0", values=(mark,)) for mark in "23"]
    committed, dropped = do("commit-staged-table", "n0.x0"), do("drop-table", "n0.x0")
    assert play(catalog, (namespace, *staged, committed, dropped, committed)) is None
    creations = [e for e in catalog.exchanges if b"assert-create" in (e.request_body or b"")]
    assert len(creations) == 1


def test_an_action_that_the_state_refuses_is_sent_all_the_same(catalog):
    assert play(catalog, (*TOUR[:2], *TOUR[:2], *TOUR[::-1])) is None
    statuses = {e.status for e in catalog.exchanges}
    assert {404, 409} <= statuses


def test_the_histories_of_a_few_seeds_succeed_with_each_operation(open_catalog):
    done = set()
    for seed in range(3):
        catalog = open_catalog(seed=seed)
        assert judge(CHECK, catalog).outcome == "pass"
        catalog.undo()
        catalog.session.close()
        done |= {e.operation for e in catalog.exchanges if e.status < 300}
    assert {
        "createNamespace", "dropNamespace", "updateProperties", "createTable", "registerTable",
        "updateTable", "dropTable", "renameTable", "commitTransaction", "createView",
        "replaceView", "dropView", "renameView",
    } <= done  # fmt: skip


@pytest.mark.parametrize("isolation", some(["nested", "flat"], 2))
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
    made = [
        json.loads(e.request_body)["namespace"]
        for e in catalog.exchanges
        if e.operation == "createNamespace"
    ]
    assert len({tuple(each) for each in made}) == len(made)


def test_a_dropped_name_that_cannot_be_used_again_is_found_in_four_actions(catalog, misbehave):
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
    found = names(shortest_of(caught.value))
    assert found == ["create-namespace", "create-table", "drop-table", "create-table"]


def keeping_source(kind, is_meant=lambda _: True):
    """Return the end of a rename that leaves the source where it was, if its metadata are meant."""

    def keep_source(outcome, state, call):
        source = json.loads(call.request.body)["source"]
        place = (tuple(source["namespace"]), source["name"])
        held = getattr(state, kind)(*place)
        if not is_meant(held.metadata):
            return outcome
        kept = getattr(outcome.state, f"with_{kind}")(*place, held)
        return msgspec.structs.replace(outcome, state=kept)

    return keep_source


def is_of_a_history(metadata):
    return "icecheck.mark" in metadata.properties


@pytest.mark.parametrize("kind", ["table", "view"])
def test_a_rename_that_leaves_the_source_is_found_in_a_few_actions(kind, catalog, misbehave):
    misbehave(f"rename{kind.capitalize()}", keeping_source(kind, is_of_a_history))
    with pytest.raises(Violation) as caught:
        scenario(catalog)
    assert caught.value.finding.symptom.slug == "effect-missing:rename"
    found = names(shortest_of(caught.value))
    assert found[-1] == f"rename-{kind}"
    assert len(found) <= 5  # what is shortest within the budget of requests


@pytest.mark.parametrize("kind", ["table", "view"])
def test_a_failure_that_a_lost_effect_explains_is_not_shrunk(kind, open_catalog, misbehave):
    operation_id = f"rename{kind.capitalize()}"
    misbehave(operation_id, keeping_source(kind))
    verdict = judge(CHECK, open_catalog())
    assert verdict.outcome == "pass"
    assert verdict.without == (f"{operation_id}.moves",)
    assert verdict.requests < 1200


def test_properties_that_come_back_are_found_in_three_actions(catalog, misbehave):
    held = {}

    def remember(outcome, state, call):
        held[call.namespace] = state.namespace(call.namespace).properties
        return outcome

    def bring_back(outcome, state, call):
        namespace = tuple(json.loads(call.request.body)["namespace"])
        made = outcome.state.namespace(namespace).properties
        kept = {k: v for k, v in held.get(namespace, {}).items() if k == "icecheck.added"}
        back = outcome.state.with_namespace(namespace, made | kept)
        return msgspec.structs.replace(outcome, state=back)

    misbehave("dropNamespace", remember)
    misbehave("createNamespace", bring_back)
    with pytest.raises(Violation) as caught:
        replay(
            catalog,
            (
                TOUR[0],
                do("update-properties", "n0", values=("icecheck.added", "2", "icecheck.kept")),
                do("drop-namespace", "n0"),
                TOUR[0],
            ),
        )
    assert caught.value.finding.symptom.slug == "effect-missing:properties"
    found = names(shortest_of(caught.value))
    assert found == ["create-namespace", "update-properties", "drop-namespace", "create-namespace"]


@pytest.mark.parametrize(
    ("action", "symptom", "last"),
    [
        ("remove-properties", "effect-missing:properties", "commit-properties"),
        ("set-current-schema", "effect-missing:current-schema-id", "add-column"),
        ("remove-snapshot-ref", "effect-missing:b1", "remove-ref"),
    ],
)
def test_an_update_without_effect_is_found_in_the_history_that_needs_it(
    action, symptom, last, catalog, mock
):
    mock.registries.updates[action] = no_effect
    with pytest.raises(Violation) as caught:
        replay(catalog, TOUR)
    assert caught.value.finding.symptom.slug == symptom
    assert names(shortest_of(caught.value))[-1] == last


def test_a_transaction_without_effect_is_found(catalog, misbehave):
    misbehave("commitTransaction", forgotten)
    with pytest.raises(Violation) as caught:
        replay(catalog, TOUR)
    assert names(shortest_of(caught.value))[-1] == "commit-together"


def test_a_violation_says_the_shortest_history_in_words_and_points_at_its_exchange(
    catalog, misbehave
):
    misbehave("updateProperties", forgotten)
    verdict = judge(CHECK, catalog)
    finding = verdict.findings[0]
    assert f"{SHORTEST}: create namespace n" in finding.detail
    assert finding.made.startswith("properties")
    assert finding.made != finding.shown
    assert finding.exchange is not None
    assert any(evidence.ordinal == finding.exchange for evidence in verdict.evidence)


def test_a_found_history_can_be_replayed_from_its_json(open_catalog, misbehave, mock):
    faithful = dict(mock.registries.operations)
    misbehave("dropTable", forgotten)
    catalog = open_catalog()
    with pytest.raises(Violation) as caught:
        scenario(catalog)
    actions = shortest_of(caught.value)
    with pytest.raises(Violation) as again:
        replay(catalog, actions)
    assert again.value.finding.key == caught.value.finding.key
    mock.registries.operations.update(faithful)
    replay(catalog, actions)


def test_shrinking_keeps_to_its_budget_of_requests(catalog, mock):
    mock.registries.updates["remove-properties"] = no_effect
    found = play(catalog, TOUR)
    before = len(catalog.exchanges)
    with pytest.raises(Violation):
        replay(catalog, TOUR)
    spent = len(catalog.exchanges) - before
    longest = 8 * len(TOUR) + 30
    assert found is not None
    assert spent < SHRINKING_REQUESTS_MAX + 3 * longest


def test_another_2xx_than_the_documented_one_does_not_hide_the_history(catalog, misbehave):
    def ok(outcome, state, call):
        return Outcome(outcome.state, replies.json_reply({}))

    for operation_id in ("dropTable", "dropView", "dropNamespace", "renameTable", "renameView"):
        misbehave(operation_id, ok)
    assert play(catalog, TOUR) is None


def test_refs_that_a_catalog_refuses_are_no_failure(catalog, mock):
    faithful = mock.registries.updates["set-snapshot-ref"]

    def only_main(update, draft):
        if update.ref_name != "main":
            raise problem.bad_request("only main")
        faithful(update, draft)

    mock.registries.updates["set-snapshot-ref"] = only_main
    replay(catalog, TOUR)


@pytest.mark.parametrize("kind", ["table", "view"])
def test_moving_between_namespaces_may_be_refused(kind, catalog, misbehave):
    def refuse(outcome, state, call):
        ends = json.loads(call.request.body)
        if ends["source"]["namespace"] != ends["destination"]["namespace"]:
            raise problem.unsupported("not across namespaces")
        return outcome

    misbehave(f"rename{kind.capitalize()}", refuse)
    there = do("create-namespace", "n1", values=("3",))
    made = do(f"create-{kind}", "n0.x0", values=("2",))
    moves = [do(f"rename-{kind}", "n0.x0", target) for target in ("n1.x0", "n0.x1")]
    replay(catalog, (TOUR[0], there, made, *moves, do(f"rename-{kind}", "n0.x1", "n1.x1")))


def test_steps_that_are_not_offered_are_left_out(open_catalog, mock):
    left_out = {"renameTable", "registerTable", "updateProperties", "commitTransaction"}
    for operation_id in left_out:
        del mock.registries.operations[operation_id]
    catalog = open_catalog()
    replay(catalog, TOUR)
    assert {e.operation for e in catalog.exchanges}.isdisjoint(left_out)
