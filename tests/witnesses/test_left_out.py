"""Under pytest the checks with real clients are collected where their folder is named only."""

import subprocess
import sys

import pytest

from tests.witnesses.judging import CHECKS


@pytest.mark.parametrize(
    ("named", "many"), [("icecheck.scenarios", 0), ("icecheck.scenarios.clients", len(CHECKS))]
)
def test_checks_with_real_clients_are_collected_where_they_are_named(named: str, many: int) -> None:
    collecting = ("--collect-only", "-q", "-p", "no:cacheprovider", "--catalog-url", "http://c")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--pyargs", named, *collecting],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    found = [line for line in done.stdout.splitlines() if "clients" in line and "::" in line]
    assert len(found) == many, done.stdout + done.stderr
