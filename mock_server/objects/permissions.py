"""What a request to the object store needs, and whether vended credentials permit it."""

from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from icecheck.mock_server.objects.access import Grant
from icecheck.mock_server.objects.calls import S3Call
from icecheck.mock_server.objects.refusals import access_denied

_Action: TypeAlias = Literal["read", "write"]

_READING = frozenset(
    {
        "partNumber", "versionId", "response-cache-control", "response-content-disposition",
        "response-content-encoding", "response-content-language", "response-content-type",
        "response-expires",
    }
)  # fmt: skip
_LISTING = frozenset(
    {
        "continuation-token", "delimiter", "encoding-type", "fetch-owner", "list-type", "marker",
        "max-keys", "prefix", "start-after",
    }
)  # fmt: skip
_PARTS_LISTING = frozenset({"encoding-type", "max-parts", "part-number-marker", "uploadId"})
_PART = frozenset({"partNumber", "uploadId"})
_UPLOAD = frozenset({"uploadId"})


class Need(msgspec.Struct, frozen=True):
    """A key, or with `read` of a listing the beginning of keys, that a request is about."""

    action: _Action
    bucket: str
    key: str


def check_permitted(call: S3Call, grant: Grant, now_ms: int) -> None:
    """Raise S3Refusal unless a grant permits everything that a call needs."""
    if now_ms >= grant.expires_ms:
        raise access_denied("The time of these credentials is over")
    needs = tuple(_needs(call))
    if not needs:
        raise access_denied("These credentials are for objects of a table, and for nothing else")
    for need in needs:
        if need.action == "write" and not grant.may_write:
            raise access_denied("These credentials do not permit to write")
        if not any(place.holds(need.bucket, need.key) for place in grant.places):
            raise access_denied("These credentials are for another prefix")


def _needs(call: S3Call) -> Iterator[Need]:
    """Yield what a call needs; nothing for a call that only the server's own credentials permit."""
    names = call.names
    if call.key:
        action = _action_on_object(call.method, names)
        if action is not None:
            yield Need(action, call.bucket, call.key)
            if call.copied is not None:
                yield Need("read", call.copied.bucket, call.copied.key)
    elif call.bucket and call.method == "GET" and names <= _LISTING:
        yield Need("read", call.bucket, call.query.get("prefix", ""))
    elif call.bucket and call.method == "POST" and names == {"delete"}:
        for each in call.deleted:
            yield Need("write", call.bucket, each.key)


def _action_on_object(method: str, names: frozenset[str]) -> _Action | None:
    match method:
        case "GET" | "HEAD" if names <= _READING:
            return "read"
        case "GET" if "uploadId" in names and names <= _PARTS_LISTING:
            return "write"
        case "PUT" if not names or names == _PART:
            return "write"
        case "DELETE" if names <= {"versionId"} or names == _UPLOAD:
            return "write"
        case "POST" if names in ({"uploads"}, _UPLOAD):
            return "write"
        case _:
            return None
