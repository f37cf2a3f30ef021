"""Freedoms of answers: members, ids, properties and the order of lists."""

import itertools
import json
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    alter_request_body,
    with_answer,
    wrap,
)
from icecheck.mock_server.defects.kit.storing import store_otherwise, store_view_otherwise
from icecheck.mock_server.defects.listing.pages import LISTS
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.metadata.view_metadata import ViewMetadata
from tests.lawful.freedom import Freedom
from tests.lawful.lawful import Install

Body = dict[str, Any]
TABLES = ("createTable", "loadTable", "registerTable", "updateTable")
VIEWS = ("createView", "loadView", "replaceView")


def _of(operation_ids: tuple[str, ...], alter: Callable[[Body], Body]) -> Install:
    """Return an installation that changes the metadata in the answers of these operations."""

    def install(registries: Registries) -> None:
        for operation_id in operation_ids:
            alter_body(
                registries, operation_id, lambda body: body | {"metadata": alter(body["metadata"])}
            )

    return install


def _beside(operation_ids: tuple[str, ...], alter: Callable[[Body], Body]) -> Install:
    """Return an installation that changes whole bodies in the answers of these operations."""

    def install(registries: Registries) -> None:
        for operation_id in operation_ids:
            alter_body(registries, operation_id, alter)

    return install


def _without(*members: str) -> Callable[[Body], Body]:
    return lambda body: {k: v for k, v in body.items() if k not in members}


def _without_empty(body: Body) -> Body:
    return {k: v for k, v in body.items() if v not in ([], {})}


def _minus_one(metadata: Body) -> Body:
    return {"current-snapshot-id": -1} | metadata


def _last_two(metadata: Body) -> Body:
    return metadata | {"metadata-log": metadata.get("metadata-log", [])[-2:]}


def _first_ids(registries: Registries) -> None:
    """Number the first schema 7, the first spec 3, and the first sort order of fields 5."""

    def numbered(metadata: TableMetadata, _sent: Body) -> TableMetadata:
        schema = msgspec.structs.replace(metadata.schemas[0], schema_id=7)
        spec = msgspec.structs.replace(metadata.partition_specs[0], spec_id=3)
        (order,) = metadata.sort_orders
        order_id = 5 if order.fields else 0
        return msgspec.structs.replace(
            metadata,
            schemas=(schema,),
            current_schema_id=7,
            partition_specs=(spec,),
            default_spec_id=3,
            sort_orders=(msgspec.structs.replace(order, order_id=order_id),),
            default_sort_order_id=order_id,
        )

    store_otherwise(registries, "createTable", numbered, written=True)


def _added_properties(registries: Registries) -> None:
    """Add properties of the server to every table and view that is made."""

    def table(body: Body) -> Body:
        return body | {"properties": (body.get("properties") or {}) | OWN}

    for operation_id in ("createTable", "createView"):
        alter_request_body(registries, operation_id, _if_map("properties", table))


OWN = {
    "owner": "lakehouse",
    "history.expire.max-snapshot-age-ms": "432000000",
    "write.object-storage.enabled": "true",
}


def _if_map(member: str, alter: Callable[[Body], Body]) -> Callable[[Body], Body]:
    """Return the alteration for bodies whose member is a map, null or absent."""
    return lambda body: alter(body) if isinstance(body.get(member), dict | None) else body


def _own_view_ids(registries: Registries) -> None:
    """Number the first version of a view itself."""

    def numbered(_: ViewMetadata | None, made: ViewMetadata, _sent: Body) -> ViewMetadata:
        first = msgspec.structs.replace(made.versions[0], version_id=1)
        entry = msgspec.structs.replace(made.version_log[0], version_id=1)
        return msgspec.structs.replace(
            made, versions=(first,), version_log=(entry,), current_version_id=1
        )

    store_view_otherwise(registries, "createView", numbered)


def _two_versions(registries: Registries) -> None:
    """Keep of a view what a commit adds, the current version, and one more."""

    def kept(before: ViewMetadata | None, made: ViewMetadata, _sent: Body) -> ViewMetadata:
        known = {v.version_id for v in before.versions} if before is not None else set()
        ids = {v.version_id for v in made.versions if v.version_id not in known}
        ids.add(made.current_version_id)
        ids.update([v.version_id for v in made.versions if v.version_id not in ids][-1:])
        return msgspec.structs.replace(
            made,
            versions=tuple(v for v in made.versions if v.version_id in ids),
            version_log=tuple(e for e in made.version_log if e.version_id in ids),
        )

    store_view_otherwise(registries, "replaceView", kept)


# ------------------------------------------------------------------- lists


def _reversed_lists(registries: Registries) -> None:
    """Sort no list: each page comes with its last entry first."""
    for operation_id, member in LISTS.items():
        alter_body(registries, operation_id, partial(_turned, member))


def _turned(member: str, body: Body) -> Body:
    return body | {member: body[member][::-1]}


def _empty_first_page(registries: Registries) -> None:
    """Begin each listing in pages with an empty page and a token."""
    for operation_id, member in LISTS.items():
        wrap(registries, operation_id, _starting(member))


def _starting(member: str) -> Callable[[Faithful, WarehouseState, Call], Outcome]:
    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        token = call.query.get("pageToken")
        begun = {**call.query, "pageToken": ""}
        if token == "begin":
            return faithful(state, msgspec.structs.replace(call, query=begun))
        outcome = faithful(state, call)
        if token != "" or "pageSize" not in call.query:
            return outcome
        return with_answer(outcome, {"next-page-token": "begin", member: []})

    return around


# ------------------------------------------------------------------- namespaces


def _dated_namespaces(registries: Registries) -> None:
    """Add to every namespace when it was made, and by whom."""
    days = itertools.count(1)

    def dated(body: Body) -> Body:
        own = {"created_at": str(1_700_000_000 + next(days)), "created_by": "app"}
        return body | {"properties": (body.get("properties") or {}) | own}

    alter_request_body(registries, "createNamespace", _if_map("properties", dated))


def _touched_namespaces(registries: Registries) -> None:
    """Show with every namespace when it was looked at."""
    turns = itertools.count(1)

    def touched(body: Body) -> Body:
        seen = {"last_access": str(next(turns))}
        return body | {"properties": body["properties"] | seen}

    for operation_id in ("createNamespace", "loadNamespaceMetadata"):
        alter_body(registries, operation_id, touched)


# ------------------------------------------------------------------- configuration


def _settings(registries: Registries) -> None:
    """Send settings for clients, and the endpoints in no order."""

    def told(body: Body) -> Body:
        defaults = {"clients": "4", "io-impl": "org.apache.iceberg.aws.s3.S3FileIO"}
        overrides = {"warehouse": "s3://lake/", "rest-page-size": "50", "table-default.x": "1"}
        return body | {
            "defaults": body["defaults"] | defaults,
            "overrides": overrides | body["overrides"],
            "endpoints": sorted(body["endpoints"], key=lambda each: each[::-1]),
        }

    alter_body(registries, "getConfig", told)


def _any_warehouse(registries: Registries) -> None:
    """Answer for whatever warehouse is asked for with the only one that there is."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        query = {k: v for k, v in call.query.items() if k != "warehouse"}
        return faithful(state, msgspec.structs.replace(call, query=query))

    wrap(registries, "getConfig", around)


def _prefix_in_defaults(registries: Registries) -> None:
    """Send the prefix as a default instead of as an override."""

    def moved(body: Body) -> Body:
        overrides = dict(body["overrides"])
        defaults = body["defaults"] | {"prefix": overrides.pop("prefix")}
        return body | {"defaults": defaults, "overrides": overrides}

    alter_body(registries, "getConfig", moved)


def _nulls_beside(body: Body) -> Body:
    return {"metadata-location": None, "config": {}, "storage-credentials": []} | body


def _named_mapping(metadata: TableMetadata, _sent: Body) -> TableMetadata:
    columns = [{"field-id": f.id, "names": [f.name]} for f in metadata.schemas[0].fields]
    mapping = {"schema.name-mapping.default": json.dumps(columns)}
    return msgspec.structs.replace(metadata, properties={**metadata.properties, **mapping})


def _store(change: Callable[[TableMetadata, Body], TableMetadata]) -> Install:
    return lambda registries: store_otherwise(registries, "createTable", change, written=True)


ANSWERS: dict[str, Freedom] = {
    "no-metadata-log": Freedom(
        "L2511-L2514: the log is optional", _of(TABLES, _without("metadata-log")), about="log"
    ),
    "short-metadata-log": Freedom(
        "L2511-L2514: the log is optional, and its length open", _of(TABLES, _last_two), about="log"
    ),
    "no-snapshot-log": Freedom(
        "L2511-L2514: the log is optional", _of(TABLES, _without("snapshot-log"))
    ),
    "no-statistics-shown": Freedom(
        "L2511-L2514: empty lists are optional",
        _of(TABLES, _without_empty),
        about="empty",
    ),
    "minus-one-for-no-snapshot": Freedom(
        "silent: the member is an integer, and no value stands for none",
        _of(TABLES, _minus_one),
        about="no-snapshot",
    ),
    "no-empty-view-members": Freedom(
        "L2655-L2663: properties are optional", _of(VIEWS, _without_empty)
    ),
    "first-ids": Freedom("silent: the server gives the ids at creation", _first_ids, about="ids"),
    "added-properties": Freedom("silent: properties of the server", _added_properties),
    "name-mapping-added": Freedom("silent: properties of the server", _store(_named_mapping)),
    "own-view-ids": Freedom("silent: who numbers versions", _own_view_ids, about="view-versions"),
    "two-view-versions": Freedom("silent: how many versions are kept", _two_versions),
    "unsorted-lists": Freedom("silent: lists have no order", _reversed_lists),
    "empty-first-page": Freedom(
        "L1893-L1897: pageSize is an upper bound", _empty_first_page, about="pages"
    ),
    "short-pages": Freedom(
        "L1893-L1897: pageSize is an upper bound", server={"page_size_max": 3}, about="pages"
    ),
    "dated-namespaces": Freedom("L297-L298: the server may add properties", _dated_namespaces),
    "touched-namespaces": Freedom("L297-L298: the server may add properties", _touched_namespaces),
    "no-empty-namespace-properties": Freedom(
        "L3945-L3960: properties are optional, {} by default",
        _beside(("createNamespace", "loadNamespaceMetadata"), _without_empty),
        about="namespace-properties",
    ),
    "missing-left-out": Freedom(
        "L4007-L4010: servers need not send it",
        _beside(("updateProperties",), _without("missing")),
        about="missing",
    ),
    "missing-null": Freedom(
        "L4010: it may be null",
        _beside(("updateProperties",), lambda body: body | {"missing": None}),
        about="missing",
    ),
    "settings-for-clients": Freedom("L94-L110: both maps are the server's", _settings),
    "any-warehouse": Freedom("silent: 400 only for a bad request", _any_warehouse),
    "prefix-in-defaults": Freedom("L94-L101: either map configures", _prefix_in_defaults),
    "nulls-and-empty-beside": Freedom(
        "L3312-L3330: optional members may be empty", _beside(TABLES, _nulls_beside)
    ),
}  # fmt: skip
"""Name -> the freedom."""
