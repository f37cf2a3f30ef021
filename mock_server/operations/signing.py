"""Remote signing: a table's client sends a request to the object store with a signature from here.

It is the operation of the document of 1.11.0, which also serves clients of the older protocol of
S3 signers: both send the same.
"""

from collections.abc import Iterable, Mapping, MutableMapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

import msgspec

from icecheck.mock_server.core.context import Call, Context, Operation, Outcome
from icecheck.mock_server.core.locations import written_places
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.core.vending_settings import VendingSettings
from icecheck.mock_server.operations.registry import operation
from icecheck.mock_server.operations.tables import existing_table
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.json_input import decode_json
from icecheck.mock_server.protocol.served_contract import KNOWN, operations_of
from icecheck.mock_server.security.settings import SIGNING
from icecheck.mock_server.security.vending import (
    GRANTED,
    endpoint_of,
    may_commit,
    signing_keys,
    signs,
)

if TYPE_CHECKING:
    from icecheck.contract import Operation as DocumentedOperation
    from icecheck.mock_server.objects.access import Grant
    from icecheck.mock_server.objects.signer import RequestToSign
    from icecheck.mock_server.objects.store import ObjectStore


class _OfTheDocument(msgspec.Struct, frozen=True):
    """What the document says of a request's members besides those that are signed."""

    method: Literal["PUT", "GET", "HEAD", "POST", "DELETE", "PATCH", "OPTIONS"]
    properties: Mapping[str, str] | None = None
    provider: str | None = None


def routed_operations(
    operations: MutableMapping[str, Operation],
    version: str,
    hidden: Iterable[str],
    *,
    is_signer: bool,
) -> "Iterable[DocumentedOperation]":
    """Return the routes of a server; one that is a signer signs, if that is not hidden.

    It does so whatever document it serves: an older one does not have the operation announced.
    """
    documented = {**operations_of(version), SIGNING: KNOWN.operations[SIGNING]}
    if not is_signer or SIGNING in hidden:
        del documented[SIGNING]
        operations.pop(SIGNING, None)
    else:
        operations.setdefault(SIGNING, sign_request)
    return documented.values()


@operation(SIGNING)
def sign_request(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Answer the headers with the signature; 403 for what the table's credentials do not permit."""
    from icecheck.mock_server.objects.refusals import S3Refusal
    from icecheck.mock_server.objects.signer import RequestToSign

    vending = context.vending
    if vending is None or not signs(context):
        existing_table(state, call)
        raise problem.bad_request("Nothing is signed for this warehouse: it has no object store")
    asked = decode_json(RequestToSign, call.request.body)
    if context.contract.is_at_least("1.11.0"):
        _check_documented(call)
    try:
        if context.objects is None:
            headers = _signed_for_another_store(asked, context, vending, state, call)
        else:
            grant = _grant(context.objects, vending, context, state, call)
            headers = context.objects.sign(asked, grant)
    except S3Refusal as refusal:
        if refusal.status == 403:
            raise problem.forbidden(f"Not signed: {refusal.message}") from refusal
        raise problem.bad_request(f"Not signed: {refusal.message}") from refusal
    kept = "private" if asked.method in {"GET", "HEAD"} else "no-cache"
    body = {"uri": asked.uri, "headers": headers}
    return Outcome(state, replies.json_reply(body, headers=(("cache-control", kept),)))


def _check_documented(call: Call) -> None:
    """Raise Problem 400 for members that the document does not know so, and for another store."""
    more = decode_json(_OfTheDocument, call.request.body)
    if more.provider not in (None, "s3"):
        raise problem.bad_request(f"Requests are signed for s3, not for {more.provider!r}")


def _signed_for_another_store(
    asked: "RequestToSign",
    context: Context,
    vending: VendingSettings,
    state: WarehouseState,
    call: Call,
) -> dict[str, list[str]]:
    """Return the headers with which a request has the rights of credentials for another store.

    They are those that clients are given for the table, which has to be of S3: made up, or those
    of the settings.
    """
    from icecheck.mock_server.objects.access import Grant
    from icecheck.mock_server.objects.addresses import at_amazon, at_endpoint
    from icecheck.mock_server.objects.places import places_in
    from icecheck.mock_server.objects.refusals import access_denied
    from icecheck.mock_server.objects.signer import headers_for

    metadata, now_ms = existing_table(state, call).metadata, context.clock.now_ms()
    places = places_in(written_places(metadata))
    if not places:
        raise access_denied("The table is not in S3")
    grant = Grant(places, may_commit(context, call), now_ms + vending.seconds * 1000)
    endpoint = endpoint_of(vending)
    if endpoint is None:
        to = at_amazon(asked.uri)
    else:
        to = at_endpoint(asked.uri, endpoint, in_path=False)
    signed_at = datetime.fromtimestamp(now_ms / 1000, UTC)
    keys = signing_keys(context, vending, metadata)
    return headers_for(asked, to, keys, grant, now_ms, signed_at)


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
