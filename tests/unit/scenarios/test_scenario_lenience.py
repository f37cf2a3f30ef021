"""What a history does not let pass, and what it does because the document leaves a choice."""

import json

import pytest

from icecheck.mock_server.core.context import Outcome
from icecheck.mock_server.protocol import problem, replies
from icecheck.replies.expect import Violation
from icecheck.scenarios.random.actions import Action
from icecheck.scenarios.random.playing import play
from icecheck.scenarios.random.replaying import replay
from icecheck.scenarios.random.test_namespaces_and_tables import (
    test_histories_follow_the_model as scenario,
)
from tests.kit.findings import told

OPENING = (
    Action("create-namespace", ("n0",), ("1",)),
    Action("create-table", ("n0.x0",), ("2",)),
)
SNAPSHOTS = tuple(Action("add-snapshot", ("n0.x0",), (str(at),)) for at in range(3, 11))
AGAIN = (
    Action("drop-table", ("n0.x0",)),
    Action("register-table", ("n0.x0", "n0.x0")),
)
NOTHING = replies.json_reply({})


def failed(message):
    return problem.Problem(500, "InternalServerError", message)


def rename(source, target):
    return Action("rename-table", (f"n0.{source}", f"n0.{target}"))


@pytest.mark.parametrize("action", ["add-snapshot", "set-snapshot-ref"])
def test_a_conflict_whose_requirement_holds_is_found(action, catalog, mock):
    faithful, applied = mock.registries.updates[action], []

    def conflicting(update, draft):
        applied.append(update)
        if len(applied) > 6:  # what probes send, and the first of the history, goes through
            raise problem.commit_failed("somebody was quicker")
        faithful(update, draft)

    mock.registries.updates[action] = conflicting
    with pytest.raises(Violation) as caught:
        replay(catalog, (*OPENING, *SNAPSHOTS, Action("set-ref", ("n0.x0",), ("v1", "tag"))))
    assert told(caught.value.finding) == ("status", "200", "409")


def test_a_catalog_may_refuse_to_remove_a_property_that_is_not_there(catalog, mock):
    faithful = mock.registries.updates["remove-properties"]

    def strict(update, draft):
        if not set(update.removals) <= draft.metadata.properties.keys():
            raise problem.bad_request("A property to remove is not there")
        faithful(update, draft)

    mock.registries.updates["remove-properties"] = strict
    commit = Action("commit-properties", ("n0.x0",), ("icecheck.kept", "21", "icecheck.added"))
    replay(catalog, (*OPENING, commit))


def names_of_dropped(misbehave):
    dropped = set()

    def remember(outcome, state, call):
        dropped.add(call.name)
        return outcome

    misbehave("dropTable", remember)
    return dropped


@pytest.mark.parametrize("status", [409, 500])
def test_a_table_that_cannot_be_registered_under_its_old_name_alone_is_found(
    status, catalog, misbehave
):
    dropped = names_of_dropped(misbehave)

    def refuse(outcome, state, call):
        if json.loads(call.request.body)["name"] in dropped:
            raise refusals[status]("It was here")
        return outcome

    refusals = {409: problem.already_exists, 500: failed}
    misbehave("registerTable", refuse)
    with pytest.raises(Violation) as caught:
        replay(catalog, (*OPENING, *AGAIN))
    assert told(caught.value.finding) == ("status", "200", str(status))


@pytest.mark.parametrize("refusal", [problem.bad_request, problem.already_exists])
def test_a_table_whose_files_went_with_it_need_not_be_registered_again(refusal, catalog, misbehave):
    def refuse(outcome, state, call):
        raise refusal("no such file")

    misbehave("registerTable", refuse)
    assert play(catalog, (*OPENING, *AGAIN, OPENING[1])) is None


def test_a_rename_of_nothing_onto_itself_that_succeeds_is_found(catalog, mock):
    faithful = mock.registries.operations["renameTable"]

    def same_name_first(context, state, call):
        ends = json.loads(call.request.body)
        if ends["source"] == ends["destination"]:
            return Outcome(state, replies.json_reply({}))
        return faithful(context, state, call)

    mock.registries.operations["renameTable"] = same_name_first
    replay(catalog, (*OPENING, rename("x0", "x0")))
    with pytest.raises(Violation) as caught:
        replay(catalog, (OPENING[0], rename("x0", "x0")))
    assert told(caught.value.finding) == ("status", "400 or 404", "200")


@pytest.mark.parametrize("kind", ["table", "view"])
def test_a_rename_to_its_own_name_may_be_refused(kind, catalog, mock):
    operation_id = f"rename{kind.capitalize()}"
    faithful = mock.registries.operations[operation_id]

    def refuse(context, state, call):
        ends = json.loads(call.request.body)
        if ends["source"] == ends["destination"]:
            raise problem.bad_request("it is called so already")
        return faithful(context, state, call)

    mock.registries.operations[operation_id] = refuse
    to_itself = Action(f"rename-{kind}", ("n0.x0", "n0.x0"))
    made = Action(f"create-{kind}", ("n0.x0",), ("2",))
    assert play(catalog, (OPENING[0], made, to_itself)) is None
    # A catalog may look at the names before it looks for the source.
    assert play(catalog, (OPENING[0], to_itself)) is None


def test_a_rename_that_is_unsupported_only_now_and_then_is_found(catalog, misbehave):
    count = []

    def refuse(outcome, state, call):
        count.append(call)
        if len(count) % 2 == 0:
            raise problem.unsupported("not to this name")
        return outcome

    misbehave("renameTable", refuse)
    found = play(catalog, (*OPENING, rename("x0", "x1"), rename("x1", "x0")))
    assert told(found.finding) == ("status", "200 or 202 or 204", "406")


def test_a_dropped_name_that_is_in_the_way_of_a_rename_is_found(catalog, misbehave):
    dropped = names_of_dropped(misbehave)

    def refuse(outcome, state, call):
        ends = json.loads(call.request.body)
        if ends["source"] != ends["destination"] and ends["destination"]["name"] in dropped:
            raise problem.already_exists("It was here")
        return outcome

    misbehave("renameTable", refuse)
    with pytest.raises(Violation) as caught:
        scenario(catalog)
    assert told(caught.value.finding) == ("status", "200 or 202 or 204", "409")


def test_the_place_of_a_renamed_table_may_be_taken(catalog, misbehave):
    moved = []

    def remember(outcome, state, call):
        moved.append(json.loads(call.request.body)["source"]["name"])
        return outcome

    def refuse(outcome, state, call):
        if json.loads(call.request.body)["name"] in moved:
            raise problem.bad_request("files of another table lie there")
        return outcome

    misbehave("renameTable", remember)
    misbehave("createTable", refuse)
    assert play(catalog, (*OPENING, rename("x0", "x1"), OPENING[1])) is None


@pytest.mark.parametrize("operation_id", ["listTables", "listViews", "listNamespaces"])
def test_an_empty_list_that_is_left_out_is_no_failure_of_a_history(
    operation_id, catalog, misbehave
):
    def without_the_list(outcome, _state, _call):
        shown = json.loads(outcome.reply.body)
        return Outcome(outcome.state, NOTHING) if next(iter(shown.values())) == [] else outcome

    misbehave(operation_id, without_the_list)
    assert play(catalog, OPENING[:1]) is None


def test_a_catalog_may_look_at_the_location_of_a_taken_name_first(catalog, mock, misbehave):
    """A table was renamed, and its first name has a registered table that lies elsewhere."""
    create, left = mock.registries.operations["createTable"], set()

    def remember(outcome, _state, call):
        left.add(json.loads(call.request.body)["source"]["name"])
        return outcome

    def create_at_free_places(context, state, call):
        if json.loads(call.request.body)["name"] in left:
            raise problem.Problem(403, "ForbiddenException", "the location is in use")
        return create(context, state, call)

    misbehave("renameTable", remember)
    mock.registries.operations["createTable"] = create_at_free_places
    history = (
        *OPENING,
        rename("x0", "x1"),
        Action("drop-table", ("n0.x1",)),
        Action("register-table", ("n0.x0", "n0.x1")),
        Action("stage-table", ("n0.x0",), ("3",)),
        Action("create-table", ("n0.x0",), ("4",)),
    )
    assert play(catalog, history) is None
