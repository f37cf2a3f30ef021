"""The pipeline on a standalone cluster of Spark."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.spark_cluster import spark_cluster

pytestmark = [pytest.mark.spark, pytest.mark.complete("five JVMs: a cluster with two workers")]


def test_every_stage_is_right_on_a_cluster(tmp_path: Path) -> None:
    with spark_cluster(tmp_path / "cluster") as master:
        command = [sys.executable, "-m", "icecheck", "pipeline", "--mock", "--scale", "0.001"]
        place = ["--state", str(tmp_path / "state"), "--master", master]
        done = subprocess.run([*command, *place], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        worked = [*(tmp_path / "cluster").glob("worker-*/work/app-*/*")]
        assert len({each.parents[2] for each in worked}) == 2, "one worker did everything"
