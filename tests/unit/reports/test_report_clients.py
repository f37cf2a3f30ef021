"""Which client works: the same rows in the page, in Markdown and in run.json."""

import re

from icecheck.reports import html, run_json, summary
from icecheck.reports.tables import client_rows


def test_a_client_has_one_row_with_what_works_of_each_workflow(runs):
    rows = {row.id: row for row in client_rows(runs["clients"])}
    assert [row.client for row in rows.values()] == [
        "DuckDB 1.5.5",
        "PyIceberg 0.12.0",
        "Spark 3.5.9",
    ]
    duckdb = rows["duckdb"]
    assert duckdb.workflow("tables").status == "works"
    assert duckdb.workflow("tables").title == "makes and drops a table"
    assert duckdb.workflow("transactions").status == "broken"
    assert duckdb.workflow("views") is None
    assert rows["spark"].workflow("tables").status == "not-offered"


def test_what_a_client_needs_and_the_schema_misses_is_broken(runs):
    (pyiceberg,) = (row for row in client_rows(runs["clients"]) if row.id == "pyiceberg")
    assert pyiceberg.workflow("views").status == "broken"


def test_what_was_replayed_is_an_engine_profile_with_its_version(runs):
    profiles = run_json.document(runs["clients"])["engine_profiles"]
    assert [(p["id"], p["client"], p["provenance"]) for p in profiles] == [
        ("duckdb", "DuckDB 1.5.5", "recorded"),
        ("pyiceberg", "PyIceberg 0.12.0", "recorded"),
        ("spark", "Spark 3.5.9", "recorded"),
    ]
    statuses = {w["id"]: w["status"] for w in profiles[0]["workflows"]}
    assert statuses == {"dialect.duckdb.tables": "works", "dialect.duckdb.transactions": "broken"}
    assert run_json.problems_of(run_json.render(runs["clients"])) == []


def test_the_summary_says_at_what_a_client_stops(runs):
    text = summary.render(runs["clients"])
    (row,) = (line for line in text.splitlines() if line.startswith("| DuckDB"))
    assert re.sub(r"\\", "", row).startswith("| DuckDB 1.5.5 | works |  | broken: ")
    assert "What works for which client" not in summary.render(runs["passed"])


def test_the_page_has_a_table_of_clients_where_any_was_replayed(runs):
    page = html.render(runs["clients"])
    section = page[page.index('<section id="clients">') : page.index('<section id="profiles">')]
    assert section.count("<tr>") == 4
    assert "DuckDB 1.5.5" in section
    assert 'href="#check-dialect.duckdb.transactions"' in section
    assert '<section id="clients">' not in html.render(runs["passed"])
