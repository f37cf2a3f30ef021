"""A run of the command line: collect, judge every check, conclude."""

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Protocol

import httpx

from icecheck.client.session import Session
from icecheck.findings.expectations import is_foreseen
from icecheck.findings.verdict import Group, Level, Outcome, Run, Verdict
from icecheck.judging.check import Check
from icecheck.run.check_runner import CheckRunner, Ending, NotBegun, open_runner
from icecheck.run.collect import allowed, collect, left_out, select
from icecheck.run.finish import finish, left_to_skip
from icecheck.run.options import RunOptions
from icecheck.run.releases.demands import demanded_by
from icecheck.run.replays.files import expect_checks_of
from icecheck.run.workers import judge_in_threads, judge_in_turn
from icecheck.targets.unwritable import Unwritable
from icecheck.wire.exchange import Exchange

_ALONE = frozenset({Group.SPARK, Group.CLIENTS})


class Progress(Protocol):
    """Callbacks for the progress of a run."""

    def started(self, checks: Sequence[Check], session: Session) -> None:
        """Announce the checks, some of them to be skipped; each ends in one verdict."""

    def judging(self, check: Check) -> None:
        """Announce a check that begins."""

    def judged(self, verdict: Verdict) -> None:
        """Report a check that ended."""


class Silent:
    """Progress that is not shown."""

    def started(self, checks: Sequence[Check], session: Session) -> None:
        """Say nothing."""

    def judging(self, check: Check) -> None:
        """Say nothing."""

    def judged(self, verdict: Verdict) -> None:
        """Say nothing."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that has ended, and what ended it early, if that is to be told beside the report."""

    run: Run
    error: Ending | None = None


def run_checks(
    options: RunOptions,
    progress: Progress | None = None,
    *,
    transport: httpx.BaseTransport | None = None,
    on_exchange: Callable[[Exchange], None] | None = None,
) -> Run:
    """Run the selected checks and return the finished run; an interrupt ends it early.

    ``on_exchange`` is called with every redacted exchange, those of one check together and in the
    order of the checks. Raises UsageError, TargetUnusable and SparkUnavailable before any check has
    run, and Unwritable.
    """
    ended = run_as_far_as_possible(options, progress, transport=transport, on_exchange=on_exchange)
    if ended.error is not None:
        raise ended.error
    return ended.run


def run_as_far_as_possible(
    options: RunOptions,
    progress: Progress | None = None,
    *,
    transport: httpx.BaseTransport | None = None,
    on_exchange: Callable[[Exchange], None] | None = None,
    on_closing: Callable[[], None] = lambda: None,
) -> Ended:
    """Run the selected checks; return what was found also if something ends the run early.

    ``on_closing`` is called when nothing more is judged: what follows should not be interrupted.
    Raises UsageError and SparkUnavailable before any check has run, and KeyboardInterrupt before
    anything was sent.
    """
    told = progress or Silent()
    every = collect(options.groups, options.contract, disruptive=True)
    chosen = allowed(select(every, options.globs), options.target)
    expect_checks_of(options.replays, (check.id for check in chosen))
    checks, skipped = demanded_by(options.spec, chosen)
    started_at = datetime.now(UTC)
    started = time.monotonic()
    concluded = partial(
        finish,
        options,
        started_at=started_at,
        left_out=left_out(every, chosen),
        announced=len(chosen),
    )
    try:
        runner = open_runner(options, checks=checks, transport=transport, on_exchange=on_exchange)
    except NotBegun as ended:
        on_closing()
        if ended.process is None:
            raise KeyboardInterrupt from None
        interrupted = isinstance(ended.ending, KeyboardInterrupt)
        wall = time.monotonic() - started
        run = concluded([ended.process], [], interrupted=interrupted, wall_seconds=wall)
        return Ended(run, ended.ending)
    judged: dict[str, Verdict] = {}
    whole, unwritten = False, None
    try:
        try:
            told.started(chosen, runner.session)
            for verdict in skipped:
                told.judged(verdict)
            _judge_all(options, checks, runner, told, judged)
            whole = True
        except KeyboardInterrupt:
            pass
        except Unwritable as error:
            unwritten = error
    finally:
        on_closing()
        process = runner.close(whole=whole)
    if unwritten is not None:
        process = replace(process, unwritten=str(unwritten))
    elif process.unwritten:
        unwritten = Unwritable(process.unwritten)
    verdicts = [judged[check.id] for check in checks if check.id in judged]
    if options.fail_fast and whole and not process.tripped:
        verdicts += left_to_skip(checks, verdicts)
    run = concluded(
        [process],
        [*verdicts, *skipped],
        interrupted=not whole and unwritten is None,
        wall_seconds=time.monotonic() - started,
    )
    return Ended(run, unwritten)


def _judge_all(
    options: RunOptions,
    checks: Sequence[Check],
    runner: CheckRunner,
    told: Progress,
    judged: dict[str, Verdict],
) -> None:
    """Judge the checks until something ends the run; those with real clients alone, and last."""
    breaker = runner.breaker
    many = options.workers > 1
    together = [check for check in checks if many and check.group not in _ALONE]
    alone = [check for check in checks if not many or check.group in _ALONE]
    stages = [judge_in_turn(alone, runner.judge, told.judging)]
    if together:
        workers, stopped = options.workers, breaker.stopped
        stages.insert(0, judge_in_threads(together, runner.judge, told.judging, workers, stopped))
    for stage in stages:
        with contextlib.closing(stage) as verdicts:
            for verdict in verdicts:
                judged[verdict.check] = verdict
                runner.take(verdict)
                told.judged(verdict)
                ended_it = verdict.unanswered or verdict.check == breaker.ended_by
                tripped = bool(breaker.why) and ended_it
                if tripped:
                    breaker.stopped.set()  # other checks in progress need not wait for retries
                if tripped or _ends(options, verdict):
                    return


def _ends(options: RunOptions, verdict: Verdict) -> bool:
    """Return whether a verdict ends the run early."""
    if not options.fail_fast or verdict.level is not Level.MUST:
        return False
    return verdict.outcome is Outcome.FAIL and not is_foreseen(verdict, options.foreseen)
