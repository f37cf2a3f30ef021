"""What several laws compare with, made once for all workers of a test run."""

import fcntl
import json
import os

import pytest

from tests.laws.golden import updating
from tests.laws.test_faithful import PlainRun, plain_run

WRITTEN_FIRST = ("test_killed.py", "test_reasons.py")
"""The page of requirements is made from what these write, each from what the one before wrote."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Write golden files in the order in which they are made from one another."""
    if updating():
        items.sort(key=_turn)


def _turn(item: pytest.Item) -> tuple[int, str, int]:
    _, line, _ = item.reportinfo()
    name = item.path.name
    turn = WRITTEN_FIRST.index(name) if name in WRITTEN_FIRST else len(WRITTEN_FIRST)
    return turn, str(item.path), line or 0


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> PlainRun:
    """A run of everything, one check after the other, in their own order.

    The first worker that needs it makes it; others read its file.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    found = folder / "plain_run.json"
    with (folder / "plain_run.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.exists():
            found.write_text(json.dumps(plain_run()), encoding="utf-8")
    return PlainRun(*json.loads(found.read_text(encoding="utf-8")))
