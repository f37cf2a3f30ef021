"""Removes what a check has made, newest first: objects in its ledger or with the run's token."""

from collections.abc import Sequence
from typing import Any, Protocol

from icecheck.contract import Action, Contract, Object
from icecheck.ownership.ledger import Entry, Kind, Ledger
from icecheck.replies.expect import Reply, Violation
from icecheck.targets.target import Namespace
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.unreachable import Unreachable

_KINDS = (Object.NAMESPACE, Object.TABLE, Object.VIEW)
# With these statuses, an earlier attempt may have made the object.
_UNSURE = frozenset({408, 409, 429})
_PAGES_MAX = 100


class Remover(Protocol):
    """The operations of a catalog that removal needs."""

    ledger: Ledger

    @property
    def contract(self) -> Contract:
        """The specification that the run holds to."""

    @property
    def exchanges(self) -> Sequence[Exchange]:
        """The exchanges with the catalog so far."""

    def claims(self, operation_id: str) -> bool:
        """Return whether the catalog claims to serve an operation."""

    @property
    def keeps_full_namespaces(self) -> bool:
        """Whether the catalog is known to refuse to drop a namespace that holds something."""

    def call(
        self,
        operation_id: str,
        names: dict[str, str | Namespace],
        *,
        query: Sequence[tuple[str, str]] = (),
    ) -> Reply:
        """Send one request."""

    def list_namespaces(
        self, parent: Namespace | None = None, query: Sequence[tuple[str, str]] = ()
    ) -> Reply:
        """List the namespaces under another, or at the top."""


def remove_all(catalog: Remover) -> None:
    """Remove the objects in the ledger; those that cannot be removed stay in it; never raises."""
    try:
        for entry in catalog.ledger.newest_first():
            _remove(catalog, entry)
    except Unreachable:
        pass  # what is still in the ledger is reported as residue


def _remove(catalog: Remover, entry: Entry) -> None:
    is_namespace = entry.kind == "namespace"
    reply = _remove_namespace(catalog, entry) if is_namespace else _drop(catalog, entry)
    if reply is not None and reply.status == 404 and _still_loads(catalog, entry):
        return
    if reply is not None and (reply.ok or reply.status == 404):
        catalog.ledger.forget(entry, deleted=True)
    elif _was_never_made(catalog, entry):
        # The catalog may answer a missing object with another status than 404.
        catalog.ledger.remarks.pop(entry, None)
        catalog.ledger.forget(entry, deleted=False)


def _still_loads(catalog: Remover, entry: Entry) -> bool:
    """Return whether an object is there although its drop was answered 404 (verdict-rules 19)."""
    found = load_object(catalog, entry)
    return found is not None and found.ok


def _remove_namespace(catalog: Remover, entry: Entry) -> Reply | None:
    """Drop a namespace; None if it is kept because it holds objects that the run has not made.

    Unless the catalog is known to refuse to drop a full namespace, its content is read first.
    """
    reply: Reply | None = None
    if catalog.keeps_full_namespaces:
        reply = _drop(catalog, entry)
        # 409 is due for a namespace that holds something; some catalogs answer another 4xx.
        if not 400 <= reply.status < 500 or reply.status == 404:
            return reply
    found = _contents(catalog, entry)
    own = [one for one in found or () if one.kind != "namespace" and catalog.ledger.is_own(one)]
    # A catalog that folds names lists objects under other names than the ledger has.
    dropped = [_drop(catalog, one).ok for one in own]
    if found is None:
        return reply
    for other in found:
        if not catalog.ledger.is_own(other):
            catalog.ledger.remarks[entry] = f"it holds {other}, which this run has not made"
            return None
    return reply if reply is not None and not (dropped and all(dropped)) else _drop(catalog, entry)


def _contents(catalog: Remover, entry: Entry) -> list[Entry] | None:
    """Return the content of a namespace, or None where the catalog does not list it."""
    contents: list[Entry] = []
    for kind in _KINDS:
        found = _listed_in(catalog, kind, entry.namespace)
        if found is None:
            words = f"whether it holds a {kind} of somebody else cannot be seen"
            catalog.ledger.remarks[entry] = words
            return None
        contents += found
    return contents


def _was_never_made(catalog: Remover, entry: Entry) -> bool:
    """Return whether an object is missing by its load, or by the listing of its namespace.

    If the catalog refuses both, an object whose creation it refused was not made.
    """
    found = load_object(catalog, entry)
    if found is not None and (found.ok or is_gone(found)):
        return not found.ok
    listed = _is_listed(catalog, entry)
    return _was_refused(catalog, entry) if listed is None else not listed


def _was_refused(catalog: Remover, entry: Entry) -> bool:
    """Return whether there were requests that could make such an object, and all were refused."""
    found = [e for e in catalog.exchanges if e.operation in _makers(catalog, entry.kind)]
    asked = [e for e in found if e.step is not Step.UNDO]
    return bool(asked) and all(_is_refusal(e.status or 0) for e in asked)


def _makers(catalog: Remover, kind: Kind) -> frozenset[str]:
    """Return the operations that can make an object of a kind."""
    return frozenset(
        each.id
        for each in catalog.contract.operations.values()
        if each.facts.object == kind and each.facts.creates is not None
    )


def _is_refusal(status: int) -> bool:
    return status == 501 or (400 <= status < 500 and status not in _UNSURE)


def _is_listed(catalog: Remover, entry: Entry) -> bool | None:
    """Return whether a listing names an object; None without a complete listing."""
    operation_id = catalog.contract.operation_that(Action.LIST, entry.kind)
    if not catalog.claims(operation_id):
        return None
    wanted: Any = [*entry.namespace]
    if entry.kind == "namespace":
        reply = catalog.list_namespaces(entry.namespace[:-1] or None)
        member = "namespaces"
    else:
        reply = catalog.call(operation_id, {"namespace": entry.namespace})
        member, wanted = "identifiers", {"namespace": wanted, "name": entry.name}
    try:
        body = reply.json() if reply.status == 200 else None
        if body is None:
            return None
        return True if wanted in body[member] else None if body.get("next-page-token") else False
    except (AttributeError, KeyError, TypeError, Violation):
        return None


def load_object(catalog: Remover, entry: Entry) -> Reply | None:
    """Return the answer to a load of an object; None where the catalog claims no load for it."""
    loads = catalog.contract.operation_that(Action.LOAD, entry.kind)
    if not catalog.claims(loads):
        return None
    names: dict[str, str | Namespace] = {"namespace": entry.namespace}
    if entry.name:
        names[entry.kind] = entry.name
    return catalog.call(loads, names)


def is_gone(reply: Reply) -> bool:
    """Return whether an answer says that there is no such object."""
    return reply.status in {404, 410}


def _drop(catalog: Remover, entry: Entry) -> Reply:
    names: dict[str, str | Namespace] = {"namespace": entry.namespace}
    if entry.kind != "namespace":
        names[entry.kind] = entry.name
    return catalog.call(catalog.contract.operation_that(Action.DROP, entry.kind), names)


def _listed_in(catalog: Remover, kind: Kind, namespace: Namespace) -> list[Entry] | None:
    """Return the objects of a kind in a namespace, or None where the catalog does not list them."""
    operation_id = catalog.contract.operation_that(Action.LIST, kind)
    if not catalog.claims(operation_id):
        # If no operation can make such an object, there is none.
        return None if any(map(catalog.claims, _makers(catalog, kind))) else []
    found: list[Entry] = []
    token = ""
    for _ in range(_PAGES_MAX):
        reply = _page(catalog, kind, namespace, token)
        if is_gone(reply):
            return found
        try:
            body = reply.json() if reply.ok else None
            if body is None:
                return None
            found += [e for e in _entries(kind, body) if _is_below(namespace, e)]
            token = body.get("next-page-token") or ""
        except (AttributeError, KeyError, TypeError, Violation):
            return None
        if not token:
            return found
    return None


def _page(catalog: Remover, kind: Kind, namespace: Namespace, token: str) -> Reply:
    query = (("pageToken", token),) if token else ()
    if kind == "namespace":
        return catalog.list_namespaces(namespace, query)
    operation_id = catalog.contract.operation_that(Action.LIST, kind)
    return catalog.call(operation_id, {"namespace": namespace}, query=query)


def _entries(kind: Kind, body: Any) -> list[Entry]:
    if kind == "namespace":
        return [Entry(kind, tuple(map(str, levels))) for levels in body.get("namespaces") or ()]
    named = body.get("identifiers") or ()
    return [Entry(kind, tuple(map(str, each["namespace"])), str(each["name"])) for each in named]


def _is_below(namespace: Namespace, entry: Entry) -> bool:
    """Return whether an object is directly in a namespace, whatever the case of the names.

    A catalog with one level of namespaces may list all of them.
    """
    around = entry.namespace[:-1] if entry.kind == "namespace" else entry.namespace
    return [level.casefold() for level in around] == [level.casefold() for level in namespace]
