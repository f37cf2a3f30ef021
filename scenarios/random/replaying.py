"""Runs a history, and shrinks a failing one to the few actions that matter."""

from collections.abc import Sequence

from icecheck.client.catalog import Catalog
from icecheck.replies.expect import Violation
from icecheck.scenarios.random.actions import Action, in_words, to_json
from icecheck.scenarios.random.playing import Divergence, play, tidy
from icecheck.scenarios.random.shrinking import UNABLE, shrunk

SHRINKING_REQUESTS_MAX = 800


def replay(catalog: Catalog, actions: Sequence[Action]) -> None:
    """Run a history; if the catalog differs from the model, report the shortest failing history.

    Actions that the catalog does not offer are left out. Raises Violation with the actions in
    words, and as JSON in the finding's ``steps``; Unreachable when the catalog gives no answer.
    """
    found = play(catalog, actions)
    tidy(catalog)
    if found is None:
        return
    shortest, found = _shortest(catalog, actions, found)
    words = "; ".join(in_words(action) for action in shortest)
    where = found.finding.detail
    detail = f"{where}; the shortest history: {words}"
    raise Violation.again(found.finding, detail=detail, steps=to_json(shortest))


def _shortest(
    catalog: Catalog, actions: Sequence[Action], found: Divergence
) -> tuple[tuple[Action, ...], Divergence]:
    """Shrink a failing history within a budget of requests, and run the result once more."""
    limit = len(catalog.exchanges) + SHRINKING_REQUESTS_MAX
    able = True

    def played(candidate: Sequence[Action]) -> Divergence | None:
        nonlocal able
        try:
            seen = play(catalog, candidate)
            tidy(catalog)
        except UNABLE:  # what was found stays found, as long as it is
            able = False
            return None
        return seen

    prefix = tuple(actions[: found.index + 1])
    shortest = shrunk(
        prefix,
        lambda candidate: played(candidate) is not None,
        lambda: able and len(catalog.exchanges) < limit,
    )
    again = played(shortest) if able else None
    # A failure that does not repeat is reported as it was first seen.
    return (shortest, again) if again is not None else (prefix, found)
