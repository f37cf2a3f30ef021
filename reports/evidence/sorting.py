"""Sorts what was found into reports to take in, duplicates, and what goes to the quarantine."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from icecheck.reports.evidence.files import RUN_SUFFIX, SourceFile
from icecheck.reports.evidence.moments import moment

INGESTED, DUPLICATE, QUARANTINED = "ingested", "duplicate", "quarantined"
ORPHAN = "no run.json that was taken in names this file as its exchanges"


@dataclass(frozen=True, slots=True)
class Report:
    """A report that is to be taken in: its file, who it is, and the file of its exchanges.

    Of a ``renewed`` one only the exchanges are new: they came later, or have changed. A
    ``resumed`` one was begun by an ingestion that did not end.
    """

    file: SourceFile
    sha256: str
    report_id: str
    run_id: str
    day: date
    exchanges: SourceFile | None = None
    renewed: bool = False
    resumed: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """One file that was looked at, as ``bronze.files`` has it."""

    file: SourceFile
    state: str
    reason: str = ""
    sha256: str | None = None
    report_id: str | None = None
    excerpt: str | None = None


@dataclass(slots=True)
class Ingestion:
    """What one ingestion found: files that were known, reports taken in, files that were not."""

    known: int = 0
    reports: list[Report] = field(default_factory=list)
    others: list[Seen] = field(default_factory=list)
    lines: int = 0
    bad_lines: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """What bronze has of a report: its digest, its file, and whether all of it was taken in."""

    sha256: str
    file: str
    finished: bool


def other_content(run_id: str, file: str) -> str:
    """Return the reason for which a report is not taken in whose run is there already."""
    return f"run {run_id} was taken in from {file} with other content"


class Arrivals:
    """The files of one ingestion: which of them are fresh, and which exchanges lie beside which."""

    __slots__ = ("_beside", "_fresh", "by_uri", "to_look_at")

    def __init__(self, files: Sequence[SourceFile], fresh: Sequence[SourceFile]) -> None:
        self.by_uri = {each.uri: each for each in files}
        self._fresh = {each.uri for each in fresh}
        self._beside: dict[str, list[SourceFile]] = {}
        for each in files:
            if each.holds_exchanges:
                self._beside.setdefault(each.directory, []).append(each)
        renewed = {each.directory for each in fresh if each.holds_exchanges}
        self.to_look_at = [
            each
            for each in files
            if not each.holds_exchanges and (each.uri in self._fresh or each.directory in renewed)
        ]

    def is_fresh(self, file: SourceFile | None) -> bool:
        """Return whether a file is new or changed, or its run.json came later."""
        return file is not None and file.uri in self._fresh

    def exchanges_of(self, file: SourceFile, name: str | None) -> SourceFile | None:
        """Return the exchanges of a report: by its own name, by that in it, or the only ones."""
        found = self._beside.get(file.directory, [])
        stem = file.name.removesuffix(RUN_SUFFIX)
        own = [each for each in found if stem != "run" and each.name.startswith(f"{stem}.")]
        named = [each for each in found if each.name == name]
        return next(iter(own or named or (found if len(found) == 1 else [])), None)


class Sorting:
    """Enters each report that was looked at into an ingestion."""

    __slots__ = ("_arrivals", "_before", "_done")

    def __init__(self, before: Mapping[str, Taken], arrivals: Arrivals, done: Ingestion) -> None:
        self._before = dict(before)
        self._arrivals = arrivals
        self._done = done

    def sort(self, heads: Iterable[Mapping[str, Any]]) -> None:
        """Enter reports in the given order: of two that are the same, the first is taken in."""
        for head in heads:
            self._enter(head, self._arrivals.by_uri[head["uri"]])

    def _enter(self, head: Mapping[str, Any], file: SourceFile) -> None:
        exchanges = self._arrivals.exchanges_of(file, head["exchanges_name"])
        if head["problem"]:
            self._put_aside(head, file, QUARANTINED, head["problem"])
            return
        first = self._before.get(head["report_id"])
        if first is None or (first.sha256 == head["sha256"] and not first.finished):
            # What an ingestion that was killed has left is completed, wherever its file is now.
            self._take(head, file, exchanges, resumed=first is not None)
        elif first.sha256 != head["sha256"]:
            self._put_aside(head, file, QUARANTINED, other_content(head["run_id"], first.file))
        elif first.file == file.uri:
            if self._arrivals.is_fresh(exchanges):
                self._take(head, file, exchanges, renewed=True)
        else:
            words = f"the same report as {first.file}"
            self._put_aside(head, file, DUPLICATE, words)
            if exchanges is not None and self._arrivals.is_fresh(exchanges):
                self._put_aside(head, exchanges, DUPLICATE, words)

    def _take(
        self,
        head: Mapping[str, Any],
        file: SourceFile,
        exchanges: SourceFile | None,
        *,
        renewed: bool = False,
        resumed: bool = False,
    ) -> None:
        day = moment(head["generated_at"]).date()
        names = head["sha256"], head["report_id"], head["run_id"]
        self._done.reports.append(Report(file, *names, day, exchanges, renewed, resumed))
        self._before[head["report_id"]] = Taken(head["sha256"], file.uri, finished=True)

    def _put_aside(
        self, head: Mapping[str, Any], file: SourceFile, state: str, reason: str
    ) -> None:
        names = head["sha256"], head["report_id"], head["excerpt"]
        self._done.others.append(Seen(file, state, reason, *names))
