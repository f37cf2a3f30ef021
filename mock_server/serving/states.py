"""The states of all warehouses together: remembered, gone back to, and emptied."""

import contextlib
import itertools
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.protocol.problem import no_such_warehouse
from icecheck.mock_server.serving.app import publish_outcomes
from icecheck.mock_server.serving.metadata_files import (
    MetadataFile,
    write_again,
    written_for,
)
from icecheck.mock_server.serving.seed_files import SeedFile
from icecheck.mock_server.serving.seeding import (
    Seed,
    SeedNamespace,
    SeedUnusable,
    read_seed,
    seeded,
)
from icecheck.mock_server.serving.state_documents import (
    StateUnreadable,
    as_bytes,
    exported,
    read_state,
    state_in,
)
from icecheck.mock_server.serving.warehouses import Warehouse, Warehouses, publish_states
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
        since then is opened again. OSError if what is to be kept cannot be written; the states are
        those before then.
        """
        for name in snapshot.states:
            self._warehouses.declare_again(name)
            self._warehouses.open(name)
        with _locked(self._warehouses.all()) as warehouses:
            states = [(w, snapshot.states.get(w.name, WarehouseState())) for w in warehouses]
            for warehouse, state in states:
                try:
                    write_again(warehouse.state, state, warehouse.context.files)
                except OSError:
                    if warehouse.is_kept:  # the next server begins with the files
                        raise
            publish_states(states)

    def empty(self, *warehouses: Warehouse) -> None:
        """Empty warehouses, and forget their metadata files; OSError, and none is, if it cannot."""
        with _locked(warehouses) as held:
            self._empty(held)

    def empty_all(self) -> None:
        """Empty every warehouse; OSError, and none is, if that is to be kept and cannot be."""
        self.empty(*self._warehouses.all())

    def remove(self, warehouse: Warehouse) -> None:
        """Empty and forget a warehouse, also for requests that have found it already; OSError."""
        with _locked([warehouse]) as held:
            self._empty(held)
            for each in held:
                each.removed = True
                self._warehouses.remove(each.name)

    def _empty(self, warehouses: Collection[Warehouse]) -> None:
        publish_states([(each, WarehouseState()) for each in warehouses])
        for each in warehouses:
            self._root.remove_below(each.context.location)

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
        with self._opened(read.warehouses) as found:
            files: dict[str, MetadataFile] = {}
            states: dict[str, tuple[Warehouse, WarehouseState]] = {}
            for name, described in read.warehouses.items():
                warehouse = found[name]
                if warehouse.name in states:
                    raise StateUnreadable(f"warehouse {name!r} is here that of another name")
                state, files = state_in(described, warehouse.context, files)
                states[warehouse.name] = warehouse, state
            try:
                with written_for(files.values()):
                    publish_states(states.values())
            except OSError as error:
                raise StateUnreadable(str(error)) from error

    def seed(self, given: str | Path | Mapping[str, Any] | Seed) -> None:
        """Fill warehouses as a description says; what they hold already stays.

        It is a Seed, a mapping of that form, or a file of it. Raises SeedUnusable for a mistake in
        it, or Problem for a warehouse that cannot be had; nothing is made then.
        """
        match given:
            case Seed():
                self._seed(given)
            case str() | Path():
                file = SeedFile(Path(given))
                try:
                    self._seed(file.seed)
                except SeedUnusable as error:
                    raise file.named(error) from None
            case _:
                self._seed(read_seed(given))

    def _seed(self, seed: Seed) -> None:
        with self._opened(seed.warehouses) as found:
            wanted: dict[str, tuple[Warehouse, list[SeedNamespace]]] = {}
            for name, namespaces in seed.warehouses.items():
                warehouse = found[name]  # two names may mean the same one
                wanted.setdefault(warehouse.name, (warehouse, []))[1].extend(namespaces)
            publish_outcomes([(each, seeded(each, spaces)) for each, spaces in wanted.values()])

    @contextlib.contextmanager
    def _opened(self, names: Iterable[str]) -> Iterator[Mapping[str, Warehouse]]:
        """Open and lock the warehouses of these names; new ones are forgotten after an error."""
        before = {each.name for each in self._warehouses.all()}
        found: dict[str, Warehouse] = {}

        def forget_new() -> None:
            for each in found.values():
                if each.name not in before and not each.state.namespaces:
                    self.remove(each)

        with contextlib.ExitStack() as after_an_error:
            after_an_error.callback(forget_new)
            for name in names:
                found[name] = self._warehouses.asked_for(name)
            with _locked(found.values()):
                for name, each in found.items():
                    if each.removed:
                        raise no_such_warehouse(name)
                yield found
            after_an_error.pop_all()

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


@contextlib.contextmanager
def _locked(warehouses: Iterable[Warehouse]) -> Iterator[Collection[Warehouse]]:
    """Hold the locks of warehouses, always in one order; yields those that are still there."""
    by_name = {each.name: each for each in warehouses}
    with contextlib.ExitStack() as locks:
        for _, warehouse in sorted(by_name.items()):
            locks.enter_context(warehouse.lock)
        yield [each for each in by_name.values() if not each.removed]
