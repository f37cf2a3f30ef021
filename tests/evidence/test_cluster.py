"""The evidence on a standalone cluster of Spark: its tables are those of Spark on one machine."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from icecheck.spark import SparkWorkbench
from tests.evidence.conftest import evidence_below
from tests.evidence.reports_made import document, exchange, put
from tests.kit.spark_cluster import own_address, spark_cluster

pytestmark = [pytest.mark.spark, pytest.mark.complete("five JVMs: a cluster with two workers")]


def asked(*arguments: object) -> str:
    """Return what a command about evidence prints."""
    command = [sys.executable, "-m", "icecheck", "evidence", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_a_cluster_makes_the_tables_that_one_machine_makes(
    tmp_path: Path, workbench: SparkWorkbench
) -> None:
    for night in range(1, 5):
        made = document(f"night{night}", f"2026-03-0{night}T12:00:00+00:00")
        lines = [exchange(number) for number in range(1, 40)]
        put(tmp_path / "reports" / f"{night}", made, lines)
    (tmp_path / "reports" / "3" / "run.json").write_bytes(b"")
    there, here = tmp_path / "there", tmp_path / "here"
    with spark_cluster(tmp_path / "cluster", host=own_address()) as master:
        place = ("--root", there, "--master", master)
        said = asked("ingest", tmp_path / "reports", *place)
        assert "3 runs and 117 exchanges taken in" in said
        assert json.loads(asked("status", *place))["tables"]
        worked = [*(tmp_path / "cluster").glob("worker-*/work/app-*/*")]
        assert len({each.parents[2] for each in worked}) == 2, "one worker did everything"
        for worker in (tmp_path / "cluster").glob("worker-*/log"):
            assert f"CoarseGrainedScheduler@{own_address()}:" in worker.read_text()
    with evidence_below(here, workbench) as alone:
        alone.take_in(tmp_path / "reports", with_gold=True)
        expected = alone.content()
    with evidence_below(there, workbench) as from_there:
        assert from_there.content() == expected
