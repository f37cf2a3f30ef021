"""Signs a request to the object store for a client that has no credentials for it."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from icecheck.mock_server.objects.access import Grant, Keys
from icecheck.mock_server.objects.addresses import Addressed
from icecheck.mock_server.objects.calls import call_of
from icecheck.mock_server.objects.permissions import check_permitted
from icecheck.mock_server.objects.refusals import access_denied, invalid
from icecheck.mock_server.objects.signatures import (
    SESSION_TOKEN,
    TIME_FORM,
    UNSIGNED_PAYLOAD,
    Signature,
    query_pairs,
    signed,
)
from icecheck.mock_server.protocol.wire import Request

_PAYLOAD, _TIME = "x-amz-content-sha256", "x-amz-date"
_IN_SIGNED_CHUNKS = "STREAMING-AWS4"
_OWN = frozenset({"authorization", "host", SESSION_TOKEN, _TIME})
_TOLD_BY_BODY = "delete"


class RequestToSign(msgspec.Struct, frozen=True):
    """A request as its sender describes it; the body only where it says what is to be done."""

    method: str
    uri: str
    region: str
    headers: Mapping[str, Sequence[str]]
    body: str | None = None


def headers_for(
    asked: RequestToSign, to: Addressed, keys: Keys, grant: Grant, now_ms: int, signed_at: datetime
) -> dict[str, list[str]]:
    """Return the headers that make a request one of these credentials; S3Refusal for another one.

    The guard judges the request again when it comes: what the body of a deletion says may then be
    another thing than what was shown here. `now_ms` is the time of the grant; `signed_at` is in
    UTC, and that of the store.
    """
    given = {name.lower(): ", ".join(values) for name, values in asked.headers.items()}
    sent = {name: value for name, value in given.items() if name not in _OWN}
    payload = sent.get(_PAYLOAD, UNSIGNED_PAYLOAD)
    if payload.startswith(_IN_SIGNED_CHUNKS):
        raise invalid("A body in signed chunks cannot be signed here: send it unsigned")
    request = Request(asked.method, to.path_with_bucket, to.query, sent)
    body = None if asked.body is None else asked.body.encode(errors="replace")
    if body is None and _TOLD_BY_BODY in dict(query_pairs(to.query)):
        raise access_denied("What is to be deleted is in the body: tell it to have this signed")
    check_permitted(call_of(request, body), grant, now_ms)
    made = {
        _TIME: signed_at.strftime(TIME_FORM),
        _PAYLOAD: payload,
        **({} if keys.session_token is None else {SESSION_TOKEN: keys.session_token}),
    }
    headers = {**sent, **made, "host": to.host}
    names = tuple(sorted(name for name in headers if name.startswith("x-amz-") or name == "host"))
    blank = Signature(keys.access_key_id, asked.region, made[_TIME], names, payload)
    signature = signed(asked.method, to.path, to.query, headers, blank, keys.secret_access_key)
    made["authorization"] = signature.authorization
    return {name: [value] for name, value in made.items() if given.get(name) != value}
