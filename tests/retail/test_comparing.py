"""Rows that Spark reads against rows that are due: the first difference is told."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from icecheck.spark import SparkWorkbench
from icecheck.spark_tests.pipeline import comparing
from icecheck.spark_tests.pipeline.comparing import Comparison

pytestmark = pytest.mark.spark

Rows = Sequence[tuple[int, str | None, int | None]]
ROWS: Rows = [(1, "one", 10), (2, None, 20), (3, "three", None), (4, "NA", 40), (5, "", 50)]
COLUMNS = ["id", "word", "many"]


def frame(rows: Rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS).astype({"many": "Int64"})


@pytest.fixture(params=["collected", "in parts"])
def said(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    workbench: SparkWorkbench,
    tmp_path: Path,
):
    if request.param == "in parts":
        monkeypatch.setattr(comparing, "_ROWS_COLLECTED", 0)
        monkeypatch.setattr(comparing, "_ROWS_AT_ONCE", 2)
    session = workbench.catalog_session("unused", {})

    def compare(found: Rows, wanted: Rows) -> str:
        rows = session.createDataFrame(found, "id BIGINT, word STRING, many INT")
        told = Comparison(tmp_path).difference("rows", rows, frame(wanted), ("id",))
        assert [*tmp_path.iterdir()] == []
        return str(told or "equal")

    return compare


def test_the_same_rows_in_another_order_are_equal(said) -> None:
    assert said(ROWS[::-1], ROWS) == "equal"


def test_rows_that_come_twice_are_equal_if_they_are_due_twice(said) -> None:
    assert said([*ROWS, *ROWS], [*ROWS, *ROWS]) == "equal"
    assert said([*ROWS, ROWS[0]], ROWS).endswith("; some of them twice")


@pytest.mark.parametrize("number", range(5))
def test_a_missing_row_is_named(said, number: int) -> None:
    found = [*ROWS[:number], *ROWS[number + 1 :]]
    assert f"missing is ({number + 1},)" in said(found, ROWS)


def test_a_row_that_is_one_more_is_named(said) -> None:
    assert "one more is (6,)" in said([*ROWS, (6, "six", 60)], ROWS)


@pytest.mark.parametrize(
    ("place", "row"),
    [
        (0, (1, "uno", 10)),
        (1, (2, "two", 20)),
        (2, (3, "three", 0)),
        (3, (4, None, 40)),
        (4, (5, "", None)),
    ],
)
def test_a_cell_that_differs_is_shown_with_its_row(said, place: int, row) -> None:
    found = [*ROWS]
    found[place] = row
    told = said(found, ROWS)
    assert f"| word | many: {place + 1} |" in told
    assert told.endswith(" | ".join(map(str, row)))
