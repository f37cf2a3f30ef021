"""Delta debugging: the shortest history that fails, within what it may cost."""

import random

import pytest

from icecheck.scenarios.random.shrinking import shrunk


def has(*wanted):
    """Fail when all the wanted items are there, in this order."""

    def fails(items):
        left = iter(items)
        return all(any(item == w for item in left) for w in wanted)

    return fails


@pytest.mark.parametrize("wanted", [(7,), (3, 17), (0, 19), (2, 3, 4), (1, 9, 10, 18)])
def test_what_remains_is_exactly_what_is_needed(wanted):
    assert shrunk(range(20), has(*wanted)) == wanted


def test_nothing_can_be_left_out_of_the_result():
    chance = random.Random(5)  # noqa: S311
    for _ in range(50):
        items = range(chance.randint(1, 40))
        wanted = sorted(chance.sample(items, min(len(items), chance.randint(1, 5))))
        assert list(shrunk(items, has(*wanted))) == wanted


def test_a_failure_of_a_single_step_stays_one():
    assert shrunk([4], lambda _items: True) == (4,)


def test_the_empty_history_is_never_tried():
    tried = []
    shrunk(range(4), lambda items: bool(tried.append(tuple(items))) or True)
    assert () not in tried


def test_each_try_is_shorter_than_what_fails_so_far():
    tried = []

    def fails(items):
        tried.append(len(items))
        return has(3, 5)(items)

    shrunk(range(16), fails)
    assert max(tried) < 16


def test_the_best_so_far_is_kept_when_the_budget_ends():
    spent = []

    def fails(items):
        spent.append(1)
        return has(2, 3)(items)

    found = shrunk(range(64), fails, lambda: len(spent) < 3)
    assert len(spent) <= 3
    assert has(2, 3)(found)
    assert len(found) < 64
