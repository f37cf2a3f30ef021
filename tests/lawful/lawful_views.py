"""Catalogs that treat views differently from the mock and break no rule."""

import json
from typing import Any

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_body, alter_error, wrap
from icecheck.mock_server.defects.kit.storing import store_view_otherwise
from icecheck.mock_server.metadata.view_metadata import ViewMetadata
from icecheck.mock_server.protocol.problem import Problem, bad_request
from tests.kill.killing import TOKEN
from tests.kill.refusing import refuse_if
from tests.lawful.lawful import Install

Body = dict[str, Any]
OPERATIONS = (
    "listViews", "createView", "loadView", "viewExists", "replaceView", "dropView", "renameView",
)  # fmt: skip
ANSWERS = ("createView", "loadView", "replaceView")


def _undeclared(registries: Registries) -> None:
    """Neither claim nor serve views."""
    for operation_id in OPERATIONS:
        del registries.operations[operation_id]


def unsupported(registries: Registries) -> None:
    """Claim views, and refuse their creation as unsupported: not lawful."""
    refuse_if(registries, "createView", lambda _call: True, 406)


def _no_rename(registries: Registries) -> None:
    """Refuse to rename views."""
    refuse_if(registries, "renameView", lambda _call: True, 406)


def _own_versions(registries: Registries) -> None:
    """Give the first version the server's time and summary, whatever was sent."""

    def rebuilt(_before: ViewMetadata | None, made: ViewMetadata, _sent: Body) -> ViewMetadata:
        first = replace(made.versions[0], timestamp_ms=1, summary={"engine-name": "catalog"})
        log = (replace(made.version_log[0], timestamp_ms=1),)
        return replace(made, versions=(first,), version_log=log)

    store_view_otherwise(registries, "createView", rebuilt)


def _busy(registries: Registries) -> None:
    """Add properties, configuration and members of the catalog to answers."""

    def busy(body: Body) -> Body:
        metadata = body["metadata"]
        properties = metadata.get("properties", {}) | {"owner": "catalog"}
        return body | {
            "config": {"token": TOKEN},
            "x-request": 1,
            "metadata": metadata | {"properties": properties, "x-policy": {}},
        }

    for operation_id in ANSWERS:
        alter_body(registries, operation_id, busy)


def _other_spelling(registries: Registries) -> None:
    """Spell the uuid in capitals, and list versions newest first."""

    def spelled(body: Body) -> Body:
        metadata = body["metadata"]
        uuid, versions = metadata["view-uuid"].upper(), metadata["versions"][::-1]
        return body | {"metadata": metadata | {"view-uuid": uuid, "versions": versions}}

    for operation_id in ANSWERS:
        alter_body(registries, operation_id, spelled)


def _bare_errors(registries: Registries) -> None:
    """Answer errors of views without the envelope, as their schema literally says (E16)."""

    def bare(refused: Problem, reply: Reply) -> Reply:
        if refused.status not in {404, 409} or not reply.body:
            return reply
        return Reply(
            reply.status, reply.headers, json.dumps(json.loads(reply.body)["error"]).encode()
        )

    for operation_id in OPERATIONS:
        if operation_id != "viewExists":
            alter_error(registries, operation_id, bare)


def plain_definitions_only(registries: Registries) -> None:
    """Refuse odd queries, field id 0, another catalog, and a namespace that does not exist."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        body = sent_json(call)
        updates = [each for each in _listed(body.get("updates")) if isinstance(each, dict)]
        for each in (body, *updates):
            _refuse_odd(each.get("schema"), each.get("view-version"), state)
        return faithful(state, call)

    for operation_id in ("createTable", "updateTable", "createView", "replaceView"):
        wrap(registries, operation_id, around)


def _listed(value: Any) -> list[Any]:
    """Return a list as it was sent; an empty one for anything else."""
    return value if isinstance(value, list) else []


def _refuse_odd(schema: Any, version: Any, state: WarehouseState) -> None:
    fields = schema.get("fields") if isinstance(schema, dict) else None
    if any(isinstance(each, dict) and each.get("id") == 0 for each in _listed(fields)):
        raise bad_request("Field ids begin at 1")
    if not isinstance(version, dict):
        return
    if version.get("default-catalog") is not None:
        raise bad_request("The default catalog is this one")
    told = _listed(version.get("representations"))
    queries = [each.get("sql") for each in told if isinstance(each, dict)]
    if not all(isinstance(sql, str) and sql.isascii() and sql.isprintable() for sql in queries):
        raise bad_request("Queries are a line of ASCII")
    named = version.get("default-namespace")
    if isinstance(named, list) and state.namespace(tuple(named)) is None:
        raise Problem(404, "NoSuchNamespaceException", "The default namespace does not exist")


def other_refusals(registries: Registries) -> None:
    """Refuse with 422 well-formed commits to views that cannot be carried out."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(state, call)
        except Problem as refused:
            updates = sent_json(call).get("updates")
            listed = updates if isinstance(updates, list) else [None]
            formed = all(isinstance(each, dict) and "action" in each for each in listed)
            if refused.status != 400 or not formed:
                raise
            raise Problem(422, refused.type, refused.message) from None

    wrap(registries, "replaceView", around)


def _tables_are_unsupported(registries: Registries) -> None:
    """Refuse updates and requirements that views do not have as unsupported, like Java's server."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        body = call.request.body
        if any(word in body for word in (b'"set-current-schema"', b"icecheck-", b'"option"')):
            raise Problem(406, "UnsupportedOperationException", "Not for views")
        return faithful(state, call)

    wrap(registries, "replaceView", around)


LAWFUL_VIEWS: dict[str, Install] = {
    "views-undeclared": _undeclared,
    "no-view-rename": _no_rename,
    "own-view-versions": _own_versions,
    "busy-views": _busy,
    "other-view-spelling": _other_spelling,
    "bare-view-errors": _bare_errors,
    "tables-are-unsupported": _tables_are_unsupported,
}
"""Name -> the installation of such a catalog on a mock; no check may fail on any of them."""
