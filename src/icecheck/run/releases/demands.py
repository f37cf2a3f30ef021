"""Selects the checks that the document of a release demands, if a run holds to that."""

from collections.abc import Iterable, Sequence

from icecheck.contract import JUDGED_VERSIONS, SPEC_VERSIONS, Contract
from icecheck.contract.frozen import RequirementSet, UnknownSet, frozen_set
from icecheck.contract.releases import is_newer, newest
from icecheck.findings.verdict import SkipKind, Verdict
from icecheck.judging.check import Check
from icecheck.judging.judge import not_run
from icecheck.run.facts import requirement_set_of
from icecheck.targets.target import UsageError

OLDEST = "1.6.0"
"""The oldest release that a run can hold to: before it, some answers were due that are wrong now
(200 for a rename).
"""


def release_to_hold_to(
    text: str, option: str = "--spec", versions: Sequence[str] = JUDGED_VERSIONS
) -> str:
    """Return the release that a user named, which one of these versions covers.

    Raises UsageError for one whose document cannot be held to.
    """
    parts = text.split(".")
    known = len(parts) == 3 and all(part.isascii() and part.isdecimal() for part in parts)
    last = newest(versions)
    if known and not is_newer(OLDEST, text):
        # A patch release after a version here: no document of its own is known here.
        before = [v for v in versions if v.split(".")[:2] == parts[:2] and is_newer(text, v)]
        if before:
            return newest(before)
        if not is_newer(text, last):
            return text
    raise UsageError(
        f"{option} {text}: icecheck can hold a catalog to the documents of Iceberg {OLDEST} to"
        f" {last}{_what_is_known_of(text, last)}"
    )


def _what_is_known_of(release: str, last: str) -> str:
    if release not in SPEC_VERSIONS:
        return ""
    return f"; `icecheck list requirements --diff {last} {release}` shows what {release} demands"


def set_to_judge_by(
    set_id: str, contract: Contract, option: str = "--requirement-set"
) -> RequirementSet:
    """Return the frozen set that a user named.

    Raises UsageError for one that is not known, that is about another document, or of which this
    release no longer has every check.
    """
    try:
        frozen = frozen_set(set_id)
    except UnknownSet as unknown:
        raise UsageError(f"{option}: {unknown}") from None
    if frozen.document != contract.version:
        raise UsageError(
            f"{option} {set_id} is about the document {frozen.document}, and the run is judged by "
            f"{contract.version}"
        )
    missing = frozen.checks_missing_from(requirement_set_of(contract))
    if missing:
        raise UsageError(
            f"{option} {set_id}: this icecheck no longer has {len(missing)} of its checks, such as "
            f"{missing[0]}: judge by it with icecheck {set_id.rpartition('@')[2]}"
        )
    return frozen


def demanded_by(
    release: str, checks: Iterable[Check]
) -> tuple[tuple[Check, ...], tuple[Verdict, ...]]:
    """Return the checks that the release's document demands, and skips for the others.

    A check that proves an older requirement and a newer one is skipped: it could fail for the newer
    one.
    """
    demanded, skipped = [], []
    for check in checks:
        since = newest(r.since for r in check.requirements)
        if is_newer(since, release):
            why = f"demanded since Iceberg {since}; the run holds to {release}"
            skipped.append(not_run(check, SkipKind.SPEC_VERSION, why))
        else:
            demanded.append(check)
    return tuple(demanded), tuple(skipped)


def demanded_verdicts(
    verdicts: Iterable[Verdict], release: str, contract: Contract
) -> tuple[Verdict, ...]:
    """Return the passive verdicts that the release's document demands."""
    register = contract.requirements
    return tuple(
        verdict
        for verdict in verdicts
        if not any(is_newer(register[r].since, release) for r in verdict.requirements)
    )
