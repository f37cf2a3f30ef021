"""Races a program, and shrinks one with a contradiction to the few requests that matter."""

from collections.abc import Sequence

from icecheck.client.catalog import Catalog
from icecheck.histories.explaining import Judgement, judged
from icecheck.histories.history import Anomaly, Event
from icecheck.objects.moves import CLIENTS, violation_of
from icecheck.replies.expect import Violation
from icecheck.scenarios.races.contest import contest
from icecheck.scenarios.races.programs import Program, Request, in_words, to_json, told
from icecheck.scenarios.random.shrinking import shrunk
from icecheck.targets.target import Namespace

SHRINKING_REQUESTS_MAX = 400
TRIES = 3
"""How often a smaller program is raced: whether its clients collide is chance."""

_Item = tuple[int, Request]
"""The place of a client, and one of its requests."""


def replay(
    catalog: Catalog, namespace: Namespace, program: Program, *, strictly: bool
) -> tuple[tuple[Event, ...], bool]:
    """Race the clients of a program, and judge that some order explains what they were told.

    ``strictly``: what was shown meanwhile, and whole transactions, are judged too. Returns the
    clients' events, and whether the judgement was decided. Raises Violation with the contradiction
    and the smallest program that shows it, in words and as JSON (``programs.from_json`` reads it);
    Unreachable when the catalog gives no answer.
    """
    raced = contest(catalog, namespace, program)
    judgement = judged(raced.history, strictly=strictly)
    if judgement.anomaly is not None:
        raise _Shrinking(catalog, namespace, strictly, program, judgement.anomaly).violation()
    return raced.raced, judgement.decided


class _Shrinking:
    """The smallest program so far that shows a contradiction, and that contradiction."""

    def __init__(
        self,
        catalog: Catalog,
        namespace: Namespace,
        strictly: bool,
        program: Program,
        found: Anomaly,
    ) -> None:
        self.catalog = catalog
        self.namespace = namespace
        self.strictly = strictly
        self.smallest, self.found = program, found
        self.limit = len(catalog.exchanges) + SHRINKING_REQUESTS_MAX

    def violation(self) -> Violation:
        """Shrink the program within a budget of requests, and return what is to be reported."""
        items = [(at, each) for at, script in enumerate(self.smallest) for each in script]
        said = {event.label.rpartition(", ")[0] for event in self.found.witness}
        needed = [item for item in items if in_words(item[1]) in said]
        if 0 < len(needed) < len(items) and self._shows(needed):
            items = needed
        shrunk(items, self._shows, self._affordable)
        first = violation_of(self.found)
        detail = (
            f"{first.finding.detail}; the smallest program: {told(self.smallest, CLIENTS)}; "
            f"replay {to_json(self.smallest)}"
        )
        return Violation.again(first.finding, detail=detail)

    def _affordable(self) -> bool:
        return len(self.catalog.exchanges) < self.limit

    def _shows(self, items: Sequence[_Item]) -> bool:
        """Return whether a smaller program shows a contradiction, and keep it if it does."""
        clients = sorted({client for client, _ in items})
        program = tuple(tuple(each for at, each in items if at == client) for client in clients)
        for _ in range(TRIES):
            if not self._affordable():
                return False
            found = self._judged(program).anomaly
            if found is not None:
                self.smallest, self.found = program, found
                return True
        return False

    def _judged(self, program: Program) -> Judgement:
        raced = contest(self.catalog, self.namespace, program)
        return judged(raced.history, strictly=self.strictly)
