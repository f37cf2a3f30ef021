"""Takes secrets out of what the journal shows: they are known by the name of their place.

What a server of this kind is sent and sends has few such places: headers, the members of a token
request and of its answer, and the settings that come with vended credentials.
"""

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec

REDACTED = "<redacted>"

_SECRET = re.compile(
    r"authorization|cookie|secret|password|passwd|credential|signature|sas-token|api-?key"
    r"|(?:^|[._-])(?:token|sig)$|(?:subject|actor|access|refresh|session|security|id)[_-]token"
    r"|(?:access|private|account)-?key",
    re.IGNORECASE,
)
# Members whose names sound so, and whose values are no secrets.
_HARMLESS = frozenset(
    {
        "storage-credentials", "page-token", "next-page-token", "token_type", "issued_token_type",
        "subject_token_type", "actor_token_type", "requested_token_type", "credentials-endpoint",
        "client.refresh-credentials-endpoint",
    }
)  # fmt: skip


def is_secret_name(name: str) -> bool:
    """Return whether what is called so is a secret."""
    return name.lower() not in _HARMLESS and _SECRET.search(name) is not None


def redacted_headers(headers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return headers; of an Authorization the scheme stays."""
    return tuple((name, _header(name, value)) for name, value in headers)


def redacted_query(query: str) -> str:
    """Return a query string; it is as it was where nothing in it is a secret."""
    return _pairs(query) if _SECRET.search(query) else query


def redacted_body(body: bytes, content_type: str) -> str:
    """Return a body as text; what is no text is shown with escapes."""
    text = body.decode("utf-8", "backslashreplace")
    if _SECRET.search(text) is None:
        return text
    if "x-www-form-urlencoded" in content_type:
        return _pairs(text)
    try:
        return msgspec.json.encode(_members(msgspec.json.decode(body))).decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Nobody can say where in it a secret ends.
        return f"{REDACTED}: {len(body)} bytes that are no JSON"


def _header(name: str, value: str) -> str:
    if not is_secret_name(name):
        return value
    scheme, space, _ = value.partition(" ")
    return f"{scheme} {REDACTED}" if space and name.lower() == "authorization" else REDACTED


def _pairs(text: str) -> str:
    pairs = parse_qsl(text, keep_blank_values=True)
    shown = [(name, REDACTED if is_secret_name(name) else value) for name, value in pairs]
    return urlencode(shown, safe="<>")


def _members(value: Any) -> Any:
    match value:
        case dict():
            return {
                name: REDACTED
                if isinstance(member, str) and is_secret_name(name)
                else _members(member)
                for name, member in value.items()
            }
        case list():
            return [_members(item) for item in value]
        case _:
            return value
