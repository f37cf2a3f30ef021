"""Which cases a run sends: by seed, and never without a whole kind of them."""

from icecheck.conformance.generated.generation import GeneratedCase
from icecheck.conformance.generated.sampling import sample


def case(ordinal, family):
    return GeneratedCase("createTable", ordinal, None, family, f"case {ordinal}")


CASES = [case(i, f"scenario {i % 2}.place {i % 5}") for i in range(100)]


def pick(seed, cases_max=20, purpose="p", at_most=False):
    picked = sample(CASES, seed=seed, purpose=purpose, cases_max=cases_max, at_most=at_most)
    return [c.ordinal for c in picked]


def test_the_same_seed_picks_the_same_cases_whatever_order_they_come_in():
    shuffled = sample(reversed(CASES), seed=3, purpose="p", cases_max=20)
    assert [c.ordinal for c in shuffled] == pick(3)


def test_another_seed_or_another_purpose_picks_other_cases():
    assert pick(3) != pick(4)
    assert pick(3) != pick(3, purpose="q")


def test_cases_are_sent_in_the_order_in_which_they_were_generated():
    assert pick(3) == sorted(pick(3))


def test_no_more_than_the_limit_is_picked():
    assert len(pick(3)) == 20


def test_every_family_is_represented_within_the_limit():
    assert {i % 10 for i in pick(3, cases_max=10)} == set(range(10))


def test_every_place_is_represented_even_beyond_the_limit():
    assert sorted(i % 5 for i in pick(3, cases_max=2)) == [*range(5)]


def test_nothing_is_beyond_a_limit_that_is_one():
    assert len(pick(3, cases_max=2, at_most=True)) == 2


def test_a_case_that_is_the_only_one_of_its_kind_is_within_every_limit():
    alone = case(100, "unknown-members")
    picked = sample([*CASES, alone], seed=3, purpose="p", cases_max=1, at_most=True)
    assert picked == (alone,)


def test_several_seeds_together_pick_nearly_everything():
    assert len({i for seed in range(20) for i in pick(seed)}) > 90
