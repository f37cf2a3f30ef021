"""Behaviours of a secured mock turned off, of every family: noticed, explained and reproduced."""

import os
import re
import subprocess

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.findings.telling.finding_card import card_of
from icecheck.findings.verdict import Group
from icecheck.findings.verdict import Outcome as Ending
from icecheck.judging.judge import judge
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.context import Outcome, Reply
from icecheck.mock_server.protocol.problem import Problem
from icecheck.run.collect import collect
from icecheck.targets.target import Target
from tests.kit.contracts import CONTRACT

TOKEN = "tok-canary-1"


def without_effect(faithful):
    """Answer as if all had gone well and keep nothing."""

    def operation(context, state, call):
        return Outcome(state, faithful(context, state, call).reply)

    return operation


def nothing(*_):
    """Do nothing, whatever the update or assertion says."""


def always_there(faithful):
    def operation(context, state, call):
        return Outcome(state, Reply(204))

    return operation


def refused_as(status):
    def wrapped(faithful):
        def operation(context, state, call):
            try:
                return faithful(context, state, call)
            except Problem as problem:
                raise Problem(status, problem.type, problem.message) from None

        return operation

    return wrapped


def answered_with(status):
    def wrapped(faithful):
        def operation(context, state, call):
            outcome = faithful(context, state, call)
            return Outcome(outcome.state, Reply(status, (), b""), outcome.effects)

        return operation

    return wrapped


# registry, entry, what replaces it, and a check that must notice
TURNED_OFF = [
    ("operations", "createNamespace", refused_as(400), "createNamespace.already-exists"),
    ("operations", "dropNamespace", without_effect, None),
    ("operations", "updateProperties", without_effect, None),
    ("operations", "tableExists", always_there, "tableExists.missing"),
    ("operations", "dropTable", answered_with(200), "dropTable.succeeds"),
    ("operations", "renameTable", without_effect, "renameTable.moves-table"),
    ("operations", "loadTable", refused_as(500), "loadTable.missing"),
    ("updates", "set-properties", lambda _: nothing, None),
    ("updates", "remove-snapshots", lambda _: nothing, None),
    ("assertions", "assert-table-uuid", lambda _: nothing, None),
    ("operations", "dropView", answered_with(200), None),
    ("operations", "replaceView", without_effect, None),
    ("operations", "renameView", without_effect, "renameView.moves-view"),
    ("operations", "loadView", refused_as(500), "loadView.missing"),
    ("operations", "commitTransaction", without_effect, None),
    ("operations", "registerTable", refused_as(500), None),
    ("operations", "listNamespaces", refused_as(500), None),
    ("operations", "reportMetrics", answered_with(200), None),
    ("operations", "planTableScan", refused_as(500), None),
]


@pytest.fixture(scope="module")
def checks():
    return {check.id: check for check in collect([Group.CHECKS], CONTRACT)}


def aimed_at(entry, registry, wanted, checks):
    """The checks to try: the named one, or those that prove something about the entry."""
    if wanted is not None:
        return [checks[wanted]]
    if registry == "operations":
        return [c for c in checks.values() if c.operations[:1] == (entry,)]
    return [c for c in checks.values() if any(entry in r for r in c.proves)]


@pytest.mark.parametrize(
    ("registry", "entry", "replacement", "wanted"),
    TURNED_OFF,
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_a_behaviour_turned_off_is_noticed_explained_and_reproduced(
    registry, entry, replacement, wanted, checks
):
    with MockCatalog(seed=1, token=TOKEN, warehouses=["wh"]) as mock:
        session = open_session(Target(mock.uri, warehouse="wh", token=TOKEN), run_id="r1")
        entries = getattr(mock.registries, registry)
        entries[entry] = replacement(entries[entry])
        verdicts = [
            judge(check, Catalog(session, check.id))
            for check in aimed_at(entry, registry, wanted, checks)
        ]
        failed = [v for v in verdicts if v.outcome is Ending.FAIL]
        assert failed, f"nobody noticed that {entry} is off: {[v.check for v in verdicts]}"
        verdict = failed[0]
        card = card_of(verdict, CONTRACT)
        finding = verdict.findings[0]
        assert verdict.requirements[0] in card
        assert finding.expected in card
        assert finding.actual in card
        assert TOKEN not in card
        shown = verdict.shown_by
        assert shown.curl in card
        session.close()
        # What the run made is gone, so the lines that lead up to the request come first.
        lines = [e.curl for e in verdict.evidence if e.ordinal <= shown.ordinal]
        assert all(line in card for line in lines)
        assert reproduced(lines) == shown.status
        assert mock.journal.find()[-1].operation == shown.operation


def reproduced(lines):
    """Run curl lines one after the other; return the status that the last one shows."""
    for line in lines:
        done = subprocess.run(
            ["sh", "-c", line],
            env={"PATH": os.environ["PATH"], "ICECHECK_TOKEN": TOKEN},
            capture_output=True,
            text=True,
            check=True,
        )
    (status,) = re.findall(r"^HTTP/1\.1 (\d+)", done.stdout, re.MULTILINE)
    return int(status)
