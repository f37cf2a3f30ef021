"""Objects that several checks use one after another, as long as they stay as they were made."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from icecheck.contract import Changes, Operation
from icecheck.targets.target import Namespace
from icecheck.wire.exchange import Exchange, Step

SETUP_ORDINAL = 0
"""The ordinal of the exchanges that made the shared setup; a check's own count from 1."""


class Named(Protocol):
    """A table, a view or a namespace."""

    @property
    def name(self) -> str:
        """Its name, without the namespace that holds it."""


class RecordedRun(Protocol):
    """The recording of a run, where its answers are given to the same checks again.

    A run decides some things by the order in which its threads come, or by the files of the machine
    that it is on. A replay takes them from the recording.
    """

    def names(self, check_id: str, beginning: str) -> Sequence[str]:
        """Return the names that begin like this in a check's requests, as they come.

        Those of requests that were not replayed yet come first: a check that is judged several
        times may borrow another object each time.
        """

    def shows(self, check_id: str, made: Sequence[Exchange]) -> bool:
        """Return whether the setup that is told of a check's finding has these exchanges."""

    def shows_next(self, check_id: str, maker: str) -> bool:
        """Return whether that setup has the next request of a maker that was not replayed yet."""

    def goes_on(self, check_id: str) -> bool:
        """Return whether the check has sent requests that were not replayed yet."""

    def folder_for(self, check_id: str, table: str) -> Path | None:
        """Return a folder in place of that of a table's files; None if the run could not read it.

        No file beside it is ever written: where a recording says that files are, is not trusted.
        """


@dataclass(frozen=True, slots=True)
class LentNamespace:
    """A namespace that checks share, and the names of what it was filled with."""

    path: Namespace
    holds: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its last level."""
        return self.path[-1]


@dataclass(frozen=True, slots=True)
class SharedObject:
    """An object that a check has borrowed: how it was made, and how it is returned."""

    thing: Any
    made: tuple[Exchange, ...]
    give_back: Callable[["SharedObject"], None]

    def may_be_changed_by(
        self, exchanges: Iterable[Exchange], operations: Mapping[str, Operation]
    ) -> bool:
        """Return whether one of the exchanges named the object and may have changed something."""
        return any(
            _may_change_something(exchange, operations) and _names(exchange, self.thing.name)
            for exchange in exchanges
        )


class Borrowed:
    """The shared objects that a check has borrowed, and the exchanges that made what it only uses.

    ``objects`` are by the kind under which checks share them.
    """

    def __init__(self) -> None:
        self.objects: dict[str, SharedObject] = {}
        self.setup: list[Exchange] = []

    def note_setup(self, made: Iterable[Exchange]) -> None:
        """Remember the exchanges that made an object which the check only uses."""
        self.setup += [exchange for exchange in made if exchange not in self.setup]

    def has(self, thing: object) -> bool:
        """Return whether an object is one that the check has borrowed."""
        return any(shared.thing is thing for shared in self.objects.values())

    def hand_on(
        self, exchanges: Iterable[Exchange], operations: Mapping[str, Operation], *, doubted: bool
    ) -> None:
        """Return the objects that none of the exchanges may have changed; none that are doubted."""
        sent = [*exchanges]
        for shared in self.objects.values():
            if not doubted and not shared.may_be_changed_by(sent, operations):
                shared.give_back(shared)
        self.objects.clear()


def _may_change_something(exchange: Exchange, operations: Mapping[str, Operation]) -> bool:
    operation = None if exchange.operation is None else operations.get(exchange.operation)
    harmless = operation is not None and operation.facts.changes is not Changes.OBJECTS
    if exchange.step is Step.UNDO or harmless:
        return False
    refused = exchange.status is not None and 400 <= exchange.status < 500
    return exchange.method not in {"GET", "HEAD"} and not refused


def _names(exchange: Exchange, name: str) -> bool:
    # The run's names are letters, digits and underscores, so they need no escaping anywhere.
    return name in exchange.url or name.encode() in (exchange.request_body or b"")
