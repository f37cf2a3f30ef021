"""Which objects a request names, in its path, its query and its body; and whose they are."""

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

OWNER = "icecheck_own"
NAMING = {"namespaces", "tables", "views"}


def is_own(words: list[str]) -> bool:
    """Whether the token of the run stands in a name, as a word of its own."""
    return any(re.search(rf"(?<![a-z0-9]){OWNER}(?![a-z0-9])", word) for word in words)


def named_in_path(path: str) -> list[str]:
    """Return the names in a path: those of a namespace, and of what is in it."""
    pairs = itertools.pairwise(path.split("/")[3:])
    return [
        unquote(name) for kind, name in pairs if kind in NAMING and name not in NAMING | {"rename"}
    ]


def named_in_body(body: Any, where: list[str]) -> Iterator[list[str]]:
    """Yield what a body names; a name alone is that of something in the path's namespace."""
    if not isinstance(body, dict):
        return
    for member in ("source", "destination", "identifier"):
        yield from named_in_body(body.get(member), [])
    yield from named_in_body(body.get("view-version"), where)
    changes = body.get("table-changes")
    for change in changes if isinstance(changes, list) else ():
        yield from named_in_body(change, [])
    for member in ("namespace", "default-namespace"):
        levels = body.get(member)
        if isinstance(levels, list) and levels and all(isinstance(v, str) for v in levels):
            name = body.get("name")
            yield [*levels, name] if isinstance(name, str) else levels
    if isinstance(body.get("name"), str) and "namespace" not in body and where:
        yield [*where, body["name"]]


def strays(url: str, content: bytes) -> list[str]:
    """What a request names that is neither the run's own nor in a namespace of its own."""
    split = urlsplit(url)
    in_path = named_in_path(split.path)
    named = [in_path] if in_path else []
    named += [[parent] for parent in parse_qs(split.query).get("parent", ())]
    try:
        body = json.loads(content or b"null")
    except ValueError:
        body = None  # nobody can read a name in it
    return [".".join(name) for name in [*named, *named_in_body(body, in_path)] if not is_own(name)]
