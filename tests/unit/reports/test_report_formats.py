"""Every format renders every kind of run: whole, escaped, and saying the same as the run."""

import base64
import hashlib
import importlib
import json
import pkgutil
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

import icecheck.reports
from icecheck.cli.closing import closing_lines
from icecheck.cli.commands import run as run_command
from icecheck.cli.commands.stored import report
from icecheck.findings.verdict import Level, Outcome, asked_of, totals_of
from icecheck.reports import html, junit, run_json, summary
from icecheck.reports.response_map import response_map
from icecheck.run.output import EXCHANGES_FILE, FORMATS
from tests.kit.findings import a_finding
from tests.kit.finished_runs import finished, verdict
from tests.kit.page import Page

ROOT = Path(__file__).parents[3]
DOCUMENTS = ("docs/reports.md", "docs/ci.md", "docs/proxy.md")
DRAFT = Path(__file__).parent / "required_blocks.schema.json"
MODULES = [
    module
    for info in pkgutil.iter_modules(icecheck.reports.__path__)
    if hasattr(module := importlib.import_module(f"icecheck.reports.{info.name}"), "render")
]


def test_every_format_of_the_folder_is_written():
    missing = [m.__name__ for m in MODULES if m.render not in FORMATS.values()]
    assert not missing, f"without a file name in FORMATS of icecheck.run.output: {missing}"
    assert len(MODULES) == len(FORMATS)


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("the help of src/icecheck/cli/commands/run.py", run_command.command.help),
        ("the help of render in src/icecheck/cli/commands/stored/report.py", report.render.help),
        *((name, (ROOT / name).read_text()) for name in DOCUMENTS),
    ],
)
def test_every_file_of_a_report_is_named_wherever_they_are_listed(place, told):
    due = {*FORMATS} if "render" in place or "ci" in place else {*FORMATS, EXCHANGES_FILE}
    missing = sorted(name for name in due if name not in told)
    assert not missing, f"not in {place}: {missing}"


def test_every_file_of_a_report_can_be_printed_again():
    assert {*report.FILES.values()} == {*FORMATS} - {"run.json"}, "FILES of stored/report.py"
    listed = (ROOT / DOCUMENTS[0]).read_text()
    assert [word for word in report.FILES if f"`{word}`" not in listed] == [], DOCUMENTS[0]


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__.rpartition(".")[2])
def test_a_format_renders_text_that_ends_with_a_newline(module, run):
    text = module.render(run)
    assert text.endswith("\n")
    assert run.run_id in text, "the id of the run is missing; a run without checks has one too"


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__.rpartition(".")[2])
def test_a_format_is_a_pure_function_of_the_run(module, run):
    assert module.render(run) == module.render(run)


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__.rpartition(".")[2])
def test_no_format_lets_a_control_character_through(module, runs):
    let_through = re.search(
        "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202e\ud800]", module.render(runs["hostile"])
    )
    assert let_through is None, "a control character: finding_card.one_line takes them out"


def parsed(text):
    return ET.fromstring(text)  # noqa: S314 - our own text


# run.json


def test_run_json_satisfies_the_published_schema(run):
    assert run_json.problems_of(run_json.render(run)) == []


def test_run_json_satisfies_the_schema_it_started_from(run):
    validator = jsonschema.Draft202012Validator(json.loads(DRAFT.read_text()))
    problems = [e.message for e in validator.iter_errors(run_json.document(run))]
    assert problems == []


def test_the_published_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(run_json.schema())


def test_the_published_schema_names_itself_as_the_document_does(runs):
    assert run_json.schema()["$id"] == run_json.document(runs["passed"])["$schema"]


@pytest.mark.parametrize(
    "lie",
    [
        lambda d: d["verdict"].update(status="conformant"),
        lambda d: d.update(complete=False, verdict={**d["verdict"], "status": "conformant"}),
        lambda d: d["checks"][3].pop("reproduce"),
        lambda d: d["checks"][3].update(unexpected=False),
        lambda d: next(c for c in d["checks"] if c["outcome"] == "skip").update(skip=None),
        lambda d: next(c for c in d["checks"] if c["outcome"] == "blocked").update(blocked_by=[]),
        lambda d: d.pop("safety"),
        lambda d: d.update(surprise=1),
    ],
)
def test_the_published_schema_refuses_a_report_that_lies(runs, lie):
    document = run_json.document(runs["failed"])
    document["checks"].sort(key=lambda c: c["outcome"] == "skip")
    assert run_json.problems_of(json.dumps(document)) == []
    lie(document)
    assert run_json.problems_of(json.dumps(document))


def test_an_empty_run_may_not_be_called_conformant(runs):
    document = run_json.document(runs["nothing"])
    document["verdict"]["status"] = "conformant"
    assert run_json.problems_of(json.dumps(document))


def test_run_json_joins_requirements_with_the_checks_that_prove_them(runs):
    rows = {r["id"]: r for r in run_json.document(runs["failed"])["requirements"]}
    assert rows["createNamespace.409"]["result"] == "fail"
    assert "createNamespace.already-exists" in rows["createNamespace.409"]["checks"]
    assert rows["createNamespace.200"]["result"] == "pass"
    assert rows["dropNamespace.204"]["result"] == "blocked"
    assert rows["loadTable.404"]["result"] == "not-run"
    assert rows["loadTable.404"]["spec_ref"]["permalink"].startswith("https://github.com/apache/")


def test_run_json_says_how_to_reproduce_a_failure(runs):
    rows = {c["id"]: c for c in run_json.document(runs["failed"])["checks"]}
    failure = rows["createNamespace.already-exists"]
    assert "$ICECHECK_TOKEN" in failure["reproduce"]["curl"]
    assert "--check createNamespace.already-exists" in failure["reproduce"]["cli"]
    assert "--run-id abc123" in failure["reproduce"]["cli"]
    assert [a["actual"] for a in failure["assertions"]] == ["200"]
    assert failure["cause"] in {c["id"] for c in run_json.document(runs["failed"])["causes"]}


def test_what_spark_did_is_an_engine_profile(runs):
    (profile,) = run_json.document(runs["spark"])["engine_profiles"]
    assert {w["id"]: w["status"] for w in profile["workflows"]} == {
        "spark.create": "works",
        "spark.merge": "broken",
        "spark.branch": "not-offered",
    }


# junit.xml


def test_junit_counts_equal_its_elements_and_the_run(run):
    root = parsed(junit.render(run))
    checks = [c for c in root.findall(".//testcase") if c.get("classname") != "icecheck.run"]
    assert len(checks) == len(run.verdicts)
    for element in (root, *root.findall("testsuite")):
        assert int(element.get("tests")) == len(element.findall(".//testcase"))
        assert int(element.get("failures")) == len(element.findall(".//failure"))
        assert int(element.get("errors")) == len(element.findall(".//error"))
        assert int(element.get("skipped")) == len(element.findall(".//skipped"))


def test_junit_is_red_exactly_when_a_required_check_is(run):
    red = parsed(junit.render(run)).findall(".//failure")
    gating = [
        v
        for v in run.verdicts
        if v.outcome in {Outcome.FAIL, Outcome.BLOCKED} and v.level == "must"
    ]
    assert len(red) == len(gating)


def test_junit_is_never_green_when_the_gate_is_not_satisfied(run):
    root = parsed(junit.render(run))
    green = not root.findall(".//failure") and not root.findall(".//error")
    assert green == (run.exit_code == 0)


def test_a_junit_failure_carries_the_card(runs):
    root = parsed(junit.render(runs["failed"]))
    case = root.find(".//testcase[@name='createNamespace.already-exists']")
    failure = case.find("failure")
    assert failure.get("type") == "must"
    assert failure.get("message") == "expected 409, got 200"
    for part in ("createNamespace.409:", "https://github.com/apache/iceberg/blob/", "curl "):
        assert part in failure.text
    properties = [(p.get("name"), p.get("value")) for p in case.iter("property")]
    assert ("requirements", "createNamespace.409") in properties


def test_what_does_not_gate_is_skipped_in_junit_and_says_why(runs):
    root = parsed(junit.render(runs["failed"]))
    should = root.find(".//testcase[@name='createNamespace.error-type']")
    assert should.find("skipped") is None
    assert should.find(".//property[@name='outcome']").get("value") == "fail"
    assert "AlreadyExistsException" in should.find("system-out").text
    undeclared = root.find(".//testcase[@name='renameTable.renamed']/skipped")
    assert undeclared.get("type") == "conformance.not-declared"


def test_a_suite_of_junit_is_a_profile_with_its_status(runs):
    root = parsed(junit.render(runs["failed"]))
    properties = {
        p.get("name"): p.get("value")
        for p in root.find("testsuite[@name='write']/properties").iter("property")
    }
    assert properties["profile"] == "not-conformant"
    assert properties["verdict"] == "not-conformant"
    assert properties["spec.sha256"].startswith("sha256:")


# summary.md


def test_the_summary_leads_with_the_verdict_and_the_causes(runs):
    text = summary.render(runs["failed"])
    assert text.startswith("## NOT CONFORMANT: Acme catalog\n")
    assert "### Fix these first" in text
    assert "createNamespace.already-exists" in text


def test_the_summary_of_a_hostile_run_is_no_html(runs):
    assert "<" not in summary.render(runs["hostile"])


def test_a_hostile_name_adds_no_cell_to_a_table_of_the_summary(runs):
    rows = [r for r in summary.render(runs["hostile"]).splitlines() if r.startswith("|")]
    spark = [re.sub(r"\\.", "", r).count("|") for r in rows if "broken" in r]
    assert spark == [3]


# index.html


def test_the_page_is_well_formed_and_needs_nothing_else(run):
    page = Page(html.render(run))
    assert page.open == []
    assert page.tags.count("script") == 1
    assert "link" not in page.tags
    assert page.sources == []
    outside = [link for link in page.links if not link.startswith("#")]
    assert all(link.startswith("https://github.com/apache/iceberg/") for link in outside)


def test_nothing_in_the_style_of_the_page_is_fetched(runs):
    style = html.render(runs["passed"]).partition("<style>")[2].partition("</style>")[0]
    assert "prefers-color-scheme: dark" in style
    assert "@media print" in style
    assert "url(" not in style
    assert "@import" not in style


def test_every_link_inside_the_page_leads_somewhere_and_ids_are_unique(run):
    page = Page(html.render(run))
    assert len(page.ids) == len(set(page.ids))
    from urllib.parse import unquote

    inside = {unquote(link[1:]) for link in page.links if link.startswith("#")}
    assert inside <= set(page.ids)


def test_a_hostile_name_is_shown_and_not_run(runs):
    text = html.render(runs["hostile"])
    assert text.count("<script") == 1
    assert "<script>alert(1)</script>" in Page(text).text


def test_no_other_script_or_style_may_run_in_the_page_and_nothing_be_loaded(runs):
    text = html.render(runs["hostile"])
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1]
    for tag in ("style", "script"):
        (inline,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")


def test_each_documented_response_says_what_became_of_it(runs):
    found = response_map(runs["failed"])
    rows = {row.operation: row.cells for row in found.rows}
    assert rows["createNamespace"]["409"].result == "fail"
    assert rows["createNamespace"]["409"].check == "createNamespace.already-exists"
    assert rows["createNamespace"]["200"].words == "1 check: pass"
    assert rows["renameTable"]["204"].words == "not tried"
    assert "304" not in rows["createNamespace"]
    assert rows["loadTable"]["304"].result == "not-run"
    assert found.counts.endswith("documented responses were tried")
    assert f"createNamespace 409: {rows['createNamespace']['409'].words}" in html.render(
        runs["failed"]
    )


def test_the_page_keeps_its_order(runs):
    text = html.render(runs["spark"])
    order = ["verdict", "causes", "operations", "spark", "profiles", "warnings", "checks", "facts"]
    places = [text.index(f'id="{section}"') for section in order]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("name", "tone"),
    [
        ("passed", "good"),
        ("warnings", "good"),
        ("failed", "bad"),
        ("interrupted", "open"),
        ("interrupted-at-once", "open"),
        ("tripped", "open"),
        ("unreachable", "open"),
        ("unusable", "open"),
        ("no-room", "bad"),
        ("no-room-but-for-good", "open"),
        ("nothing", "open"),
        ("skipped-only", "open"),
        ("error", "open"),
    ],
)
def test_the_strip_is_green_only_when_something_was_verified_and_held(runs, name, tone):
    assert f'<header class="strip {tone}"' in html.render(runs[name])


def test_a_cause_shows_its_requirement_and_how_to_reproduce_it(runs):
    page = Page(html.render(runs["failed"]))
    wrong = "accepts names that are in use (2xx where 409 is due)"
    assert f"createNamespace: {wrong}" in page.text
    assert "Creating a namespace that exists is refused with 409." in page.text
    assert "curl -sS -X POST" in page.text
    assert any(re.search(r"yaml#L\d+-L\d+$", link) for link in page.links)


def test_a_skip_is_listed_with_its_reason(runs):
    assert (
        "not-declared: the catalog's config does not claim"
        in Page(html.render(runs["failed"])).text
    )


def test_what_works_in_spark_is_a_table_of_statements(runs):
    text = Page(html.render(runs["spark"])).text
    section = text.partition("What works in Spark\n")[2].partition("Profiles\n")[0]
    assert section.index("What spark.merge demands") < section.index("What spark.create demands")
    for word in ("works", "broken", "not offered"):
        assert word in section


def test_a_thousand_failures_with_large_bodies_stay_below_the_limit(finish_run, fail_verdict):
    large = '{"key": "<&>"}' * 300
    many = [
        fail_verdict(f"createNamespace.n{i}", expected=f"{i} names", actual="none", body=large)
        for i in range(1000)
    ]
    text = html.render(finish_run(*many))
    assert len(text.encode()) < html.BYTES_MAX
    assert "it is in run.json" in text


# totals


def test_every_format_agrees_on_the_counts(run):
    assert run_json.document(run)["totals"] == totals_of(run.verdicts)
    totals = totals_of(asked_of(run.verdicts))
    counts = ", ".join(f"{totals[o]} {o}" for o in ("pass", "fail", "blocked", "skip", "error"))
    assert counts in summary.render(run)
    assert counts in html.render(run)


def test_no_should_is_listed_under_a_must_and_each_is_listed_once():
    """Verdict-rules 22: it fails in the same way, and is read as what it is."""
    wrong = {"outcome": Outcome.FAIL, "findings": (a_finding("same-way", "200", "500"),)}
    run = finished(verdict("required", **wrong), verdict("advised", level=Level.SHOULD, **wrong))
    (cause,) = json.loads(run_json.render(run))["causes"]
    assert "advised" not in json.dumps(cause)
    told = summary.render(run).partition("Below the level of what fails in the same way: ")
    assert "advised" not in told[0]
    assert told[2].startswith("advised")
    page = html.render(run)
    card = page.partition('<article class="card" id="cause-')[2].partition("</article>")[0]
    assert "required" in card
    assert "advised" not in card
    assert "advised" in page.partition("Below the level of what fails")[2]
    closing = closing_lines(run, Path("index.html"))
    assert [line for line in closing if "advised" in line] == [
        "below the level of what fails in the same way: advised"
    ]
