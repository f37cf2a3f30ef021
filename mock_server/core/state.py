"""The state of a catalog: one immutable value per warehouse, which shares data with older ones."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from icecheck.mock_server.core.keyed_answers import KeyedAnswers
from icecheck.mock_server.core.sorted_map import SortedMap
from icecheck.mock_server.metadata.encoding import Grown
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.metadata.view_metadata import ViewMetadata
from icecheck.mock_server.protocol.wire import Reply

Kind: TypeAlias = Literal["table", "view"]
"""The kinds of objects that a name in a namespace can have."""


class TableEntry(msgspec.Struct, frozen=True):
    """One version of a table.

    `version` is never used again by a server, not even after a restore. `replies` remembers the
    encoded answers of this version by representation ("all", "refs"), and `grown` where the long
    lists stand in them: memos, not state.
    """

    metadata: TableMetadata
    metadata_location: str
    version: int
    replies: dict[str, Reply]
    grown: Mapping[str, Grown] = {}


class ViewEntry(msgspec.Struct, frozen=True):
    """One version of a view, and the answer to loadView."""

    metadata: ViewMetadata
    metadata_location: str
    reply: Reply


class NamespaceEntry(msgspec.Struct, frozen=True):
    """A namespace: its properties, and its tables and views, which never share a name."""

    properties: dict[str, str] = {}
    tables: SortedMap[str, TableEntry] = SortedMap()
    views: SortedMap[str, ViewEntry] = SortedMap()


class WarehouseState(msgspec.Struct, frozen=True):
    """All namespaces of one warehouse; every ancestor of a namespace is one too.

    `keyed` are the answers to requests with an idempotency key: what a request changed and that it
    was answered are one state, so that neither is ever seen without the other.
    """

    namespaces: SortedMap[tuple[str, ...], NamespaceEntry] = SortedMap()
    keyed: KeyedAnswers = KeyedAnswers()

    def namespace(self, namespace: tuple[str, ...]) -> NamespaceEntry | None:
        """Return the namespace with this path, or None."""
        return self.namespaces.get(namespace)

    def table(self, namespace: tuple[str, ...], name: str) -> TableEntry | None:
        """Return the table of this name, or None, also when the namespace is missing."""
        entry = self.namespaces.get(namespace)
        return None if entry is None else entry.tables.get(name)

    def view(self, namespace: tuple[str, ...], name: str) -> ViewEntry | None:
        """Return the view of this name, or None, also when the namespace is missing."""
        entry = self.namespaces.get(namespace)
        return None if entry is None else entry.views.get(name)

    def kind_of(self, namespace: tuple[str, ...], name: str) -> Kind | None:
        """Return the kind of object that has this name, or None if the name is free."""
        if self.table(namespace, name) is not None:
            return "table"
        return None if self.view(namespace, name) is None else "view"

    def children(
        self, parent: tuple[str, ...], after: str | None = None
    ) -> Iterator[tuple[str, ...]]:
        """Return the direct children of a namespace by name, after a given one; () is the root."""
        depth = len(parent)
        start = parent if after is None else (*parent, after + "\0")
        while True:
            found = next(self.namespaces.after(start), None)
            if found is None or found[0][:depth] != parent:
                return
            child = found[0][: depth + 1]
            yield child
            # No name contains NUL, so this is the first possible key after the child's subtree.
            start = (*child[:depth], child[depth] + "\0")

    def with_namespace(
        self, namespace: tuple[str, ...], properties: dict[str, str]
    ) -> "WarehouseState":
        """Return a state in which the namespace exists with these properties, all else kept."""
        entry = self.namespaces.get(namespace) or NamespaceEntry()
        changed = msgspec.structs.replace(entry, properties=properties)
        return self.with_whole_namespace(namespace, changed)

    def with_whole_namespace(
        self, namespace: tuple[str, ...], entry: NamespaceEntry
    ) -> "WarehouseState":
        """Return a state in which the namespace exists with all that it is to hold."""
        namespaces = self.namespaces
        for depth in range(1, len(namespace)):
            if namespace[:depth] not in namespaces:
                namespaces = namespaces.with_item(namespace[:depth], NamespaceEntry())
        return WarehouseState(namespaces.with_item(namespace, entry), self.keyed)

    def without_namespace(self, namespace: tuple[str, ...]) -> "WarehouseState":
        """Return a state without the namespace; KeyError if there is none."""
        return WarehouseState(self.namespaces.without(namespace), self.keyed)

    def with_table(
        self, namespace: tuple[str, ...], name: str, table: TableEntry
    ) -> "WarehouseState":
        """Return a state in which the name stands for this table version.

        The namespace must exist.
        """
        entry = self._existing(namespace)
        return self._with_entry(namespace, entry, tables=entry.tables.with_item(name, table))

    def without_table(self, namespace: tuple[str, ...], name: str) -> "WarehouseState":
        """Return a state without the table; KeyError if there is none."""
        entry = self._existing(namespace)
        return self._with_entry(namespace, entry, tables=entry.tables.without(name))

    def with_view(self, namespace: tuple[str, ...], name: str, view: ViewEntry) -> "WarehouseState":
        """Return a state in which the name stands for this view version.

        The namespace must exist.
        """
        entry = self._existing(namespace)
        return self._with_entry(namespace, entry, views=entry.views.with_item(name, view))

    def without_view(self, namespace: tuple[str, ...], name: str) -> "WarehouseState":
        """Return a state without the view; KeyError if there is none."""
        entry = self._existing(namespace)
        return self._with_entry(namespace, entry, views=entry.views.without(name))

    def _existing(self, namespace: tuple[str, ...]) -> NamespaceEntry:
        entry = self.namespaces.get(namespace)
        if entry is None:
            raise KeyError(namespace)
        return entry

    def _with_entry(
        self, namespace: tuple[str, ...], entry: NamespaceEntry, **changed: SortedMap[str, Any]
    ) -> "WarehouseState":
        changed_entry = msgspec.structs.replace(entry, **changed)
        return WarehouseState(self.namespaces.with_item(namespace, changed_entry), self.keyed)

    def with_keyed(self, keyed: KeyedAnswers) -> "WarehouseState":
        """Return a state with these answers to requests with a key."""
        return WarehouseState(self.namespaces, keyed)
