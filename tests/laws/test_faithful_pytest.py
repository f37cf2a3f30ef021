"""Law 1 under pytest: by path and by name, alone and with xdist, the verdicts are the same."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.kill.killing import SECOND
from tests.laws.test_faithful import (
    CREDENTIAL,
    PARENT,
    WAREHOUSE,
    faithful,
    left_on,
    plain_run,
    target,
)

from icecheck.mock_server import MockCatalog

ROOT = Path(__file__).parents[2]
BY_PATH = ("conformance", "scenarios")
BY_NAME = ("--pyargs", "icecheck.conformance", "icecheck.scenarios")
SECONDS_MAX = 600


@pytest.fixture
def running() -> Iterator[MockCatalog]:
    with faithful() as mock:
        yield mock


@pytest.mark.parametrize(
    ("isolation", "where", "how"),
    [
        ("nested", BY_NAME, ("-n", "2")),
        ("flat", BY_PATH, ("-p", "randomly", "-p", "no:xdist")),
        ("parent", BY_NAME, ("-p", "randomly", "-n", "2")),
    ],
    ids=["two-workers", "random-order", "both-under-a-parent"],
)
def test_pytest_gives_the_verdicts_of_the_direct_runner(
    running: MockCatalog, tmp_path: Path, isolation: str, where: tuple[str, ...], how: tuple[str]
) -> None:
    reached = target(running, isolation, running.uri)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *how, *where]
    command += ["--catalog-url", reached.url, "--catalog-warehouse", WAREHOUSE]
    command += ["--catalog-credential", CREDENTIAL, "--conformance-run-id", "law"]
    command += ["--catalog-second-credential", str(SECOND.credential)]
    command += ["--catalog-isolation", reached.isolation]
    command += ["--catalog-namespace", PARENT] if reached.namespace else []
    command += ["--conformance-report", str(tmp_path / "report")]
    done = subprocess.run(
        command,
        cwd=ROOT if where is BY_PATH else tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    report = json.loads((tmp_path / "report" / "run.json").read_text(encoding="utf-8"))
    assert verdicts_in(report) == plain_run()
    assert report["safety"]["residue"] == []
    assert left_on(running) == []


def verdicts_in(report: Mapping[str, list[dict[str, str]]]) -> dict[str, str]:
    return {check["id"]: check["outcome"] for check in report["checks"]}
