"""Law 1: the whole suite passes on the faithful mock, however it is run, and leaves it empty."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from tests.kill.killing import ISOLATIONS

from icecheck.assembly.run import RunOptions, run_checks
from icecheck.client import Catalog
from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, VendingSettings
from icecheck.session import open_session
from icecheck.target import Target
from icecheck.verdict import Outcome, Run

ROOT = Path(__file__).parents[2]
WAREHOUSE = "wh"
CREDENTIAL = "law:law-secret"
PARENT = "given_parent"
ADDRESS = "http://mock.invalid"
BY_PATH = ("conformance", "scenarios")
BY_NAME = ("--pyargs", "icecheck.conformance", "icecheck.scenarios")
SECONDS_MAX = 600


def faithful() -> MockCatalog:
    """The mock with all that can be asked of a catalog: tokens, and credentials for storage."""
    client_id, _, secret = CREDENTIAL.partition(":")
    return MockCatalog(
        seed=1,
        oauth2=OAuth2Settings(clients=(Client(client_id, secret),)),
        vending=VendingSettings(storage="s3"),
        warehouses=[WAREHOUSE],
    )


def target(mock: MockCatalog, isolation: str, url: str = ADDRESS) -> Target:
    """Where the run goes; "parent" gets the namespace that a user would have made."""
    plain = Target(url, warehouse=WAREHOUSE, credential=CREDENTIAL, isolation="flat")
    if isolation != "parent":
        return Target(url, warehouse=WAREHOUSE, credential=CREDENTIAL, isolation=isolation)
    session = open_session(plain, run_id="given", transport=mock.httpx_transport())
    Catalog(session, "parent").create_namespace((PARENT,)).expect(200)
    session.close()
    return Target(url, warehouse=WAREHOUSE, credential=CREDENTIAL, namespace=(PARENT,))


def left_on(mock: MockCatalog) -> list[tuple[str, ...]]:
    """What a run has left on the mock, the given parent aside."""
    found = [namespace for namespace, _ in mock.state(WAREHOUSE).namespaces.after()]
    return [namespace for namespace in found if namespace != (PARENT,)]


@cache
def direct_run(isolation: str) -> tuple[Run, tuple[tuple[str, ...], ...]]:
    """A run in process, and what it left."""
    mock = faithful()
    options = RunOptions(target(mock, isolation), run_id="law")
    run = run_checks(options, transport=mock.httpx_transport())
    left = tuple(left_on(mock))
    mock.stop()
    return run, left


def outcomes(run: Run) -> dict[str, str]:
    return {verdict.check: str(verdict.outcome) for verdict in run.verdicts}


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_the_whole_suite_passes_and_leaves_the_mock_empty(isolation: str) -> None:
    run, left = direct_run(isolation)
    assert [f"{v.check}: {v.summary}" for v in run.verdicts if v.outcome is not Outcome.PASS] == []
    assert run.status == "conformant"
    assert run.exit_code == 0
    assert run.facts["config"]["isolation"] == isolation
    assert run.facts["safety"]["residue"] == []
    assert run.facts["safety"]["touched_foreign"] == []
    assert left == ()


def test_the_verdicts_are_the_same_in_all_three_modes() -> None:
    nested, flat, parent = (outcomes(direct_run(isolation)[0]) for isolation in ISOLATIONS)
    assert flat == nested
    assert parent == nested


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
    assert verdicts_in(report) == outcomes(direct_run(isolation)[0])
    assert report["safety"]["residue"] == []
    assert left_on(running) == []


def verdicts_in(report: Mapping[str, list[dict[str, str]]]) -> dict[str, str]:
    return {check["id"]: check["outcome"] for check in report["checks"]}
