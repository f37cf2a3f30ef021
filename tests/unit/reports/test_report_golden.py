"""Every format of every kind of run, as it was reviewed; and what other readers make of them."""

import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from junit2htmlreport.parser import Junit
from junitparser import JUnitXml
from xunitparser import parse

from icecheck.cli.closing import closing_lines
from icecheck.contract import load
from icecheck.findings.verdict import Level, Outcome
from icecheck.reports import html, junit, run_json, summary
from icecheck.reports.many import matrix, trend
from icecheck.reports.many.stored import stored_runs
from icecheck.reports.requested import annotations, badges
from icecheck.run.output import FORMATS as WRITTEN
from tests.laws.golden import FOLDER, expect_golden
from tests.unit.reports.golden_runs import RUNS, documents_of

GOLDEN = FOLDER / "reports"
_INLINED = re.compile(r"(<(style|script)>).*?(</\2>)|'sha256-[^']*'", re.DOTALL)


def page(text):
    """The page without its style and script, which are files of their own."""
    return _INLINED.sub(lambda found: f"{found[1] or ''}{found[3] or ''}", text)


def record(run):
    """The run.json without the register of requirements, which is the same in each."""
    document = json.loads(run_json.render(run))
    del document["requirements"]
    return json.dumps(document, indent=1)


FORMATS = {
    "index.html": lambda run: page(html.render(run)),
    "run.json": record,
    "summary.md": summary.render,
    "junit.xml": junit.render,
    "closing.txt": lambda run: "\n".join(closing_lines(run, Path("report/index.html"))),
    "annotations.txt": annotations.render,
    "badge.svg": badges.svg,
    "badge.json": badges.shields,
}


def test_every_file_of_a_report_is_reviewed():
    assert WRITTEN.keys() - FORMATS.keys() == set()


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_rendered_as_it_was_reviewed(name, format_):
    lines = FORMATS[format_](RUNS[name]).splitlines()
    expect_golden(f"{name}.{format_}", [line.rstrip() for line in lines], GOLDEN)


MANY = {
    "matrix.html": lambda: page(matrix.as_html(_matrix())),
    "matrix.md": lambda: matrix.as_markdown(_matrix()),
    "matrix.json": lambda: matrix.as_json(_matrix()),
    "trend.html": lambda: page(trend.as_html(_trend())),
    "trend.md": lambda: trend.as_markdown(_trend()),
    "trend.json": lambda: trend.as_json(_trend()),
}


def _matrix():
    register = load("1.10.0").requirements
    return matrix.matrix(stored_runs(documents_of(*RUNS)), register)


def _trend():
    return trend.trend(documents_of("all-pass", "one-failure", "forty-failures", "all-pass"))


@pytest.mark.parametrize("name", MANY)
def test_runs_side_by_side_are_rendered_as_they_were_reviewed(name):
    expect_golden(name, [line.rstrip() for line in MANY[name]().splitlines()], GOLDEN)


# ---- readers of JUnit that nobody here wrote: cases, failures with errors, skipped


def _by_junitparser(path):
    found = JUnitXml.fromfile(str(path))
    results = [type(r).__name__ for suite in found for case in suite for r in case.result]
    cases = sum(1 for suite in found for _ in suite)
    return cases, results.count("Failure") + results.count("Error"), results.count("Skipped")


def _by_junit2html(path):
    suites = Junit(str(path)).suites
    kinds = ("all", "failed", "skipped")
    return tuple(sum(len(getattr(suite, kind)()) for suite in suites) for kind in kinds)


def _by_xunitparser(path):
    whole = [0, 0, 0]
    # It wants each property once in a file, and so one suite in it.
    for suite in ET.parse(path).getroot():  # noqa: S314 - ours
        _, result = parse(io.BytesIO(ET.tostring(suite)))
        bad = len(result.failures) + len(result.errors)
        counts = (result.testsRun, bad, len(result.skipped))
        whole = [a + b for a, b in zip(whole, counts, strict=True)]
    return tuple(whole)


@pytest.mark.parametrize("read", [_by_junitparser, _by_junit2html, _by_xunitparser])
@pytest.mark.parametrize("name", RUNS)
def test_readers_of_junit_count_what_the_run_counts(name, read, tmp_path):
    run = RUNS[name]
    path = tmp_path / "junit.xml"
    path.write_text(junit.render(run), encoding="utf-8")
    must = [v.outcome for v in run.verdicts if v.level is Level.MUST]
    failed = must.count(Outcome.FAIL) + must.count(Outcome.BLOCKED) + must.count(Outcome.ERROR)
    skipped = sum(v.outcome is Outcome.SKIP for v in run.verdicts)
    # A run that ended badly without a failed check has one case more, which says so.
    more = run.exit_reason in {"interrupted", "target-unusable", "nothing-verified"}
    assert read(path) == (len(run.verdicts) + more, failed + more, skipped)
