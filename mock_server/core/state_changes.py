"""The difference of two states in names and metadata locations, as a file can keep it."""

from collections.abc import Iterable
from typing import Any, TypeAlias

import msgspec

from icecheck.mock_server.core.keyed_answers import KeyedAnswer
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


class SetAnswer(msgspec.Struct, frozen=True, tag="answer", tag_field="is"):
    """A caller's request with an idempotency key was answered."""

    caller: str
    key: str
    answer: KeyedAnswer


class RemovedAnswer(msgspec.Struct, frozen=True, tag="no-answer", tag_field="is"):
    """The answer to a request with an idempotency key is no longer remembered."""

    caller: str
    key: str


Change: TypeAlias = (
    SetNamespace | RemovedNamespace | SetObject | RemovedObject | SetAnswer | RemovedAnswer
)


class Publication(msgspec.Struct, frozen=True):
    """All that one request changed in a warehouse."""

    warehouse: str
    changes: tuple[Change, ...]


class NamespaceContent(msgspec.Struct):
    """The content of a namespace: its properties, and its objects by kind and name."""

    properties: dict[str, str] = {}
    objects: dict[tuple[Kind, str], SetObject] = {}


class WarehouseContent(msgspec.Struct):
    """The content of a warehouse: its namespaces, and answers by caller and key."""

    namespaces: dict[tuple[str, ...], NamespaceContent] = {}
    answers: dict[tuple[str, str], SetAnswer] = {}


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
    for (caller, key), answer in after.keyed.by_key.changes_since(before.keyed.by_key):
        if answer is None:
            changes.append(RemovedAnswer(caller, key))
        else:
            changes.append(SetAnswer(caller, key, answer))
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


def apply(content: WarehouseContent, changes: Iterable[Change]) -> None:
    """Apply changes to what a warehouse holds; KeyError if they do not fit."""
    namespaces, answers = content.namespaces, content.answers
    for change in changes:
        match change:
            case SetNamespace(namespace, properties):
                namespaces.setdefault(namespace, NamespaceContent()).properties = properties
            case RemovedNamespace(namespace):
                del namespaces[namespace]
            case SetObject(kind, namespace, name):
                namespaces[namespace].objects[kind, name] = change
            case RemovedObject(kind, namespace, name):
                del namespaces[namespace].objects[kind, name]
            case SetAnswer(caller, key):
                answers[caller, key] = change
            case RemovedAnswer(caller, key):
                del answers[caller, key]
