"""Removes what a check has made: exactly what is in its ledger, newest first."""

from collections.abc import Sequence
from typing import Any, Protocol

from icecheck.exchange import Exchange, Step
from icecheck.expect import Reply, Unreachable, Violation
from icecheck.ledger import Entry, Ledger
from icecheck.target import Namespace

__all__ = ["Remover", "look_at", "remove_all", "says_gone"]

_MAKERS = {
    "namespace": frozenset({"createNamespace"}),
    "table": frozenset(
        {"createTable", "registerTable", "renameTable", "updateTable", "commitTransaction"}
    ),
    "view": frozenset({"createView", "renameView", "registerView"}),
}
# Told to wait, or that the name is taken, nobody knows what an earlier request has made.
_UNSURE = frozenset({408, 409, 429})


class Remover(Protocol):
    """What removing needs of a catalog."""

    ledger: Ledger

    @property
    def exchanges(self) -> Sequence[Exchange]:
        """What was said to it so far."""

    def claims(self, operation_id: str) -> bool:
        """Whether the catalog claims to serve an operation."""

    def call(self, operation_id: str, names: dict[str, str | Namespace]) -> Reply:
        """Send one request."""

    def list_namespaces(self, parent: Namespace | None = None) -> Reply:
        """List the namespaces under another, or at the top."""


def remove_all(catalog: Remover) -> None:
    """Remove what is in the ledger; what cannot be removed stays in it, and nothing is raised."""
    try:
        for entry in catalog.ledger.newest_first():
            _remove(catalog, entry)
    except Unreachable:
        pass  # what is still in the ledger is reported as residue


def _remove(catalog: Remover, entry: Entry) -> None:
    if entry.kind == "namespace":
        reply = _drop_namespace(catalog, entry.namespace)
        # 409 is due where something is in it; there are catalogs that say it with another 4xx.
        refused = 400 <= reply.status < 500 and reply.status != 404
        if refused and _sweep(catalog, entry.namespace):
            reply = _drop_namespace(catalog, entry.namespace)
    else:
        reply = _drop(catalog, entry.kind, entry.namespace, entry.name)
    if reply.ok or reply.status == 404:
        catalog.ledger.forget(entry, deleted=True)
    elif _was_never_made(catalog, entry):
        # Or the catalog has an answer of its own for what is missing.
        catalog.ledger.forget(entry, deleted=False)


def _was_never_made(catalog: Remover, entry: Entry) -> bool:
    """Whether the catalog, asked for an object, says that there is none, or does not list it.

    Where it says nothing, because it refuses everything, it is taken at its word: what was refused
    was not made.
    """
    found = look_at(catalog, entry)
    if found is not None and (found.ok or says_gone(found)):
        return not found.ok
    listed = _is_listed(catalog, entry)
    return _was_refused(catalog, entry) if listed is None else not listed


def _was_refused(catalog: Remover, entry: Entry) -> bool:
    """Whether every request that could have made an object of this kind was refused, if any."""
    found = [e for e in catalog.exchanges if e.operation in _MAKERS[entry.kind]]
    asked = [e for e in found if e.step is not Step.UNDO]
    return bool(asked) and all(_is_refusal(e.status or 0) for e in asked)


def _is_refusal(status: int) -> bool:
    return status == 501 or (400 <= status < 500 and status not in _UNSURE)


def _is_listed(catalog: Remover, entry: Entry) -> bool | None:
    """Whether a listing of the place of an object names it; None where there is no whole one."""
    operation_id = f"list{entry.kind.title()}s"
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


def look_at(catalog: Remover, entry: Entry) -> Reply | None:
    """Return what the catalog says of an object; None where it claims not to show any."""
    loads = "loadNamespaceMetadata" if entry.kind == "namespace" else f"load{entry.kind.title()}"
    if not catalog.claims(loads):
        return None
    names: dict[str, str | Namespace] = {"namespace": entry.namespace}
    if entry.name:
        names[entry.kind] = entry.name
    return catalog.call(loads, names)


def says_gone(reply: Reply) -> bool:
    """Whether an answer says that there is no such object."""
    return reply.status in {404, 410}


def _drop_namespace(catalog: Remover, namespace: Namespace) -> Reply:
    return catalog.call("dropNamespace", {"namespace": namespace})


def _drop(catalog: Remover, kind: str, namespace: Namespace, name: str) -> Reply:
    return catalog.call(f"drop{kind.title()}", {"namespace": namespace, kind: name})


def _sweep(catalog: Remover, namespace: Namespace) -> bool:
    """Drop what a server or engine put unasked into a namespace of our own."""
    dropped: list[bool] = []
    for kind in ("table", "view"):
        if not catalog.claims(f"list{kind.title()}s"):
            continue
        reply = catalog.call(f"list{kind.title()}s", {"namespace": namespace})
        try:
            listed = reply.json()["identifiers"] if reply.ok else []
            names = [i["name"] for i in listed if tuple(i["namespace"]) == namespace]
        except (KeyError, TypeError, ValueError, Violation):
            return False
        dropped += [_drop(catalog, kind, namespace, name).ok for name in names]
    return bool(dropped) and all(dropped)
