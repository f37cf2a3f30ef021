"""What several laws compare with, and the order in which golden files are written."""

import pytest

from tests.kit.once import made_once
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
def plain() -> PlainRun:
    """A run of everything, one check after the other, in their own order."""
    return made_once("plain_run", plain_run)
