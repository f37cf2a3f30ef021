"""Law 1 under pytest: by path and by name, alone and with xdist, the verdicts are the same."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from icecheck.judging.check import Check
from icecheck.mock_server import MockCatalog
from icecheck.run.collect import collect
from tests.kill.killing import ISOLATIONS, SECOND
from tests.kit.contracts import CONTRACT
from tests.kit.shares import in_shares, share
from tests.laws.test_faithful import (
    CREDENTIAL,
    GROUPS,
    PARENT,
    WAREHOUSE,
    PlainRun,
    faithful,
    left_on,
    target,
)

ROOT = Path(__file__).parents[2]
BY_PATH = ("conformance", "scenarios")
BY_NAME = ("--pyargs", "icecheck.conformance", "icecheck.scenarios")
SECONDS_MAX = 600
OTHERS = pytest.mark.complete("test_one_runner compares both in the usual command, on few checks")


@pytest.fixture
def running() -> Iterator[MockCatalog]:
    with faithful() as mock:
        yield mock


CHOOSING = """
import json, pathlib

WANTED = set(json.loads(pathlib.Path(__file__).with_suffix(".json").read_text()))

def pytest_collection_modifyitems(items):
    items[:] = [i for i in items if f"{i.function.__module__} {i.function.__name__}" in WANTED]
"""


def choose(checks: Iterable[Check], folder: Path) -> dict[str, str]:
    """Write a plugin that leaves only these checks; return the environment that finds it."""
    names = [f"{check.function.__module__} {check.function.__name__}" for check in checks]
    (folder / "choosing.py").write_text(CHOOSING, encoding="utf-8")
    (folder / "choosing.json").write_text(json.dumps(names), encoding="utf-8")
    return os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}


@in_shares
@pytest.mark.usefixtures("other_plugins")
@pytest.mark.parametrize(
    ("isolation", "where", "how"),
    [
        pytest.param("nested", BY_NAME, ("-n", "2"), marks=OTHERS),
        pytest.param("flat", BY_PATH, ("-p", "randomly", "-p", "no:xdist"), marks=OTHERS),
        pytest.param("parent", BY_NAME, ("-p", "randomly", "-n", "2"), marks=OTHERS),
    ],
    ids=["two-workers", "random-order", "both-under-a-parent"],
)
def test_pytest_gives_the_verdicts_of_the_direct_runner(
    running: MockCatalog,
    tmp_path: Path,
    plain: PlainRun,
    isolation: str,
    where: tuple[str, ...],
    how: tuple[str],
) -> None:
    reached = target(running, isolation, running.uri)
    checks = share(
        collect(GROUPS, CONTRACT), ISOLATIONS.index(isolation), 30, always=lambda _: False
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "choosing"]
    command += [*how, *where]
    command += ["--catalog-url", reached.url, "--catalog-warehouse", WAREHOUSE]
    command += ["--catalog-credential", CREDENTIAL, "--conformance-run-id", "law"]
    command += ["--catalog-second-credential", str(SECOND.credential)]
    command += ["--catalog-reader-credential", str(reached.reader.credential)]
    command += ["--catalog-second-warehouse", str(reached.second_warehouse)]
    command += ["--catalog-isolation", reached.isolation]
    command += ["--catalog-namespace", PARENT] if reached.namespace else []
    command += ["--conformance-report", str(tmp_path / "report")]
    done = subprocess.run(
        command,
        cwd=ROOT if where is BY_PATH else tmp_path,
        env=choose(checks, tmp_path),
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    report = json.loads((tmp_path / "report" / "run.json").read_text(encoding="utf-8"))
    found = verdicts_in(report)
    assert {check.id for check in checks} <= found.keys()
    assert found == {check: outcome for check, outcome in plain.outcomes.items() if check in found}
    assert report["safety"]["residue"] == []
    assert left_on(running) == []


def verdicts_in(report: Mapping[str, list[dict[str, str]]]) -> dict[str, str]:
    return {check["id"]: check["outcome"] for check in report["checks"]}
