"""getConfig: the settings that a client needs before any other request."""

from icecheck.mock_server.core.context import Call, Context, Outcome
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.operations.registry import operation
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.served_contract import SERVED


@operation("getConfig")
def get_config(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Answer prefix and endpoints of a warehouse; 400 for one that is not there (L75-L160)."""
    settings = context.settings_of(call.query.get("warehouse"))
    overrides = dict(settings.overrides)
    if settings.prefix:
        overrides["prefix"] = settings.prefix
    body = {
        "defaults": dict(settings.defaults),
        "overrides": overrides,
        "endpoints": endpoints(context),
    }
    return Outcome(state, replies.json_reply(body))


def endpoints(context: Context) -> list[str]:
    """Return the operations that this server has, as `VERB /path`, in the document's order."""
    served = context.registries.operations
    return [
        documented.endpoint for documented in SERVED.operations.values() if documented.id in served
    ]
