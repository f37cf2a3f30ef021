"""Histories: each anomaly is found, good histories pass, and unknown outcomes are never blamed."""

from dataclasses import replace

import pytest

from icecheck.histories.history import (
    UNCONDITIONAL,
    AnomalyKind,
    Answer,
    Event,
    Release,
    Seen,
    Take,
    Write,
    anomalies_in,
    duplicate_successes,
    half_visible_transactions,
    lost_updates,
    phantom_successes,
    resurrections,
    tell,
)

OK, REFUSED, UNKNOWN = Answer


def event(process, span, answer, *deeds, exchange=None):
    """One request; ``span`` is (sent, answered), answered None if nothing came."""
    return Event(process, span[0], span[1], answer, deeds, f"{process}'s request", exchange)


def kinds(history):
    return {anomaly.kind for anomaly in anomalies_in(history)}


# ---- names


TWO_TAKES = (
    event("a", (0, 10), OK, Take("t", "a"), exchange=1),
    event("b", (5, 15), OK, Take("t", "b"), exchange=2),
)


def test_two_successes_for_one_name_are_found():
    (found,) = duplicate_successes(TWO_TAKES)
    assert found.kind is AnomalyKind.DUPLICATE_SUCCESS
    assert found.name == "t"
    assert found.witness == TWO_TAKES


def test_two_successes_one_after_the_other_are_found():
    first, second = TWO_TAKES
    assert duplicate_successes((first, replace(second, invoked_ns=11)))


def test_every_pair_of_three_winners_is_found():
    third = event("c", (6, 16), OK, Take("t", "c"))
    assert len(duplicate_successes((*TWO_TAKES, third))) == 3


@pytest.mark.parametrize("answer", [REFUSED, UNKNOWN])
def test_one_success_is_no_anomaly_whatever_the_contender_was_told(answer):
    winner, contender = TWO_TAKES
    looked = event("r", (20, 21), OK, Seen("t", present=True, holder="a"))
    assert kinds((winner, replace(contender, answer=answer), looked)) == set()


def test_names_that_differ_are_no_contenders():
    first, second = TWO_TAKES
    assert kinds((first, replace(second, deeds=(Take("u", "b"),)))) == set()


@pytest.mark.parametrize(
    ("span", "answer", "excused"),
    [
        ((8, 9), OK, True),
        ((8, None), UNKNOWN, True),
        ((0, 1), UNKNOWN, True),
        ((8, 9), REFUSED, False),
        ((16, 17), OK, False),
    ],
    ids=["dropped-between", "perhaps", "perhaps-later", "not-dropped", "dropped-afterwards"],
)
def test_a_name_may_be_taken_again_once_it_is_free(span, answer, excused):
    dropped = event("c", span, answer, Release("t"))
    assert (duplicate_successes((*TWO_TAKES, dropped)) == ()) is excused


def test_two_tables_renamed_to_one_name_are_found():
    before = event("z", (-2, -1), OK, Take("t", "a"), Take("u", "b"))
    renames = (
        event("a", (0, 10), OK, Release("t"), Take("v", "a")),
        event("b", (5, 15), OK, Release("u"), Take("v", "b")),
    )
    assert kinds((before, *renames)) == {AnomalyKind.DUPLICATE_SUCCESS}
    lost = replace(renames[1], answer=REFUSED)
    looked = event("r", (20, 21), OK, Seen("v", True, "a"), Seen("t", False), Seen("u", True, "b"))
    assert kinds((before, renames[0], lost, looked)) == set()


def test_an_object_that_is_not_there_after_its_creation_is_lost():
    made = event("a", (0, 10), OK, Take("t", "a"))
    looked = event("r", (11, 12), OK, Seen("t", present=False))
    assert kinds((made, looked)) == {AnomalyKind.LOST_UPDATE}
    assert kinds((made, replace(looked, invoked_ns=9))) == set()
    assert kinds((replace(made, answer=UNKNOWN), looked)) == set()
    for answer, excuses in ((OK, True), (UNKNOWN, True), (REFUSED, False)):
        dropped = event("b", (3, 4), answer, Release("t"))
        assert (kinds((made, dropped, looked)) == set()) is excuses


def test_an_object_that_became_another_one_is_lost():
    made = event("a", (0, 10), OK, Take("t", "a"))
    looked = event("r", (11, 12), OK, Seen("t", present=True, holder="b"))
    assert kinds((made, looked)) == {AnomalyKind.LOST_UPDATE}
    assert kinds((made, replace(looked, deeds=(Seen("t", present=True),)))) == set()


# ---- updates


MOVES = (
    event("a", (0, 10), OK, Write("t", "main", 2, base=1)),
    event("b", (5, 15), OK, Write("t", "main", 3, base=1)),
)


def test_two_changes_from_one_base_are_found():
    (found,) = lost_updates(MOVES)
    assert (found.kind, found.witness) == (AnomalyKind.LOST_UPDATE, MOVES)


@pytest.mark.parametrize("base", [2, None, UNCONDITIONAL], ids=repr)
def test_changes_from_other_bases_are_no_contenders(base):
    first, second = MOVES
    assert kinds((first, replace(second, deeds=(Write("t", "main", 3, base=base),)))) == set()


def test_that_something_is_missing_is_a_base_too():
    first = event("a", (0, 10), OK, Write("t", "tag", 2, base=None))
    second = event("b", (20, 30), OK, Write("t", "tag", 3, base=None))
    assert kinds((first, second)) == {AnomalyKind.LOST_UPDATE}


@pytest.mark.parametrize(
    ("deed", "answer", "excused"),
    [
        (Write("t", "main", 1), OK, True),
        (Write("t", "main", 1), UNKNOWN, True),
        (Write("t", "main", 1), REFUSED, False),
        (Write("t", "main", 4), OK, False),
        (Write("t", "other", 1), OK, False),
        (Release("t"), UNKNOWN, True),
    ],
    ids=repr,
)
def test_a_field_may_have_been_set_back_between(deed, answer, excused):
    assert (lost_updates((*MOVES, event("c", (4, 6), answer, deed))) == ()) is excused


@pytest.mark.parametrize("answer", [REFUSED, UNKNOWN])
def test_the_loser_of_a_conflict_is_no_anomaly(answer):
    winner, loser = MOVES
    looked = event("r", (20, 21), OK, Seen("t", present=True, fields={"main": 2}))
    assert kinds((winner, replace(loser, answer=answer), looked)) == set()


WRITTEN = event("a", (0, 10), OK, Write("t", "x", "1"))
UNSEEN = event("r", (20, 21), OK, Seen("t", present=True, fields={"y": "1"}))


def test_an_acknowledged_write_that_no_later_state_has_is_found():
    (found,) = lost_updates((WRITTEN, UNSEEN))
    assert found.witness == (WRITTEN, UNSEEN)


def test_who_reads_before_a_write_is_acknowledged_proves_nothing():
    assert kinds((WRITTEN, replace(UNSEEN, invoked_ns=9))) == set()


@pytest.mark.parametrize("answer", [REFUSED, UNKNOWN])
def test_a_write_that_was_not_acknowledged_may_be_missing(answer):
    assert kinds((replace(WRITTEN, answer=answer), UNSEEN)) == set()


@pytest.mark.parametrize(
    ("deed", "span", "answer", "excused"),
    [
        (Write("t", "x", None), (9, 11), OK, True),
        (Write("t", "x", None), (9, 11), UNKNOWN, True),
        (Write("t", "x", None), (-9, -8), UNKNOWN, True),
        (Write("t", "x", None), (-9, -8), OK, False),
        (Write("t", "x", None), (9, 11), REFUSED, False),
        (Release("t"), (9, 11), OK, True),
        (Take("t", "b"), (9, 11), UNKNOWN, True),
    ],
    ids=repr,
)
def test_somebody_may_have_changed_it_since(deed, span, answer, excused):
    history = (WRITTEN, event("b", span, answer, deed), UNSEEN)
    assert (lost_updates(history) == ()) is excused


# ---- transactions


def both(value):
    return (Write("t", "x", value), Write("u", "x", value))


def shown(name, value, span, process="r"):
    return event(process, span, OK, Seen(name, present=True, fields={"x": value}))


BEFORE = event("w", (0, 1), OK, *both("0"))
TRANSACTION = event("w", (10, 50), OK, *both("1"))
HALF = (BEFORE, TRANSACTION, shown("t", "1", (20, 22)), shown("u", "0", (24, 26)))


def test_a_transaction_of_which_a_reader_sees_half_is_found():
    (found,) = half_visible_transactions(HALF)
    assert found.kind is AnomalyKind.HALF_VISIBLE
    assert found.witness == HALF
    assert kinds(HALF) == {AnomalyKind.HALF_VISIBLE}


def test_either_table_may_be_the_half_that_is_seen():
    assert kinds((BEFORE, TRANSACTION, shown("u", "1", (20, 22)), shown("t", "0", (24, 26))))


@pytest.mark.parametrize(
    ("first", "second"),
    [(("t", "0"), ("u", "1")), (("t", "1"), ("u", "1")), (("t", "0"), ("u", "0"))],
    ids=["before-then-after", "after", "before"],
)
def test_a_reader_may_see_the_old_state_and_then_the_new_one(first, second):
    assert kinds((BEFORE, TRANSACTION, shown(*first, (20, 22)), shown(*second, (24, 26)))) == set()


def test_loads_that_overlap_have_no_order():
    new, old = shown("t", "1", (20, 25)), shown("u", "0", (24, 26))
    assert kinds((BEFORE, TRANSACTION, new, old)) == set()


def test_two_readers_have_no_common_clock():
    new, old = shown("t", "1", (20, 22)), shown("u", "0", (24, 26), process="s")
    assert half_visible_transactions((BEFORE, TRANSACTION, new, old)) == ()


def test_an_unknown_transaction_is_not_blamed_for_its_half():
    before, transaction, *reads = HALF
    assert kinds((before, replace(transaction, answer=UNKNOWN), *reads)) == set()
    # It may also be the one before, which takes effect late.
    assert kinds((replace(before, answer=UNKNOWN), transaction, *reads)) == set()


def test_who_may_have_written_the_old_value_again_excuses_it():
    again = event("z", (5, 30), UNKNOWN, Write("u", "x", "0"))
    assert kinds((*HALF, again)) == set()
    assert kinds((*HALF, replace(again, answer=REFUSED))) == {AnomalyKind.HALF_VISIBLE}


def test_who_may_have_written_the_new_value_too_excuses_it():
    too = event("z", (5, 30), OK, Write("t", "x", "1"))
    assert half_visible_transactions((*HALF, too)) == ()


def test_a_table_that_may_have_been_replaced_proves_nothing():
    assert kinds((*HALF, event("z", (5, 30), UNKNOWN, Release("u"), Take("u", "z")))) == set()


# ---- ends and refusals


DROPPED = event("d", (0, 10), OK, Release("t"))


@pytest.mark.parametrize(
    "deed", [Seen("t", present=True, holder="a"), Write("t", "x", 1)], ids=["seen", "changed"]
)
def test_what_was_dropped_and_is_there_is_found(deed):
    later = event("r", (11, 12), OK, deed)
    assert {a.kind for a in resurrections((DROPPED, later))} == {AnomalyKind.RESURRECTED}
    assert resurrections((DROPPED, replace(later, invoked_ns=10))) == ()
    assert resurrections((replace(DROPPED, answer=UNKNOWN), later)) == ()
    assert resurrections((replace(DROPPED, answer=REFUSED), later)) == ()


@pytest.mark.parametrize(
    ("span", "answer", "excused"),
    [
        ((9, 11), OK, True),
        ((-9, None), UNKNOWN, True),
        ((9, 11), REFUSED, False),
        ((-9, -8), OK, False),
    ],
    ids=["taken-since", "perhaps", "not-taken", "taken-before"],
)
def test_a_dropped_name_may_be_taken_again(span, answer, excused):
    later = event("r", (11, 12), OK, Seen("t", present=True, holder="b"))
    history = (DROPPED, event("b", span, answer, Take("t", "b")), later)
    assert (resurrections(history) == ()) is excused


def test_a_dropped_table_that_a_commit_creates_anew_is_no_resurrection():
    created = event("b", (11, 12), OK, Take("t", "b"), Write("t", "x", 1))
    assert kinds((DROPPED, created)) == set()


def test_a_drop_beside_a_commit_is_no_resurrection():
    committed = event("w", (5, 15), OK, Write("t", "x", 1))
    looked = event("r", (20, 21), OK, Seen("t", present=False))
    assert kinds((DROPPED, committed, looked)) == set()


PHANTOMS = {
    "object": (Take("t", "a"), Seen("t", present=True, holder="a")),
    "value": (Write("t", "x", 1), Seen("t", present=True, fields={"x": 1})),
}


@pytest.mark.parametrize("which", PHANTOMS)
def test_a_refused_request_that_took_effect_is_found(which):
    deed, seen = PHANTOMS[which]
    refused, looked = event("a", (0, 10), REFUSED, deed), event("r", (20, 21), OK, seen)
    assert {a.kind for a in phantom_successes((refused, looked))} == {AnomalyKind.PHANTOM_SUCCESS}
    for answer in (OK, UNKNOWN):
        assert phantom_successes((replace(refused, answer=answer), looked)) == ()
        same = event("b", (0, 9), answer, deed)
        assert phantom_successes((refused, same, looked)) == ()


def test_a_refused_request_without_effect_is_no_phantom():
    refused = event("a", (0, 10), REFUSED, Take("t", "a"), Write("t", "x", 1))
    looked = event("r", (20, 21), OK, Seen("t", present=True, holder="b", fields={"x": 2}))
    assert phantom_successes((refused, looked)) == ()


# ---- witnesses


def test_a_witness_is_told_in_at_most_six_lines():
    lines = [tell(anomaly).splitlines() for anomaly in anomalies_in((*TWO_TAKES, *HALF))]
    assert max(map(len, lines)) <= 6
    assert tell(duplicate_successes(TWO_TAKES)[0]).splitlines() == [
        "a: a's request → ok (exchange 1)",
        "while: b: b's request → ok (exchange 2)",
        "contradiction: both were told that they took t, and nothing freed it between",
    ]
