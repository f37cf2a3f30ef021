"""Histories are data: drawn by seed, the same everywhere, written and read as JSON."""

import os
import subprocess
import sys
from functools import cache

import pytest

from icecheck.scenarios.model.world import World
from icecheck.scenarios.random import test_namespaces_and_tables as check
from icecheck.scenarios.random.actions import (
    ACTIONS,
    Action,
    from_json,
    in_words,
    operations_of,
    steps_of,
    to_json,
)
from icecheck.scenarios.random.plans import SEQUENCES, Sizes, draw_plans
from icecheck.scenarios.random.test_namespaces_and_tables import THOROUGH, USUAL
from tests.kit.contracts import CONTRACT

SCRIPT = """
import sys
sys.path[:0] = [sys.argv[1]]
if len(sys.argv) > 2:
    import constants
    import icecheck.cli, icecheck.mock_server
from icecheck.scenarios.random.plans import Sizes, draw_plans
from icecheck.scenarios.random.actions import to_json
for plan in draw_plans(7, Sizes(plans_max=6, steps_min=12, steps_max=22)):
    print(to_json(plan))
"""


SIZES = Sizes(plans_max=12, steps_min=12, steps_max=22)


@cache
def plans(seed):
    return draw_plans(seed, SIZES)


def test_the_same_seed_draws_the_same_histories_and_another_seed_others():
    assert draw_plans(3, SIZES) == plans(3) != plans(4)


def test_histories_depend_neither_on_hashing_nor_on_the_modules_that_are_loaded(tmp_path):
    (tmp_path / "constants.py").write_text("\n".join(f"a{i} = {i * 977}" for i in range(200)))
    work = tmp_path / "work"
    work.mkdir()
    said = []
    for hash_seed, more in (("1", []), ("2", ["constants"])):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tmp_path), *more],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            cwd=work,
            capture_output=True,
            text=True,
            check=True,
        )
        said.append(done.stdout)
    assert said[0] == said[1]
    assert said[0].count("\n") == 6
    assert list(work.iterdir()) == []


def test_histories_are_as_long_and_as_many_as_asked_for_and_all_different():
    for seed in range(5):
        drawn = plans(seed)
        assert len(set(drawn)) == len(drawn) == 12
        assert all(12 <= len(plan) <= 22 for plan in drawn)


def paths(action):
    return [("root", *label.split(".")) for label in action.on]


def test_a_few_seeds_take_every_action():
    taken = {action.name for seed in range(4) for plan in plans(seed) for action in plan}
    assert taken == set(ACTIONS)


def test_the_few_histories_of_a_run_have_every_sequence():
    named = {each.partition(" ")[0] for text in SEQUENCES for each in text.split("; ")}
    for seed in range(3):
        drawn = draw_plans(seed, USUAL)
        taken = {action.name for plan in drawn for action in plan}
        assert {each for each in named if "{" not in each} <= taken


@pytest.mark.parametrize("sizes", [USUAL, THOROUGH])
def test_a_thorough_run_has_ten_thousand_steps_and_any_other_few(sizes, open_catalog, monkeypatch):
    asked = []
    monkeypatch.setattr(check, "draw_plans", lambda _seed, sizes: asked.append(sizes) or ())
    check.test_histories_follow_the_model(open_catalog(thorough=sizes is THOROUGH))
    assert asked == [sizes]
    steps = sizes.plans_max * sizes.steps_max
    assert steps == 10_000 if sizes is THOROUGH else steps < 150


def test_no_sequence_of_a_run_is_cut_off():
    for at in range(6):
        mine = [each for text in SEQUENCES[at::6] for each in text.split("; ")]
        assert 3 + len(mine) <= USUAL.steps_max


def renames_onto_dropped_names(plan):
    """Return the renames of a history that give a table or view a name that another one had."""
    dropped, found = set(), []
    for action in plan:
        kind = action.name.partition("-")[2]
        if action.name.startswith("drop-"):
            dropped.add((kind, action.on[0]))
        if action.name.startswith("rename-") and (kind, action.on[1]) in dropped:
            found.append(action)
    return found


def test_every_seed_renames_to_a_name_that_was_dropped():
    for seed in range(2):
        assert [each for plan in plans(seed) for each in renames_onto_dropped_names(plan)]


def test_every_step_needs_operations_of_the_contract_and_actions_have_words():
    for plan in plans(1):
        for action in plan:
            steps = steps_of(action, paths(action))
            assert {step.operation for step in steps} <= set(CONTRACT.operations)
            assert "{" not in in_words(action)


def test_every_action_but_a_look_means_a_step_in_some_state():
    root = World(("root",), {})
    for action in {action for plan in plans(1) for action in plan}:
        steps = steps_of(action, paths(action))
        twice = len(set(action.on)) < len(action.on)  # two changes of one table are no transaction
        assert bool(steps) is (action.name != "look") or twice
        assert all(isinstance(step.possible(root), bool) for step in steps)


def test_actions_survive_json():
    for plan in plans(2):
        assert from_json(to_json(plan)) == plan


def test_words_call_objects_by_their_labels():
    assert in_words(Action("create-table", ("n1.x0",), ("3",))) == "create table n1.x0 (3)"
    assert in_words(Action("rename-table", ("n0.x0", "n1.x1"))) == "rename table n0.x0 n1.x1"
    named = Action("set-ref", ("n0.x0",), ("v1", "tag"))
    assert in_words(named) == "set ref n0.x0 (v1, tag)"


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[1]",
        "no json",
        '[["explode",["n0"],[]]]',
        '[["drop-table",[],[]]]',
        '[["drop-table",["x0"],[]]]',
        '[["drop-table",["n0.x0"],["1"]]]',
        '[["create-table",["n0.x0"],[1]]]',
        '[["create-table",["n0"],["1"]]]',
        '[["create-namespace",["n0.x0"],["1"]]]',
        '[["create-namespace",["n0"],["s3://elsewhere/"]]]',
        '[["update-properties",["n0"],["location","1","icecheck.mark"]]]',
        '[["commit-properties",["n0.x0"],["icecheck.mark","1","format-version"]]]',
        '[["add-snapshot",["n0.x0"],["99999999999999999999"]]]',
        '[["set-ref",["n0.x0"],["b1","stem"]]]',
        '[["set-ref",["n0.x0"],["main","branch"]]]',
        '[["add-snapshot",["n0.x0"],["1"]],["add-snapshot",["n0.x0"],["1"]]]',
        '[["add-column",["n0.x0"],["1"]],["add-column",["n0.x0"],["1"]]]',
        '[["evolve",["n0.x0"],["add-column+explode","1"]]]',
        '[["evolve-view",["n0.x0"],["add-column","1"]]]',
        '[["evolve",["n0.x0"],["add-column","one"]]]',
    ],
)
def test_what_is_no_history_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        operations_of(from_json(text))
