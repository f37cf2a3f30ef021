"""Defects of keys that are looked for before it is known who asks, or whether he may."""

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply, Request
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import defect
from icecheck.mock_server.defects.kit.keying import FaithfulKeys, around_keys
from icecheck.mock_server.defects.kit.places import FaithfulGate, alter_gate
from icecheck.mock_server.defects.security.permissions import skip_permissions
from icecheck.mock_server.protocol.served_contract import KEY_HEADER
from icecheck.mock_server.security.callers import Security

_HANDED_OUT = "Whoever learns of a key gets the metadata and the credentials of another's table."


@defect("keys-answered-by-a-cache", breaks="idempotency.of-somebody-else", suffering=_HANDED_OUT)
def _answered_by_a_cache(registries: Registries) -> None:
    """A cache in front of the catalog answers what comes again, and asks nobody for his rights."""
    kept: dict[str, Reply] = {}

    def noting(faithful: FaithfulKeys, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        if outcome.reply.status < 300:
            kept[call.request.headers[KEY_HEADER]] = outcome.reply
        return outcome

    def answering(faithful: FaithfulGate, request: Request, security: Security) -> Reply | None:
        return faithful(request, security) or kept.get(request.headers.get(KEY_HEADER, ""))

    for operation_id in ("createTable", "updateTable"):
        around_keys(registries, operation_id, noting)
    alter_gate(registries, answering)


@defect("keys-stand-for-rights", breaks="idempotency.of-somebody-else", suffering=_HANDED_OUT)
def _stand_for_rights(registries: Registries) -> None:
    """A commit whose key is known is taken for its first caller's, whoever sends it."""
    known: set[str] = set()

    def noting(faithful: FaithfulKeys, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        known.add(call.request.headers[KEY_HEADER])
        return outcome

    around_keys(registries, "updateTable", noting)
    skip_permissions(registries, lambda request: request.headers.get(KEY_HEADER, "") in known)
