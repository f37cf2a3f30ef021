"""Gates: hold requests of some kind until a test lets them go, in the order that it wants.

A race that happens once in ten thousand runs happens every time behind a gate: hold two commits,
let the second go first, and see what the client of the first one does.
"""

import contextlib
import itertools
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from icecheck.mock_server.core.context import Gate
from icecheck.mock_server.protocol.served_contract import KNOWN

RELEASE_SECONDS = 30.0
"""How long a release waits for a request that it let go to be handled."""


class UnknownGate(ValueError):
    """Raised for a gate that cannot be; the message says what to write instead."""


class GateRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The requests that a gate holds: of an operation, in a warehouse, a namespace, for a table.

    The first `holds` of them are held; later ones pass. `phase` "before" holds a request before
    anything of it is applied, "after" holds its answer.
    """

    operation: Annotated[str, Meta(extra_json_schema={"enum": sorted(KNOWN.operations)})]
    warehouse: str = ""
    namespace: str = ""
    table: str = ""
    phase: Literal["before", "after"] = "before"
    holds: Annotated[int, Meta(ge=1)] = 2


class HeldRequest:
    """A request that waits at a gate; `number` counts arrivals from 1."""

    __slots__ = ("_handled", "gate", "number", "path", "phase")

    def __init__(self, number: int, path: str, phase: Literal["before", "after"]) -> None:
        self.number = number
        self.path = path
        self.phase = phase
        self.gate = Gate()
        self._handled = threading.Event()

    @property
    def is_handled(self) -> bool:
        """Whether it was let go, and its answer is made and sent on its way."""
        return self._handled.is_set()

    def wait(self, timeout: float) -> bool:
        """Wait until it is handled; return whether it is, after so many seconds."""
        return self._handled.wait(timeout)

    def handled(self) -> None:
        """Say that its answer is made and, at a gate for answers, may be sent."""
        self._handled.set()

    def let_go(self, timeout: float) -> None:
        """Let it go, and wait until it is handled; TimeoutError if it is not in time."""
        self.gate.release()
        if not self.wait(timeout):
            raise TimeoutError(f"request {self.number} was let go and not handled in {timeout} s")


class RequestGate:
    """One gate: the requests that have arrived, and whether it holds more."""

    __slots__ = ("_arrived", "_changed", "_open", "id", "rule")

    def __init__(self, id_: str, rule: GateRule) -> None:
        self.id = id_
        self.rule = rule
        self._changed = threading.Condition()
        self._arrived: list[HeldRequest] = []
        self._open = False

    @property
    def arrived(self) -> tuple[HeldRequest, ...]:
        """The requests that it has held so far, those that were let go among them."""
        return tuple(self._arrived)

    def arrive(self, path: str) -> HeldRequest | None:
        """Hold a request; None if it may pass."""
        with self._changed:
            if self._open or len(self._arrived) >= self.rule.holds:
                return None
            held = HeldRequest(len(self._arrived) + 1, path, self.rule.phase)
            self._arrived.append(held)
            self._changed.notify_all()
        return held

    def wait_for(self, count: int | None = None, *, timeout: float = 10.0) -> None:
        """Wait until so many requests have arrived (None: all that it holds); TimeoutError else."""
        wanted = self.rule.holds if count is None else count
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._arrived) >= wanted, timeout):
                raise TimeoutError(
                    f"{len(self._arrived)} of {wanted} requests of {self.rule.operation} came to "
                    f"the gate in {timeout} s"
                )

    def release(
        self, order: Sequence[int] | None = None, *, timeout: float = RELEASE_SECONDS
    ) -> None:
        """Let requests go by their numbers, each after the one before it was handled.

        Without an order all go, in that of their arrival, and the gate is open from then on. Raises
        UnknownGate for a number that has not arrived, before any is let go.
        """
        with self._changed:
            if order is None:
                self._open = True
            known = {held.number: held for held in self._arrived}
        unknown = [number for number in order or () if number not in known]
        if unknown:
            raise UnknownGate(f"request {unknown[0]} is not at the gate: {len(known)} have arrived")
        for number in known if order is None else order:
            known[number].let_go(timeout)

    def open(self) -> None:
        """Let everything go at once, and wait for nothing."""
        with self._changed:
            self._open = True
            waiting = self.arrived
        for held in waiting:
            held.gate.release()


class Gates:
    """The gates of one server, tried in the order in which they were made."""

    __slots__ = ("_gates", "_lock", "_numbers")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._gates: tuple[RequestGate, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is any gate: without one, requests do not look for gates."""
        return bool(self._gates)

    def all(self) -> tuple[RequestGate, ...]:
        """Return every gate."""
        return self._gates

    def get(self, id_: str) -> RequestGate | None:
        """Return the gate with an id, if it is still there."""
        return next((gate for gate in self._gates if gate.id == id_), None)

    def add(self, operation: str | GateRule, **settings: Any) -> RequestGate:
        """Make a gate; raises UnknownGate for an operation or a setting that does not exist."""
        rule = operation if isinstance(operation, GateRule) else _rule(operation, settings)
        if rule.operation not in KNOWN.operations:
            raise UnknownGate(
                f"there is no operation {rule.operation!r}; see `icecheck list operations`"
            )
        with self._lock:
            gate = RequestGate(f"g-{next(self._numbers)}", rule)
            self._gates = (*self._gates, gate)
        return gate

    def remove(self, gate: RequestGate) -> None:
        """Remove a gate; what waits at it goes."""
        with self._lock:
            self._gates = tuple(each for each in self._gates if each is not gate)
        gate.open()

    def clear(self, *, timeout: float = 0.0) -> None:
        """Remove every gate; what waits goes, and has so many seconds to be handled."""
        gates = self._gates
        for gate in gates:
            self.remove(gate)
        until = time.monotonic() + timeout
        for held in (each for gate in gates for each in gate.arrived):
            held.wait(max(0.0, until - time.monotonic()))

    def arrive(
        self,
        operation: str,
        warehouse: str,
        namespace: tuple[str, ...],
        name: str,
        path: str,
    ) -> HeldRequest | None:
        """Hold a request at the first gate that holds it; None if it may pass."""
        for gate in self._gates:
            rule = gate.rule
            whole = ".".join((*namespace, name))
            if (
                rule.operation == operation
                and (not rule.warehouse or rule.warehouse == warehouse)
                and (not rule.namespace or rule.namespace == ".".join(namespace))
                and (not rule.table or rule.table in (name, whole))
                and (held := gate.arrive(path)) is not None
            ):
                return held
        return None

    @contextlib.contextmanager
    def during(self, operation: str, settings: dict[str, Any]) -> Iterator[RequestGate]:
        """Make a gate for a block; what waits at its end goes."""
        gate = self.add(operation, **settings)
        try:
            yield gate
        finally:
            self.remove(gate)


def _rule(operation: str, settings: dict[str, Any]) -> GateRule:
    try:
        return msgspec.convert({"operation": operation, **settings}, GateRule)
    except msgspec.ValidationError as error:
        known = ", ".join(GateRule.__struct_fields__)
        raise UnknownGate(f"a gate is made of {known}: {error}") from None
