"""JSON from clients and files, decoded with types; every fault in it is a 400 Problem."""

from typing import TypeVar

import msgspec

from icecheck.mock_server.protocol.null_containers import NullPlaces, without_null_containers
from icecheck.mock_server.protocol.problem import malformed

DEPTH_MAX = 64
"""The maximum nesting of types."""

Shape = TypeVar("Shape")


def decode_json(
    shape: type[Shape], body: bytes, empty_where_null: NullPlaces | None = None
) -> Shape:
    """Decode a body; invalid JSON, a wrong shape and excessive nesting are a 400 Problem.

    A list or map at one of the places `empty_where_null` may be null, and is then empty.

    Members that the shape does not have are ignored, because clients of later versions send them,
    and so they are not checked: `request_bodies` has checked before that the whole request is JSON.
    """
    try:
        try:
            return msgspec.json.decode(body, type=shape)
        except msgspec.ValidationError:
            # Few bodies have such nulls; only bodies that do not fit are searched for them.
            filled = without_null_containers(body, empty_where_null or {})
            if filled is None:
                raise
            return msgspec.json.decode(filled, type=shape)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise malformed(error) from error
    except RecursionError as error:
        raise malformed("nested too deeply") from error
