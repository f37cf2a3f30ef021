"""Concludes a run from its verdicts: the profiles, the verdict and the exit code."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from icecheck.contract import Contract, Level
from icecheck.contract.frozen import RequirementSet
from icecheck.contract.witnesses import is_unwitnessed
from icecheck.findings.expected_failures import NOTHING_EXPECTED, Expectations
from icecheck.findings.never_worked import proves_success
from icecheck.findings.verdict import (
    Cause,
    Group,
    Outcome,
    Profile,
    Run,
    SkipKind,
    Verdict,
    asked_of,
    totals_of,
)
from icecheck.targets.offer import Offer

_IN_NO_SET = frozenset({Group.SPARK, Group.CLIENTS})
"""Groups that depend on what is installed: no set of requirements names their checks."""
_ASKED_OF_NO_ENDPOINT = frozenset({"core", "oauth2", "authorization"})
"""Profiles that are not about a catalog's operations but about config, errors and access."""


NO_ROOM = "no-room"
"""The reason for the exit code of a run whose files could not be written."""


class ExitCode:
    """The exit codes of the command line."""

    SATISFIED = 0
    UNEXPECTED = 1
    USAGE = 2
    SUITE_ERROR = 3
    TARGET_UNUSABLE = 4
    NOTHING_VERIFIED = 5
    RESIDUE = 6
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The verdict of a whole run, in the words of the report."""

    status: str
    headline: str
    exit_code: int
    exit_reason: str


def profiles_of(
    verdicts: Sequence[Verdict],
    offer: Offer | None,
    contract: Contract,
    in_part: Collection[str] = (),
) -> tuple[Profile, ...]:
    """Return every profile with its status.

    Conformant needs a MUST check that ran and passed, and in a profile of operations one of a
    success: refusals alone verify nothing, because whoever serves nothing refuses too. Nor is one
    verified of which an operation was forbidden (403) in a third of its checks. ``in_part``
    names profiles of which only some checks were asked for: they are at best partial. Without an
    ``offer`` nobody knows what is claimed, and nothing is verified.

    A client reaches every profile through the core. Where the core fails and nothing of a claimed
    profile was judged, that profile has the core's status.
    """
    verdicts = [v for v in verdicts if v.scored]
    every = contract.profiles
    core, *others = (_profile(p, verdicts, offer, contract, in_part=p in in_part) for p in every)
    if core.status != "not-conformant":
        return (core, *others)
    unknown = {p.id for p in others if p.claimed and not any(map(sum, _outcomes(p)))}
    return (core, *(replace(p, status=core.status) if p.id in unknown else p for p in others))


def _outcomes(profile: Profile) -> list[list[int]]:
    """Return for each level how often its checks ended in each outcome other than a skip."""
    return [
        [many for outcome, many in counts.items() if outcome != Outcome.SKIP]
        for counts in profile.counts.values()
    ]


def _profile(
    profile: str,
    verdicts: Sequence[Verdict],
    offer: Offer | None,
    contract: Contract,
    *,
    in_part: bool,
) -> Profile:
    mine = [v for v in verdicts if v.profile == profile]
    operations = [o for o in contract.operations.values() if o.profile == profile]
    claimed: bool | None = profile == "core" or (
        None
        if offer is None
        else any(offer.claims(o.id, contract) for o in operations if not o.precedes_config)
    )
    if offer is not None and (not operations or profile == "oauth2"):
        # No endpoint announces pagination, ETag or OAuth2: a catalog that offers them claims them.
        claimed = profile == "core" or any(v.outcome is not Outcome.SKIP for v in mine)
    if mine and all(v.skip and v.skip.kind is SkipKind.SPEC_VERSION for v in mine):
        claimed = False  # the run's document has no such profile
    counts = {
        str(level): {
            str(o): sum(v.level is level and v.outcome is o for v in mine) for o in Outcome
        }
        for level in Level
    }
    status = "not-verified" if claimed is None else "not-claimed"
    if claimed:
        proven = [
            v
            for v in asked_of(mine)
            if v.level is Level.MUST
            and v.outcome is Outcome.PASS
            # A refusal may be the answer to everything.
            and (in_part or profile in _ASKED_OF_NO_ENDPOINT or not operations or proves_success(v))
        ]
        forbidden = _is_mostly_forbidden(mine, {o.id for o in operations})
        status = _profile_status(mine, counts["must"], proven=bool(proven) and not forbidden)
        if in_part and status == "conformant":
            status = "partial"
    return Profile(profile, claimed, status, counts)


def _is_mostly_forbidden(verdicts: Iterable[Verdict], operations: Collection[str]) -> bool:
    """Return whether an operation is forbidden to the run in a third of its checks, or in more.

    Rights may differ by what is asked of an operation, so that is no fault; but it is not verified.
    """
    must = [v for v in asked_of(verdicts) if v.level is Level.MUST]
    forbidden = Counter(v.skip.lacks for v in must if v.skip and v.skip.lacks in operations)
    passed = Counter(o for v in must if v.outcome is Outcome.PASS for o in v.operations)
    return any(2 * many >= passed[operation] for operation, many in forbidden.items())


def _profile_status(verdicts: Sequence[Verdict], must: Mapping[str, int], *, proven: bool) -> str:
    blocked = [v for v in verdicts if v.level is Level.MUST and v.outcome is Outcome.BLOCKED]
    unavailable = bool(blocked) and all(v.unanswered for v in blocked)
    if must["fail"] or (blocked and not unavailable):
        return "not-conformant"
    if unavailable or must["error"] or not proven:
        return "not-verified"
    gaps = {SkipKind.MISSING_FIXTURE, SkipKind.EXCLUDED_BY_USER, SkipKind.SAFETY_LEVEL}
    if any(v.level is Level.MUST and v.skip and v.skip.kind in gaps for v in verdicts):
        return "partial"
    return "conformant"


def ungated_if_unwitnessed(verdict: Verdict) -> Verdict:
    """Return the verdict; it does not gate if no catalog but the mock has passed its check yet."""
    if is_unwitnessed(verdict.check, verdict.level):
        return replace(verdict, gating=False)
    return verdict


def as_frozen(verdict: Verdict, frozen: RequirementSet, contract: Contract) -> Verdict:
    """Return the verdict as a frozen set has its check: at its level, or shown and not scored.

    A check that the set does not have was added since; it tells something, and decides nothing.
    """
    if verdict.group in _IN_NO_SET:
        return verdict
    ids = verdict.requirements
    level = frozen.level_of(ids)
    if level is None or not (verdict.passive or frozen.has_check(verdict.check, ids)):
        return _shown_only(verdict)
    changed = any(contract.requirements[id_].level is not level for id_ in ids)
    return replace(verdict, level=level) if changed else verdict


def ungated_if_disputed(verdict: Verdict, contract: Contract) -> Verdict:
    """Return the verdict; it is shown and not scored if what it proves is disputed."""
    register = contract.requirements
    disputed = any(register[id_].disputed for id_ in verdict.requirements if id_ in register)
    return _shown_only(verdict) if disputed else verdict


def _shown_only(verdict: Verdict) -> Verdict:
    return replace(verdict, level=Level.INTEROP, gating=False, scored=False)


def conclude(
    verdicts: Sequence[Verdict],
    profiles: Sequence[Profile],
    causes: Sequence[Cause],
    *,
    complete: bool,
    residue: bool,
    tripped: bool,
    expectations: Expectations = NOTHING_EXPECTED,
) -> Conclusion:
    """Return the run's verdict and what the command line exits with.

    ``tripped``: the circuit breaker opened. Failures below MUST warn and do not gate. Nothing is
    verified by a run in which none of the checks asked for judged anything, nor by a run on a
    catalog that claims no operation. A claimed profile of which no success was seen, because what
    it needs could not be made and was not given, does not let the gate pass. ``expectations``
    change the exit code only; checks that they waive do not count as verified.
    """
    verdicts = [v for v in verdicts if v.scored]
    totals = totals_of(verdicts)
    status = _status(verdicts, profiles, totals, complete=complete, tripped=tripped)
    failed = [v for v in verdicts if v.outcome in {Outcome.FAIL, Outcome.BLOCKED}]
    required = [v for v in failed if v.level is Level.MUST]
    gating = [v for v in required if v.gating]
    asked = totals_of(asked_of(verdicts))
    judged = asked["executed"]
    counted = [v for v in asked_of(verdicts) if v.check not in expectations.waived]
    missed = [v for v in gating if v.check not in expectations.excused]
    unexcused = [v.check for v in missed]
    idle = _claims_nothing(profiles) and not failed
    unproven = _unproven(verdicts, profiles)
    headline = _headline(
        totals, asked, causes, len(required), verified=bool(judged or required) and not idle
    )
    if unproven and not totals["unexpected"]:
        headline += f", but too little was verified of {', '.join(unproven)}, which it claims"
    # The branches are ordered by how little the run can say about the catalog.
    code, reason = ExitCode.SATISFIED, "gate-satisfied"
    if not complete:
        code, reason = ExitCode.INTERRUPTED, "interrupted"
    elif tripped:
        code, reason = ExitCode.TARGET_UNUSABLE, "target-unusable"
    elif any(v.outcome is Outcome.ERROR and v.check not in expectations.excused for v in verdicts):
        code, reason = ExitCode.SUITE_ERROR, "suite-error"
    elif not totals["executed"]:
        code, reason = ExitCode.NOTHING_VERIFIED, "nothing-verified"
    elif missed and all(v.unanswered for v in missed) and not expectations.unmet:
        code, reason = ExitCode.TARGET_UNUSABLE, "target-unusable"
    elif unexcused or expectations.unmet:
        reason = expectations.why_unmet(unexcused) or "unexpected-failure"
        code = ExitCode.UNEXPECTED
    elif idle or unproven or not totals_of(counted)["executed"]:
        code, reason = ExitCode.NOTHING_VERIFIED, "nothing-verified"
    elif residue:
        code, reason = ExitCode.RESIDUE, "residue-left"
    return Conclusion(status, headline, code, reason)


def without_room(run: Run, why: str) -> Run:
    """Return a run as it is reported where the disk was full: incomplete, with exit code 3.

    Its exchanges are not kept, so that there is room for the report. ``why`` names the file.
    """
    return replace(
        run,
        complete=False,
        status="partial" if run.status.startswith("conformant") else run.status,
        headline=f"{why}; the exchanges were not kept; until then {run.headline}",
        exit_code=ExitCode.SUITE_ERROR,
        exit_reason=NO_ROOM,
    )


def _status(
    verdicts: Sequence[Verdict],
    profiles: Sequence[Profile],
    totals: Mapping[str, int],
    *,
    complete: bool,
    tripped: bool,
) -> str:
    claimed = [p.status for p in profiles if p.claimed]
    if tripped or not totals["executed"]:
        return "no-verdict"
    must_failed = any(v.outcome is Outcome.FAIL and v.level is Level.MUST for v in verdicts)
    if must_failed or "not-conformant" in claimed:
        return "not-conformant"
    if not totals_of(asked_of(verdicts))["executed"]:
        return "no-verdict"
    if _claims_nothing(profiles) and not totals["fail"]:
        return "no-verdict"
    if not complete or totals["error"] or any(s != "conformant" for s in claimed):
        return "partial"
    return "conformant-with-warnings" if totals["fail"] or totals["blocked"] else "conformant"


def _unproven(verdicts: Sequence[Verdict], profiles: Sequence[Profile]) -> list[str]:
    """Return the claimed profiles that were asked about in vain.

    Profiles are left out whose checks the user excluded, or forbade by a run that only reads.
    """
    lacking = {
        v.profile
        for v in verdicts
        if v.level is Level.MUST and v.skip and v.skip.kind is SkipKind.MISSING_FIXTURE
    }
    unverified = {p.id for p in profiles if p.claimed and p.status == "not-verified"}
    return [p.id for p in profiles if p.id in unverified & lacking - _ASKED_OF_NO_ENDPOINT]


def _claims_nothing(profiles: Sequence[Profile]) -> bool:
    """Return whether the catalog's own list names no operation: only its config was judged."""
    claimed = {p.id for p in profiles if p.claimed}
    return bool(claimed) and claimed <= _ASKED_OF_NO_ENDPOINT


def _headline(
    totals: Mapping[str, int],
    asked: Mapping[str, int],
    causes: Sequence[Cause],
    gating: int,
    *,
    verified: bool,
) -> str:
    """Return one line that says what was found; ``asked`` counts without passive verdicts."""
    if not totals["executed"] or not verified:
        return "nothing was verified"
    if not totals["unexpected"]:
        return f"all {asked['executed']} checks that ran passed"
    words = f"{asked['fail']} of {asked['executed']} checks fail"
    if totals["fail"] > asked["fail"]:
        words += f", and {totals['fail'] - asked['fail']} judged from their answers"
    if totals["blocked"]:
        words += f", {totals['blocked']} are blocked"
    if totals["error"]:
        words += f", {totals['error']} ended in an error of the suite"
    many = "causes" if len(causes) != 1 else "cause"
    required = f"{gating} required check{'s' * (gating != 1)} affected"
    return f"{words}; {len(causes)} {many}, {required}"
