"""A run: collect, open the session, judge every check, conclude."""

import contextlib
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import httpx

from icecheck.assembly.collect import allowed, collect, select
from icecheck.assembly.demands import demanded_by
from icecheck.assembly.finish import finish
from icecheck.assembly.side_by_side import one_by_one, side_by_side
from icecheck.breaker import Breaker
from icecheck.check import Check
from icecheck.cleaning import salvage
from icecheck.contract import DEFAULT_SPEC_VERSION, Contract, contract_for
from icecheck.exchange import Exchange
from icecheck.expectations import is_foreseen
from icecheck.expected import Expectation
from icecheck.judge import not_run
from icecheck.littering import refuse_to_litter
from icecheck.passive import Observed, observe
from icecheck.redaction import Redactor
from icecheck.session import Session, open_session
from icecheck.target import Target
from icecheck.undeclared import try_undeclared
from icecheck.verdict import Group, Level, Outcome, Run, SkipKind, Verdict

__all__ = ["Progress", "RunOptions", "Silent", "run_checks"]

_STOPPED = "the run was to end at the first failure (--fail-fast)"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What to run and how.

    ``spec`` is the release whose document the catalog is held to: what that does not demand is
    skipped. ``globs`` select by check id, ``spark_options`` go to the launcher, ``ledger`` is the
    file in which everything that the run makes is written down. ``fail_fast`` ends the run at the
    first failure of a MUST check that is none of the ``foreseen``; the rest is skipped as the
    user's wish. With several ``workers`` so many checks are judged at a time, each over
    connections of its own; those with Spark one after the other. ``redactor`` is told every secret
    that comes up.
    """

    target: Target
    run_id: str
    seed: int = 0
    spec: str = DEFAULT_SPEC_VERSION
    groups: tuple[Group, ...] = (Group.CHECKS, Group.GENERATED, Group.SCENARIOS)
    globs: tuple[str, ...] = ()
    command: str = ""
    implementation: str = ""
    spark_options: dict[str, str] = field(default_factory=dict)
    ledger: Path | None = None
    fail_fast: bool = False
    witnessed_only: bool = False
    foreseen: tuple[Expectation, ...] = ()
    workers: int = 1
    redactor: Redactor = field(default_factory=Redactor, compare=False)

    @property
    def contract(self) -> Contract:
        """The contract that tells what the document of ``spec`` demands."""
        return contract_for(self.spec)


class Progress(Protocol):
    """What is told while a run goes on."""

    def started(self, checks: Sequence[Check], session: Session) -> None:
        """The checks are about to be judged, some as skipped; each ends in one verdict."""

    def judging(self, check: Check) -> None:
        """A check begins."""

    def judged(self, verdict: Verdict) -> None:
        """A check ended."""


class Silent:
    """Progress that is told to nobody."""

    def started(self, checks: Sequence[Check], session: Session) -> None:
        """Say nothing."""

    def judging(self, check: Check) -> None:
        """Say nothing."""

    def judged(self, verdict: Verdict) -> None:
        """Say nothing."""


class _Resources:
    """What checks take beside the catalog, made when first needed and stopped at the end."""

    def __init__(self, options: RunOptions) -> None:
        self._options = options
        self._spark: Any = None

    def prepare(self, checks: Sequence[Check]) -> None:
        """Start at once what any of the checks will want: a machine without it is told early."""
        for check in checks:
            self.of(check)

    def of(self, check: Check) -> dict[str, Any]:
        """Return the arguments a check's function wants beyond the catalog."""
        wanted = check.function.__code__.co_varnames[1 : check.function.__code__.co_argcount]
        return {"spark": self._workbench()} if "spark" in wanted else {}

    def _workbench(self) -> Any:
        if self._spark is None:
            from icecheck.spark.bench import start_bench

            self._spark = start_bench(self._options.spark_options, self._options.target)
        return self._spark

    def stop(self) -> None:
        if self._spark is not None:
            self._spark.stop()


class _Heard:
    """What a run has heard: exchanges are passed on, and judged passively, in the checks' order."""

    def __init__(
        self,
        checks: Sequence[Check],
        session: Session,
        on_exchange: Callable[[Exchange], None] | None,
    ) -> None:
        self.observed: dict[str, Observed] = {}
        self._session = session
        self._on_exchange = on_exchange
        self._order = deque(check.id for check in checks)
        self._verdicts: dict[str, Verdict] = {}
        self._kept: dict[str, list[Exchange]] = {check.id: [] for check in checks}

    def take(self, *verdicts: Verdict) -> None:
        """Take in verdicts, and whatever was said meanwhile."""
        self._verdicts |= {verdict.check: verdict for verdict in verdicts}
        exchanges = self._session.exchanges
        # Others append to the list while this goes on.
        said = exchanges[:]
        del exchanges[: len(said)]
        for exchange in said:
            kept = self._kept.get(exchange.check)
            if kept is None:
                self._pass_on([exchange])
            else:
                kept.append(exchange)
        while self._order and self._order[0] in self._verdicts:
            check_id = self._order.popleft()
            self._pass_on(self._kept.pop(check_id), self._verdicts[check_id])

    @property
    def judged_something(self) -> bool:
        """Whether any check came to a pass or a failure."""
        return any(v.outcome in {Outcome.PASS, Outcome.FAIL} for v in self._verdicts.values())

    def end(self) -> None:
        """Pass on what checks have said that came to no verdict."""
        self.take()
        while self._order:
            self._pass_on(self._kept.pop(self._order.popleft()))

    def _pass_on(self, exchanges: Sequence[Exchange], verdict: Verdict | None = None) -> None:
        session = self._session
        observe(exchanges, session.schemas, self.observed, verdict, strangers=session.strangers)
        if self._on_exchange is not None:
            for exchange in exchanges:
                self._on_exchange(exchange)

    def verdicts(self, checks: Sequence[Check]) -> list[Verdict]:
        """Return the verdicts on these checks, in this order; some may have none."""
        return [self._verdicts[check.id] for check in checks if check.id in self._verdicts]


def run_checks(
    options: RunOptions,
    progress: Progress | None = None,
    *,
    transport: httpx.BaseTransport | None = None,
    on_exchange: Callable[[Exchange], None] | None = None,
) -> Run:
    """Run the selected checks and return the finished run; an interrupt ends it early.

    ``on_exchange`` is told every redacted exchange, those of one check together and in the order
    of the checks. Raises UsageError, TargetUnusable and SparkUnavailable before any check has run.
    """
    told = progress or Silent()
    every = collect(options.groups, options.contract, disruptive=True)
    chosen = allowed(select(every, options.globs), options.target)
    checks, skipped = demanded_by(options.spec, chosen)
    started_at = datetime.now(UTC)
    started = time.monotonic()
    session = open_session(
        options.target,
        run_id=options.run_id,
        seed=options.seed,
        spec=options.spec,
        transport=transport,
        ledger=options.ledger,
        redactor=options.redactor,
    )
    resources = _Resources(options)
    heard = _Heard(checks, session, on_exchange)
    breaker, whole = Breaker(session), False
    try:
        refuse_to_litter(session)
        resources.prepare(checks)
        try:
            told.started(chosen, session)
            for verdict in skipped:
                told.judged(verdict)
            breaker.watch()
            _judge_all(options, checks, breaker, resources, told, heard)
            whole = True
            if heard.judged_something:
                heard.take()
                session.undeclared |= try_undeclared(session, checks)
        except KeyboardInterrupt:
            pass
    finally:
        breaker.stopped.clear()
        resources.stop()
        breaker.leave()
        if not breaker.why:
            salvage(session)
        session.close()
        heard.end()
    verdicts = heard.verdicts(checks)
    if options.fail_fast and whole and not breaker.why:
        verdicts += _left_to_skip(checks, verdicts)
    return finish(
        options,
        [session.summary()],
        [*verdicts, *skipped],
        heard.observed,
        interrupted=not whole,
        tripped=breaker.why,
        started_at=started_at,
        wall_seconds=time.monotonic() - started,
        left_out=frozenset(c for c in every if not c.disruptive) - frozenset(chosen),
        announced=len(chosen),
    )


def _left_to_skip(checks: Sequence[Check], verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return verdicts that skip what a run which ended at its first failure did not come to."""
    judged = {verdict.check for verdict in verdicts}
    return [
        not_run(check, SkipKind.EXCLUDED_BY_USER, _STOPPED)
        for check in checks
        if check.id not in judged
    ]


def _judge_all(
    options: RunOptions,
    checks: Sequence[Check],
    breaker: Breaker,
    resources: _Resources,
    told: Progress,
    heard: _Heard,
) -> None:
    """Judge the checks until something ends the run; those with Spark come alone, and last."""

    def judged(check: Check) -> Verdict:
        return breaker.judge(check, resources.of(check))

    many = options.workers > 1
    together = [check for check in checks if many and check.group is not Group.SPARK]
    alone = [check for check in checks if not many or check.group is Group.SPARK]
    stages = [one_by_one(alone, judged, told.judging)]
    if together:
        workers, stopped = options.workers, breaker.stopped
        stages.insert(0, side_by_side(together, judged, told.judging, workers, stopped))
    for stage in stages:
        with contextlib.closing(stage) as verdicts:
            for verdict in verdicts:
                heard.take(verdict)
                told.judged(verdict)
                tripped = bool(breaker.why) and verdict.unanswered
                if tripped:
                    breaker.stopped.set()  # the other checks at hand need not wait for nothing
                if tripped or _ends(options, verdict):
                    return


def _ends(options: RunOptions, verdict: Verdict) -> bool:
    """Whether a verdict ends the run before the rest was judged."""
    if not options.fail_fast or verdict.level is not Level.MUST:
        return False
    return verdict.outcome is Outcome.FAIL and not is_foreseen(verdict, options.foreseen)
