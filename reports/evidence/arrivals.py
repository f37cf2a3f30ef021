"""The files of one ingestion: what is known of each, and which exchanges are whose."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from icecheck.reports.evidence.files import RUN_SUFFIX, SourceFile

INGESTED, DUPLICATE, QUARANTINED = "ingested", "duplicate", "quarantined"


@dataclass(frozen=True, slots=True)
class Seen:
    """One file that was looked at, as ``bronze.files`` has it.

    One that may be read otherwise another time is to be looked at ``again``.
    """

    file: SourceFile
    state: str
    reason: str = ""
    sha256: str | None = None
    report_id: str | None = None
    again: bool = False
    excerpt: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Exchanges:
    """A file of exchanges, with its digest."""

    file: SourceFile
    sha256: str


class Arrivals:
    """The files of one ingestion, and what is known of them from earlier ones and from a look.

    ``problems`` says of exchanges why they cannot be read.
    """

    __slots__ = ("_beside", "_digests", "_owners", "by_uri", "known", "problems")

    def __init__(self, files: Sequence[SourceFile], known: Mapping[str, Seen]) -> None:
        self.by_uri = {each.uri: each for each in files}
        self.known = known
        self.problems: dict[str, str] = {}
        self._digests: dict[str, str] = {}
        self._owners: dict[str, str] = {}
        self._beside: dict[str, list[SourceFile]] = {}
        for each in files:
            if each.holds_exchanges:
                self._beside.setdefault(each.directory, []).append(each)
            before = known.get(each.uri)
            if before is None or self.is_fresh(each):
                continue
            if before.sha256 is not None:
                self._digests[each.uri] = before.sha256
            if before.state == INGESTED and before.report_id is not None:
                self._owners[each.uri] = before.report_id

    def is_fresh(self, file: SourceFile) -> bool:
        """Return whether a file is new, or has changed, or is to be looked at again."""
        before = self.known.get(file.uri)
        return before is None or before.file != file or before.again

    def to_look_at(self) -> list[SourceFile]:
        """Return the files to look at: fresh ones, and those with whom they may belong together."""
        renewed = {
            each.directory
            for each in self.by_uri.values()
            if each.holds_exchanges and self.is_fresh(each)
        }
        reports = [
            each
            for each in self.by_uri.values()
            if not each.holds_exchanges and (each.directory in renewed or self.is_fresh(each))
        ]
        beside = {each.directory for each in reports}
        exchanges = [
            each
            for each in self.by_uri.values()
            if each.holds_exchanges
            and (self.is_fresh(each) or each.directory in beside)
            and each.uri not in self._digests
        ]
        return [*reports, *exchanges]

    def learn(self, heads: Iterable[Mapping[str, Any]]) -> None:
        """Take up what a look at files has shown of exchanges."""
        heads = [*heads]
        for head in heads:
            if self.by_uri[head["uri"]].holds_exchanges:
                if head["problem"]:
                    self.problems[head["uri"]] = head["problem"]
                else:
                    self._digests[head["uri"]] = head["sha256"]
        for head in heads:  # whoever states a digest goes before those who say nothing
            if not head["problem"] and head["exchanges_sha256"]:
                found = self._stated(self.by_uri[head["uri"]], head)
                if found is not None:
                    self.give(found.file, head["report_id"])

    def give(self, file: SourceFile, report_id: str) -> None:
        """Note whose exchanges a file holds; the first one has it."""
        self._owners.setdefault(file.uri, report_id)

    def with_digest(self, file: SourceFile) -> Exchanges | None:
        """Return a file of exchanges with its digest; None if that is not known."""
        digest = self._digests.get(file.uri)
        return None if digest is None else Exchanges(file, digest)

    def exchanges_of(self, file: SourceFile, head: Mapping[str, Any]) -> Exchanges | None:
        """Return the exchanges of a report: those that it states, or the ones that look like it."""
        if head["exchanges_sha256"]:
            return self._stated(file, head)
        found = self.likely(file, head["exchanges_name"])
        if found is None or self._owners.get(found.uri, head["report_id"]) != head["report_id"]:
            return None
        return self.with_digest(found)

    def likely(self, file: SourceFile, name: str | None = None) -> SourceFile | None:
        """Return the file beside a report that has its own name, or that it names, or the only."""
        found = self._beside.get(file.directory, [])
        stem = file.name.removesuffix(RUN_SUFFIX)
        own = [each for each in found if stem != "run" and each.name.startswith(f"{stem}.")]
        named = [each for each in found if each.name == name]
        return next(iter(own or named or (found if len(found) == 1 else [])), None)

    def _stated(self, file: SourceFile, head: Mapping[str, Any]) -> Exchanges | None:
        beside = (self.with_digest(each) for each in self._beside.get(file.directory, []))
        same = [
            each for each in beside if each is not None and each.sha256 == head["exchanges_sha256"]
        ]
        named = [each for each in same if each.file.name == head["exchanges_name"]]
        return next(iter(named or same), None)
