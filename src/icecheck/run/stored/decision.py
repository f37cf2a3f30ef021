"""Decides from a stored report whether a catalog may be relied on, without asking the catalog."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from icecheck.contract import PROFILES
from icecheck.contract.releases import is_newer
from icecheck.targets.target import UsageError

_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
_AGE = re.compile(r"([0-9]{1,4})([hdw])")
_VERSION = re.compile(r"[0-9]+(\.[0-9]+){1,2}")


@dataclass(frozen=True, slots=True)
class Demand:
    """A profile to which the catalog has to conform; ``document`` is "" where any version will do.

    A report about a newer document does not meet a demand for an older one: what that demanded may
    be wrong in the newer.
    """

    profile: str
    document: str = ""

    @classmethod
    def read(cls, text: str) -> "Demand":
        """Read ``write`` or ``write@1.10.0``.

        Raises UsageError for anything else.
        """
        profile, _, document = text.partition("@")
        if profile not in PROFILES:
            raise UsageError(f"--require {text}: the profiles are {', '.join(PROFILES)}")
        if document and not _VERSION.fullmatch(document):
            raise UsageError(f"--require {text}: say the document's version, such as 1.10.0")
        return cls(profile, document)


def age_from(text: str) -> timedelta:
    """Read an age such as ``12h``, ``30d`` or ``2w``.

    Raises UsageError for anything else.
    """
    found = _AGE.fullmatch(text)
    if found is None:
        raise UsageError(f"--max-age {text}: say hours, days or weeks, such as 12h, 30d or 2w")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def objections(
    report: Mapping[str, Any],
    demands: Sequence[Demand],
    max_age: timedelta | None = None,
    now: datetime | None = None,
) -> list[str]:
    """Return why a report does not suffice, a line for each reason; empty if it does.

    Without demands the run's own gate has to be satisfied. With demands the profiles decide, and
    what the user excused does not count: a known failure is a failure of the profile.
    """
    found = []
    if not report["complete"]:
        found.append("the run is incomplete: what it did not reach is not known")
    found += _too_old(report, max_age, now or datetime.now(UTC))
    if not demands:
        verdict = report["verdict"]
        if verdict["exit_code"] != 0:
            found.append(f"the gate of the run is not satisfied: {verdict['exit_reason']}")
        return found
    profiles = {row["id"]: row for row in report["profiles"]}
    judged_by = str(report["spec"]["id"]).rpartition("/")[2]
    for demand in demands:
        found += _unmet(demand, profiles.get(demand.profile), judged_by)
    return found


def _too_old(report: Mapping[str, Any], max_age: timedelta | None, now: datetime) -> list[str]:
    if max_age is None:
        return []
    ended = datetime.fromisoformat(report["generated_at"])
    if ended.tzinfo is None:
        ended = ended.replace(tzinfo=UTC)
    if ended > now + timedelta(days=1):
        return [f"the run ended in the future, at {ended.isoformat()}: look at the clocks"]
    if now - ended <= max_age:
        return []
    return [f"the run is too old: it ended at {ended.isoformat()}, {(now - ended).days} days ago"]


def _unmet(demand: Demand, row: Mapping[str, Any] | None, judged_by: str) -> list[str]:
    if demand.document and demand.document != judged_by:
        kind = "a newer" if is_newer(judged_by, demand.document) else "an older"
        said = f"the run held the catalog to {kind} document, {judged_by}"
        return [f"{demand.profile}: {said}, and {demand.document} is required"]
    if row is None:
        return [f"{demand.profile}: the report does not know this profile"]
    if row["status"] == "conformant":
        return []
    must = row["must"]
    counts = [f"{must[each]} {each}" for each in ("fail", "blocked", "error") if must[each]]
    said = f" ({', '.join(counts)})" if counts else ""
    return [f"{demand.profile}: {str(row['status']).replace('-', ' ')}{said}"]
