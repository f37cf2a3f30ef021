"""Typed decoding of request bodies: whatever does not fit is a 400 that says where."""

from typing import TypeVar

import msgspec

from icecheck.mock_server import problem

T = TypeVar("T")


def decode_body(shape: type[T], body: bytes) -> T:
    """The body as a value of the shape; Problem 400 for anything else.

    Refused: no JSON, NaN, invalid UTF-8, wrong types, missing members, nesting without end.
    Members that the shape does not name are ignored, as clients of later versions need it.
    """
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise problem.bad_request(f"Malformed request: {error}") from error
    except RecursionError as error:
        raise problem.bad_request("Malformed request: nested too deeply") from error
