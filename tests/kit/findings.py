"""Findings as tests and records write them down: a slug, and what was due and came as text."""

from collections.abc import Sequence
from typing import Any

from icecheck.findings.statuses import ANY_REFUSAL, STATUS, Statuses
from icecheck.findings.symptoms import Severity, Symptom, symptom_named
from icecheck.findings.verdict import Finding
from icecheck.replies.expect import Violation
from icecheck.run.known_symptoms import known_symptoms

known_symptoms()


def a_symptom(slug: str) -> Symptom:
    """The symptom with this slug; one that nobody declares (any more) is a matter of shape."""
    name, _, qualifier = slug.partition(":")
    title = slug.replace("-", " ").capitalize()
    return symptom_named(slug) or Symptom(name, title, Severity.SHAPE, qualifier=qualifier)


def statuses(text: str) -> Statuses:
    """The statuses that a report tells as text."""
    if text == str(ANY_REFUSAL):
        return ANY_REFUSAL
    parts = text.split(" or ")
    return Statuses(
        frozenset(int(part) for part in parts if part.isdecimal()),
        frozenset(int(part[0]) for part in parts if part.endswith("xx")),
    )


def a_finding(
    slug: str,
    expected: str,
    actual: str,
    detail: str = "",
    pointer: str = "",
    exchange: int | None = None,
) -> Finding:
    """A finding with everything that its texts say."""
    about = a_symptom(slug)
    is_status = about.grouped_as == STATUS and actual.isdecimal()
    return Finding(
        about,
        expected,
        actual,
        detail,
        pointer,
        exchange,
        due=statuses(expected) if is_status else None,
        answered=int(actual) if is_status else None,
    )


def a_violation(
    slug: str, expected: str, actual: str, *, others: Sequence[Finding] = (), **members: Any
) -> Violation:
    """The Violation of such a finding."""
    return Violation.again(a_finding(slug, expected, actual, **members), *others)


def told(finding: Finding) -> tuple[str, str, str]:
    """What a report tells of a finding: slug, expected, actual."""
    return (finding.symptom.slug, finding.expected, finding.actual)
