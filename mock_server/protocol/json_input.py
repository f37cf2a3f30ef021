"""JSON from clients and files, decoded with types; whatever is wrong with it is a 400 Problem."""

from typing import TypeVar

import msgspec

from icecheck.mock_server.protocol.null_containers import NullPlaces, without_null_containers
from icecheck.mock_server.protocol.problem import bad_request

__all__ = ["DEPTH_MAX", "decode_json"]

DEPTH_MAX = 64
"""How deeply types may be nested."""

Shape = TypeVar("Shape")


def decode_json(
    shape: type[Shape], body: bytes, empty_where_null: NullPlaces | None = None
) -> Shape:
    """Decode a body; invalid JSON, a wrong shape and abysmal nesting are a 400 Problem.

    A list or map at one of the places `empty_where_null` may be null, and is then empty.

    Members that the shape does not name are ignored, as clients of later versions need it, and
    so not looked into: that all of a request is JSON was found out before (`request_bodies`).
    """
    try:
        try:
            return msgspec.json.decode(body, type=shape)
        except msgspec.ValidationError:
            # Few bodies have such nulls; only those that do not fit are searched for them.
            filled = without_null_containers(body, empty_where_null or {})
            if filled is None:
                raise
            return msgspec.json.decode(filled, type=shape)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise bad_request(f"Malformed request: {error}") from error
    except RecursionError as error:
        raise bad_request("Malformed request: nested too deeply") from error
