"""The result of a run as plain data: outcomes, findings, verdicts, causes and the run itself."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from icecheck.contract import Level
from icecheck.findings.expected_failures import (
    NOTHING_EXPECTED,
    EntryFailure,
    EntryResult,
    ExpectationKind,
    Expectations,
)
from icecheck.findings.run_made import without_generated
from icecheck.findings.statuses import Statuses, what_is_wrong, wrong_status_severity
from icecheck.findings.symptoms import Severity, Symptom

__all__ = [
    "CREDENTIALS",
    "TARGET",
    "Capability",
    "Cause",
    "CauseKey",
    "Evidence",
    "Finding",
    "Group",
    "Level",
    "Outcome",
    "Profile",
    "Run",
    "Skip",
    "SkipKind",
    "Verdict",
    "asked_of",
    "in_words",
    "totals_of",
]

TARGET = "target"
"""The name that blocks a check when the catalog gave no usable answer (verdict-rules 11)."""
CREDENTIALS = "credentials"
"""The name that blocks a check when the catalog no longer accepts the run's credentials."""


class Outcome(StrEnum):
    """The outcome of a check; the requirement's level says how much it matters."""

    PASS = "pass"  # noqa: S105 - an outcome, not a password
    FAIL = "fail"
    BLOCKED = "blocked"
    SKIP = "skip"
    ERROR = "error"


class SkipKind(StrEnum):
    """The kinds of reasons for which a check did not run; a Skip adds the reason in words."""

    NOT_DECLARED = "not-declared"
    NOT_APPLICABLE = "not-applicable"
    SPEC_VERSION = "spec-version"
    EXCLUDED_BY_USER = "excluded-by-user"
    SAFETY_LEVEL = "safety-level"
    MISSING_FIXTURE = "missing-fixture"
    HARNESS_GAP = "harness-gap"


class Group(StrEnum):
    """The groups of checks that ``--only`` selects from; the last two run only if asked for."""

    CHECKS = "checks"
    GENERATED = "generated"
    SCENARIOS = "scenarios"
    SPARK = "spark"
    CLIENTS = "clients"


@dataclass(frozen=True, slots=True)
class Skip:
    """A reason for not running: its kind and one line of words.

    ``lacks`` is the operation to which the credentials are taken to have no right, if that is why.
    """

    kind: SkipKind
    reason: str
    lacks: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One redacted exchange, small enough to travel with a verdict."""

    ordinal: int
    step: str
    operation: str | None
    request: str
    status: int | None
    request_body: str
    response_headers: str
    response_body: str
    curl: str


_OPERATIONS_NAMED_MAX = 3


@dataclass(frozen=True, slots=True)
class CauseKey:
    """What all findings of one cause have in common: symptom, expectation and answer.

    ``due`` and ``came`` are the statuses that the last two stand for, if they are statuses. A
    merged cause has in them what its id names, and may tell of more.
    """

    symptom: Symptom
    expected: str
    actual: str
    due: Statuses | None = None
    came: Statuses | None = None

    @classmethod
    def of_status(cls, symptom: Symptom, due: Statuses, came: Statuses) -> "CauseKey":
        """Return the key of findings about a status."""
        return cls(symptom, str(due), str(came), due, came)


@dataclass(frozen=True, slots=True)
class Finding:
    """One expectation that did not hold.

    ``symptom`` does not name the operation, so that one root cause seen through forty operations is
    one finding (verdict-rules 15); ``expected`` and ``actual`` are short. ``due`` are the statuses
    of which one was due, if the finding is about a status, and ``answered`` is the status that
    came, if that is what is wrong. ``steps`` is the shortest failing history as JSON, if a drawn
    history has found it, and ``since`` the ordinal of the first exchange that it has sent: what the
    check has sent before, it needs no more. What clients of a race have sent goes on ``until`` an
    ordinal: it may be higher than that of the exchange that shows the finding. Where ``expected``
    and ``actual`` say of whatever was changed how it should be, ``made`` and ``shown`` say what was
    due of this one, and what it shows.
    """

    symptom: Symptom
    expected: str
    actual: str
    detail: str = ""
    pointer: str = ""
    exchange: int | None = None
    due: Statuses | None = None
    answered: int | None = None
    steps: str = ""
    since: int = 0
    until: int = 0
    made: str = ""
    shown: str = ""

    @property
    def key(self) -> CauseKey:
        """The key that two findings of one cause share."""
        symptom = self.symptom.grouped_as
        if self.due is not None and self.answered is not None:
            return CauseKey.of_status(symptom, *what_is_wrong(self.due, self.answered))
        values = (without_generated(self.expected), without_generated(self.actual))
        return CauseKey(symptom, *(symptom.told or values))

    @property
    def severity(self) -> Severity:
        """The severity; for a wrong status it depends on what was due and what came."""
        told_by_status = self.symptom.severity >= Severity.WRONG_STATUS
        if self.due is None or self.answered is None or not told_by_status:
            return self.symptom.severity
        return wrong_status_severity(self.due, self.answered)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one check on one catalog.

    A ``passive`` verdict was read off the exchanges of other checks, without requests of its own. A
    verdict that is not ``gating`` does not count for the gate, whatever its level; one that is not
    ``scored`` counts for no profile and no verdict on the catalog either. ``if_permitted``
    holds instead if the credentials turn out to have the right that the skip takes them to lack.
    ``without`` names the lost effects that the check was judged without: it left out what needs
    them. ``started_ms`` is when it began, since 1970 in UTC; 0 if nothing was called.
    """

    check: str
    title: str
    group: Group
    level: Level
    requirements: tuple[str, ...]
    operations: tuple[str, ...]
    profile: str
    outcome: Outcome
    summary: str = ""
    findings: tuple[Finding, ...] = ()
    skip: Skip | None = None
    blocked_by: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    requests: int = 0
    duration_ms: float = 0.0
    started_ms: int = 0
    passive: bool = False
    gating: bool = True
    scored: bool = True
    if_permitted: "Verdict | None" = None

    @property
    def shown_by(self) -> Evidence | None:
        """The exchange that shows the first finding, or else the last one there is.

        What Spark was answered is not recorded: the exchanges of such a check only made its places.
        """
        ordinal = self.findings[0].exchange if self.findings else None
        if self.group is Group.SPARK and self.outcome is Outcome.FAIL and ordinal is None:
            return None
        pointed = (e for e in reversed(self.evidence) if e.ordinal == ordinal)
        return next(pointed, self.evidence[-1] if self.evidence else None)

    @property
    def unanswered(self) -> bool:
        """Whether this check could not be judged because no usable answer came."""
        without_answer = {TARGET, CREDENTIALS}.intersection(self.blocked_by)
        return self.outcome is Outcome.BLOCKED and bool(without_answer)


@dataclass(frozen=True, slots=True)
class Cause:
    """One root cause: all findings that share a symptom, an expectation and an answer.

    ``operations`` are those that the failed checks are about, first those whose checks the cause is
    named after. ``wrong`` is a sentence without a
    stop, ``consequence`` says whom it hurts and how; "" if no such client is known. ``witness`` is
    the check that shows it most plainly.
    ``members`` are the failed checks of the cause's level, ``lesser`` those of lower levels that
    fail in the same way: reports list them elsewhere, as what is a should is never listed under a
    must (verdict-rules 22).
    """

    id: str
    operations: tuple[str, ...]
    wrong: str
    consequence: str
    level: Level
    symptom: str
    expected: str
    actual: str
    severity: int
    requirements: tuple[str, ...]
    members: tuple[str, ...]
    blocked: tuple[str, ...]
    hurts: tuple[str, ...]
    witness: str
    lesser: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The operations, what they do wrong, and what comes of it."""
        return f"{self.heading}; {self.consequence}" if self.consequence else self.heading

    @property
    def heading(self) -> str:
        """The operations, and what they do wrong."""
        if not self.operations:
            return self.wrong
        word = self.wrong.partition(" ")[0]
        plain = word[1:].islower() or len(word) == 1
        wrong = self.wrong[:1].lower() + self.wrong[1:] if plain else self.wrong
        return f"{in_words(self.operations)}: {wrong}"

    @property
    def checks(self) -> tuple[str, ...]:
        """All checks that this cause fails or blocks."""
        return (*self.members, *self.lesser, *self.blocked)


@dataclass(frozen=True, slots=True)
class Capability:
    """One row of the claims matrix: what the catalog announces compared with what it does.

    An ``endpoint:`` of the document, or a ``capability:`` that no endpoint announces. ``declared``
    is None of the latter, and where the config is not known. ``loses`` says what engines cannot do
    without a ``capability:``.
    """

    id: str
    declared: bool | None
    observed: str
    assessment: str
    checks: tuple[str, ...] = ()
    loses: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """One coherent part of the protocol and whether the catalog conforms to it.

    ``claimed`` is None where the catalog's config is not known.
    """

    id: str
    claimed: bool | None
    status: str
    counts: dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class Run:
    """A finished (or interrupted) run: everything a report is rendered from.

    ``facts`` holds the JSON blocks that are recorded rather than computed: suite, spec, target,
    environment, config, timing, safety. ``expectations`` change the exit code only. ``preflight``
    is what was sent by a run that ended before its first check. Times are ISO 8601 in UTC; the
    names of durations end in their unit.
    """

    run_id: str
    generated_at: str
    complete: bool
    status: str
    headline: str
    exit_code: int
    exit_reason: str
    verdicts: tuple[Verdict, ...]
    causes: tuple[Cause, ...]
    capabilities: tuple[Capability, ...]
    profiles: tuple[Profile, ...]
    observations: tuple[dict[str, Any], ...] = ()
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)
    expectations: Expectations = NOTHING_EXPECTED
    preflight: tuple[Evidence, ...] = ()

    @property
    def tripped(self) -> bool:
        """Whether the run ended early because the catalog could not be used any more."""
        return self.exit_reason == "target-unusable" and not self.complete


def in_words(operations: Sequence[str]) -> str:
    """Return operations as a title names them: up to three by name, of more the first two."""
    if len(operations) > _OPERATIONS_NAMED_MAX:
        first, second, *others = operations
        return f"{first}, {second} and {len(others)} more operations"
    *before, last = operations or ("",)
    return f"{', '.join(before)} and {last}" if before else last


def asked_of(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """Return the verdicts of the checks that the run selected; it announces their number.

    Passive verdicts are left out: their number is not known before the catalog has answered.
    """
    return tuple(verdict for verdict in verdicts if not verdict.passive)


def totals_of(
    verdicts: Iterable[Verdict], expectations: Expectations = NOTHING_EXPECTED
) -> dict[str, int]:
    """Return the counts of the outcomes.

    ``executed`` counts passed and failed checks, ``passive`` the verdicts that were read off the
    exchanges of others. ``unexpected`` and the counts after it compare the
    outcomes with a user's expectations.
    """
    verdicts = tuple(verdicts)
    totals = dict.fromkeys([*map(str, Outcome)], 0)
    for verdict in verdicts:
        totals[str(verdict.outcome)] += 1
    failing = {Outcome.FAIL, Outcome.BLOCKED, Outcome.ERROR}
    failed = frozenset(v.check for v in verdicts if v.outcome in failing)
    excused = [m for m in expectations.marks if m.excuses and m.check in failed]
    flaky = sum(m.entry.kind is ExpectationKind.FLAKY for m in excused)
    passing = sum(m.met is EntryResult.PASSES for m in expectations.marks)
    return {
        **totals,
        "executed": totals["pass"] + totals["fail"],
        "passive": len(verdicts) - len(asked_of(verdicts)),
        "unexpected": sum(totals[o] for o in failing) - len(excused) + passing,
        "expected_failures": len(excused) - flaky,
        "stale_expectations": sum(u.kind is EntryFailure.STALE for u in expectations.unmet),
        "flaky": flaky,
    }
