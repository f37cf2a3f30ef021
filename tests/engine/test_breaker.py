"""The circuit breaker: five checks in a row without an answer open it, an answer closes it."""

import pytest

from icecheck.breaker import Breaker
from icecheck.verdict import Group, Level, Outcome, Verdict


def verdict(outcome, *blocked_by):
    return Verdict("c", "t", Group.CHECKS, Level.MUST, (), (), "core", outcome,
                   blocked_by=blocked_by)  # fmt: skip


UNANSWERED = verdict(Outcome.BLOCKED, "target")


def test_the_fifth_check_in_a_row_without_an_answer_opens_it():
    breaker = Breaker()
    assert [breaker.opened_by(UNANSWERED) for _ in range(5)] == [False] * 4 + [True]


@pytest.mark.parametrize(
    "answered", [verdict(Outcome.PASS), verdict(Outcome.FAIL), verdict(Outcome.BLOCKED, "x.200")]
)
def test_an_answer_in_between_starts_the_count_again(answered):
    breaker = Breaker()
    told = [*[UNANSWERED] * 4, answered, *[UNANSWERED] * 4]
    assert not any(breaker.opened_by(v) for v in told)
