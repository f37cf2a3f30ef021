"""Finished runs made by hand, and the entries of a file that is compared with them."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from icecheck.assembly.expecting import gated
from icecheck.assembly.finish import finish
from icecheck.assembly.run import RunOptions
from icecheck.expectations import Selection, parse
from icecheck.session import SessionSummary
from icecheck.target import Target
from icecheck.verdict import Finding, Group, Level, Outcome, Skip, SkipKind, Verdict

ENDPOINTS = ["POST /v1/{prefix}/namespaces", "GET /v1/{prefix}/namespaces"]
EXISTS = "createNamespace.already-exists"
CREATED = "createNamespace.created"
DROPPED = "dropNamespace.gone"


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
        "requests": 1,
    }
    return Verdict(**given | members)


def passed(check, **members):
    return verdict(check, **members)


def failed(check, actual="200", *, symptom="status", more=(), **members):
    findings = (Finding(symptom, "409", actual), *more)
    summary = f"expected 409, got {actual}"
    return verdict(check, Outcome.FAIL, summary=summary, findings=findings, **members)


def blocked(check, by="createNamespace.200", **members):
    summary = f"{by} did not work"
    return verdict(check, Outcome.BLOCKED, summary=summary, blocked_by=(by,), **members)


def skipped(check, kind=SkipKind.NOT_DECLARED):
    return verdict(check, Outcome.SKIP, summary="not claimed", skip=Skip(kind, "not claimed"))


def erroneous(check):
    findings = (Finding("suite-error", "no error", "NameError"),)
    return verdict(check, Outcome.ERROR, summary="NameError", findings=findings)


def finished(*verdicts, **ending):
    options = RunOptions(target=Target("http://catalog.test"), run_id="abc123", command="icecheck")
    session = SessionSummary(
        config={"endpoints": ENDPOINTS},
        isolation="nested",
        owner="icecheck_abc123",
        server_header=None,
        requests=len(verdicts),
        latencies_ms=[1.0],
        created=0,
        deleted=0,
        residue=list(ending.pop("residue", ())),
        foreign=[],
    )
    return finish(
        options,
        [session],
        verdicts,
        {},
        interrupted=ending.pop("interrupted", False),
        tripped=ending.pop("tripped", False),
        started_at=datetime.now(UTC),
        wall_seconds=0.1,
    )


def entry(check=EXISTS, kind="known-failure", **members):
    """One entry as text; ``cause=…`` instead of a check, and raw TOML for the rest."""
    names = members.pop("cause", None)
    lines = [f'cause = "{names}"' if names else f'check = "{check}"', f'kind = "{kind}"']
    lines += [f"{key} = {value}" for key, value in members.items()]
    lines += [] if "reason" in members else ['reason = "ticket 7"']
    return "\n".join(["[[expectation]]", *lines, ""])


def expecting(run, *entries, selected=None, whole=True):
    """The run with its gate decided by entries; selected: every check of the run, by default."""
    file = parse("\n".join(entries), "icecheck.toml")
    checks = {v.check for v in run.verdicts} if selected is None else selected
    return gated(run, file, Selection(frozenset(checks), whole))


@pytest.fixture
def a():
    """The makers of verdicts, runs and entries, by name."""

    makers = (passed, failed, blocked, skipped, erroneous, finished, entry, expecting)
    return SimpleNamespace(**{maker.__name__: maker for maker in makers})
