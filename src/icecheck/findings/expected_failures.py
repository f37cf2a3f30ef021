"""What a user expects of checks, and how a run compares with it, as plain data."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from fnmatch import fnmatchcase

from icecheck.targets.secret_marks import without_marks


class ExpectationKind(StrEnum):
    """What an entry says about the checks it names."""

    KNOWN_FAILURE = "known-failure"
    FLAKY = "flaky"
    WAIVED = "waived"


class EntryResult(StrEnum):
    """How the outcome of a check compares with the entry that names it."""

    AS_EXPECTED = "as-expected"
    FAILS_DIFFERENTLY = "fails-differently"
    PASSES = "passes"
    NOT_JUDGED = "not-judged"


class EntryFailure(StrEnum):
    """Why an entry fails the gate."""

    FAILS_DIFFERENTLY = "fails-differently"
    EXPIRED = "expired"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class FailsWith:
    """One way to fail: globs on a finding's symptom and on its actual value.

    For a blocked check the symptom is ``blocked`` and the actual value names what blocks it. The
    mark of a secret matches that of any other: every run has marks of its own.
    """

    symptom: str = "*"
    actual: str = "*"

    def covers(self, symptom: str, actual: str) -> bool:
        """Return whether a finding matches this way to fail."""
        told, globs = (symptom, actual), (self.symptom, self.actual)
        return all(map(fnmatchcase, map(without_marks, told), map(without_marks, globs)))


@dataclass(frozen=True, slots=True)
class Expectation:
    """One entry of the file: exactly one of ``check`` and ``cause`` is a glob on ids.

    ``expires`` is the last day (UTC) on which it holds; ``number`` counts entries from 1 and
    ``line`` is where it begins in the file, 0 when that is not known.
    """

    kind: ExpectationKind
    reason: str
    number: int
    check: str | None = None
    cause: str | None = None
    fails_with: tuple[FailsWith, ...] = ()
    issue: str = ""
    expires: date | None = None
    line: int = 0

    def names(self, check: str, cause: str | None) -> bool:
        """Return whether the entry names this check or its cause (None: it did not fail)."""
        if self.check is not None:
            return fnmatchcase(check, self.check)
        return cause is not None and fnmatchcase(cause, self.cause or "")

    def expired_on(self, today: date) -> bool:
        """Return whether its last day is over."""
        return self.expires is not None and today > self.expires

    @property
    def words(self) -> str:
        """The entry as a message names it."""
        at = f", line {self.line}" if self.line else ""
        glob = f"check {self.check}" if self.check is not None else f"cause {self.cause}"
        return f"entry {self.number}{at} ({self.kind}, {glob})"


@dataclass(frozen=True, slots=True)
class ExpectationFile:
    """The entries of one file; ``path`` as the user named it."""

    path: str
    sha256: str
    entries: tuple[Expectation, ...]


@dataclass(frozen=True, slots=True)
class EntryMatch:
    """The mark of one check: the entry that names it, and how the outcome compares with it."""

    check: str
    entry: Expectation
    met: EntryResult

    @property
    def excuses(self) -> bool:
        """Whether the entry keeps the check out of the gate."""
        return self.met is EntryResult.AS_EXPECTED


@dataclass(frozen=True, slots=True)
class FailedEntry:
    """One entry that fails the gate, the checks that show it, and what to do about it."""

    kind: EntryFailure
    entry: Expectation
    checks: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Expectations:
    """How a run compares with the entries of a file: a mark for each check that an entry names."""

    file: ExpectationFile | None = None
    marks: tuple[EntryMatch, ...] = ()
    unmet: tuple[FailedEntry, ...] = ()

    @property
    def excused(self) -> frozenset[str]:
        """The checks whose outcome does not count for the gate."""
        return frozenset(m.check for m in self.marks if m.excuses)

    @property
    def waived(self) -> frozenset[str]:
        """The checks that the gate does not count, whatever their outcome."""
        return frozenset(m.check for m in self.marks if m.entry.kind is ExpectationKind.WAIVED)

    @property
    def by_check(self) -> dict[str, EntryMatch]:
        """Check id -> its mark."""
        return {m.check: m for m in self.marks}

    def why_unmet(self, failing: Iterable[str]) -> str | None:
        """Return what fails the gate when entries name every one of these failing checks.

        None: no entry names some failing check, or every entry is met.
        """
        explained = {check for unmet in self.unmet for check in unmet.checks}
        if not self.unmet or not explained.issuperset(failing):
            return None
        kinds = {unmet.kind for unmet in self.unmet}
        first = next(kind for kind in EntryFailure if kind in kinds)
        return f"{first}-expectation" if first is not EntryFailure.FAILS_DIFFERENTLY else str(first)


NOTHING_EXPECTED = Expectations()
"""The expectations of a run without a file."""
