"""Actions and the expected state: which request an action means, and what it must lead to."""

import pytest

from icecheck.scenarios.model.world import Thing, World
from icecheck.scenarios.random.actions import Action, steps_of

ROOT = ("root",)


def do(name, *on, values=()):
    return Action(name, on, tuple(values))


def paths(action):
    return [(*ROOT, *label.split(".")) for label in action.on]


def step(world, action):
    """Return the step that an action means in this state, or None."""
    return next((s for s in steps_of(action, paths(action)) if s.possible(world)), None)


def world(*actions):
    """Return the state after these actions, each of which succeeds."""
    now = World(ROOT, {})
    for action in actions:
        taken = step(now, action)
        if taken.after is not None:
            now = taken.after(now, None).supporting(taken.sort)
    return now


def thing(kind, *path):
    return Thing(kind, (*ROOT, *path))


N0 = do("create-namespace", "n0", values=("1",))
N1 = do("create-namespace", "n1", values=("2",))
RENAME = do("rename-view", "n0.x0", "n0.x1")
TABLE, VIEW = thing("table", "n0", "x0"), thing("view", "n0", "x0")
WITH_TABLE = world(N0, N1).made(TABLE, {"properties": {}, "refs": {}, "snapshots": {}})
WITH_VIEW = world(N0, N1).made(VIEW, {"query": ["q"], "location": "l"})


@pytest.mark.parametrize(
    ("now", "action", "expected"),
    [
        (world(), N0, (200,)),
        (world(N0), N0, (409,)),
        (world(), do("drop-namespace", "n0"), (404,)),
        (world(N0), do("drop-namespace", "n0"), (200, 202, 204)),
        (WITH_TABLE, do("drop-namespace", "n0"), (409,)),
        (world(), do("update-properties", "n0", values=("a", "1", "b")), (404,)),
        (world(N0), do("update-properties", "n0", values=("a", "1", "b")), (200,)),
        (world(N0), do("update-properties", "n0", values=("a", "1", "a")), (422,)),
        (world(), do("create-table", "n0.x0", values=("1",)), (404,)),
        (world(N0), do("create-table", "n0.x0", values=("1",)), (200,)),
        (WITH_TABLE, do("create-table", "n0.x0", values=("1",)), (409,)),
        (world(N0), do("stage-table", "n0.x0", values=("1",)), (200,)),
        (WITH_TABLE, do("stage-table", "n0.x0", values=("1",)), (409,)),
        (world(N0), do("commit-properties", "n0.x0", values=("a", "1", "b")), (404,)),
        (WITH_TABLE, do("commit-stale", "n0.x0"), (409,)),
        (world(N0), do("commit-stale", "n0.x0"), (404,)),
        (WITH_TABLE, do("drop-table", "n0.x0"), (200, 202, 204)),
        (world(N0), do("drop-table", "n0.x0"), (404,)),
        (WITH_TABLE, do("rename-table", "n0.x0", "n0.x1"), (200, 202, 204)),
        (world(N0), do("rename-table", "n0.x0", "n0.x1"), (404,)),
        (WITH_TABLE, do("rename-table", "n0.x0", "n2.x1"), (404,)),
        (WITH_TABLE, do("rename-table", "n0.x0", "n0.x0"), (200, 202, 204)),
        (world(N0), do("rename-table", "n0.x0", "n0.x0"), (404, 400)),
        (WITH_VIEW, do("create-view", "n0.x0", values=("1",)), (409,)),
        (WITH_VIEW, do("create-table", "n0.x0", values=("1",)), None),
        (WITH_VIEW, do("commit-stale-to-view", "n0.x0"), (409,)),
        (WITH_TABLE, do("set-ref", "n0.x0", values=("v1", "tag")), tuple(range(400, 500))),
    ],
)
def test_the_expected_answer_to_an_action(now, action, expected):
    taken = step(now, action)
    assert (taken and taken.due) == expected


def test_the_first_of_two_reasons_is_the_catalogs_choice():
    """A missing source and a taken target: 404 and 409 are both lawful, so nothing is sent."""
    assert step(WITH_TABLE, do("rename-table", "n0.x1", "n0.x0")) is None


def test_a_refusal_of_renames_is_lawful_until_one_of_the_sort_has_succeeded():
    first = step(WITH_VIEW, RENAME)
    assert 406 in first.lawful
    renamed = first.after(WITH_VIEW, None).supporting(first.sort)
    assert step(renamed, do("rename-view", "n0.x1", "n0.x0")).sort in renamed.supported
    assert step(renamed, do("rename-view", "n0.x1", "n1.x1")).sort not in renamed.supported


def test_a_rename_to_its_own_name_changes_nothing_that_is_due():
    taken = step(WITH_VIEW, do("rename-view", "n0.x0", "n0.x0"))
    assert {400, 406, 409} <= taken.lawful
    assert dict(taken.after(WITH_VIEW, None).held[VIEW].due) == {"query": ["q"]}


def test_a_renamed_thing_is_the_same_in_its_new_place_only():
    after = step(WITH_TABLE, do("rename-table", "n0.x0", "n1.x1")).after(WITH_TABLE, None)
    assert not after.has(TABLE)
    assert after.held[thing("table", "n1", "x1")].life == WITH_TABLE.held[TABLE].life


def test_a_thing_that_is_made_again_is_another_one():
    again = WITH_TABLE.without(TABLE).made(TABLE, {})
    assert again.held[TABLE].life != WITH_TABLE.held[TABLE].life


def test_a_namespace_that_was_dropped_comes_back_with_its_new_properties_only():
    change = do("update-properties", "n0", values=("icecheck.added", "2", "icecheck.mark"))
    now = world(N0, change, do("drop-namespace", "n0"), N0)
    shown = now.held[thing("namespace", "n0")].due["properties"]
    assert shown == {"icecheck.mark": "1", "icecheck.kept": "1 too", "icecheck.added": None}


def test_a_missing_ref_is_not_removed():
    assert step(WITH_TABLE, do("remove-ref", "n0.x0", values=("b1",))) is None
