"""The gold tables say what an independent computation with pandas says of the same files."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import zstandard

from icecheck.reports.evidence import told
from icecheck.reports.many import matrix, trend
from icecheck.reports.many.stored import stored_runs, told_apart
from icecheck.spark import SparkWorkbench
from tests.evidence.conftest import Evidence, evidence_below
from tests.evidence.reports_made import document, exchange, put

pytestmark = pytest.mark.spark

NIGHTS = {
    # catalog -> the outcome of three checks, night by night; - is not there
    "Acme catalog": ("PFP", "PFP", "FPP", "PPF", "PP-"),
    "Other": ("PPP", "PFF"),
}
CHECKS = ("one.check", "another.check", "third.check")
WORDS = {"P": "pass", "F": "fail"}


def nights(root: Path) -> Iterator[Path]:
    """Write a report for each night, with exchanges whose latencies differ."""
    for catalog, outcomes in NIGHTS.items():
        for night, told_so in enumerate(outcomes):
            chosen = {c: WORDS[o] for c, o in zip(CHECKS, told_so, strict=True) if o in WORDS}
            name = f"{catalog[:1].lower()}{night}"
            made = document(name, f"2026-03-{night + 1:02d}T12:00:00+00:00", catalog, chosen)
            lines = [
                exchange(
                    number,
                    operation=("loadTable", "createTable", None)[number % 3],
                    status=(200, 404, None)[number % 7 % 3],
                    elapsed_ms=round((number * 37 % 101) / 7 + night, 3),
                )
                for number in range(1, 60)
            ]
            yield put(root / name, made, lines)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("nights")


@pytest.fixture(scope="module")
def reports(root: Path) -> list[Path]:
    return [*nights(root / "in")]


@pytest.fixture(scope="module")
def evidence(root: Path, reports: list[Path], workbench: SparkWorkbench) -> Iterator[Evidence]:
    with evidence_below(root / "evidence", workbench) as made:
        made.take_in(root / "in", with_gold=True)
        yield made


def frames(reports: list[Path]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the exchanges and the requirements of reports, read by pandas alone."""
    lines, demanded = [], []
    for place in reports:
        made = json.loads((place / "run.json").read_text())
        run = {"catalog": made["target"]["implementation"]["project"], "at": made["generated_at"]}
        packed = (place / "exchanges.jsonl.zst").read_bytes()
        text = zstandard.ZstdDecompressor().decompressobj().decompress(packed)
        lines.append(pd.read_json(io.BytesIO(text), lines=True, dtype=False).assign(**run))
        demanded += [
            {**run, "requirement": each, "outcome": check["outcome"]}
            for check in made["checks"]
            for each in check["requirements"]
        ]
    return pd.concat(lines), pd.DataFrame(demanded)


def test_gold_is_what_pandas_computes_of_the_same_files(
    evidence: Evidence, reports: list[Path]
) -> None:
    exchanges, demanded = frames(reports)

    answered = exchanges.dropna(subset=["operation", "status"])
    for column, part in (("p50_ms", 0.5), ("p90_ms", 0.9), ("p95_ms", 0.95), ("p99_ms", 0.99)):
        due = answered.groupby(["catalog", "at", "operation"])["elapsed_ms"].quantile(part)
        of = "SELECT catalog, generated_at, operation, {column} FROM {gold.operation_latency}"
        query = of.replace("{column}", column)
        shown = {
            (catalog, f"{at.isoformat()}+00:00", operation): value
            for catalog, at, operation, value in evidence.rows(query)
        }
        assert shown == pytest.approx(due.to_dict())

    counted = exchanges.groupby(["catalog", "operation", "status"], dropna=False).size()
    query = "SELECT catalog, operation, status, exchanges FROM {gold.operation_coverage}"
    shown_counts = {tuple(map(str, row[:3])): row[3] for row in evidence.rows(query)}
    assert shown_counts == {
        (key[0], plain(key[1]), plain(key[2])): many for key, many in counted.items()
    }

    worst = demanded.groupby(["catalog", "at", "requirement"])["outcome"].agg(
        lambda all_: "fail" if "fail" in set(all_) else "pass"
    )
    runs = worst.reset_index()
    totals = runs.groupby(["catalog", "requirement"])["outcome"].agg(
        ["size", lambda all_: (all_ == "fail").sum(), "last"]
    )
    query = "SELECT catalog, requirement, runs, failed, result FROM {gold.requirement_matrix}"
    assert {row[:2]: row[2:] for row in evidence.rows(query)} == {
        key: tuple(row) for key, row in zip(totals.index, totals.to_numpy(), strict=True)
    }


def plain(value: Any) -> str:
    return "None" if pd.isna(value) else str(int(value) if isinstance(value, float) else value)


def test_gold_tells_when_a_requirement_failed_first_and_what_was_repaired(
    evidence: Evidence,
) -> None:
    history = evidence.rows(
        "SELECT catalog, requirement, day(first_failed_at), day(last_failed_at), day(fixed_at), "
        "failed_runs FROM {gold.requirement_history} WHERE requirement LIKE '%check.demanded' "
        "ORDER BY catalog, requirement"
    )
    assert history == [
        ("Acme catalog", "another.check.demanded", 1, 2, 3, 2),
        ("Acme catalog", "one.check.demanded", 3, 3, 4, 1),
        ("Acme catalog", "third.check.demanded", 4, 4, None, 1),
        ("Other", "another.check.demanded", 2, 2, None, 1),
        ("Other", "third.check.demanded", 2, 2, None, 1),
    ]
    flaky = evidence.rows(
        "SELECT catalog, check_id, runs, failed, changes FROM {gold.flakiness} "
        "WHERE check_id LIKE '%.check' ORDER BY catalog, check_id"
    )
    assert flaky == [
        ("Acme catalog", "another.check", 5, 2, 1),
        ("Acme catalog", "one.check", 5, 1, 2),
        ("Acme catalog", "third.check", 4, 1, 1),
        ("Other", "another.check", 2, 1, 1),
        ("Other", "third.check", 2, 1, 1),
    ]


def test_matrix_and_trend_are_those_of_the_files(evidence: Evidence, reports: list[Path]) -> None:
    documents = [json.loads((place / "run.json").read_text()) for place in reports]
    last = [documents[len(NIGHTS["Acme catalog"]) - 1], documents[-1]]
    of_files = stored_runs(last)
    register = matrix.register_of(of_files)
    of_evidence = told_apart(told.last_runs(evidence.store))
    for rendering in matrix.RENDERINGS.values():
        assert rendering(matrix.matrix(of_evidence, register)) == rendering(
            matrix.matrix(of_files, register)
        )
    mine = trend.trend(documents[: len(NIGHTS["Acme catalog"])])
    theirs = trend.trend(told.documents(evidence.store, "Acme catalog"))
    for form in trend.RENDERINGS.values():
        assert form(theirs) == form(mine)
    moved = evidence.rows(
        "SELECT fixed, regressed, appeared, gone FROM {gold.conformance} "
        "WHERE catalog = 'Acme catalog' ORDER BY generated_at"
    )
    words = ("fixed", "regression", "new", "gone")
    assert moved == [tuple(step.counts.get(word, 0) for word in words) for step in mine.steps]
