"""Renders a run as one JSON document, the source of all other formats: ``run.schema.json``."""

import json
import shlex
import uuid
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from icecheck.contract import Contract, Requirement
from icecheck.contract.proofs import proven_by
from icecheck.contract.witnesses import witnesses_of
from icecheck.findings.expected_failures import EntryFailure, EntryMatch, Expectation, Expectations
from icecheck.findings.telling.client_impact import hurt_by
from icecheck.findings.telling.finding_card import describe
from icecheck.findings.verdict import Cause, Evidence, Finding, Outcome, Run, Verdict, totals_of
from icecheck.reports.joined import (
    causes_by_check,
    checks_by_requirement,
    contract_of,
    gates,
    is_unexpected,
    result_of,
)
from icecheck.reports.tables import EngineRow, client_rows, operation_rows, spark_rows
from icecheck.targets.secret_marks import without_marks

SCHEMA_ID = "urn:icecheck:run:1.1"
_REPORT_VERSION = "1.1"
_NAMESPACE = uuid.UUID("5b4f0d6e-8a3c-5f0b-9a55-1f1c6a2f7e11")
_NO_CHECKS = '\n "checks": [],\n'
_WRONG = frozenset({Outcome.FAIL, Outcome.BLOCKED, Outcome.ERROR})


def render(run: Run) -> str:
    """Return the JSON text, ending with a newline; it is ASCII, so that any name can be written."""
    # Check by check: all exchanges of a long run at once take twice as much memory.
    before, after = json.dumps(_around_checks(run), indent=1).split(_NO_CHECKS)
    if not run.verdicts:
        return f"{before}{_NO_CHECKS}{after}\n"
    parts = [before, '\n "checks": [']
    for row in _checks(run):
        parts += ["\n  ", json.dumps(row, indent=1).replace("\n", "\n  "), ","]
    parts[-1] = "\n ],\n"
    return "".join([*parts, after, "\n"])


@cache
def schema() -> dict[str, Any]:
    """Return the published JSON schema of the document."""
    text = Path(__file__).with_name("run.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def problems_of(text: str) -> list[str]:
    """Return the violations of the published schema by a rendered document, one line each."""
    document = whole = json.loads(text)
    if "\\ud" in text:
        # The validator in Rust takes no half of a surrogate pair, which a catalog may have sent.
        whole = json.loads(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"))
    if _validator().is_valid(whole):
        return []
    import jsonschema  # slow, and it says where a violation is as a path

    found = jsonschema.Draft202012Validator(schema()).iter_errors(document)
    return [f"{e.json_path}: {e.message[:200]}" for e in found]


def follows_schema(document: Any) -> bool:
    """Return whether a document follows the published schema; `problems_of` says what is wrong.

    False too for one with half a surrogate pair, whatever else it is.
    """
    try:
        return bool(_validator().is_valid(document))
    except ValueError:
        return False


@cache
def _validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema())


def document(run: Run) -> dict[str, Any]:
    """Return the run as JSON values."""
    return _around_checks(run) | {"checks": [*_checks(run)]}


def _checks(run: Run) -> Iterator[dict[str, Any]]:
    contract, causes = contract_of(run), causes_by_check(run)
    marks = run.expectations.by_check
    for verdict in run.verdicts:
        check = verdict.check
        yield _check(verdict, run, causes.get(check), contract, marks.get(check))


def _around_checks(run: Run) -> dict[str, Any]:
    """Return the run as JSON values, with an empty list in the place of its checks."""
    contract = contract_of(run)
    return {
        "$schema": SCHEMA_ID,
        "kind": "IcebergRestConformanceReport",
        "report_version": _REPORT_VERSION,
        "report_id": str(uuid.uuid5(_NAMESPACE, f"{run.run_id} {run.generated_at}")),
        "run_id": run.run_id,
        "generated_at": run.generated_at,
        "complete": run.complete,
        "verdict": {
            "status": run.status,
            "headline": run.headline,
            "exit_code": run.exit_code,
            "exit_reason": run.exit_reason,
            "gating": {
                "level": "must",
                "profiles": [p.id for p in run.profiles if p.claimed],
                "fail_on": ["fail", "blocked", "error"],
            },
        },
        **{
            block: run.facts[block]
            for block in ("suite", "spec", "target", "environment", "config", "timing")
        },
        "totals": totals_of(run.verdicts, run.expectations),
        "causes": [_cause(cause) for cause in run.causes],
        "capabilities": _capabilities(run),
        "profiles": [
            {"id": p.id, "claimed": p.claimed, "status": p.status, **p.counts} for p in run.profiles
        ],
        "engine_profiles": _engine_profiles(run),
        "requirements": _requirements(run, contract),
        "checks": [],
        "observations": list(run.observations),
        "expectations": _expectations(run.expectations),
        "safety": run.facts["safety"],
        "comparison": None,
        "artifacts": list(run.facts.get("artifacts", {}).values()),
        **({"preflight": [_exchange(each) for each in run.preflight]} if run.preflight else {}),
    }


def _capabilities(run: Run) -> list[dict[str, Any]]:
    """Return claims and behaviour; of operations also how each stands by all findings about it."""
    cells = {row.capability.id: row.cell for row in operation_rows(run)}
    rows: list[dict[str, Any]] = []
    for capability in run.capabilities:
        row: dict[str, Any] = {
            "id": capability.id,
            "declared": capability.declared,
            "observed": capability.observed,
            "assessment": capability.assessment,
            "checks": list(capability.checks),
            "loses": capability.loses,
        }
        if cell := cells.get(capability.id):
            counts = {"pass": cell.passed, "fail": cell.failed, "blocked": cell.blocked}
            row |= {"stands": str(cell.standing), "counts": counts, "because": list(cell.causes)}
        rows.append(row)
    return rows


def _cause(cause: Cause) -> dict[str, Any]:
    return {
        "id": cause.id,
        "title": cause.title,
        "level": str(cause.level),
        "severity": cause.severity,
        "symptom": cause.symptom,
        "expected": cause.expected,
        "actual": cause.actual,
        "requirements": list(cause.requirements),
        "checks": list(cause.members),
        "blocked": list(cause.blocked),
        "hurts": list(cause.hurts),
        "operations": list(cause.operations),
        "wrong": cause.wrong,
        "consequence": cause.consequence,
        "witness": cause.witness,
    }


def _engine_profiles(run: Run) -> list[dict[str, Any]]:
    """Return the results of Spark itself, and those of the replayed requests of clients."""
    executed = [_workflow(row) for row in spark_rows(run)]
    profiles: list[dict[str, Any]] = []
    if executed:
        profile = {"id": "spark", "provenance": "executed", "workflows": executed}
        engine = run.facts["environment"].get("spark")
        profiles.append(profile | ({"client": engine} if engine else {}))
    for client in client_rows(run):
        workflows = [_workflow(row) for row in client.workflows]
        profiles.append(
            {
                "id": client.id,
                "client": client.client,
                "provenance": "recorded",
                "workflows": workflows,
            }
        )
    return profiles


def _workflow(row: EngineRow) -> dict[str, Any]:
    return {
        "id": row.check,
        "statement": row.title,
        "status": row.status,
        "because": list(row.cell.causes),
        "reason": row.why,
    }


def _requirements(run: Run, contract: Contract) -> list[dict[str, Any]]:
    proving = checks_by_requirement(run)
    return [
        _requirement(r, contract, proving.get(r.id, [])) for r in contract.requirements.values()
    ]


def _requirement(
    requirement: Requirement, contract: Contract, verdicts: list[Verdict]
) -> dict[str, Any]:
    return {
        "id": requirement.id,
        "level": str(requirement.level),
        "basis": str(requirement.basis),
        "text": requirement.text,
        "spec_ref": {
            "refs": [str(ref) for ref in requirement.refs],
            "lines": list(requirement.lines),
            "permalink": contract.permalink(requirement.lines),
        },
        "profile": requirement.profile,
        "condition": requirement.condition,
        "since": requirement.since,
        "changed": requirement.changed,
        "status": "disputed" if requirement.disputed else "active",
        "errata": list(requirement.errata),
        "hurts": requirement.hurts,
        "checks": [v.check for v in verdicts],
        "result": result_of(verdicts),
        "not_tested_reason": requirement.not_tested,
    }


def _expectations(expectations: Expectations) -> dict[str, Any]:
    file = expectations.file
    block: dict[str, Any] = {
        "file": file.path if file else None,
        "sha256": file.sha256 if file else None,
        "entries": len(file.entries) if file else 0,
        "listed": [_entry(entry) for entry in file.entries] if file else [],
        "applied": [],
        "fails_differently": [],
        "stale": [],
        "expired": [],
    }
    for entry in file.entries if file else ():
        mine = [m.check for m in expectations.marks if m.entry is entry and m.excuses]
        if mine:
            block["applied"].append({**_entry(entry), "checks": mine})
    lists = {
        EntryFailure.FAILS_DIFFERENTLY: "fails_differently",
        EntryFailure.STALE: "stale",
        EntryFailure.EXPIRED: "expired",
    }
    for unmet in expectations.unmet:
        row = {**_entry(unmet.entry), "checks": list(unmet.checks), "why": unmet.why}
        block[lists[unmet.kind]].append(row)
    return block


def _entry(entry: Expectation) -> dict[str, Any]:
    return {
        "entry": entry.number,
        "line": entry.line or None,
        "check": entry.check,
        "cause": entry.cause,
        "kind": str(entry.kind),
        "reason": entry.reason,
        "issue": entry.issue or None,
        "expires": entry.expires.isoformat() if entry.expires else None,
    }


def _mark(mark: EntryMatch | None) -> dict[str, Any] | None:
    if mark is None:
        return None
    entry = mark.entry
    return {
        "entry": entry.number,
        "met": str(mark.met),
        "reason": entry.reason,
        "issue": entry.issue or None,
    }


def _check(
    verdict: Verdict, run: Run, cause: Cause | None, contract: Contract, mark: EntryMatch | None
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": verdict.check,
        "title": verdict.title,
        "group": str(verdict.group),
        "profile": [verdict.profile],
        "requirements": list(verdict.requirements),
        "operations": list(verdict.operations),
        "severity": str(verdict.level),
        "outcome": str(verdict.outcome),
        "skip": None
        if verdict.skip is None
        else {"kind": str(verdict.skip.kind), "reason": verdict.skip.reason},
        "blocked_by": list(verdict.blocked_by),
        "without": list(verdict.without),
        "expected": str(mark.entry.kind) if mark else "none",
        "expectation": _mark(mark),
        "unexpected": is_unexpected(verdict, mark),
        "gating": verdict.gating,
        "scored": verdict.scored,
        "gates": gates(verdict, mark),
        "witnessed_by": list(witnesses_of(verdict.check)),
        "proven_by": list(proven_by(verdict.check)),
        "duration_ms": round(verdict.duration_ms, 2),
        "started_ms": verdict.started_ms,
        "requests": verdict.requests,
        "passive": verdict.passive,
        "attempts": 1,
        "flaky": False,
        "summary": verdict.summary,
        "assertions": [_assertion(f) for f in verdict.findings],
        "cause": cause.id if cause else None,
        "exchanges": [_exchange(e) for e in verdict.evidence],
    }
    if verdict.outcome in _WRONG:
        row["failure_fingerprint"] = _fingerprint(verdict)
        row["client_impact"] = list(hurt_by(verdict, contract))
        row["reproduce"] = _reproduce(verdict, run, contract)
    return row


def _assertion(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.symptom.slug,
        "expected": finding.expected,
        "actual": finding.actual,
        "detail": finding.detail,
        "due": None if finding.due is None else finding.due.alternatives,
        "answered": finding.answered,
        "made": finding.made,
        "shown": finding.shown,
        "replay": finding.steps or None,
        "location": {"exchange": finding.exchange, "pointer": finding.pointer},
    }


def _fingerprint(verdict: Verdict) -> str:
    if not verdict.findings:
        return f"fp:{verdict.check}:blocked-by={','.join(verdict.blocked_by)}"
    first = verdict.findings[0]
    return f"fp:{verdict.check}:{without_marks(f'{first.symptom.slug}={first.actual}')}"


def _reproduce(verdict: Verdict, run: Run, contract: Contract) -> dict[str, Any]:
    card = describe(verdict, contract)
    # A passive check cannot be run by itself.
    again = None if verdict.passive else _command(verdict, run)
    return {"arrange": list(card.arrange), "curl": card.curl or None, "cli": again}


def _command(verdict: Verdict, run: Run) -> str:
    target = run.facts["target"]
    parts = ["icecheck", "run", str(target["url"])]
    if target.get("warehouse"):
        parts += ["--warehouse", str(target["warehouse"])]
    parts += ["--only", str(verdict.group), "--check", verdict.check]
    parts += ["--run-id", run.run_id, "--seed", str(run.facts["config"]["seed"])]
    return shlex.join(parts)


def _exchange(evidence: Evidence) -> dict[str, Any]:
    method, _, url = evidence.request.partition(" ")
    return {
        "n": evidence.ordinal,
        "role": evidence.step,
        "operation": evidence.operation,
        "request": {"method": method, "url": url, "body": evidence.request_body},
        "response": {
            "status": evidence.status,
            "headers": evidence.response_headers,
            "body": evidence.response_body,
        },
        "curl": evidence.curl,
    }
