"""How many checks a run makes is one number: planned, announced, counted on, and concluded."""

import json
import re

import pytest

from icecheck.findings.verdict import Group, Outcome, Skip, SkipKind, asked_of
from icecheck.mock_server import MockCatalog
from icecheck.reports import html, run_json, summary
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.target import Target
from tests.kit.finished_runs import finished, verdict

FEW = ("--only", "checks", "--check", "listTables.*", "--check", "*View*", "--run-id", "n1")


@pytest.fixture
def mock():
    with MockCatalog(token="t") as catalog:
        yield catalog


class Counting:
    """Progress that notes what it is told."""

    def __init__(self):
        self.announced, self.ended = 0, []

    def started(self, checks, _session):
        self.announced = len(checks)

    def judging(self, _check):
        pass

    def judged(self, verdict):
        self.ended.append(verdict.check)


def test_plan_run_report_and_list_say_one_number(icecheck, mock, tmp_path):
    rows = json.loads(icecheck("list", "--group", "checks", "--format", "json").stdout)
    globs = ("listTables.", "View")
    listed = [
        row["id"]
        for row in rows
        if not (row["passive"] or row["disruptive"])
        if row["id"].startswith(globs[0]) or globs[1] in row["id"]
    ]
    planned = icecheck("plan", mock.uri, "--token", "t", *FEW)
    assert int(re.search(r"would judge (\d+) checks", planned.output)[1]) == len(listed)
    ran = icecheck("run", mock.uri, "--token", "t", *FEW, "--output", "out")
    assert int(re.search(r"n1: (\d+) checks", ran.output)[1]) == len(listed)
    assert f"all {len(listed)} checks that ran passed" in ran.output
    assert f"checks: {len(listed)} pass, 0 fail" in ran.output
    text = (tmp_path / "out" / "run.json").read_text()
    assert run_json.problems_of(text) == []
    document = json.loads(text)
    assert document["suite"]["checks_total"] == len(listed)
    passive = [check for check in document["checks"] if check["passive"]]
    assert len(document["checks"]) - len(passive) == len(listed)
    assert document["totals"]["passive"] == len(passive) > 0
    assert f"judged from their answers: {len(passive)} pass" in ran.output
    for page in ("summary.md", "index.html"):
        assert f"{len(listed)} pass, 0 fail" in (tmp_path / "out" / page).read_text()


def test_what_an_older_release_does_not_demand_is_counted_from_the_start(mock):
    told = Counting()
    options = RunOptions(
        target=Target(mock.uri, token="t"),
        run_id="n2",
        groups=(Group.CHECKS,),
        globs=("planTableScan.*", "listTables.*"),
        spec="1.6.0",
    )
    run = run_checks(options, told)
    asked = [v.check for v in asked_of(run.verdicts)]
    assert any(v.skip and v.skip.kind is SkipKind.SPEC_VERSION for v in run.verdicts)
    assert told.announced == len(told.ended) == len(asked)
    assert set(told.ended) == set(asked)
    assert run.facts["suite"]["checks_total"] == told.announced


def test_a_run_that_ends_early_says_how_many_of_its_checks_were_judged(mock):
    class Impatient(Counting):
        def judged(self, verdict):
            super().judged(verdict)
            if len(self.ended) == 3:
                raise KeyboardInterrupt

    told = Impatient()
    options = RunOptions(
        target=Target(mock.uri, token="t"),
        run_id="n3",
        groups=(Group.CHECKS,),
        globs=("listTables.*",),
    )
    run = run_checks(options, told)
    assert told.announced > 3
    assert f"3 of {told.announced} judged" in summary.render(run)


def test_a_failure_read_off_in_passing_is_counted_apart_in_every_format():
    run = finished(
        verdict("createNamespace.created"),
        verdict("schema.createNamespace.200", Outcome.FAIL, passive=True),
        verdict("listViews.x", Outcome.SKIP, skip=Skip(SkipKind.NOT_DECLARED, "not claimed")),
    )
    counts = "1 pass, 0 fail, 0 blocked, 1 skip, 0 error; judged from their answers: 0 pass, 1 fail"
    assert counts in summary.render(run)
    assert counts in html.render(run)
    assert run.headline.startswith("0 of 1 checks fail, and 1 judged from their answers")
    assert run_json.document(run)["totals"]["passive"] == 1


def test_a_list_says_how_many_checks_a_run_makes_and_which_come_on_top(icecheck):
    rows = json.loads(icecheck("list", "--format", "json").stdout)
    apart = {"spark", "clients"}
    usual = [r for r in rows if not (r["passive"] or r["disruptive"] or r["group"] in apart)]
    listed = icecheck("list")
    assert listed.stderr.startswith(f"{len(usual)} checks in a run; ")
    marked = [line for line in listed.stdout.splitlines() if "judged from the answers" in line]
    assert len(marked) == sum(r["passive"] for r in rows)
