"""Reads the lists and maps that a client writes as null as empty ones.

Go's encoder writes a list or map that was never made as null, and iceberg-go passes such values on.
A null is read so only where an empty list or map is lawful. A namespace, the changes of a
transaction and the representations of a view may not be empty, and their nulls stay refused.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

NullPlaces: TypeAlias = Mapping[str, Literal["list", "map"]]
"""Paths of members in a body, with `*` for list items, and the container that a null stands for."""

_VIEW_VERSION: NullPlaces = {"view-version.default-namespace": "list"}
_UPDATE: NullPlaces = {
    **_VIEW_VERSION,
    "updates": "map",
    "removals": "list",
    "snapshot-ids": "list",
    "spec-ids": "list",
    "schema-ids": "list",
    "statistics.blob-metadata": "list",
    "statistics.blob-metadata.*.fields": "list",
    "statistics.blob-metadata.*.properties": "map",
}
COMMIT: NullPlaces = {
    "requirements": "list",
    "updates": "list",
    **{f"updates.*.{path}": kind for path, kind in _UPDATE.items()},
}
"""Places in the body of a commit to a table or view."""
TRANSACTION: NullPlaces = {f"table-changes.*.{path}": kind for path, kind in COMMIT.items()}
"""Places in the body of commitTransaction."""
CREATE_VIEW: NullPlaces = _VIEW_VERSION
"""Places in the body of createView; its `properties` may be null by their type."""


def without_null_containers(body: bytes, places: NullPlaces) -> bytes | None:
    """Return a body with empty containers for its nulls at these places; None if it has none.

    Raises msgspec.MsgspecError, UnicodeDecodeError or RecursionError for a body that is no JSON.
    """
    value = msgspec.json.decode(body)
    filled = [_fill(value, path.split("."), kind) for path, kind in places.items()]
    return msgspec.json.encode(value) if any(filled) else None


def _fill(value: Any, path: list[str], kind: Literal["list", "map"]) -> bool:
    head, *rest = path
    match value:
        case list() if head == "*":
            # All items are changed, not only those before the first one that had a null.
            return sum(_fill(each, rest, kind) for each in value) > 0
        case dict() if head in value and rest:
            return _fill(value[head], rest, kind)
        case dict() if head in value and value[head] is None:
            value[head] = [] if kind == "list" else {}
            return True
    return False
