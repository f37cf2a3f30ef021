"""The search for an order: it finds each one that there is, and names what has none."""

import itertools
import random
from dataclasses import replace

import pytest

from icecheck.histories.explaining import judged
from icecheck.histories.history import (
    AnomalyKind,
    Answer,
    Release,
    Seen,
    Take,
    Transfer,
    Write,
    is_read,
    tell,
)
from icecheck.histories.ordering import Ending, Occurrence, order_of
from tests.unit.histories.events import event, gone, seen
from tests.unit.histories.simulated import Objects, asked, history_of

OK, REFUSED, UNKNOWN = Answer
HISTORIES = 300
FOREVER = float("inf")


def kind_of(history, *, strictly=True):
    found = judged(history, strictly=strictly).anomaly
    return found and found.kind


# ---- the search, beside one that tries everything


def some_occurrences(chance):
    """A few requests with a few moments; some contradict each other."""
    objects, found = Objects(), []
    for number in range(chance.randint(2, 6)):
        wanted = asked(chance, number % 3, objects)
        objects = objects if isinstance(wanted, str) else objects.after(wanted) or objects
        names = ("t", "u") if wanted == "*" else (wanted,)
        deeds = tuple(map(objects.look, names)) if isinstance(wanted, str) else wanted
        begin = chance.randint(0, 6)
        end = begin + chance.randint(0, 4) if chance.random() < 0.9 else FOREVER
        process = chance.choice("ab")
        found.append(Occurrence(process, begin, end, deeds, chance.random() < 0.8))
    return found


def has_an_order(occurrences):
    """Try every choice of what happened, in every order."""
    certain = [each for each in occurrences if each.certain]
    perhaps = [each for each in occurrences if not each.certain]
    for size in range(len(perhaps) + 1):
        for more in itertools.combinations(perhaps, size):
            if any(map(fits, itertools.permutations([*certain, *more]))):
                return True
    return False


def fits(order):
    for earlier, later in itertools.combinations(order, 2):
        apart = earlier.reads and later.reads and earlier.process != later.process
        if later.latest_ns < earlier.invoked_ns and not apart:
            return False
    objects = Objects()
    for each in order:
        for deed in each.deeds if each.reads else ():
            shown = objects.look(deed.name)
            if (shown.present, shown.holder) != (deed.present, deed.holder):
                return False
            if shown.present and shown.fields != deed.fields:
                return False
        # Of two who drop one object, both may be told that they did.
        nothing = [d for d in each.deeds if isinstance(d, Release) and d.name not in objects.held]
        after = objects if nothing or each.reads else objects.after(each.deeds)
        if after is None:
            return False
        objects = after
    return True


def test_an_order_is_found_if_and_only_if_there_is_one():
    chance = random.Random(7)  # noqa: S311 - the same histories every time
    ended = {Ending.ORDERED: 0, Ending.IMPOSSIBLE: 0}
    for _ in range(600):
        occurrences = some_occurrences(chance)
        ending = order_of(occurrences)
        assert (ending is Ending.ORDERED) is has_an_order(occurrences), occurrences
        ended[ending] += 1
    assert min(ended.values()) > 80


def test_the_order_of_what_is_given_makes_no_difference():
    chance = random.Random(8)  # noqa: S311 - as above
    for _ in range(100):
        occurrences = some_occurrences(chance)
        endings = {order_of(each) for each in (occurrences, occurrences[::-1])}
        assert len(endings) == 1


def test_a_history_that_is_too_tangled_is_undecided_and_no_anomaly():
    taken = event("a", (0, 1), OK, Take("t", "a"))
    writes = [event(f"p{n}", (2, 99), OK, Write("t", "x", n)) for n in range(20)]
    read = event("r", (100, 101), OK, seen("t", x="nobody's"))
    judgement = judged((taken, *writes, read), strictly=True, steps_max=1000)
    assert (judgement.anomaly, judgement.decided) == (None, False)
    few = (taken, *writes[:3], read)
    given_up = judged(few, strictly=True, steps_max=5)
    assert (given_up.anomaly, given_up.decided) == (None, False)
    assert judged(few, strictly=True).anomaly is not None


# ---- catalogs that do one thing at a time


@pytest.mark.parametrize("strictly", [False, True])
def test_a_catalog_that_does_one_thing_at_a_time_has_an_order(strictly):
    judgements = {seed: judged(history_of(seed), strictly=strictly) for seed in range(HISTORIES)}
    assert {seed: each.anomaly for seed, each in judgements.items() if each.anomaly} == {}
    assert all(each.decided for each in judgements.values())


MISTAKES = {
    "lost": (AnomalyKind.LOST_UPDATE, 25),
    "duplicate": (AnomalyKind.DUPLICATE_SUCCESS, 8),
    "resurrected": (AnomalyKind.RESURRECTED, 20),
    "phantom": (AnomalyKind.PHANTOM_SUCCESS, 25),
    "stale": (AnomalyKind.STALE_READ, 8),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_catalog_that_makes_mistakes_is_found_out_again_and_again(mistake):
    due, often = MISTAKES[mistake]
    histories = [history_of(seed, mistake, lost=0.0) for seed in range(80)]
    found = [kind for each in histories if (kind := kind_of(each))]
    assert len(found) >= often
    assert due in found


def test_half_a_transaction_is_found_out():
    found = [kind_of(history_of(seed, "half", lost=0.0)) for seed in range(600)]
    assert sum(map(bool, found)) >= 3


# ---- what contradictions are called, and what they show

BEFORE = event(
    "before", (0, 0), OK, Take("t", "a"), Take("u", "b"), Write("t", "x", 0), Write("u", "x", 0)
)
END = (100, 101)

NAMED = {
    "two-winners": (
        (event("p", (1, 9), OK, Take("v", "p")), event("q", (2, 8), OK, Transfer("t", "v"))),
        AnomalyKind.DUPLICATE_SUCCESS, ("p", "q"),
    ),
    "one-base": (
        (
            event("p", (1, 9), OK, Write("t", "x", 1, base=0)),
            event("q", (2, 8), OK, Write("t", "x", 2, base=0)),
        ),
        AnomalyKind.LOST_UPDATE, ("p", "q"),
    ),
    "gone-write": (
        (event("p", (1, 9), OK, Write("t", "x", 1)), event("r", END, OK, seen("t", x=0))),
        AnomalyKind.LOST_UPDATE, ("p", "r"),
    ),
    "refused-and-there": (
        (event("p", (1, 9), REFUSED, Write("t", "x", 1)), event("r", END, OK, seen("t", x=1))),
        AnomalyKind.PHANTOM_SUCCESS, ("p", "r"),
    ),
    "shown-after-its-end": (
        (event("p", (1, 9), OK, Release("t")), event("r", END, OK, seen("t", "a", x=0))),
        AnomalyKind.RESURRECTED, ("p", "r"),
    ),
    "rename-loses-a-commit": (
        (
            event("p", (1, 9), OK, Transfer("t", "v")),
            event("q", (2, 8), OK, Write("t", "x", 1)),
            event("r", END, OK, seen("v", "a", x=0)),
        ),
        AnomalyKind.UNEXPLAINED, ("q", "r"),
    ),
    "stale": (
        (
            event("p", (1, 5), OK, Write("t", "x", 1)),
            event("r", (6, 8), OK, seen("t", x=0)),
            event("q", (20, 21), OK, Write("u", "x", 9)),
            event("r", END, OK, seen("t", x=1)),
        ),
        AnomalyKind.STALE_READ, ("before", "p", "r"),
    ),
    "back-in-time": (
        (
            event("p", (1, 50), OK, Write("t", "x", 1)),
            event("r", (2, 4), OK, seen("t", x=1)),
            event("r", (6, 8), OK, seen("t", x=0)),
            event("r", END, OK, seen("t", x=1)),
        ),
        AnomalyKind.STALE_READ, ("before", "p", "r", "r"),
    ),
    "nobodys": (
        (
            event("r", (6, 8), OK, seen("t", "z")),
            event("q", (20, 21), OK, Write("u", "x", 9)),
            event("r", END, OK, seen("t", "a", x=0)),
        ),
        AnomalyKind.UNEXPLAINED, ("r",),
    ),
    "missing-while-renamed": (
        (
            event("p", (1, 50), OK, Transfer("t", "v")),
            event("r", (2, 4), OK, gone("t")),
            event("r", (6, 8), OK, gone("v")),
            event("r", END, OK, seen("v", "a", x=0)),
        ),
        AnomalyKind.STALE_READ, ("p", "r", "r"),
    ),
    "half": (
        (
            event("p", (1, 50), OK, Write("t", "x", 1), Write("u", "x", 1)),
            event("r", (2, 4), OK, seen("t", x=1)),
            event("r", (6, 8), OK, seen("u", x=0)),
        ),
        AnomalyKind.HALF_VISIBLE, ("before", "p", "r", "r"),
    ),
    "half-gone": (
        (
            event("p", (1, 50), OK, Write("t", "x", 1), Write("u", "x", 1)),
            event("q", (1, 50), OK, Release("t"), Write("u", "x", 2)),
            event("r", (2, 4), OK, gone("t")),
            event("r", (6, 8), OK, seen("u", x=0)),
        ),
        AnomalyKind.HALF_VISIBLE, ("before", "q", "r", "r"),
    ),
    "cyclic": (
        (
            event("p", (1, 50), OK, Write("t", "x", 1), Write("u", "x", 1)),
            event("q", (1, 50), OK, Write("t", "x", 2), Write("u", "x", 2)),
            event("r", END, OK, seen("t", x=1)),
            event("r", (102, 103), OK, seen("u", x=2)),
        ),
        AnomalyKind.CYCLIC, ("p", "q", "r", "r"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", NAMED)
def test_a_contradiction_has_its_name_and_its_events(which):
    events, kind, processes = NAMED[which]
    found = judged((BEFORE, *events), strictly=True).anomaly
    assert found is not None
    assert (found.kind, tuple(e.process for e in found.witness)) == (kind, processes)
    assert len(tell(found).splitlines()) <= 6


@pytest.mark.parametrize("which", NAMED)
def test_nobody_is_blamed_if_the_answers_were_lost(which):
    """A request without an answer may have had its effect later, by part, or never."""
    events, _, _ = NAMED[which]
    lost = [replace(e, answered_ns=None, answer=UNKNOWN) for e in events if not is_read(e)]
    reads = [e for e in events if is_read(e)]
    if which not in {"nobodys", "back-in-time", "missing-while-renamed"}:  # wrong at any time
        assert kind_of((BEFORE, *lost, *reads)) is None


@pytest.mark.parametrize("which", NAMED)
def test_a_contradiction_is_about_an_object_of_its_events(which):
    found = judged((BEFORE, *NAMED[which][0]), strictly=True).anomaly
    about = {"cyclic": "u", "half": "u", "half-gone": "u", "two-winners": "v"}
    renamed = {"rename-loses-a-commit": "v", "missing-while-renamed": "v"}
    assert found.name == {**about, **renamed}.get(which, "t")
    assert found.why


def test_what_a_second_look_explains_was_shown_in_passing():
    judgement = judged((BEFORE, *NAMED["gone-write"][0]), strictly=True)
    assert judgement.at_the_end
    passing = judgement.in_passing()
    assert passing.anomaly.kind is AnomalyKind.STALE_READ
    assert passing.anomaly.witness == judgement.anomaly.witness
    assert passing.anomaly.why == f"{judgement.anomaly.why}; a second look showed what is due"
    assert not judged((BEFORE, *NAMED["stale"][0]), strictly=True).at_the_end
    nothing = judged((BEFORE,), strictly=True)
    assert nothing.in_passing() is nothing


OF_READERS = ("stale", "back-in-time", "nobodys", "missing-while-renamed", "half", "half-gone")


@pytest.mark.parametrize("which", NAMED)
def test_what_is_shown_meanwhile_is_judged_only_strictly(which):
    history = (BEFORE, *NAMED[which][0])
    left_open = which in OF_READERS or which == "cyclic"
    assert (kind_of(history, strictly=False) is None) is left_open


# ---- what has an order

LAWFUL = {
    "two-drops": (event("p", (1, 9), OK, Release("t")), event("q", (2, 8), OK, Release("t"))),
    "needless-conflict": (event("p", (1, 9), REFUSED, Write("t", "x", 1, base=0)),),
    "readers-disagree": (
        event("p", (1, 50), OK, Write("t", "x", 1)),
        event("r", (2, 4), OK, seen("t", x=1)),
        event("s", (6, 8), OK, seen("t", x=0)),
    ),
    "readers-see-two-writes-in-two-orders": (
        event("p", (1, 50), OK, Write("t", "x", 1), Write("v", "x", 1), Take("w", "p")),
        event("q", (1, 50), OK, Write("u", "x", 1)),
        event("b", (0, 0), OK, Take("v", "b")),
        event("r", (2, 4), OK, seen("t", x=1)),
        event("r", (6, 8), OK, seen("u", x=0)),
        event("s", (2, 4), OK, seen("u", x=1)),
        event("s", (6, 8), OK, seen("t", x=0)),
    ),
    "late": (
        event("p", (1, None), UNKNOWN, Write("t", "x", 1)),
        event("r", (6, 8), OK, seen("t", x=0)),
        event("r", END, OK, seen("t", x=1)),
    ),
    "list-at-several-moments": (
        event("p", (1, 9), OK, Transfer("t", "v")),
        event("r", (2, 8), OK, Seen("t", present=True), Seen("v", present=True)),
        event("s", (2, 8), OK, gone("t"), gone("v")),
    ),
    "field-that-nobody-sets": (event("r", (6, 8), OK, seen("t", x=0, owner="me")),),
    "not-shown": (event("r", (6, 8), OK, Seen("t", present=True)),),
    "rename-and-back": (
        event("p", (1, 9), OK, Transfer("t", "v")),
        event("p", (10, 19), OK, Transfer("v", "t")),
        event("q", (2, 18), OK, Write("v", "x", 5, base=0, holder="a")),
        event("r", END, OK, seen("t", "a", x=5)),
    ),
}

# What was just dropped is there again because something was put into it.
DROPPED = event("p", (1, 5), OK, Release("t"))
FILLED = event("q", (6, 9), OK, Take("t.v", "q"))
MADE_BESIDES = event("q", (6, None), UNKNOWN, Take("t", ""))
BACK = event("r", END, OK, seen("t"))
LAWFUL["made-again-besides"] = (DROPPED, FILLED, MADE_BESIDES, BACK)
LAWFUL["not-made-again"] = (DROPPED, FILLED, MADE_BESIDES, event("r", END, OK, gone("t")))
LAWFUL["made-as-something"] = (
    DROPPED,
    event("q", (2, 9), OK, Take("t", "q"), Write("t", "x", 7)),
    event("r", END, OK, seen("t", "q", x=7)),
)


def test_what_nothing_can_have_made_again_is_resurrected():
    assert kind_of((BEFORE, DROPPED, FILLED, BACK)) is AnomalyKind.RESURRECTED


@pytest.mark.parametrize("which", LAWFUL)
def test_what_has_an_order_is_no_anomaly(which):
    history = (BEFORE, event("w", (0, 0), OK, Write("t", "x", 0)), *LAWFUL[which])
    assert kind_of(history) is None
