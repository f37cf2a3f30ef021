"""When a request may be sent, by a clock that the test moves."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from icecheck.wire.pace import Pace


class Clock:
    seconds = 1_000.0

    def now(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_without_a_rate_and_without_throttling_nobody_waits(clock):
    pace = Pace(None, clock.now)
    assert [pace.take_turn(again=again) for again in (False, True, False)] == [0, 0, 0]


def test_turns_are_as_far_apart_as_the_rate_says(clock):
    pace = Pace(4, clock.now)
    assert [pace.take_turn(again=False) for _ in range(3)] == [0, 0.25, 0.5]
    clock.seconds += 10
    assert [pace.take_turn(again=again) for again in (True, False)] == [0, 0.25]


def test_a_catalog_that_throttles_one_puts_off_all_that_are_sent_for_the_first_time(clock):
    pace = Pace(None, clock.now)
    pace.hold(3)
    pace.hold(1)
    assert pace.take_turn(again=False) == 3
    assert pace.take_turn(again=True) == 0
    clock.seconds += 4
    assert pace.take_turn(again=False) == 0


def test_no_two_threads_get_the_same_turn(clock):
    pace = Pace(2, clock.now)
    with ThreadPoolExecutor(8) as threads:
        turns = list(threads.map(lambda _: pace.take_turn(again=False), range(64)))
    assert sorted(turns) == [number / 2 for number in range(64)]
