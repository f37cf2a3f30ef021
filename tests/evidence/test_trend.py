"""`icecheck report trend` and `icecheck evidence report trend` say the same of the same runs."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from icecheck.cli import main
from icecheck.cli.commands.spark import evidence as command
from icecheck.reports.evidence.store import Store
from tests.evidence.conftest import Evidence
from tests.evidence.reports_made import document, put

pytestmark = pytest.mark.spark

DOCUMENTS = ("iceberg-rest/1.9.0", "iceberg-rest/1.10.0")
# By the first document, then by the second: outcomes of a check, night by night; - nothing judged.
NIGHTS = ("-PP-F-P", "PPF")


def nights(root: Path) -> Iterator[Path]:
    for spec, outcomes in zip(DOCUMENTS, NIGHTS, strict=True):
        for number, outcome in enumerate(outcomes):
            # The last runs by both documents ended at the same time, as those of one command do.
            day = 20 + number - len(outcomes)
            chosen = {"one.check": "fail" if outcome == "F" else "pass", "b.check": "pass"}
            name = f"n{number}of{spec.split('.')[1]}"
            made = document(name, f"2026-03-{day}T12:00:00+00:00", outcomes=chosen)
            made["spec"]["id"] = spec
            if outcome == "-":
                made |= {"checks": [], "causes": [], "complete": False}
                ending = {"status": "no-verdict", "exit_code": 4, "exit_reason": "target-unusable"}
                made["verdict"] |= ending
                made["totals"] = dict.fromkeys(made["totals"], 0)
            yield put(root / name, made)


@pytest.fixture
def asked(
    evidence: Evidence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Result, Result]]:
    """Ask both commands about the same runs."""
    paths = [*nights(tmp_path / "in")]
    done = evidence.take_in(tmp_path / "in", with_gold=True)
    assert done.others == []

    @contextmanager
    def opened(*_: Any, **__: Any) -> Iterator[Store]:
        yield evidence.store

    monkeypatch.setattr(command, "_evidence", opened)

    def ask(*words: str) -> tuple[Result, Result]:
        runner = CliRunner()
        return (
            runner.invoke(main, ["report", "trend", *map(str, paths), *words]),
            runner.invoke(
                main, ["evidence", "report", "trend", "--catalog", "Acme catalog", *words]
            ),
        )

    return ask


def test_both_commands_tell_the_same_of_runs_by_two_documents_and_of_nights_without_a_check(
    evidence: Evidence, asked: Callable[..., tuple[Result, Result]]
) -> None:
    for words in (
        (), ("--spec", "1.9.0"), ("--spec", DOCUMENTS[0]),
        ("--spec", "1.9.0", "--format", "markdown"), ("--spec", "1.9.0", "--format", "json"),
        ("--format", "json"),
    ):  # fmt: skip
        files, tables = asked(*words)
        assert (files.exit_code, tables.exit_code) == (0, 0), files.output + tables.output
        assert files.stdout == tables.stdout
    newest = json.loads(files.stdout)
    assert {run["spec"] for run in newest["runs"]} == {DOCUMENTS[1]}
    assert newest["left_out"] == {DOCUMENTS[0]: len(NIGHTS[0])}

    runs = json.loads(asked("--spec", "1.9.0", "--format", "json")[1].stdout)["runs"]
    assert [run["judged"] for run in runs] == [each != "-" for each in NIGHTS[0]]
    moved = [{}, {}, {}, {}, {"regression": 1}, {}, {"fixed": 1}]
    assert [run["moved"] for run in runs] == moved

    files, tables = asked("--spec", "1.8.0")
    assert (files.exit_code, tables.exit_code) == (2, 2)
    assert files.stderr == tables.stderr
    assert "1.9.0" in files.stderr

    rows = evidence.rows(
        "SELECT judged, fixed, regressed, appeared, gone FROM {gold.conformance} "
        "WHERE spec LIKE '%/1.9.0' ORDER BY generated_at"
    )
    assert rows == [
        (run["judged"], run["moved"].get("fixed", 0), run["moved"].get("regression", 0), 0, 0)
        for run in runs
    ]
