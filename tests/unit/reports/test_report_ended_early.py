"""A run that ended early says in every format why, and what was found until then."""

from xml.etree import ElementTree as ET

import pytest

from icecheck.reports import html, junit, run_json, summary
from icecheck.reports.joined import counts_words
from icecheck.reports.requested import annotations
from tests.kit.page import Page

EARLY = [
    "unreachable",
    "unusable",
    "interrupted-before",
    "no-room",
    "no-room-but-for-good",
    "no-room-before",
    "interrupted",
    "tripped",
]


@pytest.mark.parametrize("name", EARLY)
def test_a_run_that_ended_early_says_why_in_each_format(runs, name):
    run = runs[name]
    assert run.complete is False
    assert run.status in {"no-verdict", "partial", "not-conformant"}
    text = Page(html.render(run)).text
    assert f"{run.headline}." in text
    assert f"The run ended early. Until then: {counts_words(run)}." in text
    assert run_json.document(run)["verdict"]["headline"] == run.headline
    [gate] = [
        case
        for case in ET.fromstring(junit.render(run)).iter("testcase")  # noqa: S314 - our own text
        if case.get("classname") == "icecheck.run"
    ]
    assert gate.find("error").get("message") == run.headline
    assert gate.find("error").get("type") == f"gate.{run.exit_reason}"
    assert summary.markdown(run.headline) in summary.render(run)
    assert annotations.render(run).splitlines()[-1].startswith("::error ")


@pytest.mark.parametrize("name", ["no-room", "no-room-but-for-good", "no-room-before"])
def test_a_run_without_room_says_what_was_found_and_what_is_not_kept(runs, name):
    run = runs[name]
    assert (run.exit_code, run.exit_reason) == (3, "no-room")
    assert run.headline.startswith("out/ledger.jsonl cannot be written (No space left on device)")
    assert "the exchanges were not kept; until then " in run.headline


def test_what_is_known_of_nothing_is_left_out_of_the_page_and_the_summary(runs):
    text = Page(html.render(runs["unreachable"])).text
    told = summary.render(runs["unreachable"])
    for section in ("What works", "In Spark", "Profiles", "The response table", "All checks"):
        assert section not in text
        assert section not in told
    assert "What was sent before the first check" in text
    assert "prefix unknown" in text
    assert "server: unknown" in text
    assert "icecheck doctor http://catalog.test" in text
    assert "POST http://catalog.test/v1/namespaces: no answer" in told


def test_what_was_found_before_the_first_check_is_on_the_page(runs):
    text = Page(html.render(runs["unusable"])).text
    for part in ("schema.createTable.200", "Left behind on the catalog: table a.b", "All checks"):
        assert part in text
