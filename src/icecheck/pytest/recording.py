"""Runs a pytest item that is a check, and records its verdict."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import msgspec
import pytest

from icecheck.client.catalog import Catalog
from icecheck.contract import Contract
from icecheck.findings.causes import causes_of
from icecheck.findings.expectations import entry_for, result_of_entry
from icecheck.findings.expected_failures import EntryMatch, EntryResult
from icecheck.findings.telling.finding_card import card_of
from icecheck.findings.verdict import Group, Level, Outcome, Verdict
from icecheck.judging.check import Check, Declaration, bind, declaration_of
from icecheck.run.check_runner import CheckRunner, NotBegun, open_runner
from icecheck.run.finish import ProcessReport, as_counted
from icecheck.run.options import RunOptions
from icecheck.run.releases.demands import demanded_by
from icecheck.spark.session import SparkWorkbench
from icecheck.spark.unavailable import SparkUnavailable
from icecheck.targets.target import UsageError
from icecheck.targets.unwritable import Unwritable
from icecheck.wire.connection import TargetUnusable
from icecheck.wire.exchange import Exchange

PROPERTY = "icecheck"
"""Key of the user property that carries a verdict, as builtins, from worker to controller."""


class Recorder:
    """The part of the plugin in the process where the checks run.

    It is not registered as a plugin itself: pytest reads every attribute of a plugin, and some of
    its properties start what they return. ``worker`` is the name that xdist gave this process.
    """

    def __init__(self, options: RunOptions, worker: str = "") -> None:
        self.options = options
        self.worker = worker
        self.unwritten = ""
        """The message about a file of the run that cannot be written; empty if there is none."""
        self.on_exchange: Callable[[Exchange], None] | None = None
        """Called with every redacted exchange; set before the first check."""
        self._runner: CheckRunner | None = None
        self._misuse: UsageError | None = None
        self._not_begun: NotBegun | None = None

    @property
    def misused(self) -> bool:
        """Whether no session could be opened because of a mistake of the user."""
        return self._misuse is not None

    @property
    def catalog(self) -> Catalog:
        """The catalog for a fixture; a check gets one with its own id."""
        with self._told_in_a_line():
            return Catalog(self._opened().session, "fixture")

    @property
    def spark(self) -> SparkWorkbench:
        """The Spark bench, started on first use."""
        with self._told_in_a_line():
            return self._opened().resources.spark

    def _opened(self) -> CheckRunner:
        """Return the runner, opened on first use; raise the first failure to open it each time."""
        if self._misuse is not None:
            raise self._misuse
        if self._not_begun is not None:
            raise self._not_begun.ending
        if self._runner is None:
            try:
                self._runner = open_runner(
                    self.options, worker=self.worker, on_exchange=self.on_exchange
                )
            except UsageError as misuse:
                self._misuse = misuse
                raise
            except NotBegun as ended:
                self._not_begun = ended
                raise ended.ending from None
        return self._runner

    @contextlib.contextmanager
    def _told_in_a_line(self) -> Iterator[None]:
        """Fail the current item in one line where the run cannot continue."""
        try:
            yield
        except Unwritable as unwritable:
            self.unwritten = str(unwritable)
            pytest.fail(str(unwritable), pytrace=False)
        except (TargetUnusable, UsageError, SparkUnavailable) as unusable:
            pytest.fail(str(unusable), pytrace=False)

    def called(self, item: pytest.Function) -> bool:
        """Judge an item's function if it is a check; return whether it is one."""
        declared = declaration_of(item.obj)
        if declared is None:
            return False
        check = bind(declared, self.options.contract)
        if check is None:
            spec = self.options.spec
            pytest.skip(f"{declared.id} is about other versions of the document than {spec}")
        self._call(item, check)
        return True

    def _call(self, item: pytest.Function, check: Check) -> None:
        try:
            with self._told_in_a_line():
                runner = self._opened()
                verdict = self._judged(check, runner)
        finally:
            if self.unwritten:
                item.session.shouldstop = self.unwritten
        verdict = as_counted(verdict, self.options)
        item.user_properties.append((PROPERTY, msgspec.to_builtins(verdict)))
        if runner.breaker.why:
            item.session.shouldstop = runner.breaker.why
        _show(item, verdict, self._mark_of(verdict, runner), self.options.contract)

    def _judged(self, check: Check, runner: CheckRunner) -> Verdict:
        checks, skipped = demanded_by(self.options.spec, (check,))
        if skipped:
            return skipped[0]
        runner.announce(*checks)
        verdict = runner.judge(check)
        runner.take(verdict)
        return verdict

    def _mark_of(self, verdict: Verdict, runner: CheckRunner) -> EntryMatch | None:
        """Return how a verdict compares with the entry that names it; None without an entry.

        Its cause is computed for this verdict alone: shared causes are known only at the end.
        """
        cause, foreseen = None, self.options.foreseen
        if any(entry.cause is not None for entry in foreseen):
            alone = causes_of([verdict], runner.session.contract)
            cause = alone[0].id if alone else None
        entry = entry_for(verdict.check, cause, foreseen)
        return (
            None
            if entry is None
            else EntryMatch(verdict.check, entry, result_of_entry(entry, verdict))
        )

    def finished(self, *, whole: bool) -> ProcessReport | None:
        """End the session and return what this process knows; None if there was no session.

        If no interrupt ended the tests (``whole``), operations that the catalog does not claim are
        tried.
        """
        if self._runner is None:
            return None if self._not_begun is None else self._not_begun.process
        process = self._runner.close(whole=whole and not self.unwritten)
        return replace(process, unwritten=self.unwritten or process.unwritten)


def uses_clients(item: pytest.Item) -> bool:
    """Return whether a pytest item is a check with a real client that is run only if asked for."""
    check = _check_in(item)
    return check is not None and check.group is Group.CLIENTS


def is_disruptive(item: pytest.Item) -> bool:
    """Return whether a pytest item is a check that strains the catalog."""
    check = _check_in(item)
    return check is not None and check.disruptive


def checks_among(items: Sequence[pytest.Item], contract: Contract) -> list[str]:
    """Return the ids of the checks among pytest items, in their order, but for other versions'."""
    known = contract.requirements.keys()
    found = (_check_in(item) for item in items)
    return [check.id for check in found if check is not None and known >= {*check.proves}]


def _check_in(item: pytest.Item) -> Declaration | None:
    return declaration_of(item.obj) if isinstance(item, pytest.Function) else None


def _show(
    item: pytest.Function, verdict: Verdict, mark: EntryMatch | None, contract: Contract
) -> None:
    """Map a verdict to a pytest outcome: blocked and error fail, failures below MUST warn."""
    if mark is not None:
        _show_expected(verdict, mark, contract)
    match verdict.outcome:
        case Outcome.PASS:
            return
        case Outcome.SKIP:
            pytest.skip(f"{verdict.skip.kind if verdict.skip else 'skip'}: {verdict.summary}")
        case Outcome.FAIL if verdict.level is not Level.MUST or not verdict.gating:
            item.warn(pytest.PytestWarning(f"{verdict.check} ({verdict.level}): {verdict.summary}"))
        case _:
            pytest.fail(card_of(verdict, contract), pytrace=False)


def _show_expected(verdict: Verdict, mark: EntryMatch, contract: Contract) -> None:
    """Map an expected failure to xfail, and a contradicted expectation to a failure."""
    said = f"{mark.entry.kind}: {mark.entry.reason}"
    match mark.met:
        case EntryResult.AS_EXPECTED if verdict.outcome not in {Outcome.PASS, Outcome.SKIP}:
            # Under --runxfail this call returns, and the failure is shown as it is.
            pytest.xfail(f"{said} ({verdict.summary})")
        case EntryResult.PASSES:
            pytest.fail(f"[XPASS(strict)] {said}: remove {mark.entry.words}", pytrace=False)
        case EntryResult.FAILS_DIFFERENTLY:
            pytest.fail(
                f"{card_of(verdict, contract)}\n  not as {mark.entry.words} says",
                pytrace=False,
            )
        case _:
            return
