"""Names of namespaces, tables, warehouses and places: what is one, what it becomes in a path."""

import hashlib
import re
from collections.abc import Sequence

from icecheck.mock_server.protocol import problem

NAMESPACE_SEPARATOR = "\x1f"
"""Between the levels of a namespace in a path or query (document L1797, unit separator)."""

RESERVED_SEGMENTS = frozenset(
    {".", "..", "config", "namespaces", "oauth", "tables", "transactions", "views"}
)
"""First segments of routes, and what clients normalise away: in a prefix it would be ambiguous."""

NAME_BYTES_MAX = 4096
"""How long a name, or all levels of a namespace, may be in UTF-8.

Escaped, each byte may take three in a URL: whatever has a name can then also be asked for.
"""

_PLAIN_PREFIX = re.compile(r"[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*")
_PREFIX = re.compile(
    r"(?:[A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})+(/(?:[A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})+)*"
)
_ABSOLUTE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:)?/")
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_DIRECTORY_LENGTH_MAX = 80


def checked_namespace(levels: Sequence[str]) -> tuple[str, ...]:
    """The levels as a namespace; Problem 400 for no levels, an empty one, or a NUL."""
    if not levels:
        raise problem.bad_request("A namespace needs at least one level")
    for level in levels:
        if not level:
            raise problem.bad_request("A level of a namespace cannot be empty")
        if "\0" in level:
            raise problem.bad_request("A level of a namespace cannot contain NUL")
    return tuple(levels)


def checked_name(name: str, kind: str = "table") -> str:
    """The name of a table (or another kind of object); Problem 400 if it is empty or has a NUL."""
    if not name:
        raise problem.bad_request(f"The name of a {kind} cannot be empty")
    if "\0" in name:
        raise problem.bad_request(f"The name of a {kind} cannot contain NUL")
    return name


def new_namespace(levels: Sequence[str]) -> tuple[str, ...]:
    """The levels as the name of a namespace to be; Problem 400 as above, or if it is too long."""
    namespace = checked_namespace(levels)
    _check_length(NAMESPACE_SEPARATOR.join(namespace), "namespace")
    return namespace


def new_name(name: str, kind: str = "table") -> str:
    """The name as that of a table (or view) to be; Problem 400 as above, or if it is too long."""
    _check_length(checked_name(name, kind), kind)
    return name


def split_namespace(text: str) -> tuple[str, ...]:
    """The namespace in a decoded path segment or `parent` value; Problem 400 as above."""
    return checked_namespace(text.split(NAMESPACE_SEPARATOR))


def _check_length(name: str, kind: str) -> None:
    length = len(name.encode())
    if length > NAME_BYTES_MAX:
        raise problem.bad_request(
            f"The name of a {kind} cannot be longer than {NAME_BYTES_MAX} bytes: {length}"
        )


def is_prefix(text: str) -> bool:
    """Whether a text can stand between `/v1/` and a route without being escaped or ambiguous.

    One that is escaped already is compared as it stands, as clients send it.
    """
    return _PREFIX.fullmatch(text) is not None and not RESERVED_SEGMENTS & set(text.split("/"))


def is_absolute(location: str) -> bool:
    """Whether a location is one place for everybody: a path from the root, or a URI with one.

    What is relative would be another place for each process that reads it.
    """
    return _ABSOLUTE.match(location) is not None


def prefix_of(warehouse: str) -> str:
    """The path prefix of a warehouse: its name where that is safe in a path, else derived from it.

    Clients put the prefix into paths as it is, so it must not need escaping.
    """
    if _PLAIN_PREFIX.fullmatch(warehouse) and is_prefix(warehouse):
        return warehouse
    return _with_digest(warehouse)


def directory_of(name: str) -> str:
    """A directory name that every file system and engine takes literally, one per name."""
    return name if name and _safe(name) == name else _with_digest(name)


def _safe(name: str) -> str:
    return _UNSAFE.sub("_", name)[:_DIRECTORY_LENGTH_MAX]


def _with_digest(name: str) -> str:
    digest = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
    return f"{_safe(name)}-{digest}"
