"""Every report shows what was foreseen apart from what was not, and agrees with the exit code."""

import json
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from icecheck.cli.closing import closing_lines
from icecheck.findings.verdict import Level
from icecheck.reports import html, junit, run_json, summary
from icecheck.reports.joined import expected_causes
from tests.kit.page import Page

EXISTS = "createNamespace.already-exists"
CREATED = "createNamespace.created"
DROPPED = "dropNamespace.gone"
DRAFT = Path(__file__).parents[1] / "reports" / "required_blocks.schema.json"
STATUS_500 = '{ symptom = "status", actual = "500" }'
HOSTILE = '"<script>alert(1)</script>|` \\u202e"'


@pytest.fixture(scope="module")
def cases(a):
    """One run for each way in which entries and outcomes meet."""
    both = a.finished(a.passed(CREATED), a.failed(EXISTS), a.blocked(DROPPED, EXISTS))
    low = a.finished(a.passed(CREATED), a.failed(EXISTS, level=Level.SHOULD))
    error = a.finished(a.passed(CREATED), a.erroneous(EXISTS))
    return {
        "excused": a.expecting(both, a.entry(EXISTS), a.entry(DROPPED, "flaky")),
        "excused in part": a.expecting(both, a.entry(EXISTS, issue='"https://tracker.test/7"')),
        "waived": a.expecting(both, a.entry(EXISTS, "waived"), a.entry(DROPPED, "waived")),
        "all waived": a.expecting(both, a.entry("*", "waived")),
        "stale": a.expecting(both, a.entry("createNamespace.*"), a.entry(DROPPED, "flaky")),
        "expired": a.expecting(both, a.entry("*", expires="2020-01-01")),
        "differs": a.expecting(both, a.entry("*e*s", fails_with=STATUS_500)),
        "differs below must": a.expecting(low, a.entry(EXISTS, fails_with=STATUS_500)),
        "matches nothing": a.expecting(
            a.finished(a.passed(CREATED)), a.entry(EXISTS), selected={EXISTS, CREATED}
        ),
        "error": a.expecting(error, a.entry(EXISTS)),
        "error waived": a.expecting(error, a.entry(EXISTS, "waived")),
        "hostile": a.expecting(both, a.entry("*", reason=HOSTILE, issue=HOSTILE)),
        "by cause": a.expecting(both, a.entry(cause="status-*")),
        "skipped": a.expecting(
            a.finished(a.passed(CREATED), a.skipped(EXISTS)), a.entry(EXISTS), a.entry(DROPPED)
        ),
    }


NAMES = (
    "excused", "excused in part", "waived", "all waived", "stale", "expired", "differs",
    "differs below must", "matches nothing", "error", "error waived", "hostile", "by cause",
    "skipped",
)  # fmt: skip


@pytest.fixture(params=NAMES)
def run(request, cases):
    return cases[request.param]


def test_every_way_is_tried(cases):
    assert set(cases) == set(NAMES)


def test_run_json_satisfies_both_schemas(run):
    assert run_json.problems_of(run_json.render(run)) == []
    draft = jsonschema.Draft202012Validator(json.loads(DRAFT.read_text()))
    assert [e.message for e in draft.iter_errors(run_json.document(run))] == []


def test_junit_is_green_exactly_when_the_gate_is_satisfied(run):
    root = ET.fromstring(junit.render(run))  # noqa: S314 - our own text
    green = not root.findall(".//failure") and not root.findall(".//error")
    assert green == (run.exit_code == 0)


def test_junit_counts_equal_its_elements(run):
    root = ET.fromstring(junit.render(run))  # noqa: S314 - our own text
    for element in (root, *root.findall("testsuite")):
        for count, tag in (
            ("tests", "testcase"), ("failures", "failure"),
            ("errors", "error"), ("skipped", "skipped"),
        ):  # fmt: skip
            assert int(element.get(count)) == len(element.findall(f".//{tag}")), (count, run)


def test_the_page_and_the_summary_are_safe_and_name_the_file(run):
    page = html.render(run)
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert "icecheck.toml" in page
    text = summary.render(run)
    assert "<script>alert" not in text
    assert "icecheck.toml" in text


def test_every_link_of_the_page_leads_somewhere(run):
    page = Page(html.render(run))
    assert page.open == []
    inside = {unquote(link[1:]) for link in page.links if link.startswith("#")}
    assert "expectations" in inside
    assert inside <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_run_json_marks_each_check_and_lists_each_entry(cases):
    document = run_json.document(cases["excused in part"])
    rows = {c["id"]: c for c in document["checks"]}
    assert rows[EXISTS]["expected"] == "known-failure"
    assert rows[EXISTS]["expectation"] == {
        "entry": 1, "met": "as-expected", "reason": "ticket 7", "issue": "https://tracker.test/7",
    }  # fmt: skip
    assert (rows[EXISTS]["unexpected"], rows[EXISTS]["gates"]) == (False, False)
    assert rows[EXISTS]["outcome"] == "fail"
    assert (rows[DROPPED]["expected"], rows[DROPPED]["unexpected"]) == ("none", True)
    block = document["expectations"]
    assert (block["file"], block["entries"]) == ("icecheck.toml", 1)
    assert [row["checks"] for row in block["applied"]] == [[EXISTS]]
    assert block["stale"] == block["expired"] == block["fails_differently"] == []
    assert document["verdict"]["status"] == "not-conformant"


@pytest.mark.parametrize(
    ("name", "block", "checks"),
    [
        ("stale", "stale", [CREATED]),
        ("expired", "expired", [EXISTS, DROPPED]),
        ("differs", "fails_differently", [EXISTS]),
        ("matches nothing", "stale", []),
    ],
)
def test_run_json_lists_what_is_unmet(name, block, checks, cases):
    (row,) = run_json.document(cases[name])["expectations"][block]
    assert row["checks"] == checks
    assert row["why"]
    assert row["line"] == 1


def check_of(document):
    return next(c for c in document["checks"] if c["id"] == EXISTS)


@pytest.mark.parametrize(
    "lie",
    [
        lambda d: check_of(d).update(unexpected=True),
        lambda d: check_of(d).update(gates=True),
        lambda d: check_of(d).update(expectation=None),
        lambda d: check_of(d)["expectation"].update(met="fails-differently"),
        lambda d: d["expectations"]["applied"][0].pop("reason"),
        lambda d: d["expectations"].update(stale=d["expectations"]["applied"]),
    ],
)
def test_the_schema_refuses_a_report_that_lies_about_them(lie, cases):
    document = run_json.document(cases["excused"])
    assert document["verdict"]["exit_code"] == 0
    assert run_json.problems_of(json.dumps(document)) == []
    lie(document)
    assert run_json.problems_of(json.dumps(document))


def test_junit_says_of_each_case_what_was_foreseen(cases):
    def case(name, check):
        root = ET.fromstring(junit.render(cases[name]))  # noqa: S314 - our own text
        return root.find(f".//testcase[@name='{check}']")

    known = case("excused", EXISTS).find("skipped")
    assert known.get("type") == "conformance.known-failure"
    assert known.get("message") == "known-failure: ticket 7; expected 409, got 200"
    assert case("excused", DROPPED).find("skipped").get("type") == "conformance.flaky"
    assert case("error waived", EXISTS).find("skipped").get("type") == "conformance.waived"
    differing = case("differs below must", EXISTS).find("failure")
    assert differing.get("type") == "conformance.fails-differently"
    root = ET.fromstring(junit.render(cases["stale"]))  # noqa: S314 - our own text
    (stale,) = root.findall("testsuite[@name='expectations']/testcase/failure")
    assert stale.get("type") == "expectation.stale"
    assert case("stale", CREATED).find("failure") is None


def test_the_closing_lines_say_both_gate_and_verdict(cases):
    first, gate, *rest = closing_lines(cases["excused"], Path("index.html"))
    assert first.startswith("NOT CONFORMANT")
    assert gate.startswith("gate: satisfied (1 known failure, 1 flaky excused), exit 0")
    assert not any(line.startswith("expectations:") for line in rest)
    assert any("(expected)" in line for line in rest)


def test_a_cause_is_expected_when_nothing_in_it_gates_and_something_is_excused(a):
    low = a.failed(DROPPED, level=Level.SHOULD)
    plain = a.finished(a.passed(CREATED), a.failed(EXISTS), low)
    (cause,) = plain.causes
    assert expected_causes(plain) == frozenset()
    assert expected_causes(a.expecting(plain, a.entry(EXISTS))) == {cause.id}
    assert expected_causes(a.expecting(plain, a.entry(DROPPED))) == frozenset()
    excused = a.expecting(plain, a.entry(EXISTS))
    assert '<span class="mark">expected</span>' in html.render(excused)
    assert '<span class="mark">expected</span>' not in html.render(plain)
    assert "1. **must** (expected) createNamespace: accepts" in summary.render(excused)


@pytest.mark.parametrize("name", ["stale", "expired", "differs", "matches nothing"])
def test_the_closing_lines_name_each_entry_that_fails_the_gate(name, cases):
    run = cases[name]
    lines = closing_lines(run, Path("index.html"))
    (unmet,) = run.expectations.unmet
    assert f"not satisfied ({run.exit_reason})" in lines[1]
    (line,) = [line for line in lines if "entry 1, line 1" in line]
    assert line.startswith(f"  {unmet.kind.replace('-', ' ')}: ")
    assert unmet.why in line
