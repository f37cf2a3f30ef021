"""Checks that a body is unambiguous JSON before an operation reads it; else a 400 Problem.

Decoding into types skips unknown members: without this check they could hold anything.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from icecheck.mock_server.protocol import problem
from icecheck.mock_server.protocol.served_contract import KNOWN

BODY_VALUES_MAX = 1_000_000
"""The maximum number of values in a body: an empty array takes 3 bytes of it, 64 of memory."""

_USUAL_MEDIA = "application/json"
_JSON = re.compile(r"application/(json|[^\s/;+][^\s/;]*\+json)", re.IGNORECASE)
_COLON = b":"
_ESCAPED_COLON = rb"\u003"
_DECODER: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
_encode = msgspec.json.Encoder().encode


def check_body(operation_id: str, headers: Mapping[str, str], body: bytes) -> None:
    """Refuse (400) a body that is no JSON, or that can be read in more than one way.

    The document has no 415 and no 413: 400 is its status for requests that are not understood
    (L4512). A body without a content type is taken for JSON. A member that an object has twice is
    refused: readers differ in which of the two they take.
    """
    if not _reads_json(operation_id):
        return
    _check_headers(headers)
    if len(body) > BODY_VALUES_MAX and _values_at_most(body) > BODY_VALUES_MAX:
        raise problem.malformed(f"more than {BODY_VALUES_MAX} values")
    try:
        value = _DECODER.decode(body)
        if _may_repeat_members(body, value):
            json.loads(body, object_pairs_hook=_check_members)
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError) as error:
        raise problem.malformed(f"{str(error)[:200]}") from error
    except RecursionError as error:
        raise problem.malformed("nested too deeply") from error


def _check_headers(headers: Mapping[str, str]) -> None:
    media = headers.get("content-type", _USUAL_MEDIA)
    if media != _USUAL_MEDIA and not _JSON.fullmatch(media.partition(";")[0].strip()):
        raise problem.bad_request(f"The body must be application/json, not {media[:100]!r}")
    coding = headers.get("content-encoding")
    if coding is not None and coding.strip().lower() not in {"", "identity"}:
        raise problem.bad_request(f"Content-Encoding is not supported: {coding[:100]!r}")


@cache
def _reads_json(operation_id: str) -> bool:
    return KNOWN.operations[operation_id].request_media_type == "application/json"


def _values_at_most(body: bytes) -> int:
    """Return an upper bound of the number of values in a body.

    Each value follows a comma or opens an array or object.
    """
    return body.count(b",") + body.count(b"[") + body.count(b"{") + 1


def _may_repeat_members(body: bytes, value: Any) -> bool:
    """Return whether an object may have had a member that is not in the decoded value.

    Every member has a colon. The decoded value, written again, lacks the colon of a lost member and
    those of its value; all other colons, also those in text, are the same in both, unless a text
    spells one as an escape.
    """
    return _ESCAPED_COLON in body or body.count(_COLON) != _encode(value).count(_COLON)


def _check_members(members: list[tuple[str, Any]]) -> None:
    names: set[str] = set()
    for name, _ in members:
        if name in names:
            raise problem.malformed(f"{name[:100]!r} is there twice")
        names.add(name)
