"""Histories are data: drawn by seed, the same everywhere, written and read as JSON."""

import os
import subprocess
import sys

import pytest

from icecheck.contract import load
from icecheck.scenarios.random.model import CatalogModel, predict
from icecheck.scenarios.random.plans import draw_plans
from icecheck.scenarios.random.steps import (
    CreateTable,
    DropTable,
    MoveTable,
    SetRef,
    Step,
    from_json,
    in_words,
    operations_of,
    to_json,
)

SCRIPT = """
import sys
sys.path[:0] = [sys.argv[1]]
if len(sys.argv) > 2:
    import constants
    import icecheck.cli, icecheck.mock_server
from icecheck.scenarios.random.plans import draw_plans
from icecheck.scenarios.random.steps import to_json
for plan in draw_plans(7, plans_max=6, steps_min=12, steps_max=22):
    print(to_json(plan))
"""


def plans(seed=0, plans_max=12):
    return draw_plans(seed, plans_max=plans_max, steps_min=12, steps_max=22)


def test_the_same_seed_draws_the_same_histories_and_another_seed_others():
    assert plans(3) == plans(3)
    assert plans(3) != plans(4)


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


def test_a_few_seeds_take_every_kind_of_step():
    taken = {type(step) for seed in range(4) for plan in plans(seed) for step in plan}
    assert taken == set(Step.__args__)
    assert len(taken) >= 12


def renames_onto_dropped_names(plan):
    """Return the steps of a history that give a table a name which another one had."""
    model, dropped, found = CatalogModel(), set(), []
    for step in plan:
        allowed = predict(model, step)[0]
        if isinstance(step, DropTable) and allowed.statuses == (204,):
            dropped.add((step.namespace, step.table))
        if isinstance(step, MoveTable) and allowed.statuses == (204,):
            found += [step] if (step.to_namespace, step.to_table) in dropped else []
        model = allowed.after
    return found


def test_every_seed_renames_a_table_to_a_name_that_was_dropped():
    for seed in range(2):
        assert [step for plan in plans(seed) for step in renames_onto_dropped_names(plan)]


def test_every_step_needs_operations_of_the_contract_and_has_words():
    for plan in plans(1):
        for step in plan:
            assert set(operations_of(step)) <= set(load().operations)
            assert "{" not in in_words(step)


def test_steps_survive_json():
    for plan in plans(2):
        assert from_json(to_json(plan)) == plan


def test_words_call_objects_by_their_numbers():
    assert in_words(CreateTable(1, 2, "3")) == "create table n1.t2 owned by 3"
    assert in_words(MoveTable(0, 1, 2, 3)) == "rename n0.t1 to n2.t3"
    assert in_words(SetRef(0, 0, "v1", "tag")) == "set tag v1 of n0.t0"


@pytest.mark.parametrize(
    "text", ["{}", "[1]", '[{"step":"Explode"}]', '[{"step":"LoadTable"}]', "no json"]
)
def test_what_is_no_history_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        from_json(text)
