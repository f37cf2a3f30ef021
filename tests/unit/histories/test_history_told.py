"""How a contradiction is told: its events in their order, and what each client was told."""

import pytest

from icecheck.histories.history import (
    Anomaly,
    AnomalyKind,
    Answer,
    Release,
    Seen,
    Take,
    Write,
    is_read,
    tell,
)
from tests.unit.histories.events import event

OK, REFUSED, UNKNOWN = Answer


def told(*witness):
    """The lines in which these events are told."""
    return tell(Anomaly(AnomalyKind.LOST_UPDATE, "t", witness, "it cannot be")).splitlines()


def test_a_story_is_told_in_the_order_of_sending_with_what_overlaps():
    witness = (
        event("c", (30, 31), OK, label="reads", exchange=3),
        event("a", (0, 10), OK, label="creates", exchange=0),
        event("b", (10, None), UNKNOWN),
        event("d", (11, 12), REFUSED, label="drops"),
    )
    assert told(*witness) == [
        "a: creates → ok (exchange 0)",
        "while: b: request → unknown",
        "while: d: drops → refused",
        "c: reads → ok (exchange 3)",
        "contradiction: it cannot be",
    ]


@pytest.mark.parametrize(
    ("count", "others"), [(5, ""), (6, ", after 1 more requests"), (8, ", after 3 more requests")]
)
def test_of_many_events_the_last_five_are_told_and_the_others_counted(count, others):
    witness = [event(f"p{n}", (10 * n, 10 * n + 5), OK) for n in range(count)]
    last = [f"p{n}: request → ok" for n in range(count - 5, count)]
    assert told(*witness) == [*last, f"contradiction: it cannot be{others}"]


@pytest.mark.parametrize(
    ("deeds", "shown"),
    [
        ([Seen("t", present=False)], "t is not there"),
        ([Seen("t", present=False, holder="a", fields={"x": 1})], "t is not there"),
        ([Seen("t", present=True)], "t is there"),
        ([Seen("t", present=True, fields={})], "t is there"),
        ([Seen("t", present=True, holder="a")], "t is there (made by a)"),
        ([Seen("t", present=True, fields={"x": 1})], "t is there (x 1)"),
        ([Seen("t", True, "a", {"x": 1, "y": None})], "t is there (made by a, x 1, y None)"),
        ([Seen("t", present=True), Seen("u", present=False)], "t is there, u is not there"),
    ],
    ids=repr,
)
def test_of_a_reader_is_told_what_it_was_shown(deeds, shown):
    assert told(event("r", (0, 1), OK, *deeds))[0] == f"r: request → {shown}"


@pytest.mark.parametrize("answer", [REFUSED, UNKNOWN])
def test_a_reader_who_was_not_answered_was_shown_nothing(answer):
    line, _ = told(event("r", (0, 1), answer, Seen("t", present=True)))
    assert line == f"r: request → {answer}"


def test_of_who_changed_something_is_told_the_answer():
    line, _ = told(event("p", (0, 1), OK, Seen("t", present=True), Write("t", "x", 1)))
    assert line == "p: request → ok"


@pytest.mark.parametrize(
    ("deeds", "reads"),
    [
        ([Seen("t", present=True)], True),
        ([Seen("t", present=True), Seen("u", present=False)], True),
        ([Seen("t", present=True), Take("u", "a")], False),
        ([Release("t")], False),
        ([], False),
    ],
    ids=repr,
)
def test_a_read_shows_something_and_does_nothing_else(deeds, reads):
    assert is_read(event("r", (0, 1), OK, *deeds)) is reads
