"""How many steps a search for an order takes: as few as it can, and no more than it may."""

from icecheck.histories.history import Take, Write
from icecheck.histories.ordering import Ending, Occurrence, order_of
from tests.unit.histories.events import seen

TAKEN = Occurrence("a", 0, 1, (Take("t", "a"),), certain=True)


def test_a_search_that_takes_too_many_steps_is_undecided():
    writes = [Occurrence(f"p{n}", 2, 99, (Write("t", "x", n),), certain=True) for n in range(12)]
    read = Occurrence("r", 100, 101, (seen("t", x="nobody's"),), certain=True)
    tangled = [TAKEN, *writes, read]
    assert order_of(tangled, steps_max=50) is Ending.UNDECIDED
    assert order_of([*tangled[:4], read], steps_max=50) is Ending.IMPOSSIBLE


def test_a_search_takes_no_more_steps_than_it_may():
    write = Occurrence("b", 2, 3, (Write("t", "x", 1),), certain=True)
    read = Occurrence("r", 4, 5, (seen("t", x="nobody's"),), certain=True)
    endings = [order_of((TAKEN, write, read), steps_max=steps) for steps in (2, 3)]
    assert endings == [Ending.UNDECIDED, Ending.IMPOSSIBLE]


def test_what_may_happen_late_is_tried_late():
    writes = [Occurrence(f"p{n}", 2, n + 9, (Write("t", "x", n),), certain=True) for n in range(9)]
    read = Occurrence("r", 99, 100, (seen("t", "a", x=8),), certain=True)
    for given in ((TAKEN, *writes, read), (read, *writes[::-1], TAKEN)):
        assert order_of(given, steps_max=12) is Ending.ORDERED


def test_reads_that_fit_take_no_steps():
    reads = [Occurrence("r", 2, n, (seen("t", "a"),), certain=True) for n in range(3, 9)]
    assert order_of((TAKEN, *reads), steps_max=1) is Ending.ORDERED


def test_what_was_tried_in_one_order_is_not_tried_in_another():
    writes = [Occurrence(f"p{n}", 2, 9, (Write("t", "x", 1),), certain=True) for n in range(5)]
    read = Occurrence("r", 10, 11, (seen("t", x="nobody's"),), certain=True)
    # Nothing, then the object with each choice of the writes done: not each order of them.
    assert order_of((TAKEN, *writes, read), steps_max=1 + 2**5) is Ending.IMPOSSIBLE
