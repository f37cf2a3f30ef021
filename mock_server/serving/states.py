"""The states of all warehouses together: remembered, gone back to, and emptied."""

import itertools
import threading
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from icecheck.mock_server.core.state import WarehouseState
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
        """Go back to a snapshot; warehouses opened since then are emptied. Files are left alone."""
        for warehouse in self._warehouses.all():
            with warehouse.lock:
                warehouse.publish(snapshot.states.get(warehouse.name, WarehouseState()))

    def empty(self, warehouse: Warehouse) -> None:
        """Empty a warehouse, and forget its metadata files."""
        with warehouse.lock:
            warehouse.publish(WarehouseState())
            self._root.remove_below(warehouse.context.location)

    def empty_all(self) -> None:
        """Empty every warehouse."""
        for warehouse in self._warehouses.all():
            self.empty(warehouse)

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
