"""pytest in, verdicts out: a pytest item that is a check calls the judge."""

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest

from icecheck.breaker import Breaker
from icecheck.card import card_of
from icecheck.causes import causes_of
from icecheck.check import Check, bind, declaration_of
from icecheck.cleaning import salvage
from icecheck.conclusion import ungated_if_unwitnessed
from icecheck.connection import TargetUnusable
from icecheck.contract import DEFAULT_SPEC_VERSION, contract_for
from icecheck.expectations import entry_for, met_by
from icecheck.expected import Expectation, Mark, Met
from icecheck.littering import refuse_to_litter
from icecheck.passive import Observed, observe
from icecheck.session import Session, SessionSummary, open_session
from icecheck.target import Target
from icecheck.undeclared import try_undeclared
from icecheck.unwritable import Unwritable
from icecheck.verdict import Level, Outcome, Verdict

__all__ = ["PROPERTY", "Recorder", "WorkerReport", "is_disruptive"]

PROPERTY = "icecheck"
"""Key of the user property that carries a verdict, as builtins, from worker to controller."""


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """What one worker (or the only process) knows at its end, beside the verdicts.

    ``tripped`` says why its circuit breaker opened, if it did.
    """

    session: SessionSummary
    observed: dict[str, Any]
    tripped: str = ""


@dataclass(slots=True)
class Recorder:
    """The part of the plugin that lives in the process where the checks run.

    It is not registered as a plugin itself: pytest looks at every attribute of a plugin, and some
    of its properties start what they give.

    ``not_demanded`` gives the verdict on a check that the run does not ask for.
    """

    target: Target
    run_id: str
    seed: int
    worker: str = ""
    spark_options: Mapping[str, str] = field(default_factory=dict)
    expected: tuple[Expectation, ...] = ()
    ledger: Path | None = None
    witnessed_only: bool = False
    spec: str = DEFAULT_SPEC_VERSION
    not_demanded: Callable[[Check], Verdict | None] = lambda _: None
    observed: dict[str, Observed] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    _session: Session | None = None
    _unusable: TargetUnusable | None = None
    _bench: Any = None
    _breaker: Breaker | None = None
    _called: list[Check] = field(default_factory=list)
    _judged_something: bool = False

    @property
    def session(self) -> Session:
        """The conversation with the catalog, opened on first use."""
        if self._unusable is not None:
            raise self._unusable
        if self._session is None:
            self._session = self._opened()
        return self._session

    def _opened(self) -> Session:
        """Open the session; a catalog that cannot be verified is tried once, not once a check."""
        try:
            session = open_session(
                self.target,
                run_id=self.run_id,
                seed=self.seed,
                worker=self.worker,
                ledger=self.ledger,
                spec=self.spec,
            )
            with contextlib.ExitStack() as undo:
                undo.callback(session.close)
                refuse_to_litter(session)
                undo.pop_all()
        except TargetUnusable as unusable:
            self._unusable = unusable
            raise
        return session

    @property
    def breaker(self) -> Breaker:
        """What judges the checks and watches over the target, from the first check on."""
        if self._breaker is None:
            self._breaker = Breaker(self.session)
            self._breaker.watch()
        return self._breaker

    @property
    def bench(self) -> Any:
        """The Spark bench, started on first use."""
        if self._bench is None:
            from icecheck.spark.bench import start_bench

            self._bench = start_bench(dict(self.spark_options), self.target)
        return self._bench

    def called(self, item: pytest.Function) -> bool:
        """Let the judge call an item's function if it is a check; whether it is one."""
        declared = declaration_of(item.obj)
        if declared is None:
            return False
        check = bind(declared, contract_for(self.spec))
        if check is None:
            pytest.skip(f"{declared.id} is about other versions of the document than {self.spec}")
        self._call(item, check)
        return True

    def _call(self, item: pytest.Function, check: Check) -> None:
        verdict = self.not_demanded(check)
        if verdict is None:
            resources = {"spark": self.bench} if "spark" in item.fixturenames else {}
            try:
                verdict = self.breaker.judge(check, resources)
            except Unwritable as unwritable:
                pytest.exit(str(unwritable), returncode=pytest.ExitCode.INTERNAL_ERROR)
        session = self.session
        heard, strangers = session.exchanges, session.strangers
        observe(heard, session.schemas, self.observed, verdict, strangers=strangers)
        self.session.exchanges.clear()
        self._called.append(check)
        self._judged_something |= verdict.outcome is not Outcome.SKIP
        if self.witnessed_only:
            verdict = ungated_if_unwitnessed(verdict)
        item.user_properties.append((PROPERTY, msgspec.to_builtins(verdict)))
        if self.breaker.why:
            item.session.shouldstop = self.breaker.why
        _show(item, verdict, self._mark_of(verdict))

    def _mark_of(self, verdict: Verdict) -> Mark | None:
        """Return how a verdict compares with the entry that names it, if one does.

        Its cause is found as if it were alone: what it shares with others is known at the end.
        """
        cause = None
        if any(entry.cause is not None for entry in self.expected):
            alone = causes_of([verdict], self.session.contract.requirements)
            cause = alone[0].id if alone else None
        entry = entry_for(verdict.check, cause, self.expected)
        return None if entry is None else Mark(verdict.check, entry, met_by(entry, verdict))

    def finished(self, *, whole: bool) -> WorkerReport | None:
        """End the session and return what this process knows; None if no check ran.

        Where nothing ended the tests early (``whole``), what the catalog does not claim is tried.
        """
        if self._bench is not None:
            self._bench.stop()
        if self._session is None:
            return None
        tripped = ""
        if self._breaker is not None:
            self._breaker.leave()
            tripped = self._breaker.why
        if whole and not tripped and self._judged_something:
            tried = try_undeclared(self._session, self._called)
            self._session.undeclared |= tried
        if not tripped:
            salvage(self._session)
        self._session.close()
        observe(self._session.exchanges, self._session.schemas, self.observed)
        return WorkerReport(
            session=self._session.summary(),
            observed={
                check: [seen.seen, list(seen.findings.items()), seen.evidence]
                for check, seen in self.observed.items()
            },
            tripped=tripped,
        )


def is_disruptive(item: pytest.Item) -> bool:
    """Whether a pytest item is a check that strains the catalog."""
    declared = declaration_of(item.obj) if isinstance(item, pytest.Function) else None
    return declared is not None and declared.disruptive


def _show(item: pytest.Function, verdict: Verdict, mark: Mark | None) -> None:
    """Map a verdict to what pytest knows: blocked and error are red, less than MUST warns."""
    if mark is not None:
        _show_expected(verdict, mark)
    match verdict.outcome:
        case Outcome.PASS:
            return
        case Outcome.SKIP:
            pytest.skip(f"{verdict.skip.kind if verdict.skip else 'skip'}: {verdict.summary}")
        case Outcome.FAIL if verdict.level is not Level.MUST or not verdict.gating:
            item.warn(pytest.PytestWarning(f"{verdict.check} ({verdict.level}): {verdict.summary}"))
        case _:
            pytest.fail(card_of(verdict), pytrace=False)


def _show_expected(verdict: Verdict, mark: Mark) -> None:
    """Map what the user foresaw to xfail, and what contradicts it to a failure."""
    said = f"{mark.entry.kind}: {mark.entry.reason}"
    match mark.met:
        case Met.AS_EXPECTED if verdict.outcome not in {Outcome.PASS, Outcome.SKIP}:
            # Returns under --runxfail, which asks for the failure as it is.
            pytest.xfail(f"{said} ({verdict.summary})")
        case Met.PASSES:
            pytest.fail(f"[XPASS(strict)] {said}: remove {mark.entry.words}", pytrace=False)
        case Met.FAILS_DIFFERENTLY:
            pytest.fail(f"{card_of(verdict)}\n  not as {mark.entry.words} says", pytrace=False)
        case _:
            return
