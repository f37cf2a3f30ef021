"""One request of each operation, with setup, to be sent without or with false credentials."""

from collections.abc import Callable, Mapping
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import (
    given_namespace,
    given_table,
    shared_namespace,
    shared_table,
    some_namespace,
    some_table,
)
from icecheck.objects.reading import object_in
from icecheck.objects.views import create_view_body, given_view, some_view
from icecheck.replies.expect import Reply
from icecheck.targets.target import Namespace
from icecheck.wire.credentials import MADE_UP_TOKEN

NOBODY: Mapping[str, str] = {"Authorization": ""}
FALSE_TOKEN: Mapping[str, str] = {"Authorization": f"Bearer {MADE_UP_TOKEN}"}
_REPORT = {
    "report-type": "commit-report",
    "table-name": "icecheck",
    "snapshot-id": 1,
    "sequence-number": 1,
    "operation": "append",
    "metrics": {},
}

Send = Callable[[Catalog, Mapping[str, str]], Reply]


def _named(operation_id: str, body: Any = None) -> Send:
    """Return a function that sends an operation for a namespace, table or view of the check."""

    def send(catalog: Catalog, headers: Mapping[str, str]) -> Reply:
        path = catalog.session.contract.operations[operation_id].path
        if "{table}" in path:
            table = _table_for(catalog, operation_id)
            return of_table(catalog, operation_id, table, headers, body)
        if "{view}" in path:
            return _of_view(catalog, operation_id, headers, body)
        names: dict[str, str | Namespace] = {}
        if "{namespace}" in path:
            # The drop of an open catalog succeeds: others would miss a shared namespace.
            writes = body is not None or operation_id == "dropNamespace"
            names["namespace"] = given_namespace(catalog) if writes else some_namespace(catalog)
        if body is None:
            return catalog.call(operation_id, names, headers=headers)
        return catalog.call(operation_id, names, body=body, headers=headers)

    return send


def _table_for(catalog: Catalog, operation_id: str) -> Table:
    # The drop of an open catalog succeeds, and the next request would miss a shared table.
    return given_table(catalog) if operation_id == "dropTable" else some_table(catalog)


def of_table(
    catalog: Catalog,
    operation_id: str,
    table: Table,
    headers: Mapping[str, str],
    body: Any = None,
) -> Reply:
    """Send an operation for a table; where its path has a plan id, with an unknown one."""
    names: dict[str, str | Namespace] = {"namespace": table.namespace, "table": table.name}
    if "{plan-id}" in catalog.session.contract.operations[operation_id].path:
        names["plan-id"] = catalog.new_name()
    if body is None:
        return catalog.call(operation_id, names, headers=headers)
    return catalog.call(operation_id, names, body=body, headers=headers)


def _of_view(
    catalog: Catalog, operation_id: str, headers: Mapping[str, str], body: Any = None
) -> Reply:
    view = given_view(catalog) if operation_id == "dropView" else some_view(catalog)
    names: dict[str, str | Namespace] = {"namespace": view.namespace, "view": view.name}
    if body is None:
        return catalog.call(operation_id, names, headers=headers)
    return catalog.call(operation_id, names, body=body, headers=headers)


def _create_view(catalog: Catalog, headers: Mapping[str, str]) -> Reply:
    namespace = shared_namespace(catalog)
    names = {"namespace": namespace}
    body = create_view_body(catalog.new_name(), namespace)
    return catalog.call("createView", names, body=body, headers=headers)


def _rename_view(catalog: Catalog, headers: Mapping[str, str]) -> Reply:
    view = given_view(catalog)
    destination = {"namespace": [*view.namespace], "name": catalog.new_name()}
    body = {"source": view.identifier, "destination": destination}
    return catalog.call("renameView", body=body, headers=headers)


def _register_view(catalog: Catalog, headers: Mapping[str, str]) -> Reply:
    # The registration of an open catalog succeeds, and its removal may take the file along.
    view = given_view(catalog)
    body = {"name": catalog.new_name(), "metadata-location": view.metadata_location or ""}
    return catalog.call("registerView", {"namespace": view.namespace}, body=body, headers=headers)


def _create_namespace(catalog: Catalog, headers: Mapping[str, str]) -> Reply:
    body = {"namespace": [*catalog.new_namespace_name()], "properties": {}}
    return catalog.call("createNamespace", body=body, headers=headers)


def _create_table(catalog: Catalog, headers: Mapping[str, str]) -> Reply:
    namespace = shared_namespace(catalog)
    body = bodies.create_table_body(catalog.new_name())
    return catalog.create_table(namespace, body, headers)


def _rename_table(catalog: Catalog, headers: Mapping[str, str]) -> Reply:
    table = given_table(catalog)
    destination = {"namespace": [*table.namespace], "name": catalog.new_name()}
    body = {"source": table.identifier, "destination": destination}
    return catalog.call("renameTable", body=body, headers=headers)


def _register_table(catalog: Catalog, headers: Mapping[str, str]) -> Reply:
    table = shared_table(catalog)
    body = {"name": catalog.new_name(), "metadata-location": table.metadata_location or ""}
    return catalog.call("registerTable", {"namespace": table.namespace}, body=body, headers=headers)


def _commit_transaction(catalog: Catalog, headers: Mapping[str, str]) -> Reply:
    change = {"identifier": shared_table(catalog).identifier, "requirements": [], "updates": []}
    return catalog.call("commitTransaction", body={"table-changes": [change]}, headers=headers)


REQUESTS: Mapping[str, Send] = {
    "getConfig": lambda catalog, headers: catalog.call(
        "getConfig", query=catalog.target.warehouse_query, headers=headers
    ),
    "listNamespaces": _named("listNamespaces"),
    "createNamespace": _create_namespace,
    "loadNamespaceMetadata": _named("loadNamespaceMetadata"),
    "namespaceExists": _named("namespaceExists"),
    "dropNamespace": _named("dropNamespace"),
    "updateProperties": _named("updateProperties", {"updates": {"team": "icecheck"}}),
    "listTables": _named("listTables"),
    "createTable": _create_table,
    "loadTable": _named("loadTable"),
    "tableExists": _named("tableExists"),
    "updateTable": _named("updateTable", {"requirements": [], "updates": []}),
    "dropTable": _named("dropTable"),
    "renameTable": _rename_table,
    "registerTable": _register_table,
    "loadCredentials": _named("loadCredentials"),
    "reportMetrics": _named("reportMetrics", _REPORT),
    "commitTransaction": _commit_transaction,
    "planTableScan": _named("planTableScan", {}),
    "fetchPlanningResult": _named("fetchPlanningResult"),
    "cancelPlanning": _named("cancelPlanning"),
    "fetchScanTasks": _named("fetchScanTasks", {"plan-task": "icecheck"}),
    "listViews": _named("listViews"),
    "createView": _create_view,
    "loadView": _named("loadView"),
    "viewExists": _named("viewExists"),
    "replaceView": _named("replaceView", {"requirements": [], "updates": []}),
    "dropView": _named("dropView"),
    "renameView": _rename_view,
    "registerView": _register_view,
}

# Members that a catalog may answer differently: the page, and the config for the reader.
_READERS_OWN = {
    "listNamespaces": ("next-page-token",),
    "listTables": ("next-page-token",),
    "listViews": ("next-page-token",),
    "loadTable": ("config", "storage-credentials", "metadata-location"),
    "loadView": ("config", "metadata-location"),
}


def refused(reply: Reply) -> bool:
    """Return whether an answer denies access; some catalogs deny it with 404."""
    return reply.status in {401, 403, 404}


def is_altered(reply: Reply, authorized: Reply) -> bool:
    """Return whether a success has other members than the answer with credentials."""
    return _told(reply) != _told(authorized) if reply.ok and authorized.ok else False


def _told(reply: Reply) -> frozenset[str]:
    """Return the members that are not empty; values are ignored, as others may change them."""
    if not reply.exchange.response_body:
        return frozenset()
    body = object_in(reply)
    inner = body.get("metadata")
    own = _READERS_OWN.get(str(reply.exchange.operation), ())
    said = {*_saying(body)} - {*own}
    return frozenset(said | {f"metadata/{member}" for member in _saying(inner)})


def _saying(value: Any) -> list[str]:
    members = value if isinstance(value, Mapping) else {}
    return [member for member, said in members.items() if said not in (None, [], {}, "")]
