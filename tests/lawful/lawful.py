"""Catalogs that differ from the mock and break no rule: they use the freedoms of the document."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from icecheck.client.opening import open_session
from icecheck.client.session import Session
from icecheck.mock_server.commits.default_locations import NAMESPACE_LOCATION
from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply, Request
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    alter_call,
    alter_error,
    alter_request_body,
    wrap,
)
from icecheck.mock_server.defects.listing.pages_during_drops import paged_over
from icecheck.mock_server.defects.names.mangling import lower_cased
from icecheck.mock_server.mock import MockCatalog
from icecheck.mock_server.profiles import no_endpoints, one_level_namespaces
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.security.callers import Security
from icecheck.targets.target import Target
from tests.kill.killing import ADDRESS, TOKEN, WAREHOUSE

Install = Callable[[Registries], None]
Body = dict[str, Any]


def _no_properties(registries: Registries) -> None:
    """Let namespaces have no properties: they are null, and setting some is a 406."""

    def refuse(_faithful: Faithful, _state: WarehouseState, _call: Call) -> Outcome:
        raise problem.unsupported("Namespace properties are not supported")

    def create(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        namespace = sent_json(call)["namespace"]
        kept = outcome.state.with_namespace(tuple(namespace), {})
        return Outcome(kept, replies.json_reply({"namespace": namespace, "properties": {}}))

    wrap(registries, "updateProperties", refuse)
    wrap(registries, "createNamespace", create)
    alter_body(registries, "loadNamespaceMetadata", lambda body: body | {"properties": None})


def send_whole(registries: Registries, operation_id: str) -> None:
    """Answer one kind of list whole, without a token."""
    alter_call(registries, operation_id, _without_paging)
    alter_body(
        registries,
        operation_id,
        lambda body: {k: v for k, v in body.items() if k != "next-page-token"},
    )


def _no_pagination(registries: Registries) -> None:
    """Answer every list whole."""
    for operation_id in ("listNamespaces", "listTables", "listViews"):
        send_whole(registries, operation_id)


def _without_paging(call: Call) -> Call:
    kept = {k: v for k, v in call.query.items() if k not in {"pageToken", "pageSize"}}
    return msgspec.structs.replace(call, query=kept)


def _counting_tokens(registries: Registries) -> None:
    """Let tokens count the entries shown: when one of those is dropped, the others move."""
    for operation_id in ("listNamespaces", "listTables", "listViews"):
        paged_over(registries, operation_id, lambda _, shown: int(shown), lambda _, end: end)


def _own_properties(registries: Registries) -> None:
    """Add the server's own properties to every namespace."""

    def added(body: Body) -> Body:
        properties = body.get("properties")
        if not isinstance(properties, dict | None):
            return body
        return body | {"properties": (properties or {}) | {"location": "s3://own"}}

    alter_request_body(registries, "createNamespace", added)


def _plain_text(registries: Registries) -> None:
    """Answer 400 with plain text."""

    def plain(refused: Problem, reply: Reply) -> Reply:
        if refused.status != 400:
            return reply
        return Reply(400, (("content-type", "text/plain"),), b"Bad Request")

    for operation_id in [*registries.operations]:
        alter_error(registries, operation_id, plain)


def _no_head(registries: Registries) -> None:
    """Neither claim nor serve HEAD."""
    for kind in ("namespace", "table", "view"):
        del registries.operations[f"{kind}Exists"]


def _read_only(registries: Registries) -> None:
    """Neither claim nor serve any writing."""
    readers = ("getConfig", "list", "load", "namespaceExists", "tableExists", "viewExists")
    for operation_id in [*registries.operations]:
        if not operation_id.startswith(readers):
            del registries.operations[operation_id]


def _narrow_names(registries: Registries) -> None:
    """Let names have only lower-case letters, digits and underscores."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        sent = sent_json(call)
        for name in (*sent.get("namespace", ()), sent.get("name", "x")):
            if re.fullmatch("[a-z0-9_]+", name) is None:
                raise problem.bad_request(f"Not a name: {name}")
        return outcome

    for operation_id in ("createNamespace", "createTable"):
        wrap(registries, operation_id, around)


def _lower_case(registries: Registries) -> None:
    """Keep, find and list names in lower case, and answer them so."""
    lower_cased(registries)


def _pass_if(registries: Registries, passes: Callable[[Request], bool]) -> None:
    faithful = registries.gates["authorization"]

    def gate(request: Request, security: Security) -> Reply | None:
        return None if passes(request) else faithful(request, security)

    registries.gates["authorization"] = gate


def _open_reading(registries: Registries) -> None:
    """Need no credentials for reading, only for writing."""
    _pass_if(registries, lambda request: request.method in {"GET", "HEAD"})


def _open(registries: Registries) -> None:
    """Need no credentials, and accept any."""
    del registries.gates["authorization"]


def _hidden(registries: Registries) -> None:
    """Answer 404 where credentials are missing."""
    faithful = registries.gates["authorization"]

    def gate(request: Request, security: Security) -> Reply | None:
        refusal = faithful(request, security)
        if refusal is None or request.headers.get("authorization"):
            return refusal
        body = {"error": {"message": "Not found", "type": "NoSuchNamespaceException", "code": 404}}
        return Reply(404, refusal.headers, json.dumps(body).encode())

    registries.gates["authorization"] = gate


def _other_media_refused(registries: Registries) -> None:
    """Refuse a JSON body under another content type with 415, which the document does not name."""

    def gate(request: Request, _security: Security) -> Reply | None:
        media = request.headers.get("content-type", "").partition(";")[0].lower()
        is_json = media == "application/json" or request.body[:1] not in {b"{", b"["}
        return None if is_json else Reply(415, (("content-type", "text/plain"),), b"no")

    registries.gates["media"] = gate


def _keeps_cancelled_plans(registries: Registries) -> None:
    """Take note of a cancellation, and keep what was planned before."""

    def keep(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if state.table(call.namespace, call.name) is None:
            return faithful(state, call)
        return Outcome(state, replies.NO_CONTENT)

    wrap(registries, "cancelPlanning", keep)


# The members of these maps are names that a client chose, not members of a document.
_MAPS = frozenset({"properties", "summary", "defaults", "overrides", "config", "refs"})


def _with_later_members(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_later_members(each) for each in value]
    if not isinstance(value, dict):
        return value
    inner = {k: v if k in _MAPS else _with_later_members(v) for k, v in value.items()}
    return inner | {"later-member": {"since": 2}}


def _later_members(registries: Registries) -> None:
    """Add a member of a later document to every object of every answer, errors too."""

    def beside(_refused: Problem, reply: Reply) -> Reply:
        if not reply.body.startswith(b"{"):
            return reply
        body = json.dumps(_with_later_members(json.loads(reply.body))).encode()
        return msgspec.structs.replace(reply, body=body)

    for operation_id in registries.operations:
        alter_body(registries, operation_id, _with_later_members)
        alter_error(registries, operation_id, beside)


# Members that the document requires, or that some client needs, even if they are empty.
_NEEDED = frozenset(
    {
        "updated", "removed", "missing", "defaults", "overrides", "namespaces", "identifiers",
        "namespace", "next-page-token", "fields", "summary", "blob-metadata", "partition",
        "representations", "default-namespace", "storage-credentials",
    }
)  # fmt: skip


def _without_empty(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_empty(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {k: v for k, v in value.items() if k in _NEEDED or v not in ([], {}, None)}
    return {key: _without_empty(each) for key, each in kept.items()}


def _nothing_empty(registries: Registries) -> None:
    """Leave out every optional map and list that is empty, and refs that have main only."""

    def lean(body: Any) -> Any:
        found = _without_empty(body)
        metadata = found.get("metadata", {}) if isinstance(found, dict) else {}
        main = {"snapshot-id": metadata.get("current-snapshot-id"), "type": "branch"}
        if metadata.get("refs") == {"main": main}:
            del metadata["refs"]
        return found

    for operation_id in registries.operations:
        alter_body(registries, operation_id, lean)


def _nulls(registries: Registries) -> None:
    """Answer null for what is absent or empty, wherever the schema allows it."""

    def without_snapshot(body: Body) -> Body:
        nothing = {"current-snapshot-id": None}
        return body | {"metadata": nothing | body["metadata"]}

    def nothing_set(body: Body) -> Body:
        return body | {"properties": body.get("properties") or None}

    for operation_id in ("createTable", "loadTable", "updateTable", "registerTable"):
        alter_body(registries, operation_id, without_snapshot)
    alter_body(registries, "loadNamespaceMetadata", nothing_set)


LAWFUL: dict[str, Install] = {
    "one-level-namespaces": one_level_namespaces,
    "no-namespace-properties": _no_properties,
    "no-pagination": _no_pagination,
    "counting-tokens": _counting_tokens,
    "own-properties": _own_properties,
    "plain-text-400": _plain_text,
    "no-endpoints-listed": no_endpoints,
    "no-head": _no_head,
    "read-only": _read_only,
    "narrow-names": _narrow_names,
    "lower-case-names": _lower_case,
    "open-reading": _open_reading,
    "keeps-cancelled-plans": _keeps_cancelled_plans,
    "other-media-refused": _other_media_refused,
    "hidden-from-strangers": _hidden,
    "later-members": _later_members,
    "nothing-empty": _nothing_empty,
    "nulls": _nulls,
}
"""Name -> the installation of such a catalog on a mock; no check may fail on any of them."""


def without_empty_properties(registries: Registries) -> None:
    """Add no properties, and leave out those of a namespace without: lawful, but for a SHOULD."""

    def without(body: Body) -> Body:
        kept = {k: v for k, v in body["properties"].items() if k != NAMESPACE_LOCATION}
        return {"namespace": body["namespace"]} | ({"properties": kept} if kept else {})

    alter_body(registries, "loadNamespaceMetadata", without)


OPEN: Install = _open
"""A catalog that is open to everybody, with any token and without one."""


@contextmanager
def lawful_session(install: Install) -> Iterator[Session]:
    """Yield a session with such a catalog, opened after the installation."""
    mock = MockCatalog(seed=1, token=TOKEN)
    install(mock.registries)
    try:
        target = Target(ADDRESS, warehouse=WAREHOUSE, token=TOKEN)
        session = open_session(target, run_id="kill", transport=mock.httpx_transport())
        yield session
        session.close()
    finally:
        mock.stop()
