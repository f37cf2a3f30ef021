"""Judges the checks of a recorded run again, by its recorded answers, without a catalog."""

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from icecheck.bundles.options import options_from
from icecheck.bundles.recording import Recording
from icecheck.bundles.replaying import ReplayTransport, Unrecorded
from icecheck.bundles.stated import stated_summary
from icecheck.client.shared_objects import SETUP_ORDINAL
from icecheck.contract import Contract
from icecheck.findings.symptoms import symptom_named
from icecheck.findings.verdict import Evidence, Group, Outcome, Run, SkipKind, Verdict
from icecheck.judging.check import Check
from icecheck.judging.judge import not_run
from icecheck.judging.observed import Observed
from icecheck.judging.passive import observe
from icecheck.replies.schema import SchemaJudge, schema_judge
from icecheck.reports.restored import verdict_in
from icecheck.run.check_runner import CheckRunner, NotBegun, open_runner
from icecheck.run.collect import allowed, collect, left_out, select
from icecheck.run.finish import ProcessReport, finish
from icecheck.run.options import RunOptions
from icecheck.run.releases.demands import demanded_by
from icecheck.targets.target import UsageError
from icecheck.wire.exchange import Exchange

_ELSEWHERE = {Group.SPARK: "Spark has sent its requests", Group.CLIENTS: "a real client has sent"}


_OF_A_WORKER = re.compile(r"probe\.(deletion|witness|home)gw\d+")
_READ_SECRETS = frozenset({"getToken.lifetime"})
"""Checks that read more of a token than whether it is equal to another one."""


def is_unrecorded(verdict: Verdict) -> bool:
    """Return whether a check ended because it asked for what was not recorded."""
    return verdict.outcome is Outcome.ERROR and verdict.findings[0].actual == Unrecorded.__name__


@dataclass(frozen=True, slots=True)
class Replayed:
    """A run whose checks were judged again.

    ``judged`` are the verdicts of checks before the end of the run has settled them. ``only_read``
    are the checks that could not be replayed, each with the reason: their verdicts
    are those that run.json states. ``left`` is check -> its recorded requests that it did not send
    again. ``unknown`` are the ids in run.json that no check here has, ``missing`` the checks here
    of which run.json says nothing. ``failure`` says why nothing could be replayed, or is empty.
    """

    run: Run
    contract: Contract
    judged: Mapping[str, Verdict] = field(default_factory=dict)
    only_read: Mapping[str, str] = field(default_factory=dict)
    left: Mapping[str, Sequence[Exchange]] = field(default_factory=dict)
    unknown: Sequence[str] = ()
    missing: Sequence[str] = ()
    failure: str = ""


def replayed(document: Mapping[str, Any], exchanges: Sequence[Exchange]) -> Replayed:
    """Judge a recorded run again; nothing is sent, and no file outlives the call.

    Raises UsageError for a report that does not say how it was run.
    """
    with tempfile.TemporaryDirectory(prefix="icecheck-verify-") as folders:
        recording = Recording(exchanges, Path(folders), _setups(document))
        secrets = recording.secrets()
        options = options_from(document, secrets)
        transport = ReplayTransport(recording, options.redactor, secrets)
        return _Replay(document, recording, options, transport).result()


def _setups(document: Mapping[str, Any]) -> dict[str, list[Evidence]]:
    """Return check -> what is told of the shared setup that it used; of findings alone it is."""
    told = (row for row in document["checks"] if row["exchanges"])
    stated = (verdict_in(row, symptom_named) for row in told)
    return {v.check: [e for e in v.evidence if e.ordinal == SETUP_ORDINAL] for v in stated}


class _NotToBeOpened(Exception):
    """None of a run's checks can be replayed; ``lawful`` if nothing is wrong with the recording."""

    def __init__(self, words: str, *, lawful: bool = False) -> None:
        self.lawful = lawful
        super().__init__(words)


class _Replay:
    """One replay: its checks in order, and what is found out about each."""

    def __init__(
        self,
        document: Mapping[str, Any],
        recording: Recording,
        options: RunOptions,
        transport: ReplayTransport,
    ) -> None:
        self._document = document
        self._recording = recording
        self._options = options
        self._transport = transport
        self._rows = {row["id"]: row for row in document["checks"] if not row["passive"]}
        self._only_read: dict[str, str] = {}
        self._left: dict[str, Sequence[Exchange]] = {}

    def result(self) -> Replayed:
        """Judge the checks again, and conclude from their verdicts as a run does."""
        options = self._options
        every = collect(options.groups, options.contract, disruptive=True)
        chosen = allowed(select(every, options.globs), options.target)
        checks, skipped = demanded_by(options.spec, chosen)
        known = {check.id for check in chosen}
        unknown = [id_ for id_ in self._rows if id_ not in known]
        missing = [c.id for c in chosen if c.id not in self._rows and self._document["complete"]]
        failure = ""
        try:
            verdicts, process = self._judged([c for c in checks if c.id in self._rows])
        except _NotToBeOpened as why:
            failure = "" if why.lawful else str(why)
            verdicts, process = self._as_stated([c for c in checks if c.id in self._rows], str(why))
        verdicts += [verdict for verdict in skipped if verdict.check in self._rows]
        verdicts += [verdict_in(self._rows[id_], symptom_named) for id_ in unknown]
        run = finish(
            options,
            [process],
            verdicts,
            interrupted=self._document["verdict"]["exit_reason"] == "interrupted",
            started_at=datetime.now(UTC),
            wall_seconds=0.0,
            left_out=left_out(every, chosen),
            announced=len(chosen),
        )
        judged = {verdict.check: verdict for verdict in verdicts}
        only_read, left = self._only_read, self._left
        return Replayed(run, options.contract, judged, only_read, left, unknown, missing, failure)

    def _judged(self, checks: Sequence[Check]) -> tuple[list[Verdict], ProcessReport]:
        """Judge checks in a session on the recorded answers; raises _NotToBeOpened."""
        runner = self._opened()
        runner.session.recorded = self._recording
        verdicts = [self._verdict_on(check, runner) for check in checks]
        observed = self._observed(verdicts)
        report = runner.close(whole=False)
        return verdicts, ProcessReport(report.session, observed, report.tripped)

    def _opened(self) -> CheckRunner:
        if any(_OF_A_WORKER.match(each.check) for each in self._recording.exchanges):
            raise _NotToBeOpened("several processes have judged the checks", lawful=True)
        if self._document["config"].get("replays"):
            raise _NotToBeOpened("histories of replay files were run again too", lawful=True)
        try:
            return open_runner(self._options, transport=self._transport, sleep=lambda _: None)
        except (NotBegun, Unrecorded, UsageError) as unusable:
            raise _NotToBeOpened(f"the run cannot be opened again: {unusable}") from None

    def _as_stated(self, checks: Sequence[Check], why: str) -> tuple[list[Verdict], ProcessReport]:
        """Return the verdicts that run.json states, where none can be replayed."""
        self._only_read |= {check.id: why for check in checks}
        verdicts = [verdict_in(self._rows[check.id], symptom_named) for check in checks]
        summary = stated_summary(self._document, self._recording.exchanges)
        stated = self._document["verdict"]
        # A whole run has this reason too, if all that it missed is without an answer.
        tripped = stated["exit_reason"] == "target-unusable" and not self._document["complete"]
        words = stated["headline"] if tripped else ""
        return verdicts, ProcessReport(summary, self._observed(verdicts), words)

    def _verdict_on(self, check: Check, runner: CheckRunner) -> Verdict:
        row = self._rows[check.id]
        stated = verdict_in(row, symptom_named)
        if why := _ELSEWHERE.get(check.group):
            self._only_read[check.id] = why
            return stated
        skip = stated.skip
        if (
            skip
            and skip.kind is SkipKind.EXCLUDED_BY_USER
            and not self._recording.of_check(check.id)
        ):
            return not_run(check, skip.kind, skip.reason)
        verdict = runner.judge(check)
        runner.session.exchanges.clear()
        left = self._recording.unused_of(check.id)
        if why := self._why_not(check, verdict, left):
            self._only_read[check.id] = why
            return stated
        if left:
            self._left[check.id] = left
        return verdict

    def _why_not(self, check: Check, verdict: Verdict, left: Sequence[Exchange]) -> str:
        """Return why a replay cannot tell how a check ends; "" if it does."""
        if check.id in self._transport.raced:
            return "several of its requests were sent at the same time"
        if check.id in _READ_SECRETS and self._recording.of_check(check.id):
            return "it reads a secret, which the recording hides"
        if check.id in self._transport.derived and (left or is_unrecorded(verdict)):
            return "it shows credentials made from a secret, which the recording hides"
        return ""

    def _observed(self, verdicts: Sequence[Verdict]) -> dict[str, Observed]:
        judged = {verdict.check: verdict for verdict in verdicts}
        schemas = schema_judge(self._options.contract)
        return observed_in(self._recording.exchanges, judged, schemas)


def observed_in(
    exchanges: Sequence[Exchange], verdicts: Mapping[str, Verdict], schemas: SchemaJudge
) -> dict[str, Observed]:
    """Judge recorded exchanges passively, those of one check together, as the run has done."""
    observed: dict[str, Observed] = {}
    foreign: dict[str, Observed] = {}
    for check_id, together in _by_check(exchanges):
        observe(together, schemas, observed, verdicts.get(check_id), foreign)
    for check_id, seen in foreign.items():
        observed.setdefault(check_id, Observed()).merge(seen)
    return observed


def _by_check(exchanges: Sequence[Exchange]) -> list[tuple[str, list[Exchange]]]:
    groups: list[tuple[str, list[Exchange]]] = []
    for exchange in exchanges:
        if not groups or groups[-1][0] != exchange.check:
            groups.append((exchange.check, []))
        groups[-1][1].append(exchange)
    return groups
