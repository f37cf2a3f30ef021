"""A pipeline that is killed at several commits, and started again, ends in the same tables."""

import itertools
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.context import Call
from icecheck.mock_server.core.context import Outcome as Answered
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap

pytestmark = [
    pytest.mark.spark,
    pytest.mark.complete("a dozen processes, each with a Spark of its own"),
]

SCALE = "0.002"
KINDS = ("bronze", "orders", "customers", "revenue")
TIMEOUT_SECONDS = 300


@dataclass(slots=True)
class Killer:
    """Kills a process at its n-th commit: before it takes effect, or before it is answered."""

    process: "subprocess.Popen[str] | None" = None
    commits_left: int = 0
    takes_effect: bool = True
    with_its_spark: bool = False
    killed_at: list[str] = field(default_factory=list)

    def watch(self, mock: MockCatalog) -> None:
        def commit(faithful: Faithful, state: WarehouseState, call: Call) -> Answered:
            self.commits_left -= 1
            if self.process is None or self.commits_left != 0:
                return faithful(state, call)
            if self.takes_effect:
                answered = faithful(state, call)
                self.kill(call)
                return answered
            self.kill(call)
            raise ConnectionAbortedError("nobody is there to be answered")

        wrap(mock.registries, "updateTable", commit)

    def kill(self, call: Call) -> None:
        assert self.process is not None
        spark = children(self.process.pid) if self.with_its_spark else []
        for pid in (self.process.pid, *spark):
            os.kill(pid, signal.SIGKILL)
        table = call.request.raw_path.rpartition("_")[2]
        self.killed_at.append(f"{table} {'after' if self.takes_effect else 'before'}")


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def begin(uri: str, state: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "icecheck", "pipeline", uri, "--warehouse", "wh", "--keep"]
    return subprocess.Popen(
        [*command, "--scale", SCALE, "--state", str(state)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=state.parent,
    )


def content(mock: MockCatalog, kind: str) -> list[Counter[Any]]:
    """Return the rows of the table of this kind of every run on the catalog."""
    catalog = mock.pyiceberg("wh")
    found = []
    for namespace in sorted(catalog.list_namespaces()):
        for name in catalog.list_tables(namespace):
            if name[-1].endswith(f"_{kind}"):
                rows = catalog.load_table(name).scan().to_arrow().to_pylist()
                found.append(Counter(tuple(sorted(row.items())) for row in rows))
    return found


def points() -> Iterator[tuple[int, bool, bool]]:
    """Yield commits at which to kill, each a little further from the start of its process."""
    moments = itertools.cycle([True, False, True])
    both = itertools.cycle([False, True])
    return zip(itertools.count(2), moments, both, strict=False)


def test_a_pipeline_that_is_killed_and_goes_on_ends_in_the_same_tables(tmp_path: Path) -> None:
    killer = Killer()
    with MockCatalog() as mock:
        killer.watch(mock)
        undisturbed = begin(mock.uri, tmp_path / "undisturbed")
        said, complained = undisturbed.communicate(timeout=TIMEOUT_SECONDS)
        assert undisturbed.returncode == 0, said + complained
        for commit, takes_effect, with_its_spark in points():
            killer.process = None
            process = begin(mock.uri, tmp_path / "killed")
            killer.commits_left, killer.takes_effect = commit, takes_effect
            killer.with_its_spark, killer.process = with_its_spark, process
            said, complained = process.communicate(timeout=TIMEOUT_SECONDS)
            if process.returncode != -signal.SIGKILL:
                break
        assert process.returncode == 0, said + complained
        assert "all tables" in said
        assert len(killer.killed_at) >= 5, killer.killed_at
        for kind in KINDS:
            one, other = content(mock, kind)
            assert one.total() > 0
            assert one == other, kind
