"""Properties with a meaning for the server, read from the text that clients store."""

import re
from collections.abc import Mapping

from icecheck.mock_server.protocol.problem import bad_request

_INTEGER = re.compile(r"[+-]?[0-9]{1,10}")


def integer_property(properties: Mapping[str, str], key: str, default: int) -> int:
    """Return the number in a property, or the default; a 400 Problem if it is no number."""
    text = properties.get(key)
    if text is None:
        return default
    if not _INTEGER.fullmatch(text):
        raise bad_request(f"Invalid integer for {key}: {text[:100]}")
    return int(text)


def is_true(properties: Mapping[str, str], key: str) -> bool:
    """Return whether a property is `true`, in any case; every other value is false."""
    return properties.get(key, "").lower() == "true"
