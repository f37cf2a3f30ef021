"""Removes what a run has left: exactly the objects in its ledger, after a look at each."""

from dataclasses import dataclass, replace

import httpx

from icecheck.client.catalog import Catalog
from icecheck.client.isolation import OWNER
from icecheck.client.opening import open_session
from icecheck.client.session import Session
from icecheck.ownership.ledger import Entry
from icecheck.ownership.ledger_file import WrittenLedger
from icecheck.ownership.removal import is_gone, load_object
from icecheck.replies.expect import Reply, Violation
from icecheck.replies.matching import ABSENT, find
from icecheck.targets.target import Target, UsageError
from icecheck.wire.redaction import Redactor
from icecheck.wire.retry import trouble_of
from icecheck.wire.unreachable import REMOVALS_MAX, Unreachable


@dataclass(frozen=True, slots=True)
class Cleaned:
    """How many objects were deleted, how many were gone already, and which remain."""

    deleted: int
    missing: int
    residue: tuple[str, ...]


def clean(
    target: Target,
    written: WrittenLedger,
    transport: httpx.BaseTransport | None = None,
    redactor: Redactor | None = None,
) -> Cleaned:
    """Remove the objects in a ledger, newest first.

    An object whose name does not contain the run's token is never touched, whatever the file says,
    nor a namespace that names another run as its owner. Raises UsageError for the ledger of another
    catalog, and for names of another pattern than the target's: else a forged file could call any
    name a run's own. Raises TargetUnusable when there is no catalog.
    """
    if written.url != target.base_url:
        raise UsageError(
            f"this ledger is of {written.url}, not of {target.base_url}: "
            "give the URL as it was given to the run"
        )
    if written.name_pattern != target.name_pattern:
        raise UsageError(
            f"the names of this ledger's run begin as {written.name_pattern!r}: if that run was "
            f"yours, add --name-pattern '{written.name_pattern}'"
        )
    # Flat isolation creates nothing to find out how to work here.
    session = open_session(
        replace(target, isolation="flat", namespace=()),
        run_id=written.run_id,
        transport=transport,
        redactor=redactor,
    )
    try:
        missing = _remove_each(session, written.entries)
    finally:
        session.close()
    left = session.summary()
    return Cleaned(session.deleted, missing, tuple(left.residue + left.foreign))


def remove_again(session: Session) -> None:
    """Try once more to remove what the run's checks could not: a temporary failure may be over.

    If that meets trouble on the way too, it is tried again; a refusal is final.
    """
    for number in range(1, REMOVALS_MAX + 1):
        if session.target.accept_residue or not session.stranded:
            return
        name = "salvage" if number == 1 else f"salvage-{number}-"
        catalog = Catalog(session, session.probe_id(name))
        for entry in session.stranded:
            catalog.ledger.add(entry)
        session.created -= len(catalog.ledger)
        session.stranded.clear()
        catalog.undo()
        if not catalog.exchanges or trouble_of(catalog.exchanges[-1]) is None:
            return


def _remove_each(session: Session, entries: tuple[Entry, ...]) -> int:
    """Look at each object, newest first, and remove it; return how many were gone already."""
    missing = 0
    left = list(entries)
    try:
        while left:
            catalog = Catalog(session, "clean")
            catalog.ledger.add(left[-1])
            for entry in catalog.ledger:
                found = load_object(catalog, entry)
                if found is not None and is_gone(found):
                    catalog.ledger.forget(entry, deleted=False)
                    missing += 1
                elif found is not None and _is_anothers(found, session.owner):
                    catalog.ledger.forget(entry, deleted=False)
                    session.foreign.append(str(entry))
            catalog.undo()
            left.pop()
    except Unreachable:
        session.stranded += left
    return missing


def _is_anothers(reply: Reply, owner: str) -> bool:
    """Return whether a namespace names another run as its owner; most name none."""
    try:
        said = find(reply.json(), ("properties", OWNER))
    except Violation:
        return False
    return said is not ABSENT and bool(said != owner)
