"""What many checks share: a namespace for their tables and views, and objects that stay as made."""

import contextlib
from collections.abc import Callable, Iterator
from typing import TypeVar

from icecheck.client.catalog import Catalog
from icecheck.client.session import Session
from icecheck.client.shared_objects import GROUNDWORK, Named, SharedObject
from icecheck.replies.expect import Blocked
from icecheck.target.target import Namespace
from icecheck.wire.exchange import Exchange

__all__ = ["SharedSetup", "remove_shared", "shared_setup"]

T = TypeVar("T", bound=Named)


class SharedSetup:
    """A namespace of one session, made when a check first asks for it, and what is lent in it.

    Where making something fails, each check that needs it tries again and is blocked by the same
    requirement: one finding, and a passing trouble does no harm. Threads may share it.
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
        """Return the path of the namespace once it is there; raises like ``make``."""
        with self._session.sharing:
            if self._made is None:
                with _groundwork(guest, self._speaker):
                    make(self._speaker, self._namespace)
                self._made = self._speaker.exchanges[-1]
        guest.stand_on((self._made,))
        return self._namespace

    def lend(self, guest: Catalog, kind: str, make: Callable[[Catalog], T]) -> T:
        """Return an object that is as it was made; raises like ``make``.

        Checks that run after one another have the same one, a check that asks twice too.
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
        """Remove everything; what stays is residue."""
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
    """Return what the checks of a catalog's session share; it is removed with the session."""
    session = catalog.session
    with session.sharing:
        if not isinstance(session.shared, SharedSetup):
            session.shared = SharedSetup(catalog)
            session.at_close.callback(remove_shared, session)
        return session.shared


def remove_shared(session: Session) -> None:
    """Remove what the checks share, if anything; who asks for it again gets something new."""
    with session.sharing:
        shared, session.shared = session.shared, None
        if isinstance(shared, SharedSetup):
            shared.remove()


@contextlib.contextmanager
def _groundwork(guest: Catalog, speaker: Catalog) -> Iterator[None]:
    """Let a check be blocked by what is made for it as by its own arrange steps."""
    before = len(speaker.exchanges)
    try:
        yield
    except Blocked as blocked:
        guest.stand_on(speaker.exchanges[before:])
        raise Blocked(blocked.by, blocked.reason, exchange=GROUNDWORK) from None
