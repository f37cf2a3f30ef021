"""Judges checks in one process: from the session's opening to the last look at the catalog."""

import contextlib
from collections.abc import Callable, Mapping, Sequence

import httpx

from icecheck.client.cleaning import remove_again
from icecheck.client.deletion_probe import DropIgnored, require_deletion
from icecheck.client.opening import open_session
from icecheck.client.session import Beginning, Session, SessionSummary
from icecheck.client.shared_setup import remove_shared
from icecheck.contract import contract_for
from icecheck.findings.telling.finding_card import one_line
from icecheck.findings.verdict import Verdict
from icecheck.judging.breaker import Breaker
from icecheck.judging.check import Check
from icecheck.judging.evidence import evidence_from
from icecheck.judging.observed import Observed
from icecheck.judging.observing import PassiveObserver
from icecheck.judging.undeclared import try_undeclared
from icecheck.run.finish import ProcessReport
from icecheck.run.options import RunOptions
from icecheck.run.resources import Resources
from icecheck.targets.unwritable import Unwritable
from icecheck.wire.connection import TargetUnusable
from icecheck.wire.exchange import Exchange, as_curl

Ending = TargetUnusable | Unwritable | KeyboardInterrupt
"""What ends a run early with a report."""
_PREFLIGHT_SHOWN_MAX = 20
_WORDS_CHARACTERS_MAX = 600


class NotBegun(Exception):
    """No check could be judged: ``ending`` is why, ``process`` is what is known of the catalog.

    ``process`` is None where nothing was sent.
    """

    def __init__(self, ending: Ending, process: ProcessReport | None) -> None:
        self.ending = ending
        self.process = process
        super().__init__(str(ending))


class CheckRunner:
    """A session with a catalog, and the judge of its checks; made by ``open_runner``.

    The command line has one for the whole run. Under pytest each process has one: the only process,
    or each worker of xdist. The code that made it ends it with ``close``.
    """

    def __init__(
        self,
        options: RunOptions,
        session: Session,
        on_exchange: Callable[[Exchange], None] | None = None,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        self.session = session
        self.resources = Resources(options)
        self.breaker = Breaker(session, sleep=sleep)
        beside = [contract_for(release) for release in options.beside]
        self._observer = PassiveObserver(session, on_exchange, beside)
        self._announced: list[Check] = []

    def announce(self, *checks: Check) -> None:
        """Announce the next checks: exchanges are judged passively in this order."""
        self._announced += checks
        self._observer.announce(*(check.id for check in checks))

    def judge(self, check: Check) -> Verdict:
        """Judge an announced check, from any thread; raises as ``judge.judge`` does."""
        return self.breaker.judge(check, self.resources.of(check))

    def take(self, verdict: Verdict) -> None:
        """Take in a verdict and judge its exchanges passively; from one thread only."""
        self._observer.take(verdict)

    def close(self, *, whole: bool) -> ProcessReport:
        """Clean up, close the connection, and return what is known beside the verdicts.

        If the run was not cut short (``whole``, and the breaker is closed) and any check was
        judged, operations that the catalog does not claim are tried first.
        """
        unwritten = ""
        try:
            if whole and not self.breaker.why and self._observer.judged_something:
                # An interrupt here ends only this attempt: every check was judged.
                with contextlib.suppress(KeyboardInterrupt):
                    self._observer.take()
                    self.session.undeclared |= try_undeclared(self.session, self._announced)
        except Unwritable as unwritable:
            unwritten = str(unwritable)
        finally:
            unwritten = self.end() or unwritten
        summary = self.session.summary()
        return ProcessReport(
            summary,
            self._observer.observed,
            self.breaker.why,
            unwritten,
            engine=self.resources.engine,
            observed_beside=self._observer.observed_beside,
        )

    def end(self) -> str:
        """Remove what is left on the catalog and close the connection.

        Return which file could not be written meanwhile, in words; "" if there is none.
        """
        self.breaker.stopped.clear()
        self.resources.stop()
        self.breaker.leave()
        if not self.breaker.why:
            remove_shared(self.session)  # some of what could not be removed may go with it
            remove_again(self.session)
        self.session.close()
        try:
            self._observer.end()
        except Unwritable as unwritable:
            return str(unwritable)
        return ""

    def not_begun(self, ending: Ending, sent: Sequence[Exchange]) -> NotBegun:
        """Return what to raise when nothing can be judged, after ``end``."""
        return _not_begun(ending, self.session.summary(), sent, self._observer.observed)


def open_runner(
    options: RunOptions,
    *,
    checks: Sequence[Check] = (),
    worker: str = "",
    transport: httpx.BaseTransport | None = None,
    on_exchange: Callable[[Exchange], None] | None = None,
    sleep: Callable[[float], None] | None = None,
) -> CheckRunner:
    """Open a session and find out whether a run can go on in it.

    ``checks`` are the first checks to be judged; their resources are started. ``worker`` is this
    process's name among several of one run. ``on_exchange`` is called with every redacted exchange,
    those of one check together and in the order of the checks. ``sleep`` waits, in seconds, where
    the catalog gave no usable answer. Raises UsageError, SparkUnavailable,
    and NotBegun for a target that cannot be used, a full disk and an interrupt; nothing is left
    open then.
    """
    beginning = Beginning(options.target.owner(options.run_id))
    try:
        session = open_session(
            options.target,
            run_id=options.run_id,
            seed=options.seed,
            worker=worker,
            spec=options.spec,
            transport=transport,
            ledger=options.ledger,
            redactor=options.redactor,
            replays=options.replays,
            beginning=beginning,
            sleep=sleep,
        )
    except (TargetUnusable, Unwritable, KeyboardInterrupt) as ending:
        raise not_begun(ending, beginning, on_exchange) from None
    runner = CheckRunner(options, session, on_exchange, sleep)
    sent: list[Exchange] = []
    try:
        with contextlib.ExitStack() as undo:
            undo.callback(runner.end)
            undo.callback(lambda: sent.extend(session.exchanges))
            runner.announce(*checks)
            with contextlib.suppress(DropIgnored):  # the check of that drop is judged
                require_deletion(session)
            runner.resources.prepare(checks)
            if not session.undropped:
                runner.breaker.watch()
            undo.pop_all()
    except (TargetUnusable, Unwritable, KeyboardInterrupt) as ending:
        raise runner.not_begun(ending, sent) from None
    return runner


def not_begun(
    ending: Ending, beginning: Beginning, on_exchange: Callable[[Exchange], None] | None
) -> NotBegun:
    """Return what to raise when no session could be opened; pass on what was sent until then."""
    sent = [*beginning.exchanges]
    if on_exchange is not None:
        with contextlib.suppress(Unwritable):  # the end of the output tells it
            for exchange in sent:
                on_exchange(exchange)
    return _not_begun(ending, beginning.summary(), sent)


def _not_begun(
    ending: Ending,
    summary: SessionSummary,
    sent: Sequence[Exchange],
    observed: Mapping[str, Observed] | None = None,
) -> NotBegun:
    if isinstance(ending, KeyboardInterrupt) and not sent:
        return NotBegun(ending, None)
    words = one_line(str(ending), _WORDS_CHARACTERS_MAX)
    process = ProcessReport(
        summary,
        observed or {},
        tripped=words if isinstance(ending, TargetUnusable) else "",
        unwritten=words if isinstance(ending, Unwritable) else "",
        preflight=tuple(
            evidence_from(each, as_curl(each)) for each in sent[-_PREFLIGHT_SHOWN_MAX:]
        ),
    )
    return NotBegun(ending, process)
