"""A run: collect, open the session, judge every check, conclude."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import httpx

from icecheck.assembly.collect import collect, select
from icecheck.assembly.finish import finish
from icecheck.breaker import Breaker
from icecheck.check import Check
from icecheck.client import Catalog
from icecheck.exchange import Exchange
from icecheck.expectations import is_foreseen
from icecheck.expected import Expectation
from icecheck.judge import judge, not_run
from icecheck.littering import refuse_to_litter
from icecheck.passive import Observed, observe
from icecheck.session import Session, open_session
from icecheck.target import Target
from icecheck.verdict import Group, Level, Outcome, Run, SkipKind, Verdict

__all__ = ["Progress", "RunOptions", "Silent", "run_checks"]

_STOPPED = "the run was to end at the first failure (--fail-fast)"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What to run and how.

    ``globs`` select by check id, ``spark_options`` go to the launcher, ``ledger`` is the file in
    which everything that the run makes is written down. ``fail_fast`` ends the run at
    the first failure of a MUST check that is none of the ``foreseen``; the rest is skipped as
    the user's wish.
    """

    target: Target
    run_id: str
    seed: int = 0
    spec: str = "1.10.0"
    groups: tuple[Group, ...] = (Group.CHECKS, Group.GENERATED, Group.SCENARIOS)
    globs: tuple[str, ...] = ()
    command: str = ""
    implementation: str = ""
    spark_options: dict[str, str] = field(default_factory=dict)
    ledger: Path | None = None
    fail_fast: bool = False
    foreseen: tuple[Expectation, ...] = ()


class Progress(Protocol):
    """What is told while a run goes on."""

    def started(self, checks: Sequence[Check], session: Session) -> None:
        """The checks are about to be judged."""

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

            self._spark = start_bench(self._options.spark_options)
        return self._spark

    def stop(self) -> None:
        if self._spark is not None:
            self._spark.stop()


def run_checks(
    options: RunOptions,
    progress: Progress | None = None,
    *,
    transport: httpx.BaseTransport | None = None,
    on_exchange: Callable[[Exchange], None] | None = None,
) -> Run:
    """Run the selected checks and return the finished run; an interrupt ends it early.

    ``on_exchange`` is told every redacted exchange as it happens (the recording on disk).
    Raises UsageError, TargetUnusable and SparkUnavailable before any check has run.
    """
    told = progress or Silent()
    every = collect(options.groups)
    checks = select(every, options.globs)
    started_at = datetime.now(UTC)
    started = time.monotonic()
    session = open_session(
        options.target,
        run_id=options.run_id,
        seed=options.seed,
        spec=options.spec,
        transport=transport,
        on_exchange=on_exchange,
        ledger=options.ledger,
    )
    resources = _Resources(options)
    observed: dict[str, Observed] = {}
    verdicts: list[Verdict] = []
    complete = tripped = False
    try:
        refuse_to_litter(session)
        resources.prepare(checks)
        with _drained(session, observed), contextlib.suppress(KeyboardInterrupt):
            told.started(checks, session)
            ends = partial(_ends, options)
            tripped = _judge_all(checks, session, resources, told, verdicts, observed, ends)
            if options.fail_fast and not tripped:
                verdicts += [
                    not_run(check, SkipKind.EXCLUDED_BY_USER, _STOPPED)
                    for check in checks[len(verdicts) :]
                ]
            complete = not tripped
    finally:
        resources.stop()
        session.close()
    interrupted = not complete and not tripped
    return finish(
        options,
        [session.summary()],
        verdicts,
        observed,
        interrupted=interrupted,
        tripped=tripped,
        started_at=started_at,
        wall_seconds=time.monotonic() - started,
        left_out=frozenset(every) - frozenset(checks),
    )


def _judge_all(
    checks: Sequence[Check],
    session: Session,
    resources: _Resources,
    told: Progress,
    verdicts: list[Verdict],
    observed: dict[str, Observed],
    ends: Callable[[Verdict], bool],
) -> bool:
    """Judge the checks in order; returns whether the circuit breaker opened."""
    breaker = Breaker()
    for check in checks:
        told.judging(check)
        verdict = judge(check, Catalog(session, check.id), resources.of(check))
        verdicts.append(verdict)
        told.judged(verdict)
        observe(session.exchanges, session.schemas, observed)
        session.exchanges.clear()
        if breaker.opened_by(verdict):
            return True
        if ends(verdict):
            break
    return False


def _ends(options: RunOptions, verdict: Verdict) -> bool:
    """Whether a verdict ends the run before the rest was judged."""
    if not options.fail_fast or verdict.level is not Level.MUST:
        return False
    return verdict.outcome is Outcome.FAIL and not is_foreseen(verdict, options.foreseen)


@contextlib.contextmanager
def _drained(session: Session, observed: dict[str, Observed]) -> Iterator[None]:
    """Judge passively whatever is still in the session's memory when the block ends."""
    try:
        yield
    finally:
        observe(session.exchanges, session.schemas, observed)
        session.exchanges.clear()
