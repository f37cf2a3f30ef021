"""Where a run keeps its objects: found out by trying, on objects of its own."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icecheck.connection import Wire
from icecheck.exchange import Exchange, Step
from icecheck.ledger import Entry
from icecheck.target import Namespace

if TYPE_CHECKING:
    from icecheck.session import Session

__all__ = ["Isolation", "drop_root", "isolate"]

_DONE_OR_NOT = frozenset({500, 502, 504})
"""What may be answered after the namespace was made: it is dropped, in case."""


@dataclass(frozen=True, slots=True)
class Isolation:
    """Where the run keeps its objects.

    ``nested``: under one root namespace of the run; ``flat``: top-level namespaces that bear the
    run's token; ``parent``: under a namespace that the user gave. ``base`` is what every
    namespace of the run starts with.
    """

    mode: str
    base: Namespace


def isolate(session: "Session", worker: str) -> Isolation:
    """Choose the isolation mode: what the user said, else nested if a probe shows that it works."""
    target = session.target
    if target.namespace:
        return Isolation("parent", target.namespace)
    if target.read_only or target.isolation == "flat":
        return Isolation("flat", ())
    if not session.offer.claims("createNamespace", session.contract):
        return Isolation("flat", ())
    root = (session.owner + (f"_{worker}" if worker else ""),)
    entry = Entry("namespace", root)
    session.root.add(entry)
    made = _call(session, "createNamespace", root, body={"namespace": [*root]})
    if not _is_made(made) and made.status != 409:
        if made.status in _DONE_OR_NOT:
            drop_root(session, entry)
        else:
            session.root.forget(entry, deleted=False)
        return Isolation("flat", ())
    child = (*root, f"{session.owner}_probe")
    nested = _call(session, "createNamespace", child, body={"namespace": [*child]})
    works = _is_made(nested)
    if works or nested.status in _DONE_OR_NOT:
        _call(session, "dropNamespace", child)
    session.capabilities["nested-namespaces"] = works
    if works or target.isolation == "nested":
        session.root_made = made
        return Isolation("nested", root)
    drop_root(session, entry)
    return Isolation("flat", ())


def _is_made(exchange: Exchange) -> bool:
    """Whether a success was answered; that it has to be 200 is for a check to judge."""
    return exchange.status is not None and 200 <= exchange.status < 300


def drop_root(session: "Session", entry: Entry) -> None:
    """Drop a namespace that stands above others; what stays, stays in the ledger."""
    answer = _call(session, "dropNamespace", entry.namespace)
    if answer.status in {200, 202, 204, 404}:
        session.root.forget(entry, deleted=True)


def _call(
    session: "Session", operation_id: str, namespace: Namespace, body: Any = None
) -> Exchange:
    operation = session.contract.operations[operation_id]
    path = session.offer.path(operation.path, {"namespace": namespace})
    ordinal = len(session.exchanges) + 1
    wire = Wire(
        check="",
        ordinal=ordinal,
        step=Step.UNDO if operation_id == "dropNamespace" else Step.PROBE,
        operation=operation_id,
        method=operation.method,
        url=session.target.base_url + path,
        headers={},
        body=None if body is None else json.dumps(_fitted(session, operation_id, body)).encode(),
    )
    return session.connection.send(wire, session.record)


def _fitted(session: "Session", operation_id: str, body: Any) -> Any:
    return session.accommodations.fitted(operation_id, {}, body, 0)
