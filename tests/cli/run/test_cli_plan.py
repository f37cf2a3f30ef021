"""`icecheck plan`: what a run would do, said without doing it."""

import re

import pytest

from icecheck.mock_server import MockCatalog


@pytest.fixture
def mock():
    with MockCatalog(token="t", hidden=("createView", "listViews")) as catalog:
        yield catalog


def test_a_plan_names_requests_and_objects_and_makes_none(icecheck, mock):
    few = ("--only", "checks", "--check", "createNamespace.*", "--run-id", "p1")
    result = icecheck("plan", mock.uri, "--token", "t", *few)
    assert result.exit_code == 0, result.output
    assert re.search(r"would make \d+ namespaces.*icecheck_p1", result.output)
    assert re.search(r"^ +\d+ createNamespace$", result.output, re.MULTILINE)
    assert "not claimed, and not verified: listViews, createView" in result.output
    assert [entry.operation for entry in mock.journal.find()] == ["getConfig"]


def test_a_plan_comes_close_to_what_the_run_then_does(icecheck, mock, tmp_path):
    few = ("--only", "checks", "--check", "listTables.*", "--run-id", "p1", "--token", "t")
    planned = icecheck("plan", mock.uri, *few)
    asked = int(re.search(r"about (\d+) requests", planned.output)[1])
    before = len(mock.journal.find())
    icecheck("run", mock.uri, *few, "--output", str(tmp_path / "out"))
    assert len(mock.journal.find()) - before == asked


def test_a_plan_without_a_catalog_is_misuse(icecheck):
    assert icecheck("plan").exit_code == 2


def test_a_plan_for_what_is_no_catalog_says_so(icecheck):
    assert icecheck("plan", "http://127.0.0.1:9").exit_code == 4


def test_a_plan_holds_to_the_release_that_the_run_would_hold_to(icecheck, mock):
    few = ("--token", "t", "--only", "checks", "--check", "dropNamespace.*")
    planned = {
        release: icecheck("plan", mock.uri, *few, "--spec", release).output.splitlines()
        for release in ("1.8.0", "1.10.0")
    }
    checks = {release: int(lines[0].split()[2]) for release, lines in planned.items()}
    assert 0 < checks["1.8.0"] < checks["1.10.0"], planned
