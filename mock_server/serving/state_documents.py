"""What warehouses hold as one JSON document, to be kept beside tests and read again elsewhere.

It has names, properties and the metadata of tables and views. Manifests and data files stay where
they are: a server elsewhere reads them for as long as they are there.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Context
from icecheck.mock_server.core.state import TableEntry, ViewEntry, WarehouseState
from icecheck.mock_server.core.state_changes import SetObject
from icecheck.mock_server.protocol import names
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.serving.kept_state import object_entry
from icecheck.mock_server.serving.metadata_files import MetadataFile, encoded, unused_location
from icecheck.mock_server.serving.warehouses import Warehouse

VERSION = 1
_Raw = msgspec.Raw


class StateUnreadable(ValueError):
    """Raised for a document that is none; the message names the place in it."""


class ObjectDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """A table or a view with its present metadata."""

    name: str
    metadata_location: str
    metadata: _Raw


class NamespaceDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A namespace by its levels, with what it holds."""

    namespace: tuple[str, ...]
    properties: dict[str, str] = {}
    tables: tuple[ObjectDocument, ...] = ()
    views: tuple[ObjectDocument, ...] = ()


class WarehouseDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A warehouse, and the location below which its tables were."""

    location: str
    namespaces: tuple[NamespaceDocument, ...] = ()


class StateDocument(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """All warehouses of a server."""

    icecheck_state: int
    warehouses: dict[str, WarehouseDocument]


def exported(warehouses: Iterable[Warehouse]) -> bytes:
    """Return what warehouses hold, sorted and indented, so that two of them can be compared."""
    documents = {
        each.name: WarehouseDocument(each.context.location, _namespaces(each.state))
        for each in sorted(warehouses, key=lambda each: each.name)
        if each.state.namespaces
    }
    encoded = msgspec.json.encode(StateDocument(VERSION, documents))
    return msgspec.json.format(encoded, indent=1) + b"\n"


def read_state(content: bytes) -> StateDocument:
    """Return the document in some bytes; StateUnreadable if it is none."""
    try:
        document = msgspec.json.decode(content, type=StateDocument)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise StateUnreadable(f"the state cannot be read: {error}") from None
    if document.icecheck_state != VERSION:
        raise StateUnreadable(
            f"the state is of version {document.icecheck_state}; this release reads {VERSION}"
        )
    return document


def state_in(
    document: WarehouseDocument, context: Context, taken: Mapping[str, MetadataFile]
) -> tuple[WarehouseState, dict[str, MetadataFile]]:
    """Return the state that a document describes, and the metadata files needed, by location.

    The tables go on below the location of the warehouse here. `taken` are the files that other
    warehouses of the document need; they are among those returned. Raises StateUnreadable for what
    is no metadata, or for a place that the warehouse may not write at.
    """
    state, files = WarehouseState(), dict(taken)
    for namespace in document.namespaces:
        _check_names(namespace)
        state = state.with_namespace(namespace.namespace, namespace.properties)
        for kind, objects in (("table", namespace.tables), ("view", namespace.views)):
            for each in objects:
                places = document.location, context.location
                content = _with_location(bytes(each.metadata), *places)
                kept = SetObject(
                    "view" if kind == "view" else "table",
                    namespace.namespace,
                    each.name,
                    _moved(each.metadata_location, *places),
                )
                entry = _entry_in_place(kept, content, context, files)
                location = entry.metadata_location
                files[location] = MetadataFile(location, encoded(entry), context.files)
                if isinstance(entry, ViewEntry):
                    state = state.with_view(kept.namespace, kept.name, entry)
                else:
                    state = state.with_table(kept.namespace, kept.name, entry)
    return state, files


def _entry_in_place(
    kept: SetObject, content: bytes, context: Context, taken: Mapping[str, MetadataFile]
) -> TableEntry | ViewEntry:
    """Return the entry of an object, at a new place if its own has other metadata already."""
    try:
        entry = object_entry(kept, content, context)
        location = unused_location(entry, taken, context)
        # A view is answered as its file has it, and that is written in this release's spelling.
        if location != kept.metadata_location or isinstance(entry, ViewEntry):
            kept = msgspec.structs.replace(kept, metadata_location=location)
            entry = object_entry(kept, encoded(entry), context)
    except (OSError, ValueError) as error:
        raise StateUnreadable(str(error)) from error
    return entry


def _check_names(namespace: NamespaceDocument) -> None:
    """Raise StateUnreadable for a name or a location that no operation would make."""
    try:
        names.new_namespace(namespace.namespace)
        for each in (*namespace.tables, *namespace.views):
            names.new_name(each.name)
            if not names.is_absolute(each.metadata_location):
                place = each.metadata_location
                raise StateUnreadable(f"{each.name}: {place!r} is no place of metadata")
    except Problem as problem:
        raise StateUnreadable(problem.message) from None


def _namespaces(state: WarehouseState) -> tuple[NamespaceDocument, ...]:
    return tuple(
        NamespaceDocument(
            levels,
            entry.properties,
            tuple(
                ObjectDocument(name, table.metadata_location, _Raw(encoded(table)))
                for name, table in entry.tables.after()
            ),
            tuple(
                ObjectDocument(name, view.metadata_location, _Raw(encoded(view)))
                for name, view in entry.views.after()
            ),
        )
        for levels, entry in state.namespaces.after()
    )


def _moved(place: str, old: str, new: str) -> str:
    """Return a location below one directory as the same below another one."""
    inside = f"{old.rstrip('/')}/"
    return f"{new.rstrip('/')}/{place.removeprefix(inside)}" if place.startswith(inside) else place


def _with_location(metadata: bytes, old: str, new: str) -> bytes:
    """Return metadata whose table lies below another directory; what it has written stays."""
    found = msgspec.json.decode(metadata)
    if isinstance(found, dict) and isinstance(found.get("location"), str):
        found["location"] = _moved(found["location"], old, new)
    return msgspec.json.encode(found)


def as_bytes(document: bytes | Mapping[str, Any]) -> bytes:
    """Return a document that may be decoded already as JSON."""
    return document if isinstance(document, bytes) else msgspec.json.encode(document)
