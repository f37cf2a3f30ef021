"""The commands as the page about evidence types them, and what is said when they are misused."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from pyarrow.fs import LocalFileSystem, S3FileSystem, copy_files

from icecheck.cli import main
from icecheck.mock_server import MockCatalog, WarehouseDeclaration
from tests.evidence.reports_made import document, exchange, put
from tests.kit.one_spark import OneSpark

pytestmark = pytest.mark.spark

PAGE = Path(__file__).parents[2] / "docs" / "evidence.md"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ingest",), "PATH"),
        (("ingest", "nowhere"), "nowhere: there is no report there"),
        (("ingest", "no*where"), "there is no report there"),
        (("ingest", "note.txt"), "neither a run.json nor"),
        (("ingest", "nosuch://x/y"), "cannot be reached"),
        (("ingest", "run.json", "--root", "note.txt"), "--root"),
        (("ingest", "run.json", "--root", "/proc/x"), "--root /proc/x"),
        (("status", "--root", "note.txt"), "nothing was taken in"),
        (("status", "--root", "/proc/x"), "nothing was taken in"),
        (("status",), "nothing was taken in"),
        (("quarantine", "--root", "new"), "nothing was taken in"),
        (("report", "matrix", "--root", "new"), "nothing was taken in"),
        (("report", "trend", "--catalog", "x", "--root", "new/er"), "nothing was taken in"),
        (("ingest", "run.json", "--tables-prefix", "a-b"), "--tables-prefix"),
        (("ingest", "run.json", "--tables-prefix", "a'b"), "--tables-prefix"),
        (("status", "--tables-prefix", ""), "--tables-prefix"),
        (("status", "--tables-prefix", "a\n"), "--tables-prefix"),
        (("status", "--root", "locked"), "another catalog has the root"),
        (("status", "--root", "x", "--catalog-url", "http://127.0.0.1:9"), "--root is for"),
        (("status", "--token", "t"), "name it with --catalog-url"),
        (("status", "--spark-catalog", "x"), "--spark-conf FILE: give both"),
        (
            ("ingest", "run.json", "--root", "new", "--master", "spark://127.0.0.1:9"),
            "no Spark mas",
        ),
        (
            ("status", "--root", "new", "--master", "spark://127.0.0.1"),
            "--master spark://127.0.0.1",
        ),
        (("status", "--root", "new", "--master", "here"), "--master here"),
        (("ingest", "run.json", "--root", "new", "--master", "local[0]"), "--master local[0]"),
        (("ingest", "run.json", "--root", "new", "--master", "yarn"), "--master yarn"),
        (("report", "matrix", "--format", "pdf"), "pdf"),
        (("report", "trend"), "--catalog"),
    ],
)
def test_a_misuse_is_one_line_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "note.txt").write_text("no directory")
    (tmp_path / "run.json").write_text("{}")
    held = MockCatalog(root=tmp_path / "locked", keep=True)
    result = CliRunner().invoke(main, ["evidence", *arguments])
    held.stop()
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert said in result.stderr
    assert not (tmp_path / "icecheck-evidence").exists()
    assert not (tmp_path / "new").exists()


@pytest.mark.complete("five processes, each with a Spark of its own")
def test_the_commands_of_the_page_do_what_it_says(tmp_path: Path) -> None:
    lines = [exchange(number) for number in range(1, 9)]
    for night in range(1, 4):
        made = document(f"night{night}", f"2026-03-0{night}T12:00:00+00:00")
        put(tmp_path / "reports" / f"{night}", made, lines)
    printed = {}
    for line in re.findall(r"^(icecheck evidence .*)$", PAGE.read_text(), re.MULTILINE):
        command = [sys.executable, "-m", *shlex.split(line)]
        done = subprocess.run(
            command, cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=False
        )
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
        printed[line.split()[2]] = done.stdout
    assert "3 runs and 24 exchanges taken in" in printed["ingest"]
    assert json.loads(printed["status"])["catalogs"]["Acme catalog"]["runs"] == 3
    assert printed["quarantine"] == ""
    assert printed["report"].startswith("## Acme catalog: 3 runs")
    assert "1 runs side by side" in (tmp_path / "matrix.html").read_text()


@pytest.mark.complete("a Spark of its own")
def test_a_question_makes_no_tables_in_a_catalog_without_evidence(one_spark: OneSpark) -> None:
    one_spark.stop()
    with MockCatalog() as mock:
        asked = ["evidence", "status", "--catalog-url", mock.uri]
        result = CliRunner().invoke(main, asked)
        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
        assert "nothing was taken in" in result.stderr
        assert httpx.get(f"{mock.uri}/v1/namespaces").json()["namespaces"] == []


@pytest.mark.complete("a process with a Spark of its own, beside an object store")
def test_reports_in_an_object_store_are_taken_in_with_the_credentials_of_the_environment(
    tmp_path: Path,
) -> None:
    lines = [exchange(number) for number in range(1, 9)]
    put(tmp_path / "made" / "night1", document("night1"), lines)
    (tmp_path / "made" / "night1" / "index.html").write_text("no report")
    with MockCatalog(warehouses=[WarehouseDeclaration("wh", location="s3://lake/wh")]) as mock:
        assert mock.objects is not None
        told = mock.objects.properties()
        key, secret, endpoint = (
            told[f"s3.{name}"] for name in ("access-key-id", "secret-access-key", "endpoint")
        )
        store = S3FileSystem(
            access_key=key, secret_key=secret, endpoint_override=endpoint, region="us-east-1"
        )
        copy_files(str(tmp_path / "made"), "lake/reports", LocalFileSystem(), store)
        given = {"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": "us-east-1"}
        given |= {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret}
        ingest = [sys.executable, "-m", "icecheck", "evidence", "ingest", "s3://lake/reports"]
        done = subprocess.run(
            ingest,
            cwd=tmp_path,
            env=os.environ | given,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert "1 runs and 8 exchanges taken in" in done.stdout
