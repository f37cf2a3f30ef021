"""A conformance run under pytest: from the options to the report, with or without xdist."""

import secrets
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from icecheck import target_sources as sources
from icecheck.assembly.demands import demanded_by, release_to_hold_to
from icecheck.assembly.expecting import expectations_from, gated, read_text
from icecheck.assembly.finish import finish
from icecheck.assembly.run import RunOptions
from icecheck.card import card_of
from icecheck.cli.closing import residue_lines, unmet_lines
from icecheck.connection import TargetUnusable
from icecheck.contract import DEFAULT_SPEC_VERSION, Contract, contract_for
from icecheck.expectations import DEFAULT_FILE, Selection, in_force
from icecheck.expected import ExpectationFile
from icecheck.ledger_file import LEDGER_FILE
from icecheck.passive import Observed
from icecheck.plugin_options import given, option
from icecheck.recording import PROPERTY, Recorder, WorkerReport, is_disruptive
from icecheck.session import preflight
from icecheck.target import SigV4, Target, UsageError, read_headers
from icecheck.unwritable import Unwritable
from icecheck.verdict import Evidence, Finding, Group, Level, Outcome, Run, Verdict

__all__ = ["CatalogRun"]

DEFAULT_DIRECTORY = "icecheck-report"

# Options whose values go to Target under their own names.
_AS_THEY_ARE = (
    "url", "warehouse", "prefix", "token", "credential", "oauth2-server-uri", "scope",
    "ca-bundle", "client-cert", "client-key", "location-root", "isolation", "accept-residue",
    "read-only", "disruptive",
)  # fmt: skip


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
        self._unwritten = ""
        self._directory = Path(report or DEFAULT_DIRECTORY).absolute()
        self._started_at = datetime.now(UTC)
        self._started = time.monotonic()

    @classmethod
    def from_config(cls, config: pytest.Config) -> "CatalogRun":
        """Read the options; a bad one is one line and pytest's usage error."""
        handed = getattr(config, "workerinput", {})
        run_id = handed.get(PROPERTY) or option(config, "conformance-run-id")
        run_id = run_id or secrets.token_hex(3)
        try:
            target = _target(config)
            named = option(config, "conformance-spec") or DEFAULT_SPEC_VERSION
            spec = release_to_hold_to(named, "--conformance-spec")
            seed = _whole_number(option(config, "conformance-seed"), "--conformance-seed") or 0
            file = _expectation_file(option(config, "conformance-expectations"), contract_for(spec))
        except UsageError as misuse:
            raise pytest.UsageError(str(misuse)) from None
        worker = handed.get("workerid", "")
        options = RunOptions(
            target=target,
            run_id=run_id,
            seed=seed,
            groups=tuple(Group),
            command="pytest",
            witnessed_only=bool(option(config, "conformance-witnessed-only")),
            spec=spec,
        )
        report = option(config, "conformance-report")
        if report is not None:
            report = str(Path(report).absolute())  # a test may go to another directory
        recorder = Recorder(
            target=target,
            run_id=run_id,
            seed=seed,
            worker=worker,
            ledger=None if report is None else Path(report) / _ledger_file(worker),
            witnessed_only=options.witnessed_only,
            spec=spec,
            not_demanded=lambda check: next(iter(demanded_by(spec, (check,))[1]), None),
            expected=in_force(file, datetime.now(UTC).date()),
        )
        return cls(options, recorder, report, file)

    @property
    def tests_ledger(self) -> Path:
        """The file in which what the fixtures make for tests is written down, beforehand."""
        name = f"tests.{_ledger_file(self.recorder.worker)}"
        return self._directory / name

    def leave_out(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect the checks that strain a catalog, unless the user allows them."""
        if self.options.target.disruptive:
            return
        kept = [item for item in items if not is_disruptive(item)]
        if len(kept) < len(items):
            config.hook.pytest_deselected(items=[i for i in items if is_disruptive(i)])
            items[:] = kept

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Find out in one request whether there is a catalog, before anything is collected."""
        if hasattr(session.config, "workerinput") or session.config.option.collectonly:
            return
        try:
            if self.report:
                _put_aside(Path(self.report))
            preflight(self.options.target)
        except (TargetUnusable, UsageError) as unusable:
            raise pytest.UsageError(str(unusable)) from None

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Let the judge call the function when it is a check."""
        return self.recorder.called(pyfuncitem) or None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the verdict out of a report, whichever process it comes from."""
        if report.when == "call":
            for key, value in report.user_properties:
                if key == PROPERTY:
                    self.verdicts.append(msgspec.convert(value, Verdict))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand the run's id to an xdist worker: all of them are one run."""
        node.workerinput[PROPERTY] = self.options.run_id

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what an xdist worker knows when it ends."""
        sent = getattr(node, "workeroutput", {}).get(PROPERTY)
        if sent is not None:
            self.workers.append(msgspec.convert(sent, WorkerReport))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Close this process's part; in the controller, conclude and write the report."""
        mine = self.recorder.finished(whole=_ended_by_itself(session))
        if hasattr(session.config, "workerinput"):
            if mine is not None:
                output: dict[str, Any] = getattr(session.config, "workeroutput", {})
                output[PROPERTY] = msgspec.to_builtins(mine)
            return
        if mine is not None:
            # Through builtins, as a worker's report comes: one form, one code path.
            self.workers.append(msgspec.convert(msgspec.to_builtins(mine), WorkerReport))
        if not self.workers:
            return
        tripped = next((w.tripped for w in self.workers if w.tripped), "")
        run = finish(
            self.options,
            [w.session for w in self.workers],
            self.verdicts,
            _merged(self.workers),
            interrupted=session.exitstatus == pytest.ExitCode.INTERRUPTED and not tripped,
            tripped=tripped,
            started_at=self._started_at,
            wall_seconds=time.monotonic() - self._started,
        )
        # What pytest selected is all that was asked for.
        asked = frozenset(v.check for v in self.verdicts)
        self.run = gated(run, self.file, Selection(asked, whole=False))
        if session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
            session.exitstatus = _exit_status(self.run)
        if self.report:
            from icecheck.assembly.output import write_report

            try:
                write_report(self.run, Path(self.report))
            except Unwritable as unwritable:
                self._unwritten = str(unwritable)
                session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def pytest_terminal_summary(self, terminalreporter: "pytest.TerminalReporter") -> None:
        """Say what pytest's own summary cannot: passive failures, verdict, causes."""
        if self.run is None:
            return
        write = terminalreporter.write_line
        terminalreporter.section("icecheck")
        asked = {v.check for v in self.verdicts}
        for verdict in self.run.verdicts:
            if verdict.check not in asked and verdict.outcome is Outcome.FAIL:
                write(card_of(verdict))
        for cause in self.run.causes[:10]:
            write(f"cause ({cause.level}): {cause.title} — {len(cause.members)} checks")
        if self._unwritten:
            write(self._unwritten)
        for line in unmet_lines(self.run):
            write(line)
        write(f"run {self.run.run_id}: {self.run.status}: {self.run.headline}")
        written = sorted(Path(self.report).glob(f"*{LEDGER_FILE}")) if self.report else []
        for line in residue_lines(self.run, written):
            write(line)


def _put_aside(directory: Path) -> None:
    """Leave nothing of an earlier run where somebody may take it for this one's."""
    from icecheck.assembly.output import put_aside

    try:
        put_aside(directory)
    except OSError as error:
        raise UsageError(
            f"--conformance-report {directory} cannot be written ({error.strerror}): name another "
            "directory"
        ) from None


def _ended_by_itself(session: pytest.Session) -> bool:
    return session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED} and not (
        session.shouldstop or session.shouldfail
    )


def _expectation_file(named: str | None, contract: Contract) -> ExpectationFile | None:
    """Return the entries of the file that was named, or else of the one that lies here."""
    path = Path(named or DEFAULT_FILE)
    if named is None and not path.exists():
        return None
    return expectations_from(read_text(path), path, contract)


def _ledger_file(worker: str) -> str:
    return f"{worker}.{LEDGER_FILE}" if worker else LEDGER_FILE


def _exit_status(run: Run) -> int:
    """Return pytest's own number: a passive MUST failure is a failure like any other."""
    excused = run.expectations.excused
    if run.expectations.unmet or any(
        v.outcome is Outcome.FAIL and v.level is Level.MUST and v.gating and v.check not in excused
        for v in run.verdicts
    ):
        return pytest.ExitCode.TESTS_FAILED
    if not any(v.outcome in {Outcome.PASS, Outcome.FAIL} for v in run.verdicts):
        return pytest.ExitCode.NO_TESTS_COLLECTED
    return pytest.ExitCode.OK


def _merged(workers: list[WorkerReport]) -> dict[str, Observed]:
    merged: dict[str, Observed] = {}
    for worker in workers:
        for check, (seen, findings, evidence) in worker.observed.items():
            merged.setdefault(check, Observed()).merge(
                Observed(
                    seen=seen,
                    findings={tuple(k): msgspec.convert(f, Finding) for k, f in findings},
                    evidence=None if evidence is None else msgspec.convert(evidence, Evidence),
                )
            )
    return merged


def _target(config: pytest.Config) -> Target:
    """Return the target that options, ini file, environment and icecheck.toml describe together."""
    facts = sources.merged(
        _facts(config), sources.from_environment(), _from_file(given(config, "config"))
    )
    return Target(**facts)


def _facts(config: pytest.Config) -> sources.Facts:
    def said(name: str) -> Any:
        return given(config, name)

    second = {kind: said(f"second-{kind}") for kind in ("token", "credential")}
    objects = {kind: said(f"given-{kind}") for kind in ("namespace", "table", "view")}
    return {
        **{name.replace("-", "_"): said(name) for name in _AS_THEY_ARE},
        "timeout_seconds": _number(said("timeout"), "--catalog-timeout"),
        "requests_per_second": _number(said("rate-limit"), "--catalog-rate-limit"),
        "race_rounds": _whole_number(said("race-rounds"), "--catalog-race-rounds"),
        "headers": read_headers(said("header") or (), "--catalog-header") or None,
        "namespace": tuple(said("namespace").split(".")) if said("namespace") else None,
        "claims": tuple(said("claim")) if said("claim") else None,
        "allow_hosts": tuple(said("allow-host")) if said("allow-host") else None,
        "sigv4": SigV4.read(said("sigv4")) if said("sigv4") else None,
        "second": sources.principal_from(second),
        "given": sources.given_from(objects),
    }


def _number(said: float | str | None, option: str) -> float | None:
    """Read a number that may come from the ini file, where everything is text."""
    try:
        return None if said is None else float(said)
    except ValueError:
        raise UsageError(f"{option}: {said!r} is no number") from None


def _from_file(named: str | None) -> sources.Facts:
    path = Path(named or DEFAULT_FILE)
    if named is None and not path.exists():
        return {}
    return sources.from_toml(read_text(path), str(path))


def _whole_number(said: int | str | None, option: str) -> int | None:
    try:
        return None if said is None else int(said)
    except ValueError:
        raise UsageError(f"{option}: {said!r} is no whole number") from None
