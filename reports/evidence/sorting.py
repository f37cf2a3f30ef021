"""Sorts what was found into reports to take in, duplicates, and what goes to the quarantine."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from icecheck.reports.evidence.arrivals import (
    DUPLICATE,
    INGESTED,
    QUARANTINED,
    Arrivals,
    Exchanges,
    Seen,
)
from icecheck.reports.evidence.files import SourceFile
from icecheck.reports.evidence.moments import moment

ORPHAN = "no run.json that was taken in names this file as its exchanges"


@dataclass(frozen=True, slots=True)
class Report:
    """A report that is to be taken in: its URI, who it is, and its exchanges.

    ``stated`` is the digest that it states of them. Of a ``renewed`` one only the exchanges are
    new: they came later, or have changed. A ``resumed`` one was begun by an ingestion that did not
    end. ``file`` is None for one whose run.json is not among the files.
    """

    uri: str
    sha256: str
    report_id: str
    run_id: str
    day: date
    stated: str | None = None
    file: SourceFile | None = None
    exchanges: Exchanges | None = None
    renewed: bool = False
    resumed: bool = False

    @property
    def seen(self) -> list[Seen]:
        """Its files, as ``bronze.files`` has them once it is taken in."""
        found = []
        if self.file is not None:
            found.append(Seen(self.file, INGESTED, "", self.sha256, self.report_id))
        if self.exchanges is not None:
            its = self.exchanges
            found.append(Seen(its.file, INGESTED, "", its.sha256, self.report_id))
        return found


@dataclass(slots=True)
class Ingestion:
    """What one ingestion found: files that were known, reports taken in, files that were not.

    ``whole`` are files of runs that lacked nothing.
    """

    known: int = 0
    reports: list[Report] = field(default_factory=list)
    others: list[Seen] = field(default_factory=list)
    whole: list[Seen] = field(default_factory=list)
    lines: int = 0
    bad_lines: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """What bronze has of a report, and whether all of it was taken in."""

    report_id: str
    run_id: str
    day: date
    sha256: str
    file: str
    finished: bool
    stated: str | None = None
    exchanges_file: str | None = None
    exchanges_sha256: str | None = None


def other_content(run_id: str, file: str) -> str:
    """Return the reason for which a report is not taken in whose run is there already."""
    return f"run {run_id} was taken in from {file} with other content"


class Sorting:
    """Enters each file that was looked at into an ingestion."""

    __slots__ = ("_arrivals", "_before", "_done", "_mine", "_mismatched", "_seen")

    def __init__(self, before: Mapping[str, Taken], arrivals: Arrivals, done: Ingestion) -> None:
        self._before = dict(before)
        self._arrivals = arrivals
        self._done = done
        self._mine: dict[str, Report] = {}
        self._seen: set[str] = set()
        self._mismatched: dict[str, str] = {}

    def sort(self, heads: Iterable[Mapping[str, Any]]) -> None:
        """Enter reports in the given order: of two that are the same, the first is taken in."""
        for head in heads:
            self._enter(head, self._arrivals.by_uri[head["uri"]])

    def left(self) -> list[SourceFile]:
        """Return the exchanges that no report has, of those that were sorted and any before."""
        mine = {each.exchanges.file.uri for each in self._mine.values() if each.exchanges}
        found = []
        for each in self._arrivals.by_uri.values():
            before = self._arrivals.known.get(each.uri)
            lost = before is not None and before.state == QUARANTINED
            if not each.holds_exchanges or each.uri in self._seen | mine:
                continue
            if lost or self._arrivals.is_fresh(each):
                found.append(each)
        return found

    def end(self, lacking: Sequence[Taken]) -> None:
        """Enter the exchanges that are left: for a run that lacks them, or as lost.

        ``lacking`` are runs that may, besides those of this ingestion.
        """
        others = {each.report_id: each for each in lacking}
        for file in self.left():
            exchanges = self._arrivals.with_digest(file)
            of_now = {report_id: self._before[report_id] for report_id in self._mine}
            theirs = [
                each
                for each in (others | of_now).values()
                if exchanges is not None and self._belongs(exchanges, each)
            ]
            if exchanges is not None and len(theirs) == 1:
                self._add(theirs[0], exchanges)
                continue
            if not self._arrivals.is_fresh(file) and file.uri not in self._mismatched:
                continue  # nothing new is known of it: the reason that is there stays
            problem = self._arrivals.problems.get(file.uri, "")
            reason = problem or self._mismatched.get(file.uri, ORPHAN)
            sha256 = None if exchanges is None else exchanges.sha256
            again = bool(problem)
            self._done.others.append(Seen(file, QUARANTINED, reason, sha256, again=again))
        self._done.reports += self._mine.values()

    def _belongs(self, exchanges: Exchanges, report: Taken) -> bool:
        """Return whether a run whose report is elsewhere has these exchanges, or lacks them."""
        uri = exchanges.file.uri
        if report.exchanges_file not in (None, uri):
            return False
        if report.stated is not None:
            return report.stated == exchanges.sha256
        # One that says nothing has what lies beside it, as long as it is there itself.
        there = self._arrivals.known.get(report.file)
        listed = self._arrivals.by_uri.get(report.file)
        return (
            self._arrivals.likely(SourceFile(report.file, 0, 0)) == exchanges.file
            and there is not None
            and there.report_id == report.report_id
            and (listed is None or not self._arrivals.is_fresh(listed))
        )

    def _enter(self, head: Mapping[str, Any], file: SourceFile) -> None:
        if head["problem"]:
            self._put_aside(head, file, QUARANTINED, head["problem"])
            return
        exchanges = self._arrivals.exchanges_of(file, head)
        if exchanges is None and head["exchanges_sha256"]:
            self._mismatch(head, file)
        first = self._before.get(head["report_id"])
        if first is not None and first.sha256 != head["sha256"]:
            self._put_aside(head, file, QUARANTINED, other_content(head["run_id"], first.file))
        elif first is None or not first.finished:
            # What an ingestion that was killed has left is completed, wherever its file is now.
            self._take(head, file, exchanges, resumed=first is not None)
        else:
            # What earlier releases took in has no note of these two.
            names = head["run_id"], head["exchanges_sha256"]
            first = replace(first, run_id=names[0], stated=names[1])
            self._meet_again(head, file, exchanges, first)

    def _mismatch(self, head: Mapping[str, Any], file: SourceFile) -> None:
        likely = self._arrivals.likely(file, head["exchanges_name"])
        if likely is not None:
            stated = head["exchanges_sha256"]
            words = f"{file.name} beside it states other exchanges, those with {stated}"
            self._mismatched.setdefault(likely.uri, words)

    def _take(
        self,
        head: Mapping[str, Any],
        file: SourceFile,
        exchanges: Exchanges | None,
        *,
        resumed: bool,
    ) -> None:
        report = Report(
            file.uri,
            head["sha256"],
            head["report_id"],
            head["run_id"],
            moment(head["generated_at"]).date(),
            head["exchanges_sha256"],
            file,
            exchanges,
            resumed=resumed,
        )
        self._keep(report)

    def _keep(self, report: Report) -> None:
        its = report.exchanges
        if its is not None:
            self._arrivals.give(its.file, report.report_id)
        self._mine[report.report_id] = report
        self._before[report.report_id] = Taken(
            report.report_id,
            report.run_id,
            report.day,
            report.sha256,
            report.uri,
            finished=True,
            stated=report.stated,
            exchanges_file=None if its is None else its.file.uri,
            exchanges_sha256=None if its is None else its.sha256,
        )

    def _meet_again(
        self,
        head: Mapping[str, Any],
        file: SourceFile,
        exchanges: Exchanges | None,
        first: Taken,
    ) -> None:
        """Enter a report that is whole: its exchanges may be new, or the whole of it a copy."""
        at_home = first.file == file.uri
        words = f"the same report as {first.file}"
        if at_home:
            self._see(Seen(file, INGESTED, "", first.sha256, first.report_id))
        else:
            self._put_aside(head, file, DUPLICATE, words)
        if exchanges is None:
            return
        same = exchanges.sha256 == first.exchanges_sha256
        stated = exchanges.sha256 == head["exchanges_sha256"]
        if not same and (stated or first.exchanges_file in (None, exchanges.file.uri)):
            self._add(first, exchanges)
        elif exchanges.file.uri == first.exchanges_file or (at_home and same):
            uri = exchanges.file.uri
            mine = self._mine.get(first.report_id)
            if mine is None or mine.exchanges is None or mine.exchanges.file.uri != uri:
                its = Seen(exchanges.file, INGESTED, "", exchanges.sha256, first.report_id)
                self._see(its)
        else:
            names = exchanges.sha256, first.report_id
            state = DUPLICATE if same else QUARANTINED
            other = f"others were taken in as the exchanges of this run: {first.exchanges_file}"
            self._see(Seen(exchanges.file, state, words if same else other, *names))

    def _add(self, report: Taken, exchanges: Exchanges) -> None:
        """Let exchanges be taken in for a run that is there, or is about to be."""
        if report.exchanges_sha256 == exchanges.sha256:
            self._see(Seen(exchanges.file, INGESTED, "", exchanges.sha256, report.report_id))
            return
        mine = self._mine.get(report.report_id)
        if mine is None:
            names = report.sha256, report.report_id, report.run_id, report.day, report.stated
            mine = Report(report.file, *names, renewed=True)
        self._keep(replace(mine, exchanges=exchanges))

    def _see(self, seen: Seen) -> None:
        self._seen.add(seen.file.uri)
        kept = self._done.whole if seen.state == INGESTED else self._done.others
        kept.append(seen)

    def _put_aside(
        self, head: Mapping[str, Any], file: SourceFile, state: str, reason: str
    ) -> None:
        again = bool(head["problem"] and head["look_again"])
        names = head["sha256"], head["report_id"], again, head["excerpt"]
        self._see(Seen(file, state, reason, *names))
