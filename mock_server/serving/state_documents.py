"""What warehouses hold as one JSON document, to be kept beside tests and read again elsewhere.

It has names, properties and the metadata of tables and views. Manifests and data files stay where
they are: a server elsewhere reads them for as long as they are there.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Context
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.core.state_changes import SetObject
from icecheck.mock_server.metadata.encoding import encode
from icecheck.mock_server.metadata.view_metadata import encode_view
from icecheck.mock_server.protocol import names
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.serving.kept_state import with_object
from icecheck.mock_server.serving.warehouses import Warehouse
from icecheck.mock_server.storage.files import gzipped, is_gzip

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
    document: WarehouseDocument, context: Context
) -> tuple[WarehouseState, Mapping[str, bytes]]:
    """Return the state that a document describes, and the metadata files that it needs.

    The tables go on below the location of the warehouse here. Raises StateUnreadable for what is no
    metadata.
    """
    state, files = WarehouseState(), {}
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
                try:
                    state = with_object(state, kept, content, context)
                except ValueError as error:
                    raise StateUnreadable(str(error)) from error
                files[kept.metadata_location] = content
    return state, files


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


def write_metadata(files: Mapping[str, bytes], context: Context) -> None:
    """Write metadata files; StateUnreadable for a place that the warehouse may not write at."""
    try:
        for location, content in files.items():
            context.files.write(location, gzipped(content) if is_gzip(location) else content)
    except OSError as error:
        raise StateUnreadable(str(error)) from error


def _namespaces(state: WarehouseState) -> tuple[NamespaceDocument, ...]:
    return tuple(
        NamespaceDocument(
            levels,
            entry.properties,
            tuple(
                ObjectDocument(name, table.metadata_location, _Raw(encode(table.metadata)))
                for name, table in entry.tables.after()
            ),
            tuple(
                ObjectDocument(name, view.metadata_location, _Raw(encode_view(view.metadata)))
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
