"""Decides where a run keeps its objects, by trying it on objects of its own."""

import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import httpx

from icecheck.client.session import NOT_SHOWN, Isolation, Session
from icecheck.contract import Action, Object
from icecheck.ownership.ledger import Entry
from icecheck.targets.target import Namespace
from icecheck.wire.connection import TargetUnusable, Wire
from icecheck.wire.exchange import Exchange, Step
from icecheck.wire.json_text import read_json
from icecheck.wire.unreachable import REMOVALS_MAX, Unreachable, begun_anew

OWNER = "icecheck.run"
"""The property in which a namespace of a run bears the run's token, if it takes properties."""

_LEAVING = frozenset({Action.DROP, Action.LIST})
_MEMBERS = {
    Object.NAMESPACE: "namespaces",
    Object.TABLE: "identifiers",
    Object.VIEW: "identifiers",
}
_REFUSED_AS_SENT = frozenset({400, 406, 422, 501})
_GONE = frozenset({404, 410})
_DONE_OR_NOT = frozenset({500, 502, 504})
"""Statuses that may come although the namespace was made: it is dropped if it shows its owner."""


def isolate(session: Session, worker: str) -> Isolation:
    """Choose the isolation mode: what the user said, else nested if a probe shows that it works.

    Raises TargetUnusable where the run's namespace existed before it, or where the user's parent
    namespace does not exist.
    """
    target = session.target
    if target.namespace:
        if not target.read_only and _loaded(session, target.namespace) in _GONE:
            raise TargetUnusable(
                f"the namespace {'.'.join(target.namespace)} is not there: --namespace takes one "
                "that exists, create it first"
            )
        return Isolation("parent", target.namespace)
    if target.read_only or target.isolation == "flat":
        return Isolation("flat", ())
    if not session.offer.claims("createNamespace", session.contract):
        return Isolation("flat", ())
    root = (session.owner + (f"_{worker}" if worker else ""),)
    entry = Entry("namespace", root)
    session.root.add(entry)
    made = _make_root(session, entry)
    if not _is_made(made) and made.status != 409:
        if made.status in _DONE_OR_NOT:
            _drop_if_own(session, entry)
        else:
            session.root.forget(entry, deleted=False)
        return Isolation("flat", ())
    works = _nested_works(session, (*root, f"{session.owner}_probe"))
    if works or target.isolation == "nested":
        # Redacted at once: later its secrets may be known by value no more.
        session.root_made = session.connection.redactor.exchange(made)
        return Isolation("nested", root)
    _drop_root(session, entry)
    return Isolation("flat", ())


def _nested_works(session: Session, child: Namespace) -> bool:
    """Return whether a namespace of two levels can be made and found again; it is dropped."""
    asked = len(session.exchanges)
    nested = _created(session, child, {"namespace": [*child]})
    works = made = _is_made(nested) or (
        nested.status == 409 and len(session.exchanges) > asked + 1  # a lost answer had made it
    )
    if made or nested.status in _DONE_OR_NOT:
        # A catalog that creates a namespace of two levels and then cannot find it is of no use
        # here. Where no load tells, the answer to its drop does.
        kept: bool | None = False
        if made:
            loads = session.offer.claims("loadNamespaceMetadata", session.contract)
            look = partial(_call, session, "loadNamespaceMetadata")
            kept = keeps_levels(child, look) if loads else None
        dropped = _call(session, "dropNamespace", child).status not in _GONE
        works = made and (dropped if kept is None else kept)
    if made and not works:
        session.unkept["nested-namespaces"] = NOT_SHOWN
        said = (
            "createNamespace of two levels is answered with success and not kept: the run's "
            "namespaces are top-level ones, as with --isolation flat"
        )
        records = (*session.adaptations.records, said)
        session.adaptations = replace(session.adaptations, records=records)
    session.capabilities["nested-namespaces"] = None if made and not works else made
    return works


def keeps_levels(namespace: Namespace, load: Callable[[Namespace], Exchange]) -> bool | None:
    """Return whether a load shows a namespace with the levels it was created with.

    None if no load tells: the server fails, or not even the parent is there.
    """
    shown = load(namespace)
    if shown.status in _GONE:
        return False if load(namespace[:-1]).status == 200 else None
    if shown.status != 200:
        return None
    try:
        return bool(read_json(shown.response_body)["namespace"] == [*namespace])
    except (KeyError, TypeError, ValueError, RecursionError):
        return True  # the shape of the answer is judged by the checks


def exists_already(namespace: Namespace) -> str:
    """Return the message for a run that cannot begin because its namespace exists already."""
    return (
        f"the namespace {'.'.join(namespace)} exists already: choose another --run-id, or remove "
        "what an earlier run has left with `icecheck clean URL --ledger FILE`"
    )


def _refuse_if_there(session: Session, root: Entry) -> None:
    """Raise TargetUnusable unless a load shows that the conflicting namespace is not there."""
    if _loaded(session, root.namespace) in {None, 200}:
        session.root.forget(root, deleted=False)
        raise TargetUnusable(exists_already(root.namespace))


def _loaded(session: Session, namespace: Namespace) -> int | None:
    """Return the status with which a namespace is loaded; None if the catalog does not claim to."""
    if not session.offer.claims("loadNamespaceMetadata", session.contract):
        return None
    return _call(session, "loadNamespaceMetadata", namespace).status


def _created(session: Session, namespace: Namespace, body: dict[str, Any]) -> Exchange:
    """Create a namespace of the run; ask once more where the answer was lost.

    The second answer may be a conflict with what the first request made.
    """
    try:
        return _call(session, "createNamespace", namespace, body=body)
    except Unreachable:
        return _call(session, "createNamespace", namespace, body=body)


def _shows_owner(session: Session, namespace: Namespace) -> bool:
    """Return whether a load shows that this run has made a namespace."""
    if not session.offer.claims("loadNamespaceMetadata", session.contract):
        return False
    return bool(_owner_in(_call(session, "loadNamespaceMetadata", namespace)) == session.owner)


def _make_root(session: Session, root: Entry) -> Exchange:
    """Make the run's namespace with an owner property, or without it if that is refused.

    Raises TargetUnusable where the namespace existed before.
    """
    plain: dict[str, Any] = {"namespace": [*root.namespace]}
    for body in ({**plain, "properties": {OWNER: session.owner}}, plain):
        asked = len(session.exchanges)
        made = _created(session, root.namespace, body)
        # A 409 after a retry may be about the namespace that the first attempt made, unless that
        # was throttled, and not carried out.
        doubtful = any(each.status != 429 for each in session.exchanges[asked:-1])
        if made.status == 409 and not (doubtful and _shows_owner(session, root.namespace)):
            _refuse_if_there(session, root)
        if made.status not in _REFUSED_AS_SENT:
            break
    return made


def _is_made(exchange: Exchange) -> bool:
    """Return whether the answer is a success; a check judges whether it is 200."""
    return exchange.status is not None and 200 <= exchange.status < 300


def drop_roots(session: Session) -> None:
    """Drop the namespaces above the run's own, unless they hold anything; never raises."""

    def drop_each() -> None:
        for entry in session.root.newest_first():
            _drop_root(session, entry, look=True)

    with contextlib.suppress(Unreachable):
        begun_anew(drop_each, REMOVALS_MAX)


def _drop_root(session: Session, entry: Entry, *, look: bool = False) -> None:
    """Drop a namespace that stands above others; if it stays, it stays in the ledger.

    With ``look`` it is not dropped while it holds anything, unless the catalog would refuse that.
    """
    if look and not session.keeps_full_namespaces and (words := _held(session, entry.namespace)):
        session.root.remarks[entry] = words
        return
    answer = _call(session, "dropNamespace", entry.namespace)
    if answer.status == 404 and _loaded(session, entry.namespace) == 200:
        return
    if answer.status in {200, 202, 204, 404}:
        session.root.forget(entry, deleted=True)
    elif _loaded(session, entry.namespace) in _GONE:
        session.root.forget(entry, deleted=False)


def _drop_if_own(session: Session, entry: Entry) -> None:
    """Drop a namespace that a server error may have made, if a load shows that this run made it.

    One that shows no owner may be somebody else's, of the same name: it stays, and is reported.
    """
    shown = None
    if session.offer.claims("loadNamespaceMetadata", session.contract):
        shown = _call(session, "loadNamespaceMetadata", entry.namespace)
    if shown is not None and _owner_in(shown) == session.owner:
        _drop_root(session, entry, look=True)
        return
    session.root.forget(entry, deleted=False)
    if shown is None or shown.status not in _GONE:
        session.foreign.append(f"{entry} (whether this run made it cannot be seen)")


def _owner_in(shown: Exchange) -> Any:
    try:
        return read_json(shown.response_body)["properties"][OWNER]
    except (KeyError, TypeError, ValueError, RecursionError):
        return None


def _held(session: Session, namespace: Namespace) -> str:
    """Return in words what a namespace holds, or that this cannot be seen; "" if it is empty."""
    for kind, member in _MEMBERS.items():
        lists = session.contract.operation_that(Action.LIST, kind)
        if not session.offer.claims(lists, session.contract):
            creates = session.contract.operation_that(Action.CREATE, kind)
            if session.offer.claims(creates, session.contract):
                return f"whether it holds a {kind} cannot be seen"
            continue
        answer = _call(session, lists, namespace)
        if answer.status in _GONE:
            return ""
        try:
            listed: Any = read_json(answer.response_body).get(member) or ()
            below = [
                each
                for each in listed
                if kind is not Object.NAMESPACE or len(each) > len(namespace)
            ]
        except (AttributeError, TypeError, ValueError, RecursionError):
            return f"whether it holds a {kind} cannot be seen"
        if below:
            return f"it still holds a {kind}"
    return ""


def _call(session: Session, operation_id: str, namespace: Namespace, body: Any = None) -> Exchange:
    operation = session.contract.operations[operation_id]
    path = session.offer.path(operation.path, {"namespace": namespace})
    if operation_id == "listNamespaces":
        parent = session.offer.parent_parameter(namespace)
        path += f"?{httpx.QueryParams({'parent': parent})}"
    ordinal = len(session.exchanges) + 1
    wire = Wire(
        check="",
        ordinal=ordinal,
        step=Step.UNDO if operation.facts.action in _LEAVING else Step.PROBE,
        operation=operation_id,
        method=operation.method,
        url=session.target.base_url + path,
        headers={},
        body=None if body is None else json.dumps(_fitted(session, operation_id, body)).encode(),
    )
    return session.connection.send(wire, session.record)


def _fitted(session: Session, operation_id: str, body: Any) -> Any:
    return session.adaptations.fitted(session.contract.operations[operation_id], {}, body, 0)
