"""Finished runs made by hand out of verdicts, for tests of what is made of a run."""

from dataclasses import replace
from datetime import UTC, datetime

from icecheck.client.session import SessionSummary
from icecheck.findings.verdict import Group, Level, Outcome, Verdict
from icecheck.run.finish import ProcessReport, finish
from icecheck.run.options import RunOptions
from icecheck.targets.target import Target

STARTED = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
ENDPOINTS = ["POST /v1/{prefix}/namespaces", "GET /v1/{prefix}/namespaces"]


def verdict(check, outcome=Outcome.PASS, **members):
    given = {
        "check": check,
        "title": f"What {check} demands",
        "group": Group.CHECKS,
        "level": Level.MUST,
        "requirements": ("createNamespace.409",),
        "operations": ("createNamespace",),
        "profile": "write",
        "outcome": outcome,
        "requests": 2,
        "duration_ms": 12.5,
    }
    return Verdict(**given | members)


def finished(
    *verdicts,
    interrupted=False,
    tripped=False,
    residue=(),
    endpoints=ENDPOINTS,
    ended=None,
    **known,
):
    """Return a finished run; ``ended`` are members of its process, ``known`` of its session."""
    options = RunOptions(
        target=Target("http://catalog.test", warehouse="wh", token="token-canary"),
        run_id="abc123",
        command="icecheck run http://catalog.test",
        implementation="Acme catalog",
    )
    session = SessionSummary(
        config={"defaults": {}, "overrides": {}, "endpoints": list(endpoints)},
        isolation="nested",
        owner="icecheck_abc123",
        server_header="acme/1",
        requests=7,
        latencies_ms={"createNamespace": [1.0, 2.0, 40.0], "": [3.0]},
        created=3,
        deleted=3,
        residue=list(residue),
        foreign=[],
    )
    ending = {"tripped": "it gave no usable answer" if tripped else "", **(ended or {})}
    return finish(
        options,
        [ProcessReport(replace(session, **known), {}, **ending)],
        verdicts,
        interrupted=interrupted,
        started_at=STARTED,
        wall_seconds=1.5,
    )
