"""Everything a catalog knows: one immutable value per warehouse, which shares with its past."""

from collections.abc import Iterator

import msgspec

from icecheck.mock_server.model import TableMetadata
from icecheck.mock_server.sorted_map import SortedMap
from icecheck.mock_server.wire import Reply


class TableEntry(msgspec.Struct, frozen=True):
    """One version of a table.

    `version` is never reused by a server, also not after a restore. `replies` remembers the
    encoded answers of this version by representation ("all", "refs"): a memo, not state.
    """

    metadata: TableMetadata
    metadata_location: str
    version: int
    replies: dict[str, Reply]


class NamespaceEntry(msgspec.Struct, frozen=True):
    """A namespace: its properties and its tables by name."""

    properties: dict[str, str] = {}
    tables: SortedMap[str, TableEntry] = SortedMap()


class WarehouseState(msgspec.Struct, frozen=True):
    """All namespaces of one warehouse; every ancestor of a namespace is one too."""

    namespaces: SortedMap[tuple[str, ...], NamespaceEntry] = SortedMap()

    def namespace(self, namespace: tuple[str, ...]) -> NamespaceEntry | None:
        """The namespace with this path, or None."""
        return self.namespaces.get(namespace)

    def table(self, namespace: tuple[str, ...], name: str) -> TableEntry | None:
        """The table of this name, or None, also when the namespace is missing."""
        entry = self.namespaces.get(namespace)
        return None if entry is None else entry.tables.get(name)

    def children(
        self, parent: tuple[str, ...], after: str | None = None
    ) -> Iterator[tuple[str, ...]]:
        """The direct children of a namespace (of the root for ()), by name, after a given one."""
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
        """A state in which the namespace exists with these properties, its tables kept."""
        namespaces = self.namespaces
        for depth in range(1, len(namespace)):
            if namespace[:depth] not in namespaces:
                namespaces = namespaces.with_item(namespace[:depth], NamespaceEntry())
        entry = namespaces.get(namespace) or NamespaceEntry()
        changed = msgspec.structs.replace(entry, properties=properties)
        return WarehouseState(namespaces.with_item(namespace, changed))

    def without_namespace(self, namespace: tuple[str, ...]) -> "WarehouseState":
        """A state without the namespace; KeyError if there is none."""
        return WarehouseState(self.namespaces.without(namespace))

    def with_table(
        self, namespace: tuple[str, ...], name: str, table: TableEntry
    ) -> "WarehouseState":
        """A state in which the name stands for this table version; the namespace must exist."""
        return self._with_tables(namespace, self._tables(namespace).with_item(name, table))

    def without_table(self, namespace: tuple[str, ...], name: str) -> "WarehouseState":
        """A state without the table; KeyError if there is none."""
        return self._with_tables(namespace, self._tables(namespace).without(name))

    def _tables(self, namespace: tuple[str, ...]) -> SortedMap[str, TableEntry]:
        entry = self.namespaces.get(namespace)
        if entry is None:
            raise KeyError(namespace)
        return entry.tables

    def _with_tables(
        self, namespace: tuple[str, ...], tables: SortedMap[str, TableEntry]
    ) -> "WarehouseState":
        entry = self.namespaces.get(namespace)
        if entry is None:
            raise KeyError(namespace)
        changed = msgspec.structs.replace(entry, tables=tables)
        return WarehouseState(self.namespaces.with_item(namespace, changed))
