"""What is said of a contradiction that the search has found, and which events are shown with it."""

import pytest

from icecheck.histories.explaining import judged
from icecheck.histories.history import AnomalyKind, Answer, Release, Seen, Take, Transfer, Write
from tests.unit.histories.events import event, gone, seen

OK, REFUSED, UNKNOWN = Answer
END = (100, 101)
MADE = event("a", (0, 0), OK, Take("t", "a"), Write("t", "x", 0))
BOTH = event(
    "a", (0, 0), OK, Take("t", "a"), Take("u", "a"), Write("t", "x", 0), Write("u", "x", 0)
)

LATER = event("l", (20, 21), OK, Take("elsewhere", "l"))


def found_in(*history, strictly=True):
    """The anomaly of a history, which has one."""
    return judged(history, strictly=strictly).contradiction


def processes(anomaly):
    return tuple(event.process for event in anomaly.witness)


# ---- who made what is shown


def test_who_took_a_name_is_shown_with_a_reader_who_was_shown_its_object_too_late():
    made = event("a", (0, 0), OK, Take("t", "a"))
    again = event("p", (1, 5), OK, Release("t"), Take("t", "p"))
    late = event("r", (6, 8), OK, Seen("t", present=True, holder="a"))
    end = event("r", END, OK, Seen("t", present=True, holder="p"))
    found = found_in(made, again, late, LATER, end)
    assert (found.kind, processes(found)) == (AnomalyKind.STALE_READ, ("a", "p", "r"))


def test_who_cleared_a_field_is_shown_with_a_reader_who_misses_it_too_late():
    cleared = event("c", (1, 2), OK, Write("t", "x", None))
    again = event("p", (3, 5), OK, Write("t", "x", 1))
    late = event("r", (6, 8), OK, seen("t"))
    end = event("r", END, OK, seen("t", x=1))
    found = found_in(MADE, cleared, again, late, LATER, end)
    assert (found.kind, processes(found)) == (AnomalyKind.STALE_READ, ("c", "p", "r"))


def test_who_cleared_a_field_has_not_made_what_was_shown_without_fields():
    cleared = event("c", (1, 2), OK, Write("t", "x", None))
    dropped = event("d", (3, 5), OK, Release("t"))
    late = event("r", (6, 8), OK, Seen("t", present=True))
    end = event("r", END, OK, gone("t"))
    found = found_in(MADE, cleared, dropped, late, LATER, end)
    assert (found.kind, processes(found)) == (AnomalyKind.STALE_READ, ("d", "r"))


def test_who_removed_another_object_has_not_made_a_name_free():
    earlier = (
        event("m", (-9, -8), OK, Take("v", "m")),
        event("n", (-7, -6), OK, Transfer("v", "w")),
        event("o", (-5, -4), OK, Release("w")),
    )
    renamed = event("p", (1, 50), OK, Transfer("t", "v"))
    reads = (event("r", (2, 4), OK, gone("t")), event("r", (6, 8), OK, gone("v")))
    found = found_in(*earlier, MADE, renamed, *reads, event("r", END, OK, seen("v", "a", x=0)))
    assert (found.kind, processes(found)) == (AnomalyKind.STALE_READ, ("n", "p", "r", "r"))


# ---- what was shown at the end


def test_what_is_shown_where_nobody_changed_anything_is_shown_at_the_end():
    judgement = judged((event("r", (1, 2), OK, seen("t")),), strictly=False)
    assert judgement.contradiction.kind is AnomalyKind.UNEXPLAINED
    assert judgement.at_the_end


@pytest.mark.parametrize(("sent", "early"), [(9, True), (10, False)])
def test_who_asks_in_the_moment_of_the_last_answer_does_not_ask_at_the_end(sent, early):
    changed = event("p", (1, 5), OK, Write("t", "x", 1))
    other = event("q", (1, 9), OK, Take("elsewhere", "q"))
    read = event("r", (sent, sent + 1), OK, seen("t", x=0))
    assert (judged((MADE, changed, other, read), strictly=False).anomaly is None) is early


# ---- what is said of changes


def test_of_two_objects_of_one_request_the_one_without_an_order_is_named():
    both = event("p", (1, 9), OK, Write("u", "x", 1), Write("t", "x", 1))
    found = found_in(BOTH, both, event("r", END, OK, seen("u", x=0), seen("t", x=0)))
    assert (found.kind, found.name) == (AnomalyKind.LOST_UPDATE, "t")


@pytest.mark.parametrize("holder", [None, "a", "another"])
def test_a_change_that_was_meant_for_another_object_has_no_order(holder):
    changed = event("p", (1, 9), OK, Write("t", "x", 1, holder=holder))
    found = judged((MADE, changed), strictly=False).anomaly
    kind = AnomalyKind.UNEXPLAINED if holder == "another" else None
    assert (found and found.kind) is kind


def test_an_exchange_of_names_joins_only_the_objects_that_it_is_about():
    renamed = event("m", (1, 9), OK, Take("s", "m"), Transfer("s", "v"))
    changes = [event(p, (1, 9), OK, Write(name, "x", 1)) for p, name in (("p", "t"), ("q", "u"))]
    reads = (event("r", END, OK, seen("t", x=0)), event("r", (102, 103), OK, seen("u", x=0)))
    found = found_in(BOTH, renamed, *changes, *reads)
    assert (found.name, processes(found)) == ("t", ("p", "r"))


def test_of_two_contradictions_the_one_that_needs_no_reader_is_named():
    changes = [event(p, (1, 9), OK, Write("t", "x", n, base=0)) for p, n in (("p", 1), ("q", 2))]
    refused = event("z", (20, 21), REFUSED, Write("t", "y", 1))
    found = found_in(MADE, *changes, refused, event("r", END, OK, seen("t", x=2, y=1)))
    assert (found.kind, processes(found)) == (AnomalyKind.LOST_UPDATE, ("p", "q"))


# ---- what is said of reads


def test_what_a_reader_saw_of_a_refused_request_is_a_phantom_though_it_passed():
    refused = event("p", (1, 9), REFUSED, Write("t", "x", 1))
    shown = event("r", (10, 12), OK, seen("t", x=1))
    end = event("r", END, OK, seen("t", x=0))
    found = found_in(MADE, refused, shown, LATER, end)
    assert (found.kind, processes(found)) == (AnomalyKind.PHANTOM_SUCCESS, ("p", "r"))


def test_what_readers_contradict_names_the_object_and_all_of_them():
    changes = [event(p, (1, 50), OK, Write("t", "x", n)) for p, n in (("p", 1), ("q", 2))]
    reads = [
        event(r, (first, first + 1), OK, seen("t", x=x))
        for r, first, x in (("r", 2, 1), ("r", 6, 2), ("s", 2, 2), ("s", 6, 1))
    ]
    found = found_in(MADE, *changes, *reads)
    assert (found.kind, found.name) == (AnomalyKind.STALE_READ, "t")
    assert found.why.endswith("explains what r and s was told of t")


def test_what_nobody_made_is_said_with_its_name():
    found = found_in(MADE, event("r", (6, 8), OK, seen("t", "z")), LATER)
    assert (found.kind, processes(found)) == (AnomalyKind.UNEXPLAINED, ("r",))
    assert found.why == "nobody has made t what it was shown as"


# ---- what is said of transactions


def transaction(process, value, span=(1, 50)):
    return event(process, span, OK, Write("t", "x", value), Write("u", "x", value))


def test_half_a_transaction_says_what_the_reader_was_shown_of_both_objects():
    reads = (event("r", (2, 4), OK, seen("t", x=1)), event("r", (6, 8), OK, seen("u", x=0)))
    found = found_in(BOTH, transaction("p", 1), *reads)
    assert (found.kind, processes(found)) == (AnomalyKind.HALF_VISIBLE, ("a", "p", "r", "r"))
    assert found.why.endswith("and then u with 0, which the transaction replaced")


def test_what_no_order_of_transactions_explains_is_said_of_who_was_shown_it_last():
    reads = (
        event("r", (2, 4), OK, seen("t", x=1)),
        event("r", (6, 8), OK, seen("t", x=2)),
        event("s", END, OK, seen("u", x=1)),
    )
    found = found_in(BOTH, transaction("p", 1), transaction("q", 2), *reads)
    assert (found.kind, found.name) == (AnomalyKind.HALF_VISIBLE, "u")
    assert found.why.endswith("explains what s was shown")


@pytest.mark.parametrize(
    ("sent", "kind"), [(50, AnomalyKind.HALF_VISIBLE), (51, AnomalyKind.CYCLIC)]
)
def test_who_reads_in_the_moment_of_an_answer_reads_meanwhile(sent, kind):
    changes = (transaction("p", 1, (1, 40)), transaction("q", 2, (1, 40)))
    other = event("o", (1, 50), OK, Take("elsewhere", "o"))
    reads = (
        event("r", (sent, sent + 1), OK, seen("t", x=1)),
        event("r", END, OK, seen("u", x=2)),
    )
    assert found_in(BOTH, *changes, other, *reads).kind is kind
