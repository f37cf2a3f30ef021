"""Takes secrets out of what the journal shows: they are known by the name of their place.

Places are headers, parameters of a query or form, and members of JSON at any depth. What has such a
name is hidden whatever it is: rather a harmless value too many.
"""

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec

REDACTED = "<redacted>"

# Names are compared with dashes in the place of dots, underscores and spaces.
_SECRET = re.compile(
    r"authorization|cookie|secret|passw(or)?d|passphrase|credential|signature|assertion"
    r"|connection-string|api-?key|(access|account|private|shared)-?key"
    r"|(^|-)(token|sig|sas|jwt|pwd)($|-)"
)
# What says something about a secret, and is none.
_ABOUT = re.compile(
    r"(page-token|token-type|storage-credentials|-type|-endpoint|-uri|-enabled|-expires-(at|in)(-ms)?"
    r"|-lifetime|-metadata)$"
)
_DIVIDERS = re.compile(r"[._ ]")
# What a body that cannot be taken apart may hold.
_SUSPECT = re.compile(
    r"token|secret|passw|credential|auth|key|sig|assertion|cookie|jwt|\x00", re.IGNORECASE
)


def is_secret_name(name: str) -> bool:
    """Return whether what is called so is a secret."""
    plain = _DIVIDERS.sub("-", name.lower())
    return _SECRET.search(plain) is not None and _ABOUT.search(plain) is None


def redacted_headers(headers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return headers; of an Authorization the scheme stays."""
    return tuple((name, _header(name, value)) for name, value in headers)


def redacted_query(query: str) -> str:
    """Return a query string; it is as it was where nothing in it is a secret."""
    pairs = parse_qsl(query, keep_blank_values=True)
    shown = [(name, _value(name, value)) for name, value in pairs]
    return query if shown == pairs else urlencode(shown, safe="<>")


def redacted_body(body: bytes, content_type: str) -> str:
    """Return a body as text; what is no text is shown with escapes."""
    text = body.decode("utf-8", "backslashreplace")
    if "x-www-form-urlencoded" in content_type.lower():
        return redacted_query(text)
    try:
        members = msgspec.json.decode(body)
        shown = _members(members)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Nobody can say where in it a secret ends.
        return text if _SUSPECT.search(text) is None else f"{REDACTED}: {len(body)} bytes, no JSON"
    # Of a name that stands twice, the value that is not read is not shown either.
    is_plain = shown == members and _SUSPECT.search(text) is None
    return text if is_plain else msgspec.json.encode(shown).decode()


def _header(name: str, value: str) -> str:
    if not is_secret_name(name):
        return _address(value)
    scheme, space, _ = value.partition(" ")
    return f"{scheme} {REDACTED}" if space and name.lower() == "authorization" else REDACTED


def _value(name: str, value: str) -> str:
    return REDACTED if is_secret_name(name) else _address(value)


def _address(text: str) -> str:
    """Return a text; if it is an address, without the secrets of its query and its user.

    An address may be a relative one.
    """
    if "://" not in text and "?" not in text:
        return text
    shown = re.sub(r"(://)[^/@?#\s]+@", rf"\1{REDACTED}@", text)
    place, mark, query = shown.partition("?")
    return f"{place}{mark}{redacted_query(query)}" if mark else shown


def _members(value: Any) -> Any:
    match value:
        case dict():
            return {
                name: REDACTED
                if is_secret_name(name) and member not in (None, True, False)
                else _members(member)
                for name, member in value.items()
            }
        case list():
            return [_members(item) for item in value]
        case str():
            return _address(value)
        case _:
            return value
