"""The difference of two states in names and metadata locations, as a file can keep it."""

from collections.abc import Iterable
from typing import Any, TypeAlias

import msgspec

from icecheck.mock_server.core.sorted_map import SortedMap
from icecheck.mock_server.core.state import (
    Kind,
    NamespaceEntry,
    TableEntry,
    ViewEntry,
    WarehouseState,
)
from icecheck.mock_server.metadata.encoding import encode
from icecheck.mock_server.metadata.view_metadata import encode_view
from icecheck.mock_server.storage.places import is_on_disk


class SetNamespace(msgspec.Struct, frozen=True, tag="namespace", tag_field="is"):
    """A namespace exists with these properties; what it holds is kept."""

    namespace: tuple[str, ...]
    properties: dict[str, str] = {}


class RemovedNamespace(msgspec.Struct, frozen=True, tag="no-namespace", tag_field="is"):
    """A namespace is gone, and so is what it held."""

    namespace: tuple[str, ...]


class SetObject(msgspec.Struct, frozen=True, tag="object", tag_field="is", omit_defaults=True):
    """A name stands for the table or view with this metadata file.

    `metadata` is the content of the file where that is in memory only, as JSON.
    """

    kind: Kind
    namespace: tuple[str, ...]
    name: str
    metadata_location: str
    metadata: bytes | None = None


class RemovedObject(msgspec.Struct, frozen=True, tag="no-object", tag_field="is"):
    """A name no longer stands for a table or view."""

    kind: Kind
    namespace: tuple[str, ...]
    name: str


Change: TypeAlias = SetNamespace | RemovedNamespace | SetObject | RemovedObject


class Publication(msgspec.Struct, frozen=True):
    """All that one request changed in a warehouse."""

    warehouse: str
    changes: tuple[Change, ...]


class NamespaceContent(msgspec.Struct):
    """The content of a namespace: its properties, and its objects by kind and name."""

    properties: dict[str, str] = {}
    objects: dict[tuple[Kind, str], SetObject] = {}


def changes_between(before: WarehouseState, after: WarehouseState) -> tuple[Change, ...]:
    """Return what leads from one state to the other, in an order in which it can be applied."""
    changes: list[Change] = []
    for namespace, entry in after.namespaces.changes_since(before.namespaces):
        if entry is None:
            changes.append(RemovedNamespace(namespace))
            continue
        earlier = before.namespace(namespace)
        if earlier is None or earlier.properties != entry.properties:
            changes.append(SetNamespace(namespace, entry.properties))
        held = NamespaceEntry() if earlier is None else earlier
        changes += _of_objects("table", namespace, held.tables, entry.tables)
        changes += _of_objects("view", namespace, held.views, entry.views)
    return tuple(changes)


def _of_objects(
    kind: Kind,
    namespace: tuple[str, ...],
    before: SortedMap[str, Any],
    after: SortedMap[str, Any],
) -> Iterable[Change]:
    for name, entry in after.changes_since(before):
        if entry is None:
            yield RemovedObject(kind, namespace, name)
        else:
            location = entry.metadata_location
            held = None if is_on_disk(location) else _encoded(entry)
            yield SetObject(kind, namespace, name, location, held)


def _encoded(entry: TableEntry | ViewEntry) -> bytes:
    if isinstance(entry, TableEntry):
        return encode(entry.metadata)
    return encode_view(entry.metadata)


def apply(content: dict[tuple[str, ...], NamespaceContent], changes: Iterable[Change]) -> None:
    """Apply changes to the namespaces of a warehouse; KeyError if they do not fit."""
    for change in changes:
        match change:
            case SetNamespace(namespace, properties):
                content.setdefault(namespace, NamespaceContent()).properties = properties
            case RemovedNamespace(namespace):
                del content[namespace]
            case SetObject(kind, namespace, name):
                content[namespace].objects[kind, name] = change
            case RemovedObject(kind, namespace, name):
                del content[namespace].objects[kind, name]
