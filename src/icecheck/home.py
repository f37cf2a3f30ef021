"""What many checks share: a namespace for their tables and views, and objects that stay as made."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from icecheck.contract import Changes, Operation
from icecheck.exchange import Exchange, Step
from icecheck.expect import Blocked
from icecheck.target import Namespace

if TYPE_CHECKING:
    from icecheck.client import Catalog

__all__ = ["GROUNDWORK", "Home", "Loan", "Named"]

GROUNDWORK = 0
"""The ordinal of what was made before a check's own exchanges, which count from 1."""


class Named(Protocol):
    """A table or a view."""

    @property
    def name(self) -> str:
        """Its name, without the namespace."""


T = TypeVar("T", bound=Named)


@dataclass(slots=True)
class Loan:
    """A table or view while a check has it, and how it was made."""

    thing: Any
    made: tuple[Exchange, ...]


class Home:
    """A namespace of one session, made when a check first asks for it, and what is lent in it.

    Where making something fails, each check that needs it tries again and is blocked by the same
    requirement: one finding, and bad weather passes. Threads may share it.
    """

    def __init__(self, anybody: "Catalog") -> None:
        session = anybody.session
        worker = f"_{session.worker}" if session.worker else ""
        self._session = session
        self._namespace = (*session.isolation.base, f"{session.owner}_home{worker}")
        self._speaker = anybody.apart(session.probe_id("home"))
        self._made: Exchange | None = None
        self._lenders: dict[str, Catalog] = {}
        self._idle: dict[str, list[Loan]] = {}

    def enter(self, guest: "Catalog") -> Namespace:
        """Return the path of the namespace once it is there; raises like every arrange step."""
        with self._session.sharing:
            if self._made is None:
                with _groundwork(guest, self._speaker):
                    self._make()
                self._made = self._speaker.exchanges[-1]
        guest.stand_on((self._made,))
        return self._namespace

    def lend(self, guest: "Catalog", kind: str, make: Callable[["Catalog"], T]) -> T:
        """Return an object that is as it was made; raises like ``make``.

        Checks that run after one another have the same one, a check that asks twice too.
        """
        if kind not in guest.borrowed:
            with self._session.sharing:
                idle = self._idle.setdefault(kind, [])
                guest.borrowed[kind] = idle.pop() if idle else self._new(guest, kind, make)
        loan = guest.borrowed[kind]
        guest.stand_on(loan.made)
        thing: T = loan.thing
        return thing

    def take_back(self, guest: "Catalog") -> None:
        """Lend on what a check had, unless it failed or sent what may have changed it."""
        operations = guest.session.contract.operations
        sent = [e for e in guest.exchanges if _may_change_something(e, operations)]
        with self._session.sharing:
            for kind, loan in guest.borrowed.items():
                changed = guest.doubted or any(_names(e, loan.thing.name) for e in sent)
                if not changed:
                    self._idle.setdefault(kind, []).append(loan)
        guest.borrowed.clear()

    def leave(self) -> None:
        """Remove everything; what stays is residue."""
        for speaker in (*self._lenders.values(), self._speaker):
            speaker.undo()

    def _new(self, guest: "Catalog", kind: str, make: Callable[["Catalog"], Any]) -> Loan:
        if kind not in self._lenders:
            self._lenders[kind] = guest.apart(self._session.probe_id(f"shared-{kind}"))
        lender = self._lenders[kind]
        before = len(lender.exchanges)
        with _groundwork(guest, lender):
            thing = make(lender)
        return Loan(thing, tuple(lender.exchanges[before:]))

    def _make(self) -> None:
        speaker = self._speaker
        try:
            speaker.given("createNamespace", lambda: speaker.create_namespace(self._namespace))
        except Blocked:
            # An attempt whose answer was lost has made it; its name is nobody else's.
            if speaker.exchanges[-1].status != 409:
                raise
            speaker.ledger_namespace(self._namespace)


@contextlib.contextmanager
def _groundwork(guest: "Catalog", speaker: "Catalog") -> Iterator[None]:
    """Let a check be blocked by what is made for it as by its own arrange steps."""
    before = len(speaker.exchanges)
    try:
        yield
    except Blocked as blocked:
        guest.stand_on(speaker.exchanges[before:])
        raise Blocked(blocked.by, blocked.reason, exchange=GROUNDWORK) from None


def _may_change_something(exchange: Exchange, operations: Mapping[str, Operation]) -> bool:
    operation = None if exchange.operation is None else operations.get(exchange.operation)
    harmless = operation is not None and operation.facts.changes is not Changes.OBJECTS
    if exchange.step is Step.UNDO or harmless:
        return False
    refused = exchange.status is not None and 400 <= exchange.status < 500
    return exchange.method not in {"GET", "HEAD"} and not refused


def _names(exchange: Exchange, name: str) -> bool:
    # The names of a run are letters, digits and underscores: written the same everywhere.
    return name in exchange.url or name.encode() in (exchange.request_body or b"")
