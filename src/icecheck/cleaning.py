"""Removes what a run has left behind: exactly what its ledger names, after a look at each."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import httpx

from icecheck.client import Catalog
from icecheck.expect import Unreachable
from icecheck.ledger import Entry
from icecheck.ledger_file import WrittenLedger
from icecheck.session import Session, open_session
from icecheck.target import Namespace, Target, UsageError

__all__ = ["Cleaned", "clean", "salvage"]

_LOADS = {"namespace": "loadNamespaceMetadata", "table": "loadTable", "view": "loadView"}


@dataclass(frozen=True, slots=True)
class Cleaned:
    """How many objects were deleted, how many were gone already, and what stays."""

    deleted: int
    missing: int
    residue: tuple[str, ...]


def clean(
    target: Target, written: WrittenLedger, transport: httpx.BaseTransport | None = None
) -> Cleaned:
    """Remove what a ledger names, newest first.

    An object whose name does not bear the run's token is never touched, whatever the file says.
    Raises UsageError for the ledger of another catalog, TargetUnusable when there is none.
    """
    if written.url != target.base_url:
        raise UsageError(
            f"this ledger is of {written.url}, not of {target.base_url}: "
            "give the URL as it was given to the run"
        )
    # Flat: nothing is made to find out how to work here.
    session = open_session(
        replace(target, isolation="flat", namespace=()),
        run_id=written.run_id,
        transport=transport,
    )
    try:
        catalog = Catalog(session, "clean")
        for entry in written.entries:
            catalog.ledger.add(entry)
        missing = _strike_out_missing(catalog)
        catalog.undo()
    finally:
        session.close()
    return Cleaned(session.deleted, missing, tuple(session.residue + session.foreign))


def salvage(session: Session) -> None:
    """Try once more to remove what the checks of a run had to leave: the weather may be better."""
    if session.target.accept_residue or not session.stranded:
        return
    catalog = Catalog(session, session.probe_id("salvage"))
    for entry in session.stranded:
        catalog.ledger.add(entry)
    session.created -= len(catalog.ledger)
    session.stranded.clear()
    catalog.undo()


def _strike_out_missing(catalog: Catalog) -> int:
    """Forget what is not there any more; return how much that was."""
    missing = 0
    for entry in catalog.ledger.newest_first():
        if not catalog.claims(_LOADS[entry.kind]):
            continue
        try:
            status = catalog.call(_LOADS[entry.kind], _names(entry)).status
        except Unreachable:
            continue
        if status == 404:
            catalog.ledger.forget(entry, deleted=False)
            missing += 1
    return missing


def _names(entry: Entry) -> Mapping[str, str | Namespace]:
    names: dict[str, str | Namespace] = {"namespace": entry.namespace}
    if entry.name:
        names[entry.kind] = entry.name
    return names
