"""Judges checks in one process: from the session's opening to the last look at the catalog."""

import contextlib
from collections.abc import Callable, Sequence

import httpx

from icecheck.client.cleaning import remove_again
from icecheck.client.deletion_probe import DropIgnored, require_deletion
from icecheck.client.opening import open_session
from icecheck.client.session import Session
from icecheck.client.shared_setup import remove_shared
from icecheck.findings.verdict import Verdict
from icecheck.judging.breaker import Breaker
from icecheck.judging.check import Check
from icecheck.judging.observing import PassiveObserver
from icecheck.judging.undeclared import try_undeclared
from icecheck.run.finish import ProcessReport
from icecheck.run.options import RunOptions
from icecheck.run.resources import Resources
from icecheck.wire.exchange import Exchange


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
        self.breaker = Breaker(session, sleep)
        self._observer = PassiveObserver(session, on_exchange)
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
        try:
            if whole and not self.breaker.why and self._observer.judged_something:
                # An interrupt here ends only this attempt: every check was judged.
                with contextlib.suppress(KeyboardInterrupt):
                    self._observer.take()
                    self.session.undeclared |= try_undeclared(self.session, self._announced)
        finally:
            self.end()
        return ProcessReport(self.session.summary(), self._observer.observed, self.breaker.why)

    def end(self) -> None:
        """Remove what is left on the catalog and close the connection."""
        self.breaker.stopped.clear()
        self.resources.stop()
        self.breaker.leave()
        if not self.breaker.why:
            remove_shared(self.session)  # some of what could not be removed may go with it
            remove_again(self.session)
        self.session.close()
        self._observer.end()


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
    the catalog gave no usable answer. Raises UsageError, TargetUnusable, SparkUnavailable and
    Unwritable; nothing is left open then.
    """
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
        sleep=sleep,
    )
    runner = CheckRunner(options, session, on_exchange, sleep)
    with contextlib.ExitStack() as undo:
        undo.callback(runner.end)
        runner.announce(*checks)
        with contextlib.suppress(DropIgnored):  # the check of that drop is judged
            require_deletion(session)
        runner.resources.prepare(checks)
        if not session.undropped:
            runner.breaker.watch()
        undo.pop_all()
    return runner
