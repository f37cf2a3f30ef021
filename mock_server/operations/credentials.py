"""loadCredentials: new credentials for a table's storage, when the first ones expire."""

from icecheck.mock_server.core.context import Call, Context, Outcome
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.operations.registry import operation
from icecheck.mock_server.operations.tables import check_references, existing_table
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.security.vending import storage_credentials

_UNCACHED = (("cache-control", "no-store"),)


@operation("loadCredentials")
def load_credentials(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Answer credentials for a table (L1188-L1222); an empty list where none are vended."""
    check_references(context, call)
    entry = existing_table(state, call)
    body = {"storage-credentials": storage_credentials(context, call, entry.metadata)}
    return Outcome(state, replies.json_reply(body, headers=_UNCACHED))
