"""JSON from clients and files, decoded with types; whatever is wrong with it is a 400 Problem."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from icecheck.mock_server.model import Snapshot
from icecheck.mock_server.problem import bad_request

__all__ = ["DEPTH_MAX", "decode_json", "unknown_snapshot_members"]

DEPTH_MAX = 64
"""How deeply types and unknown members may be nested."""

Decoded = TypeVar("Decoded")

_SNAPSHOT_MEMBERS = frozenset(
    member.encode_name for member in msgspec.structs.fields(Snapshot) if member.name != "unknown"
)
_MEMBERS_DECODER = msgspec.json.Decoder(dict[str, msgspec.Raw])
_VALUE_DECODER: msgspec.json.Decoder[Any] = msgspec.json.Decoder()


def decode_json(decoder: msgspec.json.Decoder[Decoded], body: bytes) -> Decoded:
    """Decode a body; invalid UTF-8, invalid JSON, a wrong shape and abysmal nesting are a 400."""
    try:
        body.decode()  # msgspec does not look inside the strings it skips
        return decoder.decode(body)
    except UnicodeDecodeError as error:
        raise bad_request(f"Malformed request: invalid UTF-8 at byte {error.start}") from error
    except msgspec.MsgspecError as error:
        raise bad_request(f"Malformed request: {error}") from error
    except RecursionError as error:
        raise bad_request("Malformed request: nested too deeply") from error


def unknown_snapshot_members(raw: bytes) -> Mapping[str, Any]:
    """Members of a snapshot's JSON that this format does not know, as plain JSON values.

    Nesting beyond `DEPTH_MAX` is a 400 Problem: what is kept must be writable from any stack.
    """
    members = decode_json(_MEMBERS_DECODER, raw)
    if members.keys() <= _SNAPSHOT_MEMBERS:
        return {}
    unknown = {
        name: decode_json(_VALUE_DECODER, bytes(value))
        for name, value in members.items()
        if name not in _SNAPSHOT_MEMBERS
    }
    level: list[Any] = list(unknown.values())
    depth = 0
    while level:
        depth += 1
        if depth > DEPTH_MAX:
            raise bad_request("Malformed request: a snapshot member is nested too deeply")
        level = [child for value in level for child in _children(value)]
    return unknown


def _children(value: Any) -> Iterable[Any]:
    match value:
        case dict():
            return value.values()
        case list():
            return value
        case _:
            return ()
