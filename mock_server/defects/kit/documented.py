"""What the documents define, for defects that are made for each of it.

It is taken from the version that is served by default; what that lacks, from the newest one.
"""

from icecheck.contract import Response, first_with
from icecheck.mock_server.protocol.served_contract import KNOWN, SERVED

RESPONSES: tuple[Response, ...] = (
    *SERVED.documented_responses,
    *(r for r in KNOWN.documented_responses if r.id not in SERVED.requirements),
)


def since_of(id_: str) -> str:
    """Return the ``since`` of a defect that shows in this operation, or in this answer of one."""
    contract = first_with(id_)
    return "" if contract == SERVED else contract.version
