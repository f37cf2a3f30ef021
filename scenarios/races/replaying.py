"""Races a program, and shrinks one with a contradiction to the few requests that matter."""

from collections.abc import Sequence

from icecheck.client.catalog import Catalog
from icecheck.histories.history import Event
from icecheck.objects.moves import CLIENTS, violation_of
from icecheck.replies.expect import Violation
from icecheck.scenarios.races.contest import Contest, Place, contest
from icecheck.scenarios.races.programs import Program, to_json, told
from icecheck.scenarios.random.shrinking import UNABLE, shrunk
from icecheck.targets.target import Namespace

SHRINKING_REQUESTS_MAX = 600
TRIES = 3
"""How often a smaller program is raced: whether its clients collide is chance."""


def replay(
    catalog: Catalog, namespace: Namespace, program: Program, *, strictly: bool
) -> tuple[tuple[Event, ...], bool]:
    """Race the clients of a program, and judge that some order explains what they were told.

    ``strictly``: what was shown meanwhile, and whole transactions, are judged too. Returns the
    clients' events, and whether the judgement was decided. Raises Violation with the contradiction
    and the smallest program that shows it, in words, and as JSON in the finding's ``steps``;
    Unreachable when the catalog gives no answer.
    """
    raced = contest(catalog, namespace, program, strictly=strictly)
    if raced.judgement.anomaly is not None:
        raise _Shrinking(catalog, namespace, strictly=strictly).violation(program, raced)
    return raced.raced, raced.judgement.decided


class _Shrinking:
    """Races smaller programs within a budget, and keeps the last that shows a contradiction."""

    def __init__(self, catalog: Catalog, namespace: Namespace, *, strictly: bool) -> None:
        self.catalog = catalog
        self.namespace = namespace
        self.strictly = strictly
        self.smallest: tuple[Program, Contest] | None = None
        self.able = True
        self.limit = len(catalog.exchanges) + SHRINKING_REQUESTS_MAX

    def violation(self, whole: Program, raced: Contest) -> Violation:
        """Return the contradiction of a program, told of the smallest one that shows any."""
        items = [*raced.asked.values()]
        for fewer in _likely(raced):
            if 0 < len(fewer) < len(items) and self._shows(fewer):
                items = fewer
                break
        shrunk(items, self._shows, self._affordable)
        smallest, shown = self.smallest or (whole, raced)
        first = violation_of(shown.judgement.contradiction).finding
        detail = f"{first.detail}; the smallest program: {told(smallest, CLIENTS)}"
        steps, until = to_json(smallest), max(shown.asked, default=0)
        return Violation.again(first, detail=detail, steps=steps, since=shown.since, until=until)

    def _affordable(self) -> bool:
        return self.able and len(self.catalog.exchanges) < self.limit

    def _shows(self, items: Sequence[Place]) -> bool:
        """Return whether a smaller program shows a contradiction, and keep it if it does."""
        program = _program(items)
        for _ in range(TRIES):
            if not self._affordable():
                return False
            try:
                raced = contest(self.catalog, self.namespace, program, strictly=self.strictly)
            except UNABLE:  # what was found stays found
                self.able = False
                return False
            if raced.judgement.anomaly is not None:
                self.smallest = program, raced
                return True
        return False


def _program(items: Sequence[Place]) -> Program:
    """Return the program of some requests, without parts and clients that have none."""
    clients = sorted({item.client for item in items})
    return tuple(
        tuple(
            tuple(item.request for item in items if (item.part, item.client) == (part, client))
            for client in clients
        )
        for part in sorted({item.part for item in items})
    )


def _likely(raced: Contest) -> tuple[list[Place], ...]:
    """Return the smaller programs to try first: what is told, and what was sent before its end."""
    told_of = {event.exchange for event in raced.judgement.contradiction.witness}
    ends = [e.answered_ns for e in raced.raced if e.exchange in told_of and e.answered_ns]
    sent = {e.exchange: e.invoked_ns for e in raced.raced}
    asked = raced.asked.items()
    return (
        [item for exchange, item in asked if exchange in told_of],
        [item for exchange, item in asked if sent[exchange] <= max(ends, default=0)],
    )
