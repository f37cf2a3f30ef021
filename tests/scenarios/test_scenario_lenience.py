"""What a history does not let pass: refusals for which the document leaves no room."""

import json

import pytest
from tests.findings import told

from icecheck.mock_server.core.context import Outcome
from icecheck.mock_server.protocol import problem, replies
from icecheck.replies.expect import Violation
from icecheck.scenarios.random.machine import play
from icecheck.scenarios.random.replaying import replay
from icecheck.scenarios.random.steps import (
    AddSnapshot,
    CreateNamespace,
    CreateTable,
    MoveTable,
    RegisterBack,
    SetRef,
)
from icecheck.scenarios.random.test_namespaces_and_tables import (
    test_histories_follow_the_model as scenario,
)

OPENING = (CreateNamespace(0, "1"), CreateTable(0, 0, "1"))
NOTHING = replies.json_reply({})


@pytest.mark.parametrize("action", ["add-snapshot", "set-snapshot-ref"])
def test_a_conflict_where_nothing_was_required_is_found(action, catalog, mock):
    faithful, applied = mock.registries.updates[action], []

    def conflicting(update, draft):
        applied.append(update)
        if len(applied) > 6:  # what probes send, and the first of the history, goes through
            raise problem.commit_failed("somebody was quicker")
        faithful(update, draft)

    mock.registries.updates[action] = conflicting
    with pytest.raises(Violation) as caught:
        replay(catalog, (*OPENING, *[AddSnapshot(0, 0)] * 8, SetRef(0, 0, "v1", "tag")))
    assert told(caught.value.finding) == ("status", "200", "409")


def test_a_table_that_is_not_registered_under_its_old_name_alone_is_found(catalog, misbehave):
    dropped = set()

    def remember(outcome, state, call):
        dropped.add(call.name)
        return outcome

    def refuse(outcome, state, call):
        if json.loads(call.request.body)["name"] in dropped:
            raise problem.already_exists("It was here")
        return outcome

    misbehave("dropTable", remember)
    misbehave("registerTable", refuse)
    with pytest.raises(Violation) as caught:
        replay(catalog, (*OPENING, RegisterBack(0, 0)))
    assert told(caught.value.finding) == ("status", "200", "409")


def test_a_table_whose_files_went_with_it_need_not_be_registered_again(catalog, misbehave):
    def refuse(outcome, state, call):
        raise problem.bad_request("no such file")

    misbehave("registerTable", refuse)
    assert play(catalog, (*OPENING, RegisterBack(0, 0), CreateTable(0, 0, "2"))) is None


def test_a_rename_of_nothing_onto_itself_that_succeeds_is_found(catalog, mock):
    faithful = mock.registries.operations["renameTable"]

    def same_name_first(context, state, call):
        ends = json.loads(call.request.body)
        if ends["source"] == ends["destination"]:
            return Outcome(state, replies.json_reply({}))
        return faithful(context, state, call)

    mock.registries.operations["renameTable"] = same_name_first
    replay(catalog, (*OPENING, MoveTable(0, 0, 0, 0)))
    with pytest.raises(Violation) as caught:
        replay(catalog, (CreateNamespace(0, "1"), MoveTable(0, 0, 0, 0)))
    assert told(caught.value.finding) == ("status", "400 or 404 or 406", "200")


def test_a_rename_that_is_unsupported_only_now_and_then_is_found(catalog, misbehave):
    count = []

    def refuse(outcome, state, call):
        count.append(call)
        if len(count) % 2 == 0:
            raise problem.unsupported("not to this name")
        return outcome

    misbehave("renameTable", refuse)
    steps = (*OPENING, MoveTable(0, 0, 0, 1), MoveTable(0, 1, 0, 0))
    found = play(catalog, steps)
    assert told(found.finding) == ("status", "204", "406")


def test_a_dropped_name_that_is_in_the_way_of_a_rename_is_found(catalog, misbehave):
    dropped = set()

    def remember(outcome, state, call):
        dropped.add((call.namespace, call.name))
        return outcome

    def refuse(outcome, state, call):
        ends = json.loads(call.request.body)
        there = ends["destination"]
        if ends["source"] != there and (tuple(there["namespace"]), there["name"]) in dropped:
            raise problem.already_exists("It was here")
        return outcome

    misbehave("dropTable", remember)
    misbehave("renameTable", refuse)
    with pytest.raises(Violation) as caught:
        scenario(catalog)
    assert told(caught.value.finding) == ("status", "204", "409")


def test_an_empty_list_that_is_left_out_is_no_failure_of_a_history(catalog, misbehave):
    misbehave("listTables", lambda outcome, _state, _call: Outcome(outcome.state, NOTHING))
    assert play(catalog, OPENING[:1]) is None
