"""Runs a history, and shrinks a failing one to the few actions that matter."""

import contextlib
from collections.abc import Callable, Sequence

from icecheck.client.catalog import Catalog
from icecheck.judging.explaining.explained import explained
from icecheck.replies.expect import Violation
from icecheck.scenarios.random.actions import (
    Action,
    in_words,
    is_about_the_same,
    shorter_forms,
    to_json,
)
from icecheck.scenarios.random.playing import Divergence, play, tidy
from icecheck.scenarios.random.shrinking import UNABLE, shrunk
from icecheck.wire.unreachable import Unreachable, begun_anew

SHRINKING_REQUESTS_MAX = 800
ATTEMPTS_MAX = 8
SHORTEST = "the shortest history (with any step left out it does not fail)"
SHORTER = "a history made shorter as long as requests were left for it"
ONCE = "the history, which has failed once"


def replay(catalog: Catalog, actions: Sequence[Action]) -> None:
    """Run a history; if the catalog differs from the model, report the shortest failing history.

    Actions that the catalog does not offer are left out. Raises Violation with the actions in
    words, and as JSON in the finding's ``steps``; Unreachable when the catalog gives no answer. A
    failure that the catalog's loss of an effect explains is not worth shrinking: the check is
    blocked by that loss, or judged again without it.
    """
    found = _played(catalog, actions)
    if found is None:
        return
    whole = tuple(actions[: found.index + 1])
    failed = Violation.again(found.finding, steps=to_json(whole))
    if explained(catalog, (), failed) is not None:
        raise failed
    shortest, found, form = _shortest(catalog, whole, found)
    words = "; ".join(in_words(action) for action in shortest)
    names = ", ".join(f"{label} is {name}" for label, name in found.names.items())
    detail = f"{found.finding.detail}; {form}: {words}; here {names}"
    raise Violation.again(found.finding, detail=detail, steps=to_json(shortest))


def _played(catalog: Catalog, actions: Sequence[Action]) -> Divergence | None:
    """Run a history, and once more under new names where an answer to a change has been lost.

    Raises Unreachable when that happens again and again, or the catalog answers nothing at all.
    """
    before = 0

    def attempt() -> Divergence | None:
        nonlocal before
        before = len(catalog.exchanges)
        return play(catalog, actions, trusting=True)

    def answers() -> bool:
        return any(each.status is not None for each in catalog.exchanges[before:])

    found = begun_anew(attempt, ATTEMPTS_MAX, answers)
    with contextlib.suppress(Unreachable):  # what it leaves is removed in the end
        tidy(catalog)
    return found


def _shortest(
    catalog: Catalog, whole: tuple[Action, ...], found: Divergence
) -> tuple[tuple[Action, ...], Divergence, str]:
    """Shrink a failing history within a budget of requests, and run the result once more.

    The last action is the one that shows the failure when all is read after each, and stays.
    Returns also what is left, in words.
    """
    limit = len(catalog.exchanges) + SHRINKING_REQUESTS_MAX
    able = True

    def played(candidate: Sequence[Action]) -> Divergence | None:
        nonlocal able
        try:
            seen = play(catalog, candidate, to_the_end=found.at_the_end)
            tidy(catalog)
        except UNABLE:  # what was found stays found, as long as it is
            able = False
            return None
        return seen

    def fails(candidate: Sequence[Action]) -> bool:
        return played(candidate) is not None

    def affordable() -> bool:
        return able and len(catalog.exchanges) < limit

    earlier = played(whole)
    if earlier is not None:
        whole, found = whole[: earlier.index + 1], earlier
    shortest = _with_what_it_needs(whole, fails, affordable)
    shortest = _in_few_words(shortest, fails, affordable)
    form = SHORTEST if affordable() else SHORTER
    again = played(shortest) if able else None
    # A failure that does not repeat is reported as it was first seen.
    return (shortest, again, form) if again is not None else (whole, found, ONCE)


Fails = Callable[[Sequence[Action]], bool]
Affordable = Callable[[], bool]


def _with_what_it_needs(
    whole: tuple[Action, ...], fails: Fails, affordable: Affordable
) -> tuple[Action, ...]:
    """Return a failing history without the actions that can be left out.

    Most failures need the actions on the objects of the last one, and no others.
    """
    *before, last = whole
    related = [each for each in before if is_about_the_same(each, last)]
    if len(related) < len(before) and affordable() and fails((*related, last)):
        before = related
    if not before or (affordable() and fails((last,))):
        return (last,)
    return (*shrunk(before, lambda kept: fails((*kept, last)), affordable), last)


def _in_few_words(
    actions: tuple[Action, ...], fails: Fails, affordable: Affordable
) -> tuple[Action, ...]:
    """Return a failing history whose commits are made of as few changes as possible."""
    for at in reversed(range(len(actions))):
        for shorter in shorter_forms(actions[at]):
            if not affordable():
                return actions
            candidate = (*actions[:at], shorter, *actions[at + 1 :])
            if fails(candidate):
                return _in_few_words(candidate, fails, affordable)
    return actions
