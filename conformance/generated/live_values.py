"""Placeholders in drawn bodies for what a table or view has at the moment: ids, uuids, counters.

A drawn body is the same for every table. When it is sent, each placeholder, a whole text, is
replaced by the value that the catalog last told, so that references lead to what is there.
"""

from collections.abc import Iterator, Mapping
from typing import Any

_OFFSETS = 4
_SCALARS = (
    "table-uuid",
    "view-uuid",
    "format-version",
    "current-schema-id",
    "default-spec-id",
    "default-sort-order-id",
    "last-column-id",
    "last-partition-id",
    "current-version-id",
)


def live(name: str, offset: int = 0) -> str:
    """Return the placeholder for a member of metadata, or for a number so far above it."""
    return f"{{live:{name}+{offset}}}"


def live_values(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return placeholder -> value for the metadata of a table or view; unknown ids are 0."""
    return dict(_values(metadata))


def _values(metadata: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in _SCALARS:
        yield live(name), metadata.get(name, "" if name.endswith("uuid") else 0)
    yield live("main"), _main(metadata)
    counters = {
        "sequence-number": _number(metadata.get("last-sequence-number")),
        "version-id": _highest(metadata.get("versions"), "version-id"),
        "schema-id": _highest(metadata.get("schemas"), "schema-id"),
    }
    for name, last in counters.items():
        for offset in range(_OFFSETS):
            yield live(name, offset), last + offset


def _main(metadata: Mapping[str, Any]) -> int | None:
    snapshot_id = metadata.get("current-snapshot-id")
    return snapshot_id if isinstance(snapshot_id, int) and snapshot_id >= 0 else None


def _highest(entries: Any, member: str) -> int:
    listed = entries if isinstance(entries, list) else []
    return max([_number(e.get(member)) for e in listed if isinstance(e, dict)], default=0)


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0


def with_values(body: Any, values: Mapping[str, Any]) -> Any:
    """Return a copy of a body with values for its placeholders."""
    match body:
        case dict():
            return {key: with_values(each, values) for key, each in body.items()}
        case list():
            return [with_values(each, values) for each in body]
        case str():
            return values.get(body, body)
    return body


_UNKNOWN = live_values({})


def without_placeholders(body: Any) -> Any:
    """Return a copy of a body with some value of the right type for each placeholder."""
    return with_values(body, _UNKNOWN)
