"""Every version of the contract loads; this module imports nothing that loads one."""

import pytest

from icecheck.contract import SPEC_VERSIONS, UnresolvedRows, load


@pytest.mark.parametrize("version", SPEC_VERSIONS)
def test_every_version_loads(version: str) -> None:
    try:
        rows = load(version).requirements
    except UnresolvedRows as told:
        pytest.fail(str(told))
    assert rows
