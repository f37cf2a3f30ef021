"""Shared setup of the checks: a namespace for their tables and views, and reusable objects."""

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from icecheck.client.catalog import Catalog
from icecheck.client.session import Session
from icecheck.client.shared_objects import SETUP_ORDINAL, Named, SharedObject
from icecheck.replies.expect import Blocked
from icecheck.targets.target import Namespace
from icecheck.wire.exchange import Exchange

T = TypeVar("T", bound=Named)


class SharedSetup:
    """Namespaces of one session, made when a check first asks for them, and the objects lent.

    Where a step fails, each check that needs it tries again and is blocked by the same requirement:
    this gives one finding, and a temporary failure blocks no later check. Only the thread that
    holds ``Session.sharing`` may use it.
    """

    def __init__(self, catalog: Catalog) -> None:
        session = catalog.session
        self._session = session
        self._maker = catalog.apart(session.probe_id("home"))
        self._made: dict[str, Exchange] = {}
        self._lenders: dict[str, Catalog] = {}
        self._idle: dict[str, list[SharedObject]] = {}
        self._again: dict[str, list[SharedObject]] = {}
        """Every object of a kind, for replays: they lend one whatever has become of it."""

    def namespace(
        self, borrower: Catalog, name: str, make: Callable[[Catalog, Namespace], None]
    ) -> Namespace:
        """Make a namespace if it is not there yet, and return its path; raises like ``make``."""
        session = self._session
        worker = f"_{session.worker}" if session.worker else ""
        namespace = (*session.isolation.base, f"{session.owner}_{name}{worker}")
        if name not in self._made:
            with _blamed_on(borrower, self._maker):
                make(self._maker, namespace)
            self._made[name] = self._shown(self._maker.exchanges[-1])
        borrower.borrowed.note_setup((self._made[name],))
        return namespace

    def lend(self, borrower: Catalog, kind: str, make: Callable[[Catalog], T]) -> T:
        """Lend an object that is as it was made, and return it; raises like ``make``.

        Checks that run after one another get the same object, and so does a check that asks twice.
        """
        borrowed = borrower.borrowed
        if kind not in borrowed.objects:
            idle = self._idle.setdefault(kind, [])
            shared = self._recorded_for(borrower, kind, make) or (
                idle.pop() if idle else self._new(borrower, kind, make)
            )
            borrowed.objects[kind] = shared
        shared = borrowed.objects[kind]
        borrowed.note_setup(shared.made)
        thing: T = shared.thing
        return thing

    def remove(self) -> None:
        """Remove everything; objects that cannot be removed are residue."""
        for maker in (*self._lenders.values(), self._maker):
            maker.undo()

    def _recorded_for(
        self, borrower: Catalog, kind: str, make: Callable[[Catalog], T]
    ) -> SharedObject | None:
        """Return the object that a recorded check has borrowed, made if need be; None in a run.

        Which of several objects a check got was a matter of its threads, and whether one was handed
        on of how other checks ended; its requests name it, or the setup that is told of a finding.
        """
        recorded, made = self._session.recorded, self._again.setdefault(kind, [])
        if recorded is None:
            return None
        check, maker = borrower.check_id, self._session.probe_id(f"shared-{kind}")
        names = recorded.names(check, borrower.apart(maker).own_names)
        searches: list[tuple[Callable[[SharedObject], bool], Callable[[], bool]]] = [
            (partial(_is_named, name), partial(recorded.goes_on, maker)) for name in names
        ] or [
            (
                lambda each: recorded.shows(check, each.made),
                partial(recorded.shows_next, check, maker),
            )
        ]
        for is_wanted, may_come in searches:
            while (found := next(filter(is_wanted, made), None)) is None and may_come():
                self._new(borrower, kind, make)
            if found is not None:
                idle = self._idle.setdefault(kind, [])
                self._idle[kind] = [other for other in idle if other is not found]
                return found
        return None

    def _new(self, borrower: Catalog, kind: str, make: Callable[[Catalog], T]) -> SharedObject:
        if kind not in self._lenders:
            self._lenders[kind] = borrower.apart(self._session.probe_id(f"shared-{kind}"))
        lender = self._lenders[kind]
        before = len(lender.exchanges)
        with _blamed_on(borrower, lender):
            thing = make(lender)

        def give_back(used: SharedObject) -> None:
            with self._session.sharing:
                self._idle.setdefault(kind, []).append(used)

        made = tuple(map(self._shown, lender.exchanges[before:]))
        shared = SharedObject(thing, made, give_back)
        self._again.setdefault(kind, []).append(shared)
        return shared

    def _shown(self, made: Exchange) -> Exchange:
        """Return an exchange without its secrets: later they may be known by value no more."""
        return self._session.connection.redactor.exchange(made)


def setup_namespace(
    catalog: Catalog, name: str, make: Callable[[Catalog, Namespace], None]
) -> Namespace:
    """Return a namespace of the shared setup, made if it is not there; raises like ``make``."""
    with _setup_of(catalog) as setup:
        return setup.namespace(catalog, name, make)


def lent_object(catalog: Catalog, kind: str, make: Callable[[Catalog], T]) -> T:
    """Return an object of a kind that checks share, as it was made; raises like ``make``."""
    with _setup_of(catalog) as setup:
        return setup.lend(catalog, kind, make)


@contextlib.contextmanager
def _setup_of(catalog: Catalog) -> Iterator[SharedSetup]:
    """Yield the shared setup of a catalog's session; it is removed with the session.

    No other thread removes it meanwhile: nobody would remove what it made after that.
    """
    session = catalog.session
    with session.sharing:
        if not isinstance(session.shared, SharedSetup):
            session.shared = SharedSetup(catalog)
            session.at_close.callback(remove_shared, session)
        yield session.shared


def remove_shared(session: Session) -> None:
    """Remove the shared setup, if any; the next check that asks for it gets a new one."""
    with session.sharing:
        shared, session.shared = session.shared, None
        if isinstance(shared, SharedSetup):
            shared.remove()


def _is_named(name: str, shared: SharedObject) -> bool:
    thing: Named = shared.thing
    return thing.name == name


@contextlib.contextmanager
def _blamed_on(borrower: Catalog, maker: Catalog) -> Iterator[None]:
    """Attribute a failed shared step to the check that needs it, like its own arrange steps."""
    before = len(maker.exchanges)
    try:
        yield
    except Blocked as blocked:
        borrower.borrowed.note_setup(maker.exchanges[before:])
        raise Blocked(blocked.by, blocked.reason, exchange=SETUP_ORDINAL) from None
