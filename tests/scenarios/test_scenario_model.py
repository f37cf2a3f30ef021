"""The reference model: what it promises of each step in each state."""

import pytest

from icecheck.scenarios.random.model import OWNER, CatalogModel, predict
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
    LoadNamespace,
    LoadTable,
    MoveTable,
    RegisterBack,
    RemoveRef,
    SetRef,
    StageCreate,
    UpdateProperties,
)

N, T = CreateNamespace(0, "1"), CreateTable(0, 0, "1")


def after(*steps):
    model = CatalogModel()
    for step in steps:
        model = predict(model, step)[0].after
    return model


def statuses(*steps):
    *before, last = steps
    return [allowed.statuses for allowed in predict(after(*before), last)]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((N,), (200,)),
        ((N, N), (409,)),
        ((LoadNamespace(0),), (404,)),
        ((N, LoadNamespace(0)), (200,)),
        ((DropNamespace(0),), (404,)),
        ((N, DropNamespace(0)), (204,)),
        ((N, T, DropNamespace(0)), (409,)),
        ((N, T, DropTable(0, 0), DropNamespace(0)), (204,)),
        ((UpdateProperties(0, "a", "1", "b"),), (404,)),
        ((N, UpdateProperties(0, "a", "1", "b")), (200,)),
        ((N, UpdateProperties(0, "a", "1", "a")), (422,)),
        ((UpdateProperties(0, "a", "1", "a"),), (422, 404)),
        ((ListTables(0),), (404,)),
        ((N, ListTables(0)), (200,)),
        ((T,), (404,)),
        ((N, T), (200,)),
        ((N, T, T), (409,)),
        ((N, StageCreate(0, 0)), (200,)),
        ((StageCreate(0, 0),), (404, 200)),
        ((N, T, StageCreate(0, 0)), (409,)),
        ((N, LoadTable(0, 0)), (404,)),
        ((N, T, LoadTable(0, 0)), (200,)),
        ((N, CommitProperties(0, 0, "a", "1", "b")), (404,)),
        ((N, T, CommitStale(0, 0)), (409,)),
        ((N, CommitStale(0, 0)), (404,)),
        ((N, T, DropTable(0, 0)), (204,)),
        ((N, DropTable(0, 0)), (404,)),
        ((N, RegisterBack(0, 0)), (404,)),
        ((N, T, MoveTable(0, 0, 0, 1)), (204,)),
        ((N, MoveTable(0, 0, 0, 1)), (404,)),
        ((N, T, CreateTable(0, 1, "1"), MoveTable(0, 0, 0, 1)), (409,)),
    ],
)
def test_the_expected_answer_to_a_step(steps, expected):
    assert statuses(*steps)[0] == expected


def test_renaming_may_be_unsupported():
    other = CreateNamespace(1, "1")
    assert statuses(N, T, MoveTable(0, 0, 0, 1)) == [(204,), (406,)]
    assert statuses(N, other, T, MoveTable(0, 0, 1, 0)) == [(204,), (406,)]
    assert statuses(N, T, MoveTable(0, 0, 1, 0)) == [(404,), (406,)]


def test_a_missing_table_may_not_be_moved_onto_an_existing_one_for_either_reason():
    assert statuses(N, T, MoveTable(0, 1, 0, 0)) == [(404, 409), (406,)]


def test_who_has_renamed_once_supports_it_in_the_same_way():
    other = CreateNamespace(1, "1")
    within, across = MoveTable(0, 0, 0, 1), MoveTable(0, 0, 1, 1)
    assert statuses(N, other, T, within, MoveTable(0, 1, 0, 0)) == [(204,)]
    assert statuses(N, other, T, within, MoveTable(0, 1, 1, 1)) == [(204,), (406,)]
    assert statuses(N, other, T, across, MoveTable(1, 1, 0, 0)) == [(204,)]
    assert statuses(N, other, T, across, within) == [(404,), (406,)]


def test_renaming_a_table_onto_itself_is_left_open_and_changes_nothing():
    (allowed,) = predict(after(N, T), MoveTable(0, 0, 0, 0))
    assert set(allowed.statuses) == {204, 409, 400, 406}
    assert allowed.after == after(N, T)


def test_what_is_not_there_is_not_renamed_onto_itself():
    (allowed,) = predict(after(N), MoveTable(0, 0, 0, 0))
    assert set(allowed.statuses) == {404, 400, 406}


def test_the_place_of_a_table_that_was_renamed_away_may_be_taken():
    assert statuses(N, T, MoveTable(0, 0, 0, 1), T) == [(200,), (400, 403, 422)]
    assert statuses(N, T, MoveTable(0, 0, 0, 1), DropTable(0, 1), T) == [(200,)]


def test_refs_of_a_missing_table_are_missing():
    for step in (SetRef(0, 0, "b1", "branch"), RemoveRef(0, 0, "b1")):
        assert statuses(N, step) == [(404,)]


def test_a_refused_step_changes_nothing():
    model = after(N, T)
    for step in (N, T, DropNamespace(0), CommitStale(0, 0), LoadTable(0, 1)):
        assert predict(model, step)[0].after == model


def test_properties_are_set_and_removed():
    model = after(N, UpdateProperties(0, "a", "2", OWNER))
    assert dict(model.namespaces[0].properties) == {"a": "2"}
    model = after(N, T, CommitProperties(0, 0, "a", "2", OWNER))
    assert dict(model.table(0, 0).properties) == {"a": "2"}


def test_a_namespace_that_was_dropped_comes_back_empty():
    model = after(N, UpdateProperties(0, "a", "2", "b"), DropNamespace(0), CreateNamespace(0, "3"))
    assert dict(model.namespaces[0].properties) == {OWNER: "3"}


def test_a_table_created_again_is_another_table():
    first, second = after(N, T), after(N, T, DropTable(0, 0), T)
    assert first.table(0, 0).identity != second.table(0, 0).identity


def test_a_moved_table_is_the_same_table_in_its_new_place_only():
    before = after(N, CreateNamespace(1, "1"), T)
    moved = after(N, CreateNamespace(1, "1"), T, MoveTable(0, 0, 1, 1))
    assert moved.table(0, 0) is None
    assert moved.table(1, 1) == before.table(0, 0)


def test_a_registered_table_is_what_it_was_or_gone():
    allowed = predict(after(N, T), RegisterBack(0, 0))
    assert allowed[0].after == after(N, T)
    assert allowed[1].after.table(0, 0) is None


def test_snapshots_and_columns_are_counted():
    table = after(N, T, AddSnapshot(0, 0), AddColumn(0, 0), AddSnapshot(0, 0)).table(0, 0)
    assert (table.snapshots, table.columns) == (2, 2)
    assert table.refs["main"] == (2, "branch")


def test_a_ref_points_at_the_newest_snapshot_or_is_refused_without_one():
    tag = SetRef(0, 0, "v1", "tag")
    assert statuses(N, T, tag) == [(400, 404, 406, 422)]
    (done,) = predict(after(N, T, AddSnapshot(0, 0)), tag)
    assert done.after.table(0, 0).refs["v1"] == (1, "tag")


def test_a_commit_that_requires_nothing_meets_no_conflict():
    added = AddSnapshot(0, 0)
    for steps in ((added,), (added, SetRef(0, 0, "v1", "tag")), (RemoveRef(0, 0, "v1"),)):
        assert all(409 not in allowed for allowed in statuses(N, T, *steps))


def test_removing_a_ref_that_is_not_there_is_left_open():
    assert len(statuses(N, T, RemoveRef(0, 0, "v1"))) == 2
    set_and_removed = (N, T, AddSnapshot(0, 0), SetRef(0, 0, "v1", "tag"), RemoveRef(0, 0, "v1"))
    assert statuses(*set_and_removed) == [(200,)]
    assert "v1" not in after(*set_and_removed).table(0, 0).refs
