"""The contract that the tests are about, where they do not name a version of their own."""

import pytest

from icecheck.contract import DEFAULT_SPEC_VERSION, SPEC_VERSIONS, Contract, Requirement, load
from icecheck.contract.releases import newest

CONTRACT = load(DEFAULT_SPEC_VERSION)
NEWEST = load(newest(SPEC_VERSIONS))
"""For laws about what the repository has for each part of a document: it has those of all."""
of_every_version = pytest.mark.parametrize(
    "contract", [*map(load, SPEC_VERSIONS)], ids=SPEC_VERSIONS
)
"""For laws that hold of each version, also of one that the mock does not serve yet."""


def by_hand(contract: Contract) -> list[Requirement]:
    """Return the rows that are no rows of a response table."""
    generated = {response.id for response in contract.documented_responses}
    return [row for id_, row in contract.requirements.items() if id_ not in generated]
