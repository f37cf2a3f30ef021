"""Judges the exchanges of a run passively, and passes them on, in the order of the checks."""

from collections import deque
from collections.abc import Callable, Sequence

from icecheck.client.session import Session
from icecheck.contract import Contract
from icecheck.findings.verdict import Outcome, Verdict
from icecheck.judging.observed import Observed
from icecheck.judging.passive import observe
from icecheck.replies.schema import schema_judge
from icecheck.wire.exchange import Exchange


class PassiveObserver:
    """Takes the exchanges out of a session and judges them, those of one check with its verdict.

    Checks come in the order in which they were announced, whichever of them ends first. Exchanges
    that belong to no check (probes, shared objects) are judged as they come. ``on_exchange`` is
    called with every exchange once it was judged; ``observed`` is what was seen so far, and
    ``observed_beside`` the same by version for the contracts ``beside`` that of the session.

    Answers that may come from something else (a gateway's page) are judged apart. ``end`` adds what
    they showed to ``observed``, unless something else did answer in the catalog's place: when such
    an answer is judged, the run may not know yet.
    """

    def __init__(
        self,
        session: Session,
        on_exchange: Callable[[Exchange], None] | None,
        beside: Sequence[Contract] = (),
    ) -> None:
        contracts = {each.version: each for each in (*beside, session.contract)}
        self._judges = [schema_judge(contract) for contract in contracts.values()]
        self._seen: dict[str, dict[str, Observed]] = {version: {} for version in contracts}
        self._perhaps_foreign: dict[str, dict[str, Observed]] = {v: {} for v in contracts}
        self._session = session
        self._on_exchange = on_exchange
        self._order: deque[str] = deque()
        self._verdicts: dict[str, Verdict] = {}
        self._kept: dict[str, list[Exchange]] = {}

    @property
    def observed(self) -> dict[str, Observed]:
        """What was seen by the contract of the session."""
        return self._seen[self._session.contract.version]

    @property
    def observed_beside(self) -> dict[str, dict[str, Observed]]:
        """What was seen by each contract."""
        return self._seen

    @property
    def judged_something(self) -> bool:
        """Whether any check passed or failed."""
        return any(v.outcome in {Outcome.PASS, Outcome.FAIL} for v in self._verdicts.values())

    def announce(self, *checks: str) -> None:
        """Append these check ids to the order."""
        self._order += checks
        self._kept |= {check: [] for check in checks}

    def take(self, *verdicts: Verdict) -> None:
        """Take in verdicts and the exchanges so far; judge the exchanges whose turn it is."""
        self._verdicts |= {verdict.check: verdict for verdict in verdicts}
        exchanges = self._session.exchanges
        # Other threads may append to the list meanwhile.
        taken = exchanges[:]
        del exchanges[: len(taken)]
        for exchange in taken:
            kept = self._kept.get(exchange.check)
            if kept is None:
                self._pass_on([exchange])
            else:
                kept.append(exchange)
        while self._order and self._order[0] in self._verdicts:
            check = self._order.popleft()
            self._pass_on(self._kept.pop(check), self._verdicts[check])

    def end(self) -> None:
        """Judge the exchanges of checks without a verdict as well."""
        self.take()
        while self._order:
            self._pass_on(self._kept.pop(self._order.popleft()))
        if not self._session.strangers:
            for version, found in self._perhaps_foreign.items():
                for check, seen in found.items():
                    self._seen[version].setdefault(check, Observed()).merge(seen)
        for found in self._perhaps_foreign.values():
            found.clear()

    def _pass_on(self, exchanges: Sequence[Exchange], verdict: Verdict | None = None) -> None:
        for judge in self._judges:
            version = judge.contract.version
            foreign = self._perhaps_foreign[version]
            observe(exchanges, judge, self._seen[version], verdict, foreign)
        if self._on_exchange is not None:
            for exchange in exchanges:
                self._on_exchange(exchange)
