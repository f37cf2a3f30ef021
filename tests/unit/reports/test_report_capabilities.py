"""What a catalog does not offer stands in every report, with what engines cannot do without it."""

import json
from dataclasses import replace

from icecheck.findings.verdict import Capability
from icecheck.reports import html, run_json, summary

LACKING = Capability(
    "capability:branches", None, "absent", "not-supported", ("update.ref",), "no CREATE BRANCH"
)
HAVING = Capability("capability:tags", None, "works", "supported", (), "no CREATE TAG")
UNKNOWN = Capability("capability:purge", None, "not-probed", "unknown", (), "no PURGE")


def with_capabilities(run):
    return replace(run, capabilities=(*run.capabilities, LACKING, HAVING, UNKNOWN))


def test_a_summary_names_what_is_missing_and_nothing_else(runs):
    text = summary.render(with_capabilities(runs["passed"]))
    assert "- branches: no CREATE BRANCH" in text
    assert "CREATE TAG" not in text
    assert "no PURGE" not in text


def test_a_summary_of_a_whole_catalog_has_no_such_list(runs):
    assert "Not offered" not in summary.render(runs["passed"])


def test_a_page_has_endpoints_and_capabilities_apart(runs):
    page = html.render(with_capabilities(runs["passed"]))
    endpoints, _, capabilities = page.partition("What no endpoint announces")
    assert "capability:" not in page
    assert "branches" not in endpoints
    assert "no CREATE BRANCH" in capabilities
    assert "no CREATE TAG" not in capabilities


def test_the_document_holds_all_of_it_and_keeps_its_schema(runs):
    text = run_json.render(with_capabilities(runs["passed"]))
    assert run_json.problems_of(text) == []
    rows = {row["id"]: row for row in json.loads(text)["capabilities"]}
    assert rows["capability:branches"]["loses"] == "no CREATE BRANCH"
    assert rows["capability:branches"]["checks"] == ["update.ref"]
    assert rows["capability:branches"]["declared"] is None
