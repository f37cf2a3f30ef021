"""A finished run again from its run.json, so that it can be rendered in every format later."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any

from icecheck.contract import Level
from icecheck.findings.expected_failures import (
    EntryFailure,
    EntryMatch,
    EntryResult,
    Expectation,
    ExpectationFile,
    ExpectationKind,
    Expectations,
    FailedEntry,
)
from icecheck.findings.statuses import Statuses
from icecheck.findings.symptoms import NOBODY, Severity, Symptom
from icecheck.findings.verdict import (
    Capability,
    Cause,
    Evidence,
    Finding,
    Group,
    Outcome,
    Profile,
    Run,
    Skip,
    SkipKind,
    Verdict,
)

_Row = Mapping[str, Any]
_SymptomNamed = Callable[[str], Symptom | None]
_FACTS = ("suite", "spec", "target", "environment", "config", "timing", "safety")


def restored(document: _Row, symptom_named: _SymptomNamed) -> Run:
    """Return the run of a document that follows the published schema.

    ``symptom_named`` finds a declared symptom by its slug; one of another release of the suite is
    told by its slug and by whom the report says it hurts. What a report of format 1.0 does not
    hold is derived from what it holds, or left empty.
    """
    verdict = document["verdict"]
    return Run(
        run_id=document["run_id"],
        generated_at=document["generated_at"],
        complete=document["complete"],
        status=verdict["status"],
        headline=verdict["headline"],
        exit_code=verdict["exit_code"],
        exit_reason=verdict["exit_reason"],
        verdicts=tuple(verdict_in(row, symptom_named) for row in document["checks"]),
        causes=tuple(_cause(row, document["checks"]) for row in document["causes"]),
        capabilities=tuple(map(_capability, document["capabilities"])),
        profiles=tuple(map(_profile, document["profiles"])),
        observations=tuple(document["observations"]),
        facts={block: document[block] for block in _FACTS} | _artifacts(document["artifacts"]),
        expectations=_expectations(document["expectations"], document["checks"]),
        preflight=tuple(_evidence(each, {}) for each in document.get("preflight", ())),
    )


def _artifacts(rows: Iterable[_Row]) -> dict[str, Any]:
    """Return the files of the run as a fact of it, by what they hold; nothing without a file."""
    files = {str(row["name"]).partition(".")[0]: row for row in rows}
    return {"artifacts": files} if files else {}


def verdict_in(row: _Row, symptom_named: _SymptomNamed) -> Verdict:
    """Return the verdict in a row of a document's checks; see `restored`."""
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
        findings=tuple(_finding(each, row, symptom_named) for each in row["assertions"]),
        skip=None if skip is None else Skip(SkipKind(skip["kind"]), skip["reason"]),
        blocked_by=tuple(row["blocked_by"]),
        without=tuple(row["without"]),
        evidence=tuple(_evidence(each, row) for each in row["exchanges"]),
        requests=row["requests"],
        duration_ms=row["duration_ms"],
        started_ms=row.get("started_ms", 0),
        passive=row["passive"],
        scored=row.get("scored", True),
        gating=row.get("gating", row["gates"] or row["expectation"] is not None),
    )


def _finding(row: _Row, check: _Row, symptom_named: _SymptomNamed) -> Finding:
    due = row.get("due")
    symptom = symptom_named(row["id"])
    return Finding(
        symptom=_unknown(row["id"], check) if symptom is None else symptom,
        expected=row["expected"],
        actual=row["actual"],
        detail=row["detail"],
        pointer=row["location"]["pointer"],
        exchange=row["location"]["exchange"],
        due=None if due is None else Statuses.from_alternatives(due),
        answered=row.get("answered"),
        steps=row.get("replay") or "",
        made=row.get("made", ""),
        shown=row.get("shown", ""),
    )


def _unknown(slug: str, check: _Row) -> Symptom:
    """Return a symptom that this release does not declare, as far as the report tells of it."""
    name, _, qualifier = slug.partition(":")
    hurts = next(iter(check.get("client_impact") or ()), NOBODY)
    return Symptom(name, name.replace("-", " "), Severity.WRONG_STATUS, hurts, qualifier=qualifier)


def _evidence(row: _Row, check: _Row) -> Evidence:
    request, response = row["request"], row["response"]
    return Evidence(
        ordinal=row["n"],
        step=row["role"],
        operation=row["operation"],
        request=f"{request['method']} {request['url']}",
        status=response["status"],
        request_body=request["body"],
        response_headers=response["headers"],
        response_body=response["body"],
        curl=row.get("curl", (check.get("reproduce") or {}).get("curl") or ""),
    )


def _cause(row: _Row, checks: Iterable[_Row]) -> Cause:
    operations = row.get("operations", ()) if "wrong" in row else ()
    listed = {*row["checks"], *row["blocked"]}
    lesser = (check["id"] for check in checks if check["cause"] == row["id"])
    return Cause(
        id=row["id"],
        operations=tuple(operations),
        wrong=row.get("wrong", row["title"]),
        consequence=row.get("consequence", ""),
        level=Level(row["level"]),
        symptom=row["symptom"],
        expected=row["expected"],
        actual=row["actual"],
        severity=row["severity"],
        requirements=tuple(row["requirements"]),
        members=tuple(row["checks"]),
        blocked=tuple(row["blocked"]),
        hurts=tuple(row["hurts"]),
        witness=row["witness"],
        lesser=tuple(check for check in lesser if check not in listed),
    )


def _capability(row: _Row) -> Capability:
    return Capability(
        id=row["id"],
        declared=row["declared"],
        observed=row["observed"],
        assessment=row["assessment"],
        checks=tuple(row["checks"]),
        loses=row["loses"],
    )


def _profile(row: _Row) -> Profile:
    counts = {str(level): row[level] for level in Level}
    return Profile(row["id"], row["claimed"], row["status"], counts)


def _expectations(block: _Row, checks: Iterable[_Row]) -> Expectations:
    if block["file"] is None:
        return Expectations()
    unmet = [(kind, row) for kind in EntryFailure for row in block[str(kind).replace("-", "_")]]
    rows = block.get("listed") or [*block["applied"], *(row for _, row in unmet)]
    entries = {row["entry"]: _entry(row) for row in sorted(rows, key=lambda row: row["entry"])}
    marked = ((row, row["expectation"]) for row in checks)
    marks = tuple(
        EntryMatch(row["id"], entries[mark["entry"]], EntryResult(mark["met"]))
        for row, mark in marked
        if mark is not None and mark["entry"] in entries
    )
    failed = [
        FailedEntry(kind, entries[row["entry"]], tuple(row["checks"]), row["why"])
        for kind, row in sorted(unmet, key=lambda each: each[1]["entry"])
    ]
    file = ExpectationFile(block["file"], block["sha256"], tuple(entries.values()))
    return Expectations(file, marks, tuple(failed))


def _entry(row: _Row) -> Expectation:
    return Expectation(
        kind=ExpectationKind(row["kind"]),
        reason=row["reason"],
        number=row["entry"],
        check=row["check"],
        cause=row["cause"],
        issue=row["issue"] or "",
        expires=date.fromisoformat(row["expires"]) if row["expires"] else None,
        line=row["line"] or 0,
    )
