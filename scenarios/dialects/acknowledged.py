"""What a client's user was told is done, and is not there: found in the catalog's next answer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from icecheck.objects.metadata_view import current_schema

Json = dict[str, Any]
Metadata = Mapping[str, Any]


def _names(definition: Any) -> list[Any]:
    """Return the names of a schema's columns, or of a spec's fields."""
    return [each.get("name") for each in definition.get("fields") or ()]


def _columns(order: Any) -> list[Any]:
    return [each.get("source-id") for each in order.get("fields") or ()]


def _queries(version: Any) -> list[Any]:
    return [each.get("sql") for each in version.get("representations") or ()]


_ADDED: Mapping[str, tuple[str, str, Callable[[Any], list[Any]]]] = {
    "add-schema": ("schema", "schemas", _names),
    "add-spec": ("spec", "partition-specs", _names),
    "add-sort-order": ("sort-order", "sort-orders", _columns),
    "add-view-version": ("view-version", "versions", _queries),
}
"""Action -> the member of the update, the list of the metadata, and what tells one from another."""


def missing_effect(updates: Sequence[Json], metadata: Metadata) -> str | None:
    """Return what updates were to make and the metadata after them do not have, or None.

    A list or map that is not shown at all tells nothing (rule 21 for verdicts).
    """
    columns: list[Any] | None = None
    for update in updates:
        action = str(update.get("action"))
        if action in _ADDED:
            member, listed, content = _ADDED[action]
            if _lacks(metadata.get(listed), content, content(update[member])):
                return member
        if action == "add-schema":
            columns = _names(update["schema"])
        elif action == "set-current-schema" and columns is not None:
            shown = _names(current_schema(metadata))
            if shown and shown != columns:
                return "current-schema-id"
        elif action == "set-snapshot-ref" and _ref_is_elsewhere(metadata, update):
            return "ref"
    return "properties" if _properties_differ(updates, metadata) else None


def _lacks(listed: Any, content: Callable[[Any], list[Any]], sent: list[Any]) -> bool:
    return bool(listed) and sent not in [content(each) for each in listed]


def _ref_is_elsewhere(metadata: Metadata, update: Json) -> bool:
    refs = metadata.get("refs") or {}
    shown = [ref.get("snapshot-id") for name, ref in refs.items() if name == update["ref-name"]]
    if update["ref-name"] == "main" and not shown:
        shown = [metadata.get("current-snapshot-id")]
    return bool(refs or metadata.get("snapshots")) and shown != [update["snapshot-id"]]


def _properties_differ(updates: Sequence[Json], metadata: Metadata) -> bool:
    due: Json = {}
    for update in updates:
        match update.get("action"):
            case "set-properties":
                due |= update["updates"]
            case "remove-properties":
                due |= dict.fromkeys(update["removals"])
    shown = metadata.get("properties") or {}
    return bool(shown) and any(shown.get(key) != value for key, value in due.items())
