"""JSON from clients and files, decoded with types; whatever is wrong with it is a 400 Problem."""

from typing import TypeVar

import msgspec

from icecheck.mock_server.problem import bad_request

__all__ = ["DEPTH_MAX", "decode_json"]

DEPTH_MAX = 64
"""How deeply types may be nested."""

Shape = TypeVar("Shape")


def decode_json(shape: type[Shape], body: bytes) -> Shape:
    """Decode a body; invalid JSON, a wrong shape and abysmal nesting are a 400 Problem.

    Members that the shape does not name are ignored, as clients of later versions need it, and
    so not looked into: that all of a request is JSON was found out before (`request_bodies`).
    """
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise bad_request(f"Malformed request: {error}") from error
    except RecursionError as error:
        raise bad_request("Malformed request: nested too deeply") from error
