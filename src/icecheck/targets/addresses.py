"""Checks the addresses that a catalog announces, so that no request is misdirected by them.

A prefix and a separator are put into paths as they are announced. One that ends the path early, or
climbs out of it, would turn a request for an object of the run into one for an object of somebody
else.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

_ALLOWED_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^][:/?#@\s]+)(:[0-9]{1,5})?")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_MALFORMED_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_IN_NAMES = re.compile("[a-z0-9_]+")
"""What the names that a run makes up consist of."""
_DECODINGS_MAX = 4
"""Some gateways decode a path, and the server behind them decodes it again."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The server of a URL: scheme and host in lower case, and a port, which is always set."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.scheme}://{self.address}"

    @property
    def address(self) -> str:
        """HOST:PORT, an IPv6 host in brackets."""
        return f"{bracketed(self.host)}:{self.port}"


def origin_of(url: str) -> Origin:
    """Return the origin of an absolute http(s) URL.

    Raises ValueError for an invalid port.
    """
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    host = (parts.hostname or "").rstrip(".")
    return Origin(scheme, host, parts.port or _DEFAULT_PORTS.get(scheme, 0))


def has_same_origin(url: str, other: str) -> bool:
    """Return whether two URLs are of one server; one with an invalid port is of none."""
    try:
        return origin_of(url) == origin_of(other)
    except ValueError:
        return False


def is_allowed_host(origin: Origin, own: Origin, hosts: Sequence[str]) -> bool:
    """Return whether requests may go to an origin: the target's own, or one that the user allows.

    ``hosts`` are written HOST, which stands for every port, or HOST:PORT.
    """
    named = {host.lower() for host in hosts}
    return origin == own or bool({bracketed(origin.host), origin.address} & named)


def bracketed(host: str) -> str:
    """Return a host as it stands before a port: an IPv6 address is in brackets."""
    return f"[{host}]" if ":" in host else host


def host_flaw(host: str) -> str | None:
    """Return why a text is no HOST or HOST:PORT, or None."""
    return None if _ALLOWED_HOST.fullmatch(host) else "it is no HOST or HOST:PORT"


def prefix_flaw(prefix: str) -> str | None:
    """Return why no path can be made with this prefix, or None; an empty prefix is allowed."""
    if not prefix:
        return None
    if "" in prefix.split("/"):
        return "it has an empty segment"
    return path_flaw(prefix)


_IN_SEGMENTS = "!$&'()*+,;=:@"
"""What may stand in a segment of a path, beside letters, digits and what quote leaves alone."""


def path_flaw(path: str) -> str | None:
    """Return why a percent-encoded path, or a part of one, may lead elsewhere, or None."""
    if "?" in path or "#" in path:
        return "it has a '?' or '#', which ends the path"
    decoded = _decoded(path)
    if any(ord(character) < 0x20 or ord(character) == 0x7F for character in decoded):
        return "it has a control character"
    if _climbs(decoded):
        return "it has a segment of dots, which climbs out of the path"
    return None


def climbs_out(path: str) -> bool:
    """Return whether a percent-encoded path has a segment of dots, which leads elsewhere."""
    return _climbs(_decoded(path))


def separator_flaw(separator: str) -> str | None:
    """Return why levels of a namespace cannot be joined by this separator, or None.

    The document's own separator is a control character (0x1F), so control characters are allowed
    here, except those that end a line or a text.
    """
    if any(character in spelled_separator(separator) for character in "?#/"):
        return "it has a '?', '#' or '/' that is not percent-encoded"
    decoded = _decoded(separator)
    if any(character in decoded for character in "\0\r\n"):
        return "it ends a line or a text"
    if _IN_NAMES.fullmatch(decoded):
        return "it is part of the names that a run makes up"
    # A single dot is allowed: it joins two levels and is no segment.
    if decoded != "." and _climbs(decoded):
        return "it has a segment of dots, which climbs out of the path"
    return None


def is_decodable(text: str) -> bool:
    """Return whether each percent sign begins an escape, and the escapes are UTF-8."""
    if _MALFORMED_ESCAPE.search(text):
        return False
    try:
        unquote(text, errors="strict")
    except UnicodeDecodeError:
        return False
    return True


def spelled_separator(separator: str) -> str:
    """Return a separator as it is written in paths: as it is announced, if that can stand there.

    What cannot stand in a segment of a path (RFC 3986, 3.3) is encoded, unless the separator has a
    percent sign: then it is encoded already.
    """
    return separator if "%" in separator else quote(separator, safe=_IN_SEGMENTS)


def _decoded(text: str) -> str:
    for _ in range(_DECODINGS_MAX):
        further = unquote(text)
        if further == text:
            break
        text = further
    return text


def _climbs(decoded: str) -> bool:
    # Some servers read a backslash as a slash, and cut a segment off at its parameters.
    segments = (each.partition(";")[0] for each in re.split(r"[/\\]", decoded))
    return any(segment in {".", ".."} for segment in segments)
