"""Catalogs that treat tables differently from the mock and break no rule."""

import itertools
from collections.abc import Callable
from typing import Any

import msgspec

from icecheck.mock_server.commits.create import CreateTableRequest
from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.requests import sent_json, sent_name
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    alter_request_body,
    wrap,
)
from icecheck.mock_server.defects.kit.storing import store_otherwise
from icecheck.mock_server.metadata.model import SortOrder, TableMetadata
from icecheck.mock_server.metadata.schemas import columns_by_id, valid_schema
from icecheck.mock_server.protocol.problem import Problem
from tests.kill.killing import TOKEN
from tests.kill.refusing import refuse_if
from tests.lawful.lawful import Install

Body = dict[str, Any]
ANSWERS = ("createTable", "loadTable", "registerTable", "updateTable")


def alter_metadata(
    registries: Registries, operation_id: str, alter: Callable[[Body], Body]
) -> None:
    """Change the metadata in the successful answers of an operation."""
    alter_body(registries, operation_id, lambda body: body | {"metadata": alter(body["metadata"])})


# ------------------------------------------------------------------- different answers


def _vending(registries: Registries) -> None:
    """Add to every answer new credentials, and members that the document does not have."""
    turns = itertools.count(1)

    def vended(body: Body) -> Body:
        turn = next(turns)
        config = {"s3.session-token": f"token-{turn}", "token": TOKEN}
        location = body["metadata"].get("location")
        return body | {
            "config": config,
            "storage-credentials": [{"prefix": str(location), "config": config}],
            "x-request": turn,
            "metadata": body["metadata"] | {"x-policy": {"turn": turn}},
        }

    for operation_id in ANSWERS:
        alter_body(registries, operation_id, vended)


def _busy(registries: Registries) -> None:
    """Add a property of the server and move the time of last update on in each answer."""
    turns = itertools.count(1)

    def moved_on(metadata: Body) -> Body:
        turn = next(turns)
        return metadata | {
            "properties": metadata["properties"] | {"server.reads": str(turn)},
            "last-updated-ms": metadata["last-updated-ms"] + turn,
        }

    for operation_id in ANSWERS:
        alter_metadata(registries, operation_id, moved_on)


def _other_spelling(registries: Registries) -> None:
    """Spell locations and uuids in loads differently, and leave out empty members."""

    def spelled(metadata: Body) -> Body:
        scheme, colon, path = metadata["location"].partition(":")
        respelled = metadata | {
            "location": f"{scheme.upper()}{colon}{path}/",
            "table-uuid": metadata["table-uuid"].upper(),
        }
        return {k: v for k, v in respelled.items() if v not in ([], {})}

    alter_metadata(registries, "loadTable", spelled)


def _client_ids(registries: Registries) -> None:
    """Keep the column ids that the client sent."""

    def kept(metadata: TableMetadata, body: Body) -> TableMetadata:
        sent = msgspec.convert(body, CreateTableRequest)
        schema = valid_schema(sent.schema, 0, metadata.format_version)
        (spec,), (order,) = metadata.partition_specs, metadata.sort_orders
        spec_sent = sent.partition_spec.fields if sent.partition_spec else ()
        order_sent = sent.write_order.fields if sent.write_order else ()
        return msgspec.structs.replace(
            metadata,
            schemas=(schema,),
            last_column_id=max(columns_by_id(schema), default=0),
            partition_specs=(_with_sources(spec, spec_sent),),
            sort_orders=(_with_sources(order, order_sent),),
        )

    store_otherwise(registries, "createTable", kept, written=True)


def _with_sources(definition: Any, sent: Any) -> Any:
    fields = [
        msgspec.structs.replace(field, source_id=asked.source_id)
        for field, asked in zip(definition.fields, sent, strict=True)
    ]
    return msgspec.structs.replace(definition, fields=tuple(fields))


def _unsorted_too(registries: Registries) -> None:
    """Add the unsorted order to every table."""

    def both(metadata: TableMetadata, _body: Body) -> TableMetadata:
        unsorted = SortOrder(order_id=0, fields=())
        orders = (unsorted, *(o for o in metadata.sort_orders if o.order_id))
        return msgspec.structs.replace(metadata, sort_orders=orders)

    store_otherwise(registries, "createTable", both, written=True)


def _tags(registries: Registries, tag: Callable[[], str | None]) -> None:
    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        headers = {k: v for k, v in call.request.headers.items() if k != "if-none-match"}
        request = msgspec.structs.replace(call.request, headers=headers)
        outcome = faithful(state, msgspec.structs.replace(call, request=request))
        kept = [header for header in outcome.reply.headers if header[0] != "etag"]
        new = tag()
        tagged = (*kept, *([] if new is None else [("etag", new)]))
        reply = msgspec.structs.replace(outcome.reply, headers=tagged)
        return msgspec.structs.replace(outcome, reply=reply)

    for operation_id in ("createTable", "loadTable", "registerTable"):
        wrap(registries, operation_id, around)


def _no_tags(registries: Registries) -> None:
    """Send no ETags."""
    _tags(registries, lambda: None)


def _weak_tags(registries: Registries) -> None:
    """Send a new weak ETag with every answer, so that no load is ever not modified."""
    turns = itertools.count(1)
    _tags(registries, lambda: f'W/"{next(turns)}"')


def _current_snapshot_only(registries: Registries) -> None:
    """Answer only the current snapshot."""

    def current(metadata: Body) -> Body:
        shown = [
            s for s in metadata["snapshots"] if s["snapshot-id"] == metadata["current-snapshot-id"]
        ]
        return metadata | {"snapshots": shown}

    for operation_id in ("loadTable", "updateTable"):
        alter_metadata(registries, operation_id, current)


# ------------------------------------------------------------------- refused by design


def _no_rename(registries: Registries) -> None:
    """Refuse to rename tables."""
    refuse_if(registries, "renameTable", lambda _call: True, 406)


def _no_move(registries: Registries) -> None:
    """Refuse to rename tables into another namespace."""

    def across(call: Call) -> bool:
        ends = [sent_json(call).get(end) for end in ("source", "destination")]
        namespaces = [end.get("namespace") for end in ends if isinstance(end, dict)]
        return len(namespaces) == 2 and namespaces[0] != namespaces[1]

    refuse_if(registries, "renameTable", across, 406)


def _one_table_a_location(registries: Registries) -> None:
    """Refuse to create a table under a name that was renamed away, whose location is in use."""
    left: set[tuple[tuple[str, ...], str]] = set()

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        source, destination = (sent_json(call)[end] for end in ("source", "destination"))
        left.add((tuple(source["namespace"]), source["name"]))
        left.discard((tuple(destination["namespace"]), destination["name"]))
        return outcome

    wrap(registries, "renameTable", around)
    refuse_if(
        registries, "createTable", lambda call: (call.namespace, sent_name(call)) in left, 403
    )


def _no_overwrite(registries: Registries) -> None:
    """Ignore the overwrite flag of registrations."""
    alter_request_body(registries, "registerTable", lambda body: body | {"overwrite": False})


def _one_table_a_file(registries: Registries) -> None:
    """Refuse with 400 a file that a table has, before the name and its namespace are looked at."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        sent = sent_json(call)
        tables = [table for _, each in state.namespaces.after() for _, table in each.tables.after()]
        taken = any(each.metadata_location == sent.get("metadata-location") for each in tables)
        if taken and sent.get("name") and not sent.get("overwrite"):
            raise Problem(400, "BadRequestException", "Another table has this file")
        return faithful(state, call)

    wrap(registries, "registerTable", around)


def _no_staging(registries: Registries) -> None:
    """Let nobody stage tables."""
    staged = "stage-create"
    refuse_if(registries, "createTable", lambda call: bool(sent_json(call).get(staged)), 403)


def _main_only(registries: Registries) -> None:
    """Refuse refs other than main."""

    def other_ref(call: Call) -> bool:
        updates = sent_json(call).get("updates")
        listed = updates if isinstance(updates, list) else []
        return any(u.get("ref-name", "main") != "main" for u in listed if isinstance(u, dict))

    refuse_if(registries, "updateTable", other_ref, 400)


def _version(registries: Registries, default: str, *refused: str) -> None:
    def with_default(body: Body) -> Body:
        properties = body.get("properties")
        if not isinstance(properties, dict | None):
            return body
        return body | {"properties": {"format-version": default} | (properties or {})}

    def unwanted(call: Call) -> bool:
        properties = sent_json(call).get("properties")
        asked = properties.get("format-version") if isinstance(properties, dict) else None
        return asked in refused

    alter_request_body(registries, "createTable", with_default)
    refuse_if(registries, "createTable", unwanted, 400)


def _version_1(registries: Registries) -> None:
    """Make tables of version 1 unless a client asks for another."""
    _version(registries, "1")


def _version_2(registries: Registries) -> None:
    """Make tables of version 2 only."""
    _version(registries, "2", "1", "3")


def _version_3(registries: Registries) -> None:
    """Make tables of version 3 unless a client asks for another."""
    _version(registries, "3")


def _without(*operation_ids: str) -> Install:
    def install(registries: Registries) -> None:
        for operation_id in operation_ids:
            del registries.operations[operation_id]

    return install


LAWFUL_TABLES: dict[str, Install] = {
    "vending-credentials": _vending,
    "busy-metadata": _busy,
    "other-spelling": _other_spelling,
    "client-ids": _client_ids,
    "unsorted-order-too": _unsorted_too,
    "no-etags": _no_tags,
    "weak-etags": _weak_tags,
    "current-snapshot-only": _current_snapshot_only,
    "no-rename": _no_rename,
    "no-move": _no_move,
    "one-table-a-location": _one_table_a_location,
    "no-overwrite": _no_overwrite,
    "one-table-a-file": _one_table_a_file,
    "no-staging": _no_staging,
    "main-only": _main_only,
    "version-1-by-default": _version_1,
    "version-2-only": _version_2,
    "version-3-by-default": _version_3,
    **{
        f"without-{operation_id}": _without(operation_id)
        for operation_id in (
            "listTables", "loadTable", "updateTable", "registerTable", "tableExists",
            "renameTable", "reportMetrics",
        )
    },
}  # fmt: skip
"""Name -> the installation of such a catalog on a mock; no check may fail on any of them."""


def forgetful(registries: Registries) -> None:
    """Remove the table's files in every drop: lawful, but for a SHOULD."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        query = {"purgeRequested": "true"} | dict(call.query)
        return faithful(state, msgspec.structs.replace(call, query=query))

    wrap(registries, "dropTable", around)


def incurious(registries: Registries) -> None:
    """Discard reports about tables unread: lawful, but for a SHOULD."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(state, call)
        except Problem as refused:
            if refused.status != 400:
                raise
            return Outcome(state, Reply(204))

    wrap(registries, "reportMetrics", around)


def secretive(registries: Registries) -> None:
    """Leave the metadata location out of loads: lawful, but for a SHOULD."""
    alter_body(registries, "loadTable", lambda body: body | {"metadata-location": None})
