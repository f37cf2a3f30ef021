"""The records of other authors' catalogs: every failure is explained, and witnesses are read."""

import re
from pathlib import Path

import pytest

from icecheck.contract import Level
from icecheck.contract.witnesses import is_unwitnessed, witnesses_of
from icecheck.findings.comparison import compare, read_run
from icecheck.findings.expectations import entry_for
from icecheck.reports.many.matrix import as_markdown, matrix
from icecheck.reports.many.stored import stored_runs
from tests.kit.contracts import CONTRACT
from tests.laws.golden import expect_golden
from tests.reference import recording, witnessing
from tests.reference.catalogs import CATALOGS
from tests.reference.pages import page_of

NAMES = [catalog.name for catalog in CATALOGS]
UNDELETING = {"ministack-1.5.33-glue", "ministack-1.5.33-s3tables"}
"""Nothing can be deleted there; what is made is in the memory of the process."""
WITHOUT_SPARK = {"seaweedfs-4.48-open", "lakana-server-0.20.0", *UNDELETING}
"""Spark on the same machine cannot read and write their files, or was not tried."""
RECORDS = [
    *((name, recording.RUN) for name in NAMES),
    *((catalog.name, recording.OWN_RUN) for catalog in CATALOGS if catalog.own_release),
    *((name, recording.SPARK_RUN) for name in NAMES if name not in WITHOUT_SPARK),
]
CAUSES_MAX = 12
"""Of all levels: more suggest a fault of the suite (verdict-rules 15)."""
BLOCKED_MAX = 0.05
"""Of the checks that passed, failed or are blocked, with the passive ones (verdict-rules 15)."""
JUDGEMENTS = ("server: ", "document silent: ")
"""The judgements of a finding; faults of the suite itself are fixed, and are in no file."""


def test_every_catalog_has_its_directory_and_every_directory_its_catalog() -> None:
    directories = {path.name for path in recording.DIRECTORY.iterdir() if path.is_dir()}
    assert directories == {*NAMES}


def test_the_catalogs_side_by_side_are_as_recorded() -> None:
    """The picture of it, `docs/images/matrix.png`, is of the page that the same command makes."""
    runs = stored_runs(recording.read(name) for name in sorted(NAMES, key=_in_order))
    text = as_markdown(matrix(runs, CONTRACT.requirements))
    expect_golden("matrix.md", text.splitlines(), recording.DIRECTORY)


def _in_order(name: str) -> list[tuple[int, str]]:
    """Return a key under which version 1.9 comes before 1.10."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", name)]


@pytest.mark.parametrize(("name", "file"), RECORDS)
def test_a_catalog_is_told_apart_in_few_causes_and_left_empty(name: str, file: str) -> None:
    run = recording.read(name, file)
    assert run["complete"]
    assert run["totals"]["error"] == 0
    assert bool(run["safety"]["residue"]) == (name in UNDELETING)
    assert run["safety"]["touched_foreign"] == []
    assert len(run["causes"]) <= CAUSES_MAX
    # A check is blocked by a failure that the report names, and by nothing else (verdict-rules 19).
    named = {check for cause in run["causes"] if cause["checks"] for check in cause["blocked"]}
    assert {c["id"] for c in run["checks"] if c["outcome"] == "blocked"} == named


@pytest.mark.parametrize(("name", "file"), RECORDS)
def test_few_checks_of_a_catalog_are_blocked(name: str, file: str) -> None:
    run = recording.read(name, file)
    executed = [c for c in run["checks"] if c["outcome"] in {"pass", "fail", "blocked"}]
    blocked = [c["id"] for c in executed if c["outcome"] == "blocked"]
    assert len(blocked) <= BLOCKED_MAX * len(executed), blocked


@pytest.mark.parametrize(("name", "file"), RECORDS)
def test_every_finding_is_adjudicated(name: str, file: str) -> None:
    entries = recording.entries(name, file)
    assert [e.words for e in entries if not e.reason.startswith(JUDGEMENTS)] == []
    wrong = [c for c in recording.read(name, file)["checks"] if c["outcome"] in {"fail", "blocked"}]
    assert wrong or file == recording.SPARK_RUN
    unexplained = [c["id"] for c in wrong if entry_for(c["id"], c.get("cause"), entries) is None]
    assert unexplained == []


@pytest.mark.parametrize(("name", "file"), RECORDS)
def test_a_record_can_be_compared_with_a_run(name: str, file: str) -> None:
    content = (recording.DIRECTORY / name / file).read_bytes()
    run = read_run(content, name)
    assert compare(run, run).changes == ()


def test_the_witnesses_are_those_of_the_records() -> None:
    recorded = witnessing.text_of(witnessing.records())
    assert witnessing.FILE.read_text(encoding="utf-8") == recorded


def test_a_required_check_without_witness_is_marked_and_a_recommended_one_is_not() -> None:
    passed = {c["id"] for r in witnessing.records().values() for c in _passed(r)}
    witnessed = min(passed)
    assert witnesses_of(witnessed)
    assert not is_unwitnessed(witnessed, Level.MUST)
    assert is_unwitnessed("no.such-check", Level.MUST)
    assert not is_unwitnessed("no.such-check", Level.SHOULD)


def _passed(run: dict[str, list[dict[str, str]]]) -> list[dict[str, str]]:
    return [check for check in run["checks"] if recording.is_witness(check)]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_how_a_catalog_was_started_and_what_its_record_says(name: str) -> None:
    page = Path(recording.DIRECTORY / name / "README.md").read_text("utf-8")
    assert f"Started by `python -m tests.reference {name}`" in page
    assert page == page_of(name, page)
