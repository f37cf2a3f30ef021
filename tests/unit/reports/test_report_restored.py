"""A report that is rendered again from run.json says what it said when the run ended."""

import json
from dataclasses import replace

from icecheck.findings.expectations import Selection, parse
from icecheck.findings.statuses import Statuses
from icecheck.findings.symptoms import symptom_named
from icecheck.findings.verdict import Level, Outcome
from icecheck.reports import run_json
from icecheck.reports.restored import restored
from icecheck.run.expectations import gated
from icecheck.run.output import FORMATS
from tests.kit.findings import a_finding
from tests.kit.finished_runs import verdict
from tests.unit.reports.conftest import FAILED, GOOD, RUNS, SHOULD, finished

ENTRIES = """
[[expectation]]
check = "createNamespace.already-exists"
kind = "known-failure"
reason = "ticket 7"
issue = "https://example.com/7"
expires = 2099-01-01

[[expectation]]
check = "getConfig.*"
kind = "known-failure"
reason = "it passes"

[[expectation]]
check = "createNamespace.*"
kind = "waived"
reason = "not built yet"
expires = 2020-01-01

[[expectation]]
check = "nothing.*"
kind = "flaky"
reason = "it matches nothing"
"""


def again(run):
    return restored(json.loads(run_json.render(run)), symptom_named)


def expect_same_formats(run):
    shown = again(run)
    assert [name for name in FORMATS if FORMATS[name](shown) != FORMATS[name](run)] == []


def test_every_format_is_the_same_after_a_round_trip(run):
    expect_same_formats(run)


def test_what_was_expected_is_told_again():
    run = finished(*GOOD, FAILED, SHOULD)
    selection = Selection(frozenset(v.check for v in run.verdicts), whole=True)
    run = gated(run, parse(ENTRIES, "icecheck.toml"), selection)
    assert {str(u.kind) for u in run.expectations.unmet} == {"stale", "expired"}
    expect_same_formats(run)


def test_what_a_finding_knows_of_statuses_values_and_histories_is_told_again():
    finding = replace(
        FAILED.findings[0],
        due=Statuses(frozenset({404, 409}), frozenset({5})),
        answered=200,
        steps='{"steps": [1]}',
        made="size 5",
        shown="size 3",
    )
    lost = replace(FAILED, findings=(finding,), gating=False)
    run = finished(*GOOD, lost)
    expect_same_formats(run)


def test_what_fails_below_the_level_of_its_cause_is_told_again():
    same = {"findings": (a_finding("same-way", "200", "500"),), "outcome": Outcome.FAIL}
    lesser = [verdict(f"advised.{n}", level=Level.SHOULD, **same) for n in (2, 1)]
    run = finished(lesser[0], verdict("required", **same), lesser[1])
    assert run.causes[0].lesser
    expect_same_formats(run)


def test_a_report_of_format_1_0_becomes_a_page_again():
    document = json.loads(run_json.render(RUNS["failed"]))
    new = {"causes": ("wrong", "consequence"), "checks": ("gating",)}
    for block, members in new.items():
        for row in document[block]:
            for member in members:
                row.pop(member)
    for check in document["checks"]:
        for finding in check["assertions"]:
            for member in ("due", "answered", "made", "shown", "replay"):
                finding.pop(member)
        for exchange in check["exchanges"]:
            exchange.pop("curl")
    document["expectations"].pop("listed")
    document["$schema"], document["report_version"] = "urn:icecheck:run:1.0", "1.0"
    text = json.dumps(document)
    assert run_json.problems_of(text) == []
    run = restored(document, symptom_named)
    assert [c.title for c in run.causes] == [c.title for c in RUNS["failed"].causes]
    for render in FORMATS.values():
        assert render(run)


def test_a_symptom_that_no_release_declares_is_told_by_its_name():
    document = json.loads(run_json.render(RUNS["failed"]))
    failing = next(c for c in document["checks"] if c["assertions"])
    failing["assertions"][0]["id"] = "from-another-release:of-a-table"
    failing["client_impact"] = ["Spark: it cannot read it"]
    finding = next(v for v in restored(document, symptom_named).verdicts if v.findings).findings[0]
    assert finding.symptom.slug == "from-another-release:of-a-table"
    assert finding.symptom.hurts == "Spark: it cannot read it"
