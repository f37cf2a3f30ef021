"""`icecheck serve --run -- COMMAND`: a command beside the mock finds it, and ends with it."""

import json
import signal
import sys
import time
from pathlib import Path

import pytest

SHOW = """
import json, os, sys
from pathlib import Path
from pyiceberg.catalog import load_catalog
load_catalog("default").create_namespace("made_by_pyiceberg")
files = sorted(each.name for each in Path(os.environ["ICECHECK_CLIENTS"]).iterdir())
names = [name for name in os.environ if name.startswith(("CATALOG_", "ICEBERG_REST_", "SAIL_"))]
print(json.dumps([files, sorted(names)]))
sys.exit(7)
"""


def test_a_command_runs_beside_it_and_finds_it(start_icecheck, tmp_path):
    log = tmp_path / "requests.jsonl"
    words = ["--run", "--", sys.executable, "-c", SHOW]
    process = start_icecheck("serve", "--journal-file", log, "--token", "t0", *words)
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 7, stderr
    files, names = json.loads(stdout)
    assert files == [
        ".pyiceberg.yaml", "clickhouse.sql", "duckdb.sql", "flink.sql", "spark-defaults.conf",
        "trino-iceberg.properties",
    ]  # fmt: skip
    assert names == [
        "CATALOG_TOKEN", "CATALOG_URI", "CATALOG_WAREHOUSE", "ICEBERG_REST_URI",
        "ICEBERG_REST_WAREHOUSE", "SAIL_CATALOG__LIST",
    ]  # fmt: skip
    asked = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(each["operation"], each["status"]) for each in asked][-1] == ("createNamespace", 200)


def test_a_command_beside_an_object_store_gets_what_was_tried_with_one(start_icecheck):
    shows = "import os; print(*sorted(os.listdir(os.environ['ICECHECK_CLIENTS'])))"
    command = ["--run", "--", sys.executable, "-c", shows]
    process = start_icecheck("serve", "--warehouse", "wh=s3://lake/wh", *command)
    shown = process.communicate(timeout=60)[0].split()
    assert shown == [".pyiceberg.yaml", "duckdb.sql", "flink.sql", "spark-defaults.conf"]


@pytest.mark.parametrize(
    ("fault", "ends", "code"),
    [("false", 0, 0), ("true", 0, 1), ("true", 5, 5)],
)
def test_a_strict_fault_counts_where_the_command_ends_well(icecheck, fault, ends, code):
    command = [sys.executable, "-c", f"raise SystemExit({ends})"]
    strict = f"commit-conflict,strict={fault}"
    result = icecheck("serve", "--fault", strict, "--run", "--", *command)
    assert result.exit_code == code
    assert ("never happened" in result.stderr) == (code == 1)


def test_a_command_that_there_is_not_is_one_line(icecheck):
    result = icecheck("serve", "--run", "--", "no-such-command-of-anybody")
    assert (result.exit_code, len(result.stderr.splitlines())) == (127, 1)
    for words in (["--run"], ["--", "true"]):
        refused = icecheck("serve", *words)
        assert (refused.exit_code, len(refused.stderr.splitlines())) == (2, 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_command_is_told_to_stop(start_icecheck, number):
    waits = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
print(os.environ["ICECHECK_CLIENTS"], flush=True)
time.sleep(600)
"""
    process = start_icecheck("serve", "--run", "--", sys.executable, "-c", waits)
    directory = Path(process.stdout.readline().strip())
    assert directory.is_dir()
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert not directory.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_what_a_command_has_started_ends_with_it(start_icecheck, number):
    script = "sh -c 'echo $$; exec sleep 600'; true"
    process = start_icecheck("serve", "--run", "--", "bash", "-c", script)
    started = int(process.stdout.readline())
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 128 + number
    for _ in range(100):
        if not is_running(started):
            break
        time.sleep(0.1)
    assert not is_running(started)


def is_running(pid: int) -> bool:
    """Return whether a process is there, and not only waits to be looked at by its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_spark_is_led_to_the_catalog_unless_it_has_settings(start_icecheck, monkeypatch):
    shows = "import os; print(os.environ['SPARK_CONF_DIR'] == os.environ['ICECHECK_CLIENTS'])"
    for given, expected in ((None, "True\n"), ("/etc/spark", "False\n")):
        if given is not None:
            monkeypatch.setenv("SPARK_CONF_DIR", given)
        process = start_icecheck("serve", "--run", "--", sys.executable, "-c", shows)
        assert process.communicate(timeout=60)[0] == expected


def test_what_leads_elsewhere_is_kept_from_the_command(start_icecheck, monkeypatch, tmp_path):
    for name in (
        "PYICEBERG_CATALOG__DEFAULT__CREDENTIAL", "PYICEBERG_CATALOG__DEFAULT__OAUTH2_SERVER_URI",
        "CATALOG_CREDENTIAL", "SAIL_CATALOG__LIST", "ICEBERG_REST_TOKEN",
    ):  # fmt: skip
        monkeypatch.setenv(name, "production")
    shows = "import os; print([name for name, value in os.environ.items() if 'prod' in value])"
    command = ["--run", "--", sys.executable, "-c", shows]
    ready_file = tmp_path / "ready.json"
    process = start_icecheck("serve", "--ready-file", ready_file, *command)
    stdout, _ = process.communicate(timeout=60)
    assert stdout == "[]\n"
    assert json.loads(ready_file.read_text())["uri"].startswith("http://127.0.0.1:")


def test_the_command_is_led_to_a_warehouse_that_there_is(start_icecheck):
    asks = """
import os, urllib.request
config = os.environ["CATALOG_URI"] + "/v1/config?warehouse=" + os.environ["CATALOG_WAREHOUSE"]
print(urllib.request.urlopen(config).status)
"""
    command = ["--run", "--", sys.executable, "-c", asks]
    process = start_icecheck("serve", "--warehouse", "only", *command)
    assert process.communicate(timeout=60)[0] == "200\n"
