"""Shared setup of the checks: a namespace for their tables and views, and reusable objects."""

import contextlib
from collections.abc import Callable, Iterator
from typing import TypeVar

from icecheck.client.catalog import Catalog
from icecheck.client.session import Session
from icecheck.client.shared_objects import GROUNDWORK, Named, SharedObject
from icecheck.replies.expect import Blocked
from icecheck.targets.target import Namespace
from icecheck.wire.exchange import Exchange

__all__ = ["SharedSetup", "remove_shared", "shared_setup"]

T = TypeVar("T", bound=Named)


class SharedSetup:
    """A namespace of one session, made when a check first asks for it, and the objects lent in it.

    Where a step fails, each check that needs it tries again and is blocked by the same requirement:
    this gives one finding, and a temporary failure blocks no later check. Threads may share it.
    """

    def __init__(self, anybody: Catalog) -> None:
        session = anybody.session
        worker = f"_{session.worker}" if session.worker else ""
        self._session = session
        self._namespace = (*session.isolation.base, f"{session.owner}_home{worker}")
        self._speaker = anybody.apart(session.probe_id("home"))
        self._made: Exchange | None = None
        self._lenders: dict[str, Catalog] = {}
        self._idle: dict[str, list[SharedObject]] = {}

    def enter(self, guest: Catalog, make: Callable[[Catalog, Namespace], None]) -> Namespace:
        """Make the namespace if it is not there yet, and return its path; raises like ``make``."""
        with self._session.sharing:
            if self._made is None:
                with _groundwork(guest, self._speaker):
                    make(self._speaker, self._namespace)
                self._made = self._speaker.exchanges[-1]
        guest.stand_on((self._made,))
        return self._namespace

    def lend(self, guest: Catalog, kind: str, make: Callable[[Catalog], T]) -> T:
        """Lend an object that is as it was made, and return it; raises like ``make``.

        Checks that run after one another get the same object, and so does a check that asks twice.
        """
        if kind not in guest.borrowed:
            with self._session.sharing:
                idle = self._idle.setdefault(kind, [])
                guest.borrowed[kind] = idle.pop() if idle else self._new(guest, kind, make)
        borrowed = guest.borrowed[kind]
        guest.stand_on(borrowed.made)
        thing: T = borrowed.thing
        return thing

    def remove(self) -> None:
        """Remove everything; objects that cannot be removed are residue."""
        for speaker in (*self._lenders.values(), self._speaker):
            speaker.undo()

    def _new(self, guest: Catalog, kind: str, make: Callable[[Catalog], T]) -> SharedObject:
        if kind not in self._lenders:
            self._lenders[kind] = guest.apart(self._session.probe_id(f"shared-{kind}"))
        lender = self._lenders[kind]
        before = len(lender.exchanges)
        with _groundwork(guest, lender):
            thing = make(lender)

        def hand_on(used: SharedObject) -> None:
            with self._session.sharing:
                self._idle.setdefault(kind, []).append(used)

        return SharedObject(thing, tuple(lender.exchanges[before:]), hand_on)


def shared_setup(catalog: Catalog) -> SharedSetup:
    """Return the shared setup of a catalog's session; it is removed with the session."""
    session = catalog.session
    with session.sharing:
        if not isinstance(session.shared, SharedSetup):
            session.shared = SharedSetup(catalog)
            session.at_close.callback(remove_shared, session)
        return session.shared


def remove_shared(session: Session) -> None:
    """Remove the shared setup, if any; the next check that asks for it gets a new one."""
    with session.sharing:
        shared, session.shared = session.shared, None
        if isinstance(shared, SharedSetup):
            shared.remove()


@contextlib.contextmanager
def _groundwork(guest: Catalog, speaker: Catalog) -> Iterator[None]:
    """Attribute a failed shared step to the check that needs it, like its own arrange steps."""
    before = len(speaker.exchanges)
    try:
        yield
    except Blocked as blocked:
        guest.stand_on(speaker.exchanges[before:])
        raise Blocked(blocked.by, blocked.reason, exchange=GROUNDWORK) from None
