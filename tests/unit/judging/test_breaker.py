"""The circuit breaker: five checks in a row without an answer open it, an answer closes it."""

from dataclasses import replace

import pytest

from icecheck.client.opening import open_session
from icecheck.conformance.namespaces import test_namespaces
from icecheck.findings.verdict import Group, Level, Outcome, Verdict
from icecheck.judging.breaker import Breaker
from icecheck.judging.check import check_of
from icecheck.mock_server import MockCatalog
from icecheck.targets.target import Target
from tests.kit.contracts import CONTRACT

CHECK = check_of(test_namespaces.test_creating_a_namespace_is_answered_with_it, CONTRACT)


def verdict(outcome, *blocked_by):
    return Verdict("c", "t", Group.CHECKS, Level.MUST, (), (), "core", outcome,
                   summary="words", blocked_by=blocked_by)  # fmt: skip


UNANSWERED = verdict(Outcome.BLOCKED, "target")
REFUSED = verdict(Outcome.BLOCKED, "credentials")


@pytest.fixture
def breaker_hearing(monkeypatch):
    """A breaker on a faithful mock whose checks end as they are told to."""
    mock = MockCatalog(warehouses=["breaker"])
    target = Target("http://mock.invalid", warehouse="breaker")
    session = open_session(target, run_id="r1", transport=mock.httpx_transport())

    def made(*verdicts):
        left = list(verdicts)
        monkeypatch.setattr("icecheck.judging.breaker.judge", lambda *_: left.pop(0))
        return Breaker(session, sleep=lambda _: None)

    yield made
    session.close()
    mock.stop()


def test_the_fifth_check_in_a_row_without_an_answer_opens_it(breaker_hearing):
    breaker = breaker_hearing(*[UNANSWERED] * 15)
    opened = []
    for _ in range(5):
        assert breaker.judge(CHECK).unanswered
        opened.append(bool(breaker.why))
    assert opened == [False] * 4 + [True]
    assert breaker.why.startswith("5 checks in a row got no usable answer: words")


@pytest.mark.parametrize(
    "answered", [verdict(Outcome.PASS), verdict(Outcome.FAIL), verdict(Outcome.BLOCKED, "x.200")]
)
def test_an_answer_in_between_starts_the_count_again(breaker_hearing, answered):
    breaker = breaker_hearing(*[UNANSWERED] * 12, answered, *[UNANSWERED] * 12)
    for _ in range(9):
        breaker.judge(CHECK)
    assert breaker.why == ""


@pytest.mark.parametrize("times", [1, 2])
def test_a_check_without_an_answer_is_judged_twice_more(breaker_hearing, times):
    answered = verdict(Outcome.PASS)
    breaker = breaker_hearing(*[UNANSWERED] * times, answered)
    assert breaker.judge(CHECK) is answered


def test_a_check_is_not_judged_for_ever(breaker_hearing):
    breaker = breaker_hearing(*[UNANSWERED] * 3)
    assert breaker.judge(CHECK) is UNANSWERED


def test_a_check_is_judged_as_long_as_trouble_meets_another_request(breaker_hearing):
    answered = verdict(Outcome.PASS)
    lost = [replace(UNANSWERED, requests=number) for number in (17, 3, 17, 29, 3, 17, 32)]
    breaker = breaker_hearing(*lost, answered)
    assert breaker.judge(CHECK) is answered


def test_a_request_whose_answer_is_lost_three_times_in_a_row_ends_its_check(breaker_hearing):
    lost = [replace(UNANSWERED, requests=number) for number in (17, 3, 17, 29, 29, 29)]
    breaker = breaker_hearing(*lost)
    assert breaker.judge(CHECK) is lost[-1]


def test_a_check_is_left_after_five_attempts_where_most_answers_are_lost(breaker_hearing):
    lost = [replace(UNANSWERED, requests=number) for number in (7, 3, 7, 9, 3)]
    breaker = breaker_hearing(*lost)
    assert breaker.judge(CHECK) is lost[-1]


def test_credentials_that_have_ended_open_it_at_once(breaker_hearing):
    breaker = breaker_hearing(REFUSED)
    assert breaker.judge(CHECK) is REFUSED
    assert breaker.why == "words"


def test_what_the_others_say_after_it_has_opened_is_no_finding(breaker_hearing):
    breaker = breaker_hearing(REFUSED, verdict(Outcome.FAIL))
    breaker.judge(CHECK)
    after = breaker.judge(CHECK)
    assert (after.outcome, after.blocked_by) == (Outcome.BLOCKED, ("credentials",))
