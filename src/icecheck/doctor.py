"""A handful of requests that tell what would go wrong in a run, and which options would help."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import httpx

from icecheck import bodies
from icecheck.client import Catalog
from icecheck.connection import Connection, TargetUnusable, Wire
from icecheck.exchange import Exchange, Step
from icecheck.expect import Reply, Unreachable
from icecheck.session import Session, open_session
from icecheck.target import Target

__all__ = ["Advice", "examine"]

_RUN_ID = "doctor"


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing that was looked at: whether it is well, what was found, what would help."""

    well: bool
    what: str
    help: str = ""


def examine(target: Target, transport: httpx.BaseTransport | None = None) -> Iterator[Advice]:
    """Look at a catalog as a run would meet it; the first thing that stops a run is the last said.

    What is made on the catalog (one namespace, one table) is removed again.
    """
    try:
        session = open_session(_flat(target), run_id=_RUN_ID, transport=transport)
    except TargetUnusable as unusable:
        yield Advice(False, str(unusable), _help_to_reach(target, transport))
        return
    try:
        yield from _of_config(session)
        yield from _of_listing(session)
        yield from _of_writing(session, target)
    except Unreachable as trouble:
        yield Advice(False, str(trouble), "the catalog stopped answering: try --rate-limit")
    finally:
        session.close()


def _flat(target: Target) -> Target:
    """The same target, opened without making anything."""
    return replace(target, isolation="flat", namespace=())


def _help_to_reach(target: Target, transport: httpx.BaseTransport | None) -> str:
    """Ask once more, without following anybody's rules, and say what the answer looks like."""
    exchanges: list[Exchange] = []
    connection = Connection(target, transport)
    try:
        url = f"{target.base_url}/v1/config"
        connection.send(
            Wire("", 1, Step.PROBE, "getConfig", "GET", url, {}, None), exchanges.append
        )
    except Unreachable:
        return "check the host, the port and the scheme; for a private authority: --ca-bundle FILE"
    finally:
        connection.close()
    found = exchanges[-1]
    status = found.status or 0
    if status in {401, 403}:
        return "give --token, or --credential ID:SECRET with --oauth2-server-uri if it is elsewhere"
    if 300 <= status < 400:
        return f"it redirects to {found.header('location')}: give that URL"
    if status in {400, 404} and target.warehouse is None:
        return "many catalogs serve no config without a warehouse: --warehouse NAME"
    if b"<html" in found.response_body[:2000].lower():
        return "a web page answers here: give the part of the URL before /v1"
    return "give the part of the URL before /v1, without /v1 itself"


def _of_config(session: Session) -> Iterator[Advice]:
    offer = session.offer
    claimed = sum(offer.claims(id_, session.contract) for id_ in session.contract.operations)
    total = len(session.contract.operations)
    if offer.endpoints is None:
        yield Advice(
            False,
            "the config lists no endpoints: clients assume the "
            f"{len(session.contract.default_endpoints)} default ones",
            "what else it serves is judged with --claim OPERATION",
        )
    else:
        yield Advice(True, f"the config claims {claimed} of {total} operations")
    if offer.prefix:
        yield Advice(True, f"the prefix is {offer.prefix}")
    if session.target.warehouse is None:
        yield Advice(True, "no --warehouse was given, and none was asked for")


def _of_listing(session: Session) -> Iterator[Advice]:
    catalog = Catalog(session, _RUN_ID)
    reply = catalog.list_namespaces()
    match reply.status:
        case 200:
            yield Advice(True, "namespaces can be listed")
        case 401 | 403:
            yield Advice(
                False,
                f"listing namespaces is answered {reply.status}",
                "these credentials may not read: give others, or another --scope",
            )
        case 404:
            yield Advice(
                False,
                "listing namespaces is answered 404",
                "the routes are under a prefix that the config does not announce: --prefix TEXT",
            )
        case status:
            yield Advice(False, f"listing namespaces is answered {status}{_words(reply)}")
    if session.target.token or session.target.credential:
        bare = catalog.call("listNamespaces", headers={"Authorization": ""})
        if bare.ok:
            yield Advice(True, "the catalog answers without credentials too")


def _of_writing(session: Session, target: Target) -> Iterator[Advice]:
    catalog = Catalog(session, _RUN_ID)
    namespace = (*target.namespace, catalog.new_name())
    try:
        made = catalog.create_namespace(namespace)
        if not made.ok:
            yield _unmade("namespace", made, "--namespace PARENT, if only some parents take any")
            if not target.namespace:
                return
            namespace = target.namespace
        else:
            yield Advice(True, "a namespace can be created")
        body = bodies.create_table_body(catalog.new_name())
        table = catalog.create_table(namespace, body)
        if not table.ok:
            yield _unmade("table", table, "--namespace PARENT, if tables live under given ones")
            return
        location = _location(table)
        yield Advice(True, f"a table can be created; the catalog puts it at {location}")
        if not location.startswith("file:"):
            yield Advice(
                True,
                "its files are not on this machine: what scans contain is judged with --spark only",
            )
    finally:
        catalog.undo()
        if session.residue:
            left = ", ".join(session.residue)
            yield Advice(False, f"dropped and still there: {left}", "--accept-residue")


def _unmade(kind: str, reply: Reply, otherwise: str) -> Advice:
    what = f"creating a {kind} is answered {reply.status}{_words(reply)}"
    if reply.status in {401, 403}:
        return Advice(False, what, "these credentials may not write: give others")
    return Advice(False, what, otherwise)


def _location(reply: Reply) -> str:
    try:
        return str(json.loads(reply.exchange.response_body)["metadata"]["location"])
    except (ValueError, KeyError, TypeError):
        return "a place that it does not tell"


def _words(reply: Reply) -> str:
    try:
        body: Any = json.loads(reply.exchange.response_body)
        return f" ({str(body['error']['message'])[:160]})"
    except (ValueError, KeyError, TypeError):
        return ""
