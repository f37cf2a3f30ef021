"""Reads the verdicts that a run.json states."""

from collections.abc import Mapping
from typing import Any

from icecheck.findings.symptoms import Severity, Symptom, symptom_named
from icecheck.findings.verdict import (
    Evidence,
    Finding,
    Group,
    Level,
    Outcome,
    Skip,
    SkipKind,
    Verdict,
)


def stated_verdict(row: Mapping[str, Any]) -> Verdict:
    """Return the verdict in a row of run.json's checks, without what such a row does not tell."""
    skip = row["skip"]
    return Verdict(
        check=row["id"],
        title=row["title"],
        group=Group(row["group"]),
        level=Level(row["severity"]),
        requirements=tuple(row["requirements"]),
        operations=tuple(row["operations"]),
        profile=row["profile"][0],
        outcome=Outcome(row["outcome"]),
        summary=row["summary"],
        findings=tuple(_finding(each) for each in row["assertions"]),
        skip=None if skip is None else Skip(SkipKind(skip["kind"]), skip["reason"]),
        blocked_by=tuple(row["blocked_by"]),
        without=tuple(row["without"]),
        evidence=tuple(map(_evidence, row["exchanges"])),
        requests=row["requests"],
        duration_ms=row["duration_ms"],
        passive=row["passive"],
    )


def _evidence(shown: Mapping[str, Any]) -> Evidence:
    asked, answered = shown["request"], shown["response"]
    return Evidence(
        ordinal=shown["n"],
        step=shown["role"],
        operation=shown["operation"],
        request=f"{asked['method']} {asked['url']}",
        status=answered["status"],
        request_body=asked["body"],
        response_headers=answered["headers"],
        response_body=answered["body"],
        curl="",
    )


def _finding(said: Mapping[str, Any]) -> Finding:
    symptom = symptom_named(said["id"]) or Symptom(said["id"], said["id"], Severity.WRONG_STATUS)
    return Finding(
        symptom,
        said["expected"],
        said["actual"],
        said["detail"],
        said["location"]["pointer"],
        said["location"]["exchange"],
    )
