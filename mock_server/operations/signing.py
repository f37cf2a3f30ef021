"""Remote signing: a table's client sends a request to the object store with a signature from here.

It is the operation of the document of 1.11.0, which also serves clients of the older protocol of
S3 signers: both send the same.
"""

from collections.abc import Iterable, MutableMapping
from typing import TYPE_CHECKING

import msgspec

from icecheck.mock_server.core.context import Call, Context, Operation, Outcome
from icecheck.mock_server.core.locations import written_places
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.core.vending_settings import VendingSettings
from icecheck.mock_server.operations.tables import existing_table
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.json_input import decode_json
from icecheck.mock_server.protocol.served_contract import KNOWN, operations_of
from icecheck.mock_server.security.settings import SIGNING
from icecheck.mock_server.security.vending import GRANTED, may_commit

if TYPE_CHECKING:
    from icecheck.contract import Operation as DocumentedOperation
    from icecheck.mock_server.objects.access import Grant
    from icecheck.mock_server.objects.store import ObjectStore


def routed_operations(
    operations: MutableMapping[str, Operation],
    version: str,
    hidden: Iterable[str],
    objects: "ObjectStore | None",
) -> "Iterable[DocumentedOperation]":
    """Return the routes of a server; one with an object store signs too, if that is not hidden.

    It does so whatever document it serves: an older one does not have the operation announced.
    """
    documented = {**operations_of(version), SIGNING: KNOWN.operations[SIGNING]}
    if objects is None or SIGNING in hidden:
        del documented[SIGNING]
    else:
        operations[SIGNING] = sign_request
    return documented.values()


def sign_request(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Answer the headers with the signature; 403 for what the table's credentials do not permit."""
    from icecheck.mock_server.objects.refusals import S3Refusal
    from icecheck.mock_server.objects.signer import RequestToSign

    objects, vending = context.objects, context.vending
    if objects is None or vending is None:
        existing_table(state, call)
        raise problem.bad_request("Nothing is signed for this warehouse: it has no object store")
    asked = decode_json(RequestToSign, call.request.body)
    try:
        headers = objects.sign(asked, _grant(objects, vending, context, state, call))
    except S3Refusal as refusal:
        if refusal.status == 403:
            raise problem.forbidden(f"Not signed: {refusal.message}") from refusal
        raise problem.bad_request(f"Not signed: {refusal.message}") from refusal
    kept = "private" if asked.method in {"GET", "HEAD"} else "no-cache"
    body = {"uri": asked.uri, "headers": headers}
    return Outcome(state, replies.json_reply(body, headers=(("cache-control", kept),)))


def _grant(
    objects: "ObjectStore",
    vending: VendingSettings,
    context: Context,
    state: WarehouseState,
    call: Call,
) -> "Grant":
    """Return what may be signed for a table; 404 if there is none.

    Clients also write files of a table that is not there yet (it is staged), and remove those of
    one that they have dropped. So the endpoint that they were told says what they were granted,
    and that holds for as long as credentials would.
    """
    from icecheck.mock_server.objects.access import Grant
    from icecheck.mock_server.objects.places import places_below

    now_ms, may_write = context.clock.now_ms(), may_commit(context, call)
    token = call.query.get(GRANTED)
    granted = None if token is None else objects.granted_by(token)
    if granted is not None and now_ms < granted.expires_ms:
        return msgspec.structs.replace(granted, may_write=may_write and granted.may_write)
    places = written_places(existing_table(state, call).metadata)
    return Grant(places_below(places, context.location), may_write, now_ms + vending.seconds * 1000)
