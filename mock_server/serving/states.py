"""The states of all warehouses together: remembered, gone back to, and emptied."""

import contextlib
import itertools
import threading
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.serving.app import publish_outcome
from icecheck.mock_server.serving.metadata_files import MetadataFile, write_again, write_new
from icecheck.mock_server.serving.seeding import Seed, SeedNamespace, read_seed, seeded
from icecheck.mock_server.serving.state_documents import (
    StateUnreadable,
    as_bytes,
    exported,
    read_state,
    state_in,
)
from icecheck.mock_server.serving.warehouses import Warehouse, Warehouses
from icecheck.mock_server.storage.root import Root


class MockSnapshot(msgspec.Struct, frozen=True):
    """The states of all warehouses at one moment."""

    states: Mapping[str, WarehouseState]


class States:
    """What the warehouses of one server hold, as a whole; `saved` has snapshots by their ids."""

    __slots__ = ("_lock", "_numbers", "_root", "_saved", "_warehouses")

    def __init__(self, warehouses: Warehouses, root: Root) -> None:
        self._warehouses = warehouses
        self._root = root
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._saved: dict[str, MockSnapshot] = {}

    def snapshot(self) -> MockSnapshot:
        """Return the present state of every warehouse; this costs nothing."""
        states = {each.name: each.state for each in self._warehouses.all()}
        return MockSnapshot(MappingProxyType(states))

    def restore(self, snapshot: MockSnapshot) -> None:
        """Go back to a snapshot; warehouses opened since then are emptied. Data files stay.

        Metadata files that are gone since then are written again. A warehouse that was forgotten
        since then is opened again, where they open on demand. OSError if what is to be kept cannot
        be written.
        """
        for name in snapshot.states:
            self._warehouses.open(name)
        for warehouse in self._warehouses.all():
            with warehouse.lock:
                state = snapshot.states.get(warehouse.name, WarehouseState())
                try:
                    write_again(warehouse.state, state, warehouse.context.files)
                except OSError:
                    if warehouse.is_kept:  # the next server begins with the files
                        raise
                warehouse.publish(state)

    def empty(self, warehouse: Warehouse) -> None:
        """Empty a warehouse, and forget its metadata files."""
        with warehouse.lock:
            warehouse.publish(WarehouseState())
            self._root.remove_below(warehouse.context.location)

    def empty_all(self) -> None:
        """Empty every warehouse."""
        for warehouse in self._warehouses.all():
            self.empty(warehouse)

    def export(self, warehouse: str | None = None) -> bytes:
        """Return what a warehouse, or every one, holds as JSON, for `load`; KeyError if unknown."""
        known = {each.name: each for each in self._warehouses.all()}
        return exported(known.values() if warehouse is None else [known[warehouse]])

    def load(self, document: bytes | Mapping[str, Any]) -> None:
        """Let the warehouses of a document hold what it says, and nothing else.

        Raises StateUnreadable for a mistake in it, or Problem for a warehouse that cannot be had;
        nothing is changed then.
        """
        read = read_state(as_bytes(document))
        wanted = [(self._warehouses.asked_for(name), d) for name, d in read.warehouses.items()]
        files: dict[str, MetadataFile] = {}
        states: list[tuple[Warehouse, WarehouseState]] = []
        for warehouse, described in wanted:
            state, files = state_in(described, warehouse.context, files)
            states.append((warehouse, state))
        try:
            write_new(files.values())
        except OSError as error:
            raise StateUnreadable(str(error)) from error
        for warehouse, state in states:
            with warehouse.lock:
                warehouse.publish(state)

    def seed(self, given: str | Path | Mapping[str, Any] | Seed) -> None:
        """Fill warehouses as a description says; what they hold already stays.

        It is a Seed, a mapping of that form, or a file of it. Raises SeedUnusable for a mistake in
        it, or Problem for a warehouse that cannot be had; nothing is made then.
        """
        seed = read_seed(given)
        wanted: dict[str, tuple[Warehouse, list[SeedNamespace]]] = {}
        for name, namespaces in seed.warehouses.items():
            warehouse = self._warehouses.asked_for(name)  # two names may mean the same one
            wanted.setdefault(warehouse.name, (warehouse, []))[1].extend(namespaces)
        with contextlib.ExitStack() as locks:
            for _, (warehouse, _) in sorted(wanted.items()):
                locks.enter_context(warehouse.lock)
            outcomes = [(each, seeded(each, spaces)) for each, spaces in wanted.values()]
            for warehouse, outcome in outcomes:
                publish_outcome(warehouse, outcome)

    @property
    def saved(self) -> Mapping[str, MockSnapshot]:
        """The snapshots that were saved, by their ids."""
        return MappingProxyType(dict(self._saved))

    def save(self) -> str:
        """Save a snapshot under an id of its own, and return that."""
        with self._lock:
            id_ = f"s-{next(self._numbers)}"
            self._saved[id_] = self.snapshot()
        return id_

    def forget(self, id_: str) -> None:
        """Forget a saved snapshot; KeyError if there is none of this id."""
        with self._lock:
            del self._saved[id_]
