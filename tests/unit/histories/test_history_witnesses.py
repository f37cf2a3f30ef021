"""Anomalies: what each of them names and shows, and that nothing else around it hides it."""

from dataclasses import replace

import pytest

from icecheck.histories.anomalies import anomalies_in, half_visible_transactions, lost_updates
from icecheck.histories.history import (
    UNCONDITIONAL,
    AnomalyKind,
    Answer,
    Release,
    Seen,
    Take,
    Write,
)
from tests.unit.histories.events import event, seen

OK, REFUSED, UNKNOWN = Answer


TAKEN = event("a", (0, 10), OK, Take("t", "a"))
WRITTEN = event("a", (0, 10), OK, Write("t", "x", "1"))
DROPPED = event("d", (0, 10), OK, Release("t"))
BEFORE = event("w", (0, 1), OK, Write("t", "x", "0"), Write("u", "y", "00"))
TRANSACTION = event("w", (10, 50), OK, Write("t", "x", "1"), Write("u", "y", "11"))

SAMPLES = {
    "two-winners": (
        (TAKEN, event("b", (5, 15), OK, Take("t", "b"))),
        (AnomalyKind.DUPLICATE_SUCCESS, "t", (0, 1)),
        ("t",),
    ),
    "one-base": (
        (
            event("a", (0, 10), OK, Write("t", "main", 2, base=1)),
            event("b", (5, 15), OK, Write("t", "main", 3, base=1)),
        ),
        (AnomalyKind.LOST_UPDATE, "t", (0, 1)),
        ("t", "main", "1"),
    ),
    "gone-write": (
        (WRITTEN, event("r", (11, 12), OK, seen("t", x="2"))),
        (AnomalyKind.LOST_UPDATE, "t", (0, 1)),
        ("x", "t", "'1'", "'2'"),
    ),
    "gone-object": (
        (TAKEN, event("r", (11, 12), OK, Seen("t", present=False))),
        (AnomalyKind.LOST_UPDATE, "t", (0, 1)),
        ("t", "a", "not there"),
    ),
    "other-object": (
        (TAKEN, event("r", (11, 12), OK, seen("t", "b"))),
        (AnomalyKind.LOST_UPDATE, "t", (0, 1)),
        ("t", "a", "it was b"),
    ),
    "half": (
        (
            BEFORE,
            TRANSACTION,
            event("r", (20, 22), OK, seen("t", x="1")),
            event("r", (24, 26), OK, seen("u", y="00")),
        ),
        (AnomalyKind.HALF_VISIBLE, "u", (0, 1, 2, 3)),
        ("t", "'1'", "u", "'00'"),
    ),
    "shown-after-its-end": (
        (DROPPED, event("r", (11, 12), OK, seen("t", "a"))),
        (AnomalyKind.RESURRECTED, "t", (0, 1)),
        ("t",),
    ),
    "changed-after-its-end": (
        (DROPPED, event("r", (11, 12), OK, Write("t", "x", 1))),
        (AnomalyKind.RESURRECTED, "t", (0, 1)),
        ("t",),
    ),
    "refused-and-there": (
        (event("a", (0, 10), REFUSED, Take("t", "a")), event("r", (11, 12), OK, seen("t", "a"))),
        (AnomalyKind.PHANTOM_SUCCESS, "t", (0, 1)),
        ("t is a",),
    ),
    "refused-and-set": (
        (
            event("a", (0, 10), REFUSED, Write("t", "x", "1")),
            event("r", (11, 12), OK, seen("t", x="1")),
        ),
        (AnomalyKind.PHANTOM_SUCCESS, "t", (0, 1)),
        ("x of t is '1'",),
    ),
}

# Other objects, whose stories are in order, told by everybody at every time.
AROUND = (
    event("a", (-9, -8), OK, Take("v", "a")),
    event("a", (-7, -6), OK, Write("v", "x", "1"), Write("w", "x", "1")),
    event("b", (-7, -6), OK, Write("v", "main", 2, base=1)),
    event("b", (2, 3), REFUSED, Take("v", "b"), Write("v", "x", "7"), Release("v")),
    event("c", (2, 3), OK, Take("gone", "c")),
    event("c", (4, 5), OK, Release("gone")),
    event("c", (6, 7), OK, Seen("gone", present=False)),
    event("r", (12, 13), UNKNOWN, Write("v", "y", 3), Take("q", "r")),
    event("r", (14, 15), OK, seen("v", "a", x="1", main=2)),
    event("r", (27, 28), OK, seen("w", x="1")),
    event("r", (29, 30), OK, Seen("never", present=False)),
)


@pytest.mark.parametrize("which", SAMPLES)
def test_an_anomaly_names_its_object_its_events_and_the_facts(which):
    history, (kind, name, shown), facts = SAMPLES[which]
    (found,) = anomalies_in(history)
    assert (found.kind, found.name) == (kind, name)
    assert found.witness == tuple(history[index] for index in shown)
    assert [fact for fact in facts if fact not in found.why] == []


@pytest.mark.parametrize("which", SAMPLES)
def test_what_happens_to_other_objects_hides_no_anomaly(which):
    history, _, _ = SAMPLES[which]
    found = anomalies_in(history)
    assert anomalies_in(AROUND) == ()
    assert anomalies_in((*AROUND, *history)) == found
    assert anomalies_in((*history, *AROUND)) == found
    early, late = AROUND[:6], AROUND[6:]
    assert anomalies_in((*early, *history, *late)) == found
    between = [e for pair in zip(history, AROUND[-len(history) :], strict=True) for e in pair]
    assert anomalies_in((*early, *between)) == found


@pytest.mark.parametrize("which", SAMPLES)
def test_each_of_two_anomalies_is_found(which):
    history, _, _ = SAMPLES[which]

    def renamed(deed):
        return replace(deed, name=f"{deed.name}2")

    twin = tuple(replace(e, deeds=tuple(map(renamed, e.deeds))) for e in history)
    (one,), (other,) = anomalies_in(history), anomalies_in(twin)
    assert anomalies_in((*history, *twin)) == (one, other)


def test_anomalies_that_explain_others_come_first():
    order = ("two-winners", "refused-and-set", "gone-write", "changed-after-its-end", "half")
    histories = []
    for number, which in enumerate(order):
        named = {"t": f"t{number}", "u": f"u{number}"}
        for e in SAMPLES[which][0]:
            deeds = tuple(replace(d, name=named[d.name]) for d in e.deeds)
            histories.append(replace(e, deeds=deeds))
    found = anomalies_in(tuple(reversed(histories)))
    assert [a.kind for a in found] == [SAMPLES[which][1][0] for which in order]


# ---- in time


ASKED_AFTERWARDS = (
    "gone-write", "gone-object", "other-object", "shown-after-its-end", "changed-after-its-end"
)  # fmt: skip


@pytest.mark.parametrize("which", ASKED_AFTERWARDS)
def test_who_asks_in_the_moment_of_an_answer_does_not_ask_after_it(which):
    done, read = SAMPLES[which][0]
    assert anomalies_in((done, replace(read, invoked_ns=10))) == ()
    assert anomalies_in((done, replace(read, invoked_ns=11))) != ()


@pytest.mark.parametrize(
    ("span", "answer", "excused"),
    [
        ((-5, 0), OK, True),
        ((-5, -1), OK, False),
        ((15, 16), OK, True),
        ((16, 17), OK, False),
        ((16, None), UNKNOWN, False),
        ((-5, -4), UNKNOWN, True),
        ((-5, None), OK, True),
    ],
    ids=[
        "ends-at-start",
        "ended",
        "begins-at-end",
        "later",
        "unknown-later",
        "unknown",
        "no-answer",
    ],
)
@pytest.mark.parametrize(
    ("which", "back"), [("two-winners", Release("t")), ("one-base", Write("t", "main", 1))]
)
def test_an_excuse_counts_from_the_first_question_to_the_last_answer(
    which, back, span, answer, excused
):
    first, second = SAMPLES[which][0]
    excuse = event("z", span, answer, back)
    for contenders in ((first, second), (second, first)):
        assert (anomalies_in((*contenders, excuse)) == ()) is excused


@pytest.mark.parametrize("which", ["one-base", "gone-write", "gone-object", "other-object"])
def test_who_may_have_taken_the_name_since_excuses_what_was_lost(which):
    history = SAMPLES[which][0]
    taken = event("z", (5, None), UNKNOWN, Take("t", "z"))
    elsewhere = event("z", (5, None), UNKNOWN, Take("u", "z"))
    assert anomalies_in((*history, taken)) == ()
    assert anomalies_in((*history, elsewhere)) != ()


def test_a_contender_that_was_never_answered_may_have_come_last():
    history = SAMPLES["two-winners"][0]
    late = event("z", (99, 100), OK, Release("t"))
    assert anomalies_in((*history, late)) != ()
    assert anomalies_in((history[0], replace(history[1], answered_ns=None), late)) == ()


def test_a_request_is_no_excuse_for_itself():
    moved = event("a", (0, 10), OK, Release("s"), Take("t", "a"))
    swapped = event("b", (5, 15), OK, Release("t"), Take("t", "b"))
    assert [a.kind for a in anomalies_in((moved, swapped))] == [AnomalyKind.DUPLICATE_SUCCESS]
    assert [a.kind for a in anomalies_in((swapped, moved))] == [AnomalyKind.DUPLICATE_SUCCESS]


def test_who_found_nothing_does_not_hide_what_a_later_reader_was_shown():
    nothing = event("r", (11, 12), OK, Seen("t", present=False, fields={}))
    later = event("r", (13, 14), OK, seen("t", x="2"))
    assert [a.witness for a in lost_updates((WRITTEN, nothing, later))] == [(WRITTEN, later)]


# ---- what is no anomaly


@pytest.mark.parametrize(
    "deed",
    [
        Write("t", "main", 3, base=2),
        Write("t", "other", 3, base=1),
        Write("u", "main", 3, base=1),
        Write("t", "main", 3),
        Write("t", "main", 1, base=1),
    ],
    ids=repr,
)
def test_only_changes_of_one_field_from_one_base_are_contenders(deed):
    first, second = SAMPLES["one-base"][0]
    assert lost_updates((first, replace(second, deeds=(deed,)))) == ()
    assert lost_updates((replace(second, deeds=(deed,)), first)) == ()


def test_one_request_may_change_a_field_twice_from_one_base():
    both = (Write("t", "main", 2, base=1), Write("t", "main", 3, base=1))
    assert lost_updates((event("a", (0, 10), OK, *both),)) == ()


def test_two_names_taken_at_once_are_no_contenders():
    assert anomalies_in((event("a", (0, 10), OK, Take("t", "a"), Take("t", "a")),)) == ()


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (Write("t", "x", "1"), seen("t", x="1")),
        (Write("t", "x", None), seen("t")),
        (Write("t", "x", "1"), seen("u", x="2")),
        (Write("t", "x", "1"), Seen("t", present=False)),
        (Take("t", "a"), seen("t", "a")),
        (Take("t", "a"), seen("t")),
        (Take("t", "a"), seen("u", "b")),
        (Release("t"), Seen("t", present=False)),
        (Release("t"), seen("u")),
        (Release("t"), Write("u", "x", 1)),
    ],
    ids=repr,
)
def test_a_later_reader_who_is_shown_what_was_done_is_no_anomaly(written, shown):
    history = (event("a", (0, 10), OK, written), event("r", (11, 12), OK, shown))
    assert anomalies_in(history) == ()


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        (Take("t", "a"), seen("t", "b")),
        (Take("t", "a"), seen("u", "a")),
        (Take("t", "a"), Seen("t", present=False, holder="a")),
        (Write("t", "x", "1"), seen("t", x="2")),
        (Write("t", "x", "1"), seen("t", y="1")),
        (Write("t", "x", "1"), seen("u", x="1")),
        (Release("t"), seen("t", "a")),
    ],
    ids=repr,
)
def test_a_refused_request_that_had_no_effect_is_no_anomaly(asked, shown):
    history = (event("a", (0, 10), REFUSED, asked), event("r", (11, 12), OK, shown))
    assert anomalies_in(history) == ()


@pytest.mark.parametrize(
    ("deed", "excused"),
    [
        (Write("t", "x", "1"), True),
        (Write("t", "x", "2"), False),
        (Write("t", "y", "1"), False),
        (Write("u", "x", "1"), False),
    ],
    ids=repr,
)
def test_who_else_wrote_the_same_value_excuses_a_refused_request(deed, excused):
    history = (*SAMPLES["refused-and-set"][0], event("z", (1, 2), UNKNOWN, deed))
    assert (anomalies_in(history) == ()) is excused


# ---- transactions


def half(*more, **changed):
    """The half-seen transaction with some of its events replaced, and others besides."""
    names = ("before", "transaction", "new", "old")
    history = [changed.get(n, e) for n, e in zip(names, SAMPLES["half"][0], strict=True)]
    return half_visible_transactions((*history, *more))


def test_a_field_of_the_transaction_that_was_not_there_before_need_not_be_shown():
    assert half(old=event("r", (24, 26), OK, seen("u"))) == ()
    cleared = event("w", (0, 1), OK, Write("u", "y", None))
    assert len(half(before=cleared, old=event("r", (24, 26), OK, seen("u")))) == 1


@pytest.mark.parametrize("span", [(22, 26), (24, 26)], ids=["at-once", "afterwards"])
def test_a_reader_sees_in_order_only_what_it_asked_for_in_order(span):
    again = event("r", span, OK, seen("u", y="00"))
    assert (half(old=again) == ()) is (span[0] == 22)


def test_what_a_reader_was_shown_before_does_not_hide_the_half():
    earlier = event("r", (12, 13), OK, seen("t", x="0"))
    before, transaction, *reads = SAMPLES["half"][0]
    assert len(half_visible_transactions((before, transaction, earlier, *reads))) == 1


def test_lists_that_show_no_fields_do_not_hide_the_half():
    both = (Seen("t", present=True), Seen("u", present=True))
    lists = [event("r", span, OK, *both) for span in ((12, 13), (27, 28))]
    before, transaction, *reads = SAMPLES["half"][0]
    assert len(half_visible_transactions((before, transaction, *lists, *reads))) == 1


def test_what_is_shown_of_an_object_that_is_not_there_proves_nothing():
    gone = event("r", (24, 26), OK, Seen("u", present=False, fields={"y": "00"}))
    assert half(old=gone) == ()
    unseen = event("r", (20, 22), OK, Seen("t", present=False, fields={"x": "1"}))
    assert half(new=unseen) == ()


@pytest.mark.parametrize(
    ("span", "proven"), [((-9, -8), True), ((5, 9), True), ((5, 10), False), ((60, 61), False)]
)
def test_a_table_that_was_replaced_before_the_transaction_is_the_one_it_changed(span, proven):
    made = event("z", span, OK, Release("u"), Take("u", "z"))
    assert (half(made) != ()) is proven


@pytest.mark.parametrize(
    ("span", "proven"), [((2, 3), True), ((5, 9), True), ((5, 10), False), ((60, 61), False)]
)
def test_who_wrote_the_old_value_must_have_done_so_before(span, proven):
    assert (half(event("z", span, OK, Write("u", "y", "00"))) != ()) is proven


def test_of_several_who_wrote_the_old_value_the_last_is_the_witness():
    again = event("z", (2, 3), OK, Write("u", "y", "00"))
    (found,) = half(again)
    assert found.witness[0] == again


def test_writes_to_one_object_are_seen_together_or_not_at_all():
    before = event("w", (0, 1), OK, Write("t", "x", "0"), Write("t", "y", "0"))
    after = event("w", (10, 50), OK, Write("t", "x", "1"), Write("t", "y", "1"))
    reads = (
        event("r", (20, 22), OK, seen("t", x="1", y="0")),
        event("r", (24, 26), OK, seen("t", x="1", y="0")),
    )
    assert half_visible_transactions((before, after, *reads)) == ()


# ---- what a base may be


def test_no_base_is_told_apart_from_a_missing_value():
    assert repr(UNCONDITIONAL) == "UNCONDITIONAL"
    assert Write("t", "x", 1) != Write("t", "x", 1, base=None)
