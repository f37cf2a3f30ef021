"""Names of namespaces, tables, warehouses and locations: validity, and their form in a path."""

import hashlib
import re
from collections.abc import Sequence
from urllib.parse import unquote

from icecheck.mock_server.protocol import problem

NAMESPACE_SEPARATOR = "\x1f"
"""The separator of a namespace's levels in a path or query (document L1797, unit separator)."""

RESERVED_SEGMENTS = frozenset(
    {".", "..", "config", "namespaces", "oauth", "tables", "transactions", "views"}
)
"""Segments that a prefix cannot have: first segments of routes, and dots that clients normalise."""

NAME_BYTES_MAX = 4096
"""The maximum length in UTF-8 of a name, or of all levels of a namespace.

Escaped, each byte may take three in a URL: so every object with a name can also be requested.
"""

_UNIT_IN_PATHS = "%1F"
_ESCAPES = re.compile(r"(%[0-7][0-9A-Fa-f])+")
_PLAIN_PREFIX = re.compile(r"[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*")
_PREFIX = re.compile(
    r"(?:[A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})+(/(?:[A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})+)*"
)
_ABSOLUTE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:)?/")
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_DIRECTORY_LENGTH_MAX = 80


def checked_namespace(levels: Sequence[str]) -> tuple[str, ...]:
    """Return the levels as a namespace; Problem 400 for no levels, an empty one, or a NUL."""
    if not levels:
        raise problem.bad_request("A namespace needs at least one level")
    for level in levels:
        if not level:
            raise problem.bad_request("A level of a namespace cannot be empty")
        if "\0" in level:
            raise problem.bad_request("A level of a namespace cannot contain NUL")
    return tuple(levels)


def checked_name(name: str, kind: str = "table") -> str:
    """Return the name of a table or another object; Problem 400 if it is empty or has a NUL."""
    if not name:
        raise problem.bad_request(f"The name of a {kind} cannot be empty")
    if "\0" in name:
        raise problem.bad_request(f"The name of a {kind} cannot contain NUL")
    return name


def new_namespace(levels: Sequence[str]) -> tuple[str, ...]:
    """Return the levels as the name of a new namespace; Problem 400 as above, or if too long."""
    namespace = checked_namespace(levels)
    _check_length(NAMESPACE_SEPARATOR.join(namespace), "namespace")
    return namespace


def new_name(name: str, kind: str = "table") -> str:
    """Return the name as that of a new table or view; Problem 400 as above, or if too long."""
    _check_length(checked_name(name, kind), kind)
    return name


def split_namespace(text: str, separator: str | None = None) -> tuple[str, ...]:
    """Return the namespace in decoded text, such as a `parent` value; Problem 400 as above.

    `separator` is what the server announces, as in `checked_separator`. Text with the unit
    separator is split at that alone: a client that sends it knows no other.
    """
    if separator is not None and NAMESPACE_SEPARATOR not in text:
        return checked_namespace(text.split(unquote(separator)))
    return checked_namespace(text.split(NAMESPACE_SEPARATOR))


def path_levels(segment: str, separator: str) -> list[str]:
    """Return the levels of a namespace in a path segment, still escaped, as `split_namespace`.

    The escapes count in upper and lower case (1.11.0, L1956).
    """
    for each in (_UNIT_IN_PATHS, separator):
        levels = re.split(re.escape(each), segment, flags=re.IGNORECASE)
        if len(levels) > 1:
            return levels
    return [segment]


def checked_separator(separator: str) -> str:
    """Return the separator that a server announces; ValueError for one that cannot be.

    It is one character or several, percent-encoded as in a path: letters and digits stand in names.
    A unit separator in a longer one would always be taken for one that stands alone.
    """
    decoded = unquote(separator, "latin-1")
    longer = decoded != NAMESPACE_SEPARATOR and NAMESPACE_SEPARATOR in decoded
    if _ESCAPES.fullmatch(separator) is None or longer or re.search(r"[\w\0]", decoded):
        raise ValueError(
            f"{separator!r} cannot separate the levels of a namespace: write percent escapes of"
            " characters that are no letters or digits, such as %2E or %1D"
        )
    return separator


def _check_length(name: str, kind: str) -> None:
    length = len(name.encode())
    if length > NAME_BYTES_MAX:
        raise problem.bad_request(
            f"The name of a {kind} cannot be longer than {NAME_BYTES_MAX} bytes: {length}"
        )


def is_prefix(text: str) -> bool:
    """Return whether a text can be in a path before a route, unambiguous and without escapes.

    The path is `/v1/{prefix}/…`. An escaped text is compared as it is, as clients send it.
    """
    return _PREFIX.fullmatch(text) is not None and not RESERVED_SEGMENTS & set(text.split("/"))


def is_absolute(location: str) -> bool:
    """Return whether a location is absolute: a path from the root, or a URI with one.

    A relative location would be another one for each process that reads it.
    """
    return _ABSOLUTE.match(location) is not None


def prefix_of(warehouse: str) -> str:
    """Return the path prefix of a warehouse: its name if safe in a path, else a derived one.

    Clients put the prefix into paths as it is, so it must not need escaping.
    """
    if _PLAIN_PREFIX.fullmatch(warehouse) and is_prefix(warehouse):
        return warehouse
    return _with_digest(warehouse)


def directory_of(name: str) -> str:
    """Return a directory name that every file system and engine takes literally, one per name."""
    return name if name and _safe(name) == name else _with_digest(name)


def _safe(name: str) -> str:
    return _UNSAFE.sub("_", name)[:_DIRECTORY_LENGTH_MAX]


def _with_digest(name: str) -> str:
    digest = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
    return f"{_safe(name)}-{digest}"
