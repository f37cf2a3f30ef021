"""Serves a whole design in process, and judges checks on it as a run does."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from icecheck.client.catalog import Catalog
from icecheck.client.deletion_probe import require_deletion
from icecheck.client.opening import open_session
from icecheck.client.session import Session
from icecheck.findings.verdict import Level, Outcome, Verdict
from icecheck.judging.check import Check
from icecheck.judging.judge import judge
from icecheck.judging.passive import observe, passive_verdicts
from icecheck.judging.settling import settled
from icecheck.mock_server.mock import MockCatalog
from icecheck.targets.target import Target
from tests.kill.killing import ADDRESS, TOKEN, WAREHOUSE
from tests.kit.contracts import CONTRACT
from tests.lawful.freedom import Freedom


class _Sending(httpx.BaseTransport):
    """Reaches a mock in process, and alters requests and answers on their way."""

    def __init__(self, mock: MockCatalog, freedoms: Iterable[Freedom]) -> None:
        self._inner = mock.httpx_transport()
        self._freedoms = tuple(freedoms)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        received = request
        for freedom in self._freedoms:
            received = freedom.asked(received) if freedom.asked else received
        response = self._inner.handle_request(received)
        for freedom in self._freedoms:
            response = freedom.sent(request, response) if freedom.sent else response
        return response


def arguments(freedoms: Iterable[Freedom]) -> dict[str, Any]:
    """Return the mock's arguments of several freedoms."""
    return {name: value for freedom in freedoms for name, value in freedom.server.items()}


@contextmanager
def design_transport(freedoms: Iterable[Freedom]) -> Iterator[httpx.BaseTransport]:
    """Yield what sends requests to the catalog of these freedoms, after their installation."""
    freedoms = tuple(freedoms)
    mock = MockCatalog(seed=1, token=TOKEN, **arguments(freedoms))
    for freedom in sorted(freedoms, key=lambda each: each.outside):
        freedom.install(mock.registries)
    for freedom in freedoms:
        for operation_id in freedom.unserved:
            mock.registries.operations.pop(operation_id, None)
    # A coding of the content comes last: other alterations read the content.
    last = sorted(freedoms, key=lambda each: each.about == "coding")
    try:
        yield _Sending(mock, last)
    finally:
        mock.stop()


@contextmanager
def design_session(
    freedoms: Iterable[Freedom], *, seed: int = 0, **options: Any
) -> Iterator[Session]:
    """Yield a session with the catalog of these freedoms.

    ``seed`` decides what is drawn; ``options`` are facts of the target, such as ``fuzz_cases``.
    """
    with design_transport(freedoms) as transport:
        target = Target(ADDRESS, warehouse=WAREHOUSE, token=TOKEN, **options)
        session = open_session(target, run_id="lawful", transport=transport, seed=seed)
        try:
            yield session
        finally:
            session.close()


@dataclass(frozen=True, slots=True)
class Said:
    """The verdicts on a design, and what the run has left behind there.

    ``sent`` counts its requests by their operations.
    """

    verdicts: tuple[Verdict, ...]
    residue: tuple[str, ...]
    sent: Counter[str]

    @property
    def blames(self) -> list[str]:
        """A line for each verdict at MUST that blames, and for each error of the suite."""
        return [
            f"{v.check}: {v.outcome} {v.summary}"
            for v in self.verdicts
            if v.outcome is Outcome.ERROR or (v.outcome is Outcome.FAIL and v.level is Level.MUST)
        ]


def said_of_design(
    freedoms: Iterable[Freedom], checks: Iterable[Check], order: int, **options: Any
) -> Said:
    """Judge checks on the catalog of these freedoms, in an order that a number gives.

    ``options`` are those of ``design_session``.
    """
    shuffled = list(checks)
    random.Random(order).shuffle(shuffled)  # noqa: S311 - an order is no secret
    with design_session(freedoms, **options) as session:
        require_deletion(session)
        verdicts = [judge(check, Catalog(session, check.id)) for check in shuffled]
        verdicts = [*settled(verdicts, session.permitted)]
        verdicts += passive_verdicts(observe(session.exchanges, session.schemas), CONTRACT)
    sent = Counter(str(each.operation) for each in session.exchanges)
    return Said(tuple(verdicts), tuple(session.residue), sent)
