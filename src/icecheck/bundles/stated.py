"""Reads the verdicts that a run.json states."""

from collections.abc import Iterable, Mapping
from typing import Any

from icecheck.client.session import SessionSummary
from icecheck.findings.statuses import STATUS
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
from icecheck.wire.exchange import Exchange
from icecheck.wire.json_text import read_json


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
        findings=tuple(_finding(each, row["exchanges"]) for each in row["assertions"]),
        skip=None if skip is None else Skip(SkipKind(skip["kind"]), skip["reason"]),
        blocked_by=tuple(row["blocked_by"]),
        without=tuple(row["without"]),
        evidence=tuple(map(_evidence, row["exchanges"])),
        requests=row["requests"],
        duration_ms=row["duration_ms"],
        passive=row["passive"],
    )


def stated_summary(document: Mapping[str, Any], exchanges: Iterable[Exchange]) -> SessionSummary:
    """Return what a report and its exchanges tell of the session, for the end of its run."""
    configs = (e for e in exchanges if e.operation == "getConfig" and e.status == 200)
    first = next(configs, None)
    try:
        config = read_json(first.response_body) if first is not None else {}
    except ValueError:
        config = {}
    safety, target = document["safety"], document["target"]
    return SessionSummary(
        config=config if isinstance(config, dict) else {},
        isolation=document["config"]["isolation"],
        owner=safety["namespace_prefix"],
        server_header=target["fingerprint"]["server_header"],
        requests=document["timing"]["requests"],
        latencies_ms={},
        created=safety["created"],
        deleted=safety["deleted"],
        residue=[str(each) for each in safety["residue"]],
        foreign=[],
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


def _finding(said: Mapping[str, Any], shown: Iterable[Mapping[str, Any]]) -> Finding:
    symptom = symptom_named(said["id"]) or Symptom(said["id"], said["id"], Severity.WRONG_STATUS)
    ordinal = said["location"]["exchange"]
    came = [each["response"]["status"] for each in shown if each["n"] == ordinal]
    return Finding(
        symptom,
        said["expected"],
        said["actual"],
        said["detail"],
        said["location"]["pointer"],
        ordinal,
        answered=came[-1] if came and symptom.is_a(STATUS) else None,
    )
