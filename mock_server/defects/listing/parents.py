"""Defects of the parent of a listing: it is read differently from the same name in a path."""

from collections.abc import Callable
from urllib.parse import unquote, unquote_plus

from msgspec import structs

from icecheck.mock_server.core.context import Call
from icecheck.mock_server.defects.kit.declaring import by, declare
from icecheck.mock_server.defects.kit.rewriting import alter_call

_READINGS: dict[str, tuple[Callable[[str], str], str]] = {
    "split-at-slashes": (lambda parent: parent.replace("/", "\x1f"), "split at slashes too"),
    "decoded-twice": (unquote, "decoded once more than it was encoded"),
    "decoded-as-a-form": (unquote_plus, "decoded as a form, twice"),
    "ascii-only": (
        lambda parent: parent.encode("ascii", "replace").decode(),
        "kept in ASCII, other letters as question marks",
    ),
    "escapes-resolved": (
        lambda parent: parent.replace("\\u001f", "\x1f").replace("\u241f", "\x1f"),
        "split where the separator is written out or pictured",
    ),
}


def _declare(slip: str) -> None:
    reading, words = _READINGS[slip]

    def misread(call: Call) -> Call:
        parent = call.query.get("parent")
        if not parent:
            return call
        return structs.replace(call, query={**call.query, "parent": reading(parent)})

    declare(
        f"parent-{slip}",
        f"The parent of a listing is {words}.",
        by(alter_call, "listNamespaces", misread),
        breaks="listNamespaces.odd-parents",
        suffering="What is below a namespace with such a name is never seen.",
    )


for _slip in _READINGS:
    _declare(_slip)
