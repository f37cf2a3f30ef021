"""`icecheck proxy` as a process: a job through it, its end, its report and its misuse."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from icecheck.mock_server import MockCatalog
from tests.kit.serving import json_answer, serving
from tests.kit.shares import some

ICECHECK = (sys.executable, "-m", "icecheck")
JOB = """
import os
import pyarrow as pa
from pyiceberg.catalog import load_catalog
catalog = load_catalog("default", warehouse="wh", token="token-of-the-job")
assert catalog.properties["uri"] == os.environ["CATALOG_URI"]
catalog.create_namespace("db")
table = catalog.create_table("db.t", schema=pa.schema([("a", pa.int64())]))
table.append(pa.table({"a": [1, 2, 3]}))
assert len(table.scan().to_arrow()) == 3
catalog.rename_table("db.t", "db.u")
catalog.drop_table("db.u")
"""


def proxy(*arguments: str, directory: Path) -> "subprocess.CompletedProcess[str]":
    """Return an ended `icecheck proxy`."""
    command = [*ICECHECK, "proxy", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=directory, timeout=120, check=False
    )


@pytest.mark.parametrize(
    ("defect", "code"), some([("lacks-loadTable-metadata.table-uuid", 1), ("", 0)], 2)
)
def test_a_job_of_pyiceberg_is_judged_as_it_runs(tmp_path: Path, defect: str, code: int) -> None:
    with MockCatalog(warehouses=["wh"]) as mock:
        mock.defects.switch_on(*filter(None, [defect]))
        ended = proxy(mock.uri, "--run", "--", sys.executable, "-c", JOB, directory=tmp_path)
    assert ended.returncode == code, ended.stdout + ended.stderr
    run = json.loads((tmp_path / "icecheck-report" / "run.json").read_text())
    failed = {c["id"] for c in run["checks"] if c["outcome"] == "fail"}
    assert failed == ({"schema.loadTable.200"} if defect else set())
    assert run["totals"]["passive"] > 10
    assert [each["answer"] for each in run["observations"] if each["id"] == "client-sent"] == []
    assert (tmp_path / "icecheck-report" / "index.html").exists()
    assert ("schema.loadTable.200" in ended.stdout) == bool(defect)
    again = subprocess.run(
        [*ICECHECK, "report", "render", "icecheck-report"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    bundled = subprocess.run(
        [*ICECHECK, "bundle", "icecheck-report"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert bundled.returncode == 2
    assert "the report of a proxy" in bundled.stderr


def test_it_ends_as_its_command_ends_and_at_a_signal(tmp_path: Path) -> None:
    with MockCatalog() as mock:
        job = ("sh", "-c", "exit 7", "--conf", "credential=id:S3cr3tOfTheJob")
        ended = proxy(mock.uri, "--run", "--", *job, directory=tmp_path)
        assert ended.returncode == 7
        written = b"".join(path.read_bytes() for path in (tmp_path / "icecheck-report").iterdir())
        assert b"S3cr3tOfTheJob" not in written
        command = json.loads((tmp_path / "icecheck-report/run.json").read_text())["config"]
        assert "S3cr3t" not in json.dumps(command)
        ready = tmp_path / "ready"
        command = [*ICECHECK, "proxy", mock.uri, "--ready-file", str(ready)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert json.loads(line)["event"] == "ready"
            assert ready.read_text() == line
            process.send_signal(signal.SIGTERM)
            rest = process.stdout.read()
            assert process.wait(30) == 5, "no answer was judged"
    assert "0 requests passed, and no answer could be judged" in rest
    assert (tmp_path / "icecheck-report" / "run.json").exists()


def test_a_misuse_is_one_line_and_leaves_no_report(tmp_path: Path) -> None:
    with serving(lambda _: json_answer({})) as url:
        taken = url.rpartition(":")[2]
        for arguments, words in (
            (["--run", "--", "true"], "write proxy URL --run -- COMMAND"),
            ([url, "--run"], "write proxy URL --run -- COMMAND"),
            ([url, "--", "true"], "write proxy URL --run -- COMMAND"),
            ([url, "--port", taken], f"cannot listen at 127.0.0.1:{taken}"),
            ([url, "--ca-bundle", "nothing.pem"], "nothing.pem"),
            ([url, "--token", "t" * 12], "--token"),
            ([url, "--allow-host", "http://x:1"], "'http://x:1'"),
            ([url, "--host", "no such host"], "'no such host'"),
        ):
            ended = proxy(*arguments, directory=tmp_path)
            assert ended.returncode == 2, arguments
            assert words in ended.stderr
            assert len(ended.stderr.splitlines()) == 1, ended.stderr
    assert not list(tmp_path.iterdir())
