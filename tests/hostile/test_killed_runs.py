"""After a run was killed, `icecheck clean` removes what is the run's, and only that."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from icecheck.cli import main
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects import defects
from icecheck.ownership.ledger_file import LEDGER_FILE

SCHEMA = {"type": "struct", "schema-id": 0, "fields": []}
RUN = "icecheck_dead1"
FOREIGN = "foreign_table"
REQUESTS_MAX = 600
"""A run is killed while it makes so many of its requests."""
AT_EVERY_PUSH = 1
KILLS = [
    pytest.param(number, marks=() if number < AT_EVERY_PUSH else pytest.mark.hostile)
    for number in range(50)
]
ISOLATIONS = ("nested", "flat", "parent")


@pytest.fixture
def mock() -> Iterator[MockCatalog]:
    with MockCatalog(warehouses=["wh"], token="t") as catalog:
        yield catalog


def there(mock: MockCatalog) -> dict[tuple[str, ...], set[str]]:
    """Namespace -> the tables in it."""
    found = mock.state("wh").namespaces.after()
    return {path: {name for name, _ in entry.tables.after()} for path, entry in found}


def make_foreign_tables(mock: MockCatalog, *, everywhere: bool) -> None:
    """Make a namespace of somebody else, or a table of theirs in each namespace there is."""
    with httpx.Client(headers={"Authorization": "Bearer t"}) as http:
        base = f"{mock.uri}/v1/wh/namespaces"
        if not everywhere:
            http.post(base, json={"namespace": ["prod"]}).raise_for_status()
        for path in there(mock) if everywhere else [("prod",)]:
            url = f"{base}/{'%1F'.join(path)}/tables"
            body = {"name": FOREIGN if everywhere else "orders", "schema": SCHEMA}
            http.post(httpx.URL(url), json=body).raise_for_status()


def run_and_kill(mock: MockCatalog, out: Path, isolation: str, requests: int) -> bool:
    """Start a run in a process of its own and kill it; return whether it was still running."""
    command = [sys.executable, "-m", "icecheck", "run", mock.uri, "--warehouse", "wh"]
    command += ["--token", "t", "--run-id", "dead1", "--output", str(out), "--only", "checks"]
    command += ["--isolation", isolation]
    command += ["--namespace", "prod"] if isolation == "parent" else []
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and len(mock.journal.find()) < requests:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("number", KILLS)
def test_what_somebody_else_has_made_survives_a_kill_and_clean(
    mock: MockCatalog, tmp_path: Path, number: int
) -> None:
    moment = random.Random(number)  # noqa: S311 - repeatable, and no secret
    isolation = ISOLATIONS[number % len(ISOLATIONS)]
    if number % 2:
        defects()["namespace-drop-cascades"].install(mock.registries)
    make_foreign_tables(mock, everywhere=False)
    mock.journal.clear()
    killed = run_and_kill(mock, tmp_path / "out", isolation, moment.randrange(10, REQUESTS_MAX))
    make_foreign_tables(mock, everywhere=True)
    foreign = {
        path: {name for name in tables if RUN not in name} for path, tables in there(mock).items()
    }
    ledger = tmp_path / "out" / LEDGER_FILE
    if killed and ledger.exists():
        given = ["--warehouse", "wh", "--token", "t", "--ledger", str(ledger)]
        result = CliRunner().invoke(main, ["clean", mock.uri, *given])
        assert result.exit_code in {0, 6}, result.output
        assert (FOREIGN in result.output) == any(RUN in path[-1] for path in foreign)
    left = there(mock)
    for path, tables in foreign.items():
        assert tables <= left[path]
    assert not [name for tables in left.values() for name in tables if RUN in name]
