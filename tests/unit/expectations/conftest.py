"""Finished runs made by hand, and the entries of a file that is compared with them."""

from types import SimpleNamespace

import pytest

from icecheck.findings.expectations import Selection, parse
from icecheck.findings.verdict import Outcome, Skip, SkipKind
from icecheck.run.expectations import gated
from tests.kit.findings import a_finding
from tests.kit.finished_runs import finished, verdict

EXISTS = "createNamespace.already-exists"
CREATED = "createNamespace.created"
DROPPED = "dropNamespace.gone"


def passed(check, **members):
    return verdict(check, **members)


def failed(check, actual="200", *, symptom="status", more=(), **members):
    findings = (a_finding(symptom, "409", actual), *more)
    summary = f"expected 409, got {actual}"
    return verdict(check, Outcome.FAIL, summary=summary, findings=findings, **members)


def blocked(check, by="createNamespace.200", **members):
    summary = f"{by} did not work"
    return verdict(check, Outcome.BLOCKED, summary=summary, blocked_by=(by,), **members)


def skipped(check, kind=SkipKind.NOT_DECLARED):
    return verdict(check, Outcome.SKIP, summary="not claimed", skip=Skip(kind, "not claimed"))


def erroneous(check):
    findings = (a_finding("suite-error", "no error", "NameError"),)
    return verdict(check, Outcome.ERROR, summary="NameError", findings=findings)


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


@pytest.fixture(scope="session")
def a():
    """The makers of verdicts, runs and entries, by name."""

    makers = (passed, failed, blocked, skipped, erroneous, finished, entry, expecting)
    return SimpleNamespace(**{maker.__name__: maker for maker in makers})
