"""Names and places of secrets: headers, members and queries that hold them."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

_SECRET_KEY = re.compile(
    r"secret|password|session-token(?!-expires)|access-key-id|sas-token(?!-expires)|"
    r"oauth2\.token$|signer\.token|"
    r"^token$|access_token|refresh_token|id_token$|subject_token$|actor_token$|client_assertion|"
    r"token-type:|private-key|\bcredential$|"
    # Storage properties of clients, and headers that a config makes clients send.
    r"connection-string|account[.-]key|adls\.token|security-token|cryption-key$|"
    r"\bsse\.key$|^header\.(.*-)?(authorization|cookie|api-?key)$",
    re.IGNORECASE,
)
# Each such name contains one of these, so that a text without any of them names no secret.
_HINTS = (
    b"secret", b"password", b"token", b"access-key-id", b"client_assertion", b"private-key",
    b"credential", b"connection-string", b"account-key", b"account.key", b"cryption-key",
    b"sse.key", b"header.",
)  # fmt: skip
# Settings for clients: all of them may be secret, whatever their names.
_SETTINGS = (b"config", b"defaults", b"overrides", b"storage-credentials")
_NAME = re.compile(rb'"([^"\\]+)"\s*:')
_ALL_HINTS = (*_HINTS, *_SETTINGS)
_SECRET_HEADER = re.compile(
    r"authorization|cookie|api-?key|secret|pass(word|wd|phrase)|credential|(^|-)token$|"
    r"security-token|signature",
    re.IGNORECASE,
)
HARMLESS_HEADERS = frozenset(
    {
        "accept", "accept-encoding", "accept-language", "cache-control", "connection",
        "content-length", "content-type", "host", "idempotency-key", "if-match",
        "if-modified-since", "if-none-match", "traceparent", "transfer-encoding", "user-agent",
        "x-client-version", "x-iceberg-access-delegation",
    }
)  # fmt: skip
"""Headers, in lower case, that tell nothing about the sender."""

_HARMLESS_SETTING = re.compile(
    r"^(prefix|warehouse|namespace-separator|scope|audience|resource|type|clients|name|catalog)$|"
    r"(^|[._-])(uri|url|endpoint|region|location|path|impl|type|version|size|length|count|"
    r"enabled|disabled|mode|format|level|codec|style|style-access|name|class|timeout|interval|"
    r"retries|ms|seconds|minutes|bytes|expires|expires-at|expires-in|project-id|"
    r"expires-at-ms)(\.[A-Za-z0-9.-]+)?$|"
    r"^(write|read|commit|history|metrics|cache|rest|view|table|snapshot|io)[.-]|"
    r"^s3\.(acl|ssl|multipart|checksum|use-arn|dualstack|cross-region|delete|sse\.type)",
    re.IGNORECASE,
)
# Words, numbers and truth values: they occur in answers by chance, and give no access.
_PLAIN = re.compile(
    r"\d{1,10}(\.\d+)?|(?:[A-Za-z]{0,15}|\d{1,3})(?:[-_.,;:=/ ]+(?:[A-Za-z]{1,15}|\d{1,3}))*"
)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/|/")
_USER = re.compile(r"://[^/?#@\s]*@")
_AZURE_CONTAINER = re.compile(r"(abfs|wasb)s?://[^/?#@:\s]+@[^/?#@\s]+(/|\Z)", re.IGNORECASE)


@lru_cache(maxsize=4096)
def is_secret_header(name: str) -> bool:
    """Return whether a header of this name carries a secret."""
    return _SECRET_HEADER.search(name) is not None


@lru_cache(maxsize=4096)
def is_secret_key(key: str) -> bool:
    """Return whether a member of this name holds a secret, in any place."""
    return _SECRET_KEY.search(key) is not None


@lru_cache(maxsize=4096)
def is_harmless_setting(key: str) -> bool:
    """Return whether a setting of this name may be shown; other settings are secret.

    Settings are the members of ``config``, ``defaults`` and ``overrides``.
    """
    return not is_secret_key(key) and _HARMLESS_SETTING.search(key) is not None


def may_name_secrets(body: bytes) -> bool:
    """Return whether a text may have a member that holds a secret.

    This is a quick test, as most texts are long and have none. A text with an escape may, because
    escapes can spell any name, and so may one with NULs, which stand between letters in UTF-16.
    """
    if b"\\" in body or b"\0" in body:
        return True
    lower = body.lower()
    if not any(map(lower.__contains__, _ALL_HINTS)):
        return False
    if lower.lstrip()[:1] not in {b"{", b"["}:
        return True
    return any(map(_may_hold_secrets, set(_NAME.findall(lower))))


@lru_cache(maxsize=4096)
def _may_hold_secrets(name: bytes) -> bool:
    return name in _SETTINGS or is_secret_key(name.decode("latin-1"))


def is_plain(value: str) -> bool:
    """Return whether a value is so short or so plain that it occurs in other texts by chance."""
    return len(value) < 12 or len(set(value)) < 6 or is_words(value)


def is_words(value: str) -> bool:
    """Return whether a value consists of words, short numbers and what may join them."""
    return _PLAIN.fullmatch(value) is not None


def is_address(value: str) -> bool:
    """Return whether a value is only an address: a path, or a URI without user and query."""
    return _ADDRESS.match(value) is not None and "?" not in value and "@" not in value


def address_without_secrets(value: str, mark_of: Callable[[str], str]) -> str:
    """Return an address with marks in place of its user, and of its query and fragment.

    In locations on Azure, the name of a container stands where others have a user.
    """
    place = re.split(r"[?#]", value, maxsplit=1)[0]
    shown = place
    if not _AZURE_CONTAINER.match(place):
        shown = _USER.sub(lambda match: f"://{mark_of(match[0][3:-1])}@", place, count=1)
    return shown if place == value else f"{shown}?{mark_of(value[len(place) + 1 :])}"


def names_signature(lower: str) -> bool:
    """Return whether a text in lower case may have a signed query or header."""
    return "signature" in lower or "sig=" in lower or "sig%" in lower


def known_from_headers(headers: Mapping[str, str]) -> list[str]:
    """Return the values of headers that must be hidden everywhere.

    Plain values are hidden in their headers only. Of a value such as ``Basic abc`` the part after
    the scheme is hidden too.
    """
    found = []
    for name, value in headers.items():
        if name.lower() in HARMLESS_HEADERS:
            continue
        parts = [value, value.partition(" ")[2]]
        found += [p for p in parts if p and (is_secret_header(name) or not is_plain(p))]
    return found
