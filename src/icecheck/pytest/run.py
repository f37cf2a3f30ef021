"""A conformance run under pytest: from the options to the report, with or without xdist."""

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from icecheck.client.opening import preflight
from icecheck.client.session import Beginning
from icecheck.contract import Contract, contract_for
from icecheck.contract.frozen import RequirementSet
from icecheck.findings.expectations import in_force
from icecheck.findings.expected_failures import ExpectationFile
from icecheck.findings.telling.finding_card import card_of
from icecheck.findings.verdict import Group, Level, Outcome, Run, SkipKind, Verdict
from icecheck.judging.check import Check
from icecheck.ownership.ledger_file import LEDGER_FILE
from icecheck.pytest.options import given, option
from icecheck.pytest.recording import PROPERTY, Recorder, checks_among, is_disruptive, uses_clients
from icecheck.pytest.termination import Termination
from icecheck.pytest.worker_report import WorkerReport
from icecheck.reports.exchanges import ExchangeLog
from icecheck.run.check_runner import NotBegun, not_begun
from icecheck.run.closing import residue_lines, unmet_lines
from icecheck.run.collect import collect, left_out
from icecheck.run.expectations import expectations_from, gated, selection_among
from icecheck.run.finish import ProcessReport, finish, left_to_skip
from icecheck.run.options import RunOptions
from icecheck.run.output import Output, part_of
from icecheck.run.releases.choosing import chosen_release
from icecheck.run.releases.demands import set_to_judge_by
from icecheck.run.replays.files import regressions_in
from icecheck.targets.options import TARGET_OPTIONS, Kind, TargetOption
from icecheck.targets.secret_marks import SecretMarks
from icecheck.targets.settings_file import DEFAULT_FILE, read_text
from icecheck.targets.sources import described
from icecheck.targets.target import Target, UsageError, new_run_id
from icecheck.targets.unwritable import Unwritable
from icecheck.targets.values import Facts, facts_from
from icecheck.wire.connection import TargetUnusable
from icecheck.wire.redaction import Redactor

DEFAULT_DIRECTORY = "icecheck-report"
_MARKS = f"{PROPERTY}-marks"
"""The key by which a worker of xdist is handed the key of the marks."""


class CatalogRun:
    """Collects verdicts in the controlling process and concludes at the end of the session."""

    def __init__(
        self,
        options: RunOptions,
        recorder: Recorder,
        report: str | None,
        file: ExpectationFile | None = None,
    ) -> None:
        self.options = options
        self.file = file
        self.recorder = recorder
        self.report = report
        self.verdicts: list[Verdict] = []
        self.workers: list[WorkerReport] = []
        self.run: Run | None = None
        self._output: Output | None = None
        self._part: ExchangeLog | None = None
        self._unwritten = ""
        self._termination = Termination()
        self._directory = Path(report or DEFAULT_DIRECTORY).absolute()
        self._started_at = datetime.now(UTC)
        self._started = time.monotonic()

    @classmethod
    def from_config(cls, config: pytest.Config) -> "CatalogRun":
        """Read the options; a wrong one is reported in one line as pytest's usage error."""
        handed = getattr(config, "workerinput", {})
        run_id = handed.get(PROPERTY) or option(config, "conformance-run-id")
        run_id = run_id or new_run_id()
        # What a worker was handed may be shown by others: the key of the marks must not be.
        key = handed.pop(_MARKS, None)
        marks = None if key is None else SecretMarks.from_handed(key)
        try:
            target = _target(config)
            redactor = Redactor(target.secrets, target.headers, marks)
            named = option(config, "conformance-spec") or None
            chosen = chosen_release(named, target, redactor, "--conformance-spec")
            contract = contract_for(chosen.spec)
            seed = _seed(option(config, "conformance-seed"))
            file = _expectation_file(option(config, "conformance-expectations"), contract)
            frozen = _frozen_set(option(config, "conformance-requirement-set"), contract)
            report = option(config, "conformance-report")
            kept = option(config, "conformance-regressions")
            replays = regressions_in(kept and Path(kept), report and Path(report))
        except UsageError as misuse:
            raise pytest.UsageError(str(misuse)) from None
        worker = handed.get("workerid", "")
        if report is not None:
            report = str(Path(report).absolute())  # a test may change the working directory
        options = RunOptions(
            target=target,
            run_id=run_id,
            seed=seed,
            groups=tuple(Group),
            command="pytest",
            ledger=None if report is None else Path(report) / _ledger_file(worker),
            witnessed_only=bool(option(config, "conformance-witnessed-only")),
            requirement_set=frozen,
            spec=chosen.spec,
            spec_reason=chosen.reason,
            beside=chosen.beside,
            foreseen=in_force(file, datetime.now(UTC).date()),
            redactor=redactor,
            replays=replays,
        )
        return cls(options, Recorder(options, worker), report, file)

    @property
    def tests_ledger(self) -> Path:
        """The ledger file of the objects that fixtures make for tests."""
        name = f"tests.{_ledger_file(self.recorder.worker)}"
        return self._directory / name

    def leave_out(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect the checks that strain a catalog, or use real clients, unless they are wanted.

        The latter are wanted where an argument names their folder or one of its files.
        """
        strains, clients = (
            not self.options.target.disruptive,
            not any(map(_names_clients, config.args)),
        )
        out = [i for i in items if (strains and is_disruptive(i)) or (clients and uses_clients(i))]
        if out:
            config.hook.pytest_deselected(items=out)
            items[:] = [item for item in items if item not in out]

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Find out with one request whether there is a catalog, before anything is collected."""
        if session.config.option.collectonly:
            return
        if hasattr(session.config, "workerinput"):
            if self.report:
                self._part = part_of(Path(self.report), self.recorder.worker)
                self.recorder.on_exchange = self._part.write
            return
        self._termination.watch()
        options = self.options
        beginning = Beginning(options.target.owner(options.run_id))
        try:
            if self.report:
                self._output = Output(Path(self.report), "--conformance-report")
                self.recorder.on_exchange = self._output.record
            preflight(
                options.target, options.contract, redactor=options.redactor, beginning=beginning
            )
        except UsageError as misuse:
            self._abandon(as_it_was=True)
            raise pytest.UsageError(str(misuse)) from None
        except TargetUnusable as unusable:
            ended = not_begun(unusable, beginning, self.recorder.on_exchange)
            page = self._reported_without_checks(ended)
            where = "" if page is None else f"; the report is {page}"
            raise pytest.UsageError(f"{unusable}{where}") from None

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Judge the function when it is a check."""
        return self.recorder.called(pyfuncitem) or None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the verdict out of a report, from whichever process."""
        if report.when == "call":
            for key, value in report.user_properties:
                if key == PROPERTY:
                    self.verdicts.append(msgspec.convert(value, Verdict))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Pass the run's id and the key of its marks to an xdist worker: all are of one run."""
        node.workerinput[PROPERTY] = self.options.run_id
        node.workerinput[_MARKS] = self.options.redactor.marks.handed

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take in the report of an xdist worker when it ends."""
        sent = getattr(node, "workeroutput", {}).get(PROPERTY)
        if sent is not None:
            self.workers.append(WorkerReport.from_builtins(sent))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """End this process's part; in the controller, conclude and write the report."""
        process = self.recorder.finished(whole=_ended_by_itself(session))
        if self._part is not None:
            try:
                self._part.close()
            except Unwritable as full:
                process = process and replace(process, unwritten=process.unwritten or str(full))
        asked = checks_among(getattr(session, "items", ()), self.recorder.options.contract)
        sent = WorkerReport(asked, process, self.recorder.misused).to_builtins()
        if hasattr(session.config, "workerinput"):
            output: dict[str, Any] = getattr(session.config, "workeroutput", {})
            output[PROPERTY] = sent
            return
        # The own report is converted like a worker's, so that there is one code path.
        self.workers.append(WorkerReport.from_builtins(sent))
        processes = [worker.process for worker in self.workers if worker.process is not None]
        if processes:
            self._conclude(session, processes)
        self._abandon(as_it_was=any(worker.misused for worker in self.workers))

    def _abandon(self, *, as_it_was: bool = False) -> None:
        """Leave no report where none was written; with ``as_it_was`` restore an earlier one."""
        if self._output is not None:
            self._output.abandon(as_it_was=as_it_was)
            self._output = None

    def _reported_without_checks(self, ended: NotBegun) -> Path | None:
        """Write the report of a run that ended before checks were collected; return its page."""
        if self._output is None or ended.process is None:
            return None
        run = finish(
            replace(self.options, groups=()),
            [ended.process],
            [],
            interrupted=False,
            started_at=self._started_at,
            wall_seconds=time.monotonic() - self._started,
        )
        try:
            return self._output.finish(run)
        except Unwritable as unwritable:
            raise pytest.UsageError(str(unwritable)) from None
        finally:
            self._output = None

    def _conclude(self, session: pytest.Session, processes: Sequence[ProcessReport]) -> None:
        """Conclude the run as the command line does, and write its report."""
        asked = list(dict.fromkeys(check for w in self.workers for check in w.asked))
        every = collect(tuple(Group), self.options.contract, disruptive=True)
        chosen = [check for check in every if check.id in set(asked)]
        groups = tuple(group for group in Group if any(c.group is group for c in chosen))
        missing = left_out((check for check in every if check.group in groups), chosen)
        self.run = finish(
            replace(self.options, groups=groups),
            processes,
            self._in_order(every, chosen, ended_early=bool(session.shouldfail)),
            interrupted=_is_interrupted(session, processes),
            started_at=self._started_at,
            wall_seconds=time.monotonic() - self._started,
            left_out=missing,
            announced=len(asked),
        )
        selection = selection_among(asked, groups, self.options.spec, whole=not missing)
        self.run = gated(self.run, self.file, selection)
        if session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
            session.exitstatus = _exit_status(self.run)
        unwritten = next((process.unwritten for process in processes if process.unwritten), "")
        if self._output is not None:
            try:
                if not unwritten:
                    self._output.take_parts()
                self._output.finish(self.run)
            except Unwritable as full:
                unwritten = str(full)
            self._output = None
        if unwritten:
            self._unwritten = unwritten
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def _in_order(
        self, every: Sequence[Check], chosen: Sequence[Check], *, ended_early: bool
    ) -> list[Verdict]:
        """Return the verdicts in the order of the command line.

        That is the suite's order, whichever process judged first, with the checks that the release
        does not demand at the end.
        """
        places = {check.id: place for place, check in enumerate(every)}
        verdicts = sorted(self.verdicts, key=lambda v: places.get(v.check, len(places)))
        if ended_early:
            verdicts += left_to_skip(chosen, verdicts)
        return sorted(verdicts, key=_is_not_demanded)

    def pytest_unconfigure(self) -> None:
        """Leave the process as it was."""
        self._termination.leave()

    def pytest_terminal_summary(self, terminalreporter: "pytest.TerminalReporter") -> None:
        """Add to pytest's own summary: passive failures, verdict, causes."""
        if self.run is None:
            return
        write = terminalreporter.write_line
        terminalreporter.section("icecheck")
        if self._unwritten:
            write(self._unwritten)
        asked = {v.check for v in self.verdicts}
        for verdict in self.run.verdicts:
            if verdict.check not in asked and verdict.outcome is Outcome.FAIL:
                write(card_of(verdict, self.options.contract))
        for cause in self.run.causes[:10]:
            write(f"cause ({cause.level}): {cause.title} — {len(cause.members)} checks")
        for line in unmet_lines(self.run):
            write(line)
        write(f"run {self.run.run_id}: {self.run.status}: {self.run.headline}")
        written = sorted(Path(self.report).glob(f"*{LEDGER_FILE}")) if self.report else []
        for line in residue_lines(self.run, written):
            write(line)


def _ended_by_itself(session: pytest.Session) -> bool:
    """Return whether the tests ended by themselves or at a first failure (--maxfail)."""
    ended = {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}
    return session.exitstatus in ended and not session.shouldstop


def _is_interrupted(session: pytest.Session, processes: Sequence[ProcessReport]) -> bool:
    """Return whether a user ended the tests, not the breaker or a first failure."""
    interrupted = session.exitstatus == pytest.ExitCode.INTERRUPTED
    return interrupted and not session.shouldfail and not any(p.tripped for p in processes)


def _names_clients(argument: str) -> bool:
    """Return whether an argument of pytest names the folder of the checks with real clients."""
    return "clients" in re.split(r"[/\\.:]", argument)


def _is_not_demanded(verdict: Verdict) -> bool:
    return verdict.skip is not None and verdict.skip.kind is SkipKind.SPEC_VERSION


def _expectation_file(named: str | None, contract: Contract) -> ExpectationFile | None:
    """Return the entries of the named file, or else of the one in the working directory."""
    path = Path(named or DEFAULT_FILE)
    if named is None and not path.exists():
        return None
    return expectations_from(read_text(path), path, contract)


def _ledger_file(worker: str) -> str:
    return f"{worker}.{LEDGER_FILE}" if worker else LEDGER_FILE


def _exit_status(run: Run) -> int:
    """Return pytest's exit code: a passive MUST failure counts like any other."""
    excused = run.expectations.excused
    if run.expectations.unmet or any(
        v.outcome is Outcome.FAIL and v.level is Level.MUST and v.gating and v.check not in excused
        for v in run.verdicts
    ):
        return pytest.ExitCode.TESTS_FAILED
    if not any(v.outcome in {Outcome.PASS, Outcome.FAIL} for v in run.verdicts):
        return pytest.ExitCode.NO_TESTS_COLLECTED
    return pytest.ExitCode.OK


def _target(config: pytest.Config) -> Target:
    """Return the target that options, ini file, environment and icecheck.toml describe together."""
    return Target(**described(target_settings(config), config=given(config, "config")))


def target_settings(config: pytest.Config, table: Sequence[TargetOption] = TARGET_OPTIONS) -> Facts:
    """Return what pytest's options and its ini file say of a target."""

    def said(option: TargetOption) -> Any:
        value = given(config, option.name)
        # An empty key of the ini file is ignored.
        emptied = option.kind in {Kind.SIGNING, Kind.LEVELS} and value in ("", [""])
        return None if emptied else value

    ours = [option for option in table if not option.not_under_pytest]
    return facts_from(ours, said, lambda option: f"--catalog-{option.name}")


def _frozen_set(set_id: Any, contract: Contract) -> RequirementSet | None:
    option_name = "--conformance-requirement-set"
    return set_to_judge_by(str(set_id), contract, option_name) if set_id else None


def _seed(said: str | None) -> int:
    try:
        return int(said or 0)
    except ValueError:
        raise UsageError(f"--conformance-seed: {said!r} is no whole number") from None
