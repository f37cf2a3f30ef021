"""Small reports on disk for the evidence: of any catalog and time, with exchanges of any kind."""

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import zstandard

from icecheck.findings.verdict import Outcome
from icecheck.reports import run_json
from tests.kit.findings import a_finding
from tests.kit.finished_runs import finished, verdict

OUTCOMES = {"pass": Outcome.PASS, "fail": Outcome.FAIL}


@cache
def _text(outcomes: tuple[tuple[str, str], ...]) -> str:
    verdicts = [
        verdict(
            check,
            OUTCOMES[outcome],
            requirements=(f"{check}.demanded", "createNamespace.409"),
            summary="expected 409, got 404" if outcome == "fail" else "",
            findings=(a_finding("status", "409", f"404 of {check}"),) if outcome == "fail" else (),
        )
        for check, outcome in outcomes
    ]
    return run_json.render(finished(*verdicts))


def document(
    run_id: str,
    at: str = "2026-03-01T12:00:00+00:00",
    catalog: str = "Acme catalog",
    outcomes: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return a run.json of a catalog; ``outcomes`` of checks, that is pass or fail."""
    chosen = outcomes or {"one.check": "pass", "another.check": "fail"}
    made: dict[str, Any] = json.loads(_text(tuple(chosen.items())))
    made["run_id"], made["generated_at"] = run_id, at
    made["report_id"] = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{run_id} {at}"))
    made["target"]["implementation"]["project"] = catalog
    return made


def exchange(
    ordinal: int,
    operation: str | None = "loadTable",
    status: int | None = 200,
    elapsed_ms: float = 1.5,
    body: str = "{}",
) -> dict[str, Any]:
    """Return an exchange as a line of exchanges has it."""
    return {
        "check": "one.check",
        "ordinal": ordinal,
        "step": "do",
        "operation": operation,
        "method": "GET",
        "url": f"http://catalog.test/v1/n?x={ordinal}",
        "request_headers": [["Accept", "application/json"]],
        "request_body": None,
        "status": status,
        "response_headers": [["content-type", "application/json"]],
        "response_body": {"text": body},
        "elapsed_ms": elapsed_ms,
        "error": None if status else "ReadTimeout: timed out",
    }


def packed(lines: Sequence[Mapping[str, Any] | bytes]) -> bytes:
    """Return lines as they are in a file of exchanges."""
    text = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return zstandard.ZstdCompressor().compress(b"".join(each + b"\n" for each in text))


def stating(made: Mapping[str, Any], lines: Sequence[Mapping[str, Any] | bytes]) -> dict[str, Any]:
    """Return a run.json that says which file of exchanges is its own: that with these lines."""
    content = packed(lines)
    artifact = {
        "name": "exchanges.jsonl.zst",
        "sha256": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "bytes": len(content),
        "exchanges": len(lines),
    }
    return {**made, "artifacts": [artifact]}


def put(
    directory: Path,
    made: Mapping[str, Any],
    lines: Sequence[Mapping[str, Any] | bytes] | None = None,
    *,
    stated: bool = True,
) -> Path:
    """Write a report into a directory, and its exchanges where there are any.

    One that is not ``stated`` says nothing of its exchanges, as those of the first releases.
    """
    directory.mkdir(parents=True, exist_ok=True)
    if lines is not None:
        (directory / "exchanges.jsonl.zst").write_bytes(packed(lines))
        made = stating(made, lines) if stated else made
    (directory / "run.json").write_text(json.dumps(made, indent=1))
    return directory
