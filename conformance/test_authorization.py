"""Credentials: what a catalog that wants them answers to requests without, or with false ones."""

from collections.abc import Callable, Mapping
from typing import Any

from icecheck import bodies
from icecheck.check import check
from icecheck.client import Catalog, Table
from icecheck.conformance.arranging import require
from icecheck.conformance.committing import expect_unchanged, set_property
from icecheck.conformance.reading import namespaces_in, not_applicable, tables_in
from icecheck.conformance.viewing import create_view_body, given_view, some_view
from icecheck.expect import Reply
from icecheck.target import Namespace

_NOBODY: Mapping[str, str] = {"Authorization": ""}
_FALSE_TOKEN: Mapping[str, str] = {"Authorization": "Bearer icecheck-false-token"}
_REPORT = {
    "report-type": "commit-report",
    "table-name": "icecheck",
    "snapshot-id": 1,
    "sequence-number": 1,
    "operation": "append",
    "metrics": {},
}

Send = Callable[[Catalog, Mapping[str, str]], Reply]


def _require_credentials(catalog: Catalog) -> None:
    if not catalog.target.token and not catalog.target.credential:
        raise not_applicable("the run was given no credentials")


# --------------------------------------------------- one request of each operation, arranged


def _named(operation_id: str, body: Any = None) -> Send:
    """Return what asks an operation about a namespace or table of the check's own."""

    def send(catalog: Catalog, headers: Mapping[str, str]) -> Reply:
        path = catalog.session.contract.operations[operation_id].path
        if "{table}" in path:
            table = _table_for(catalog, operation_id)
            return _of_table(catalog, operation_id, table, headers, body)
        if "{view}" in path:
            return _of_view(catalog, operation_id, headers, body)
        names: dict[str, str | Namespace] = {}
        if "{namespace}" in path:
            reads = body is None
            names["namespace"] = catalog.some_namespace() if reads else catalog.given_namespace()
        if body is None:
            return catalog.call(operation_id, names, headers=headers)
        return catalog.call(operation_id, names, body=body, headers=headers)

    return send


def _table_for(catalog: Catalog, operation_id: str) -> Table:
    # What an open catalog drops is not there for the next request.
    return catalog.given_table() if operation_id == "dropTable" else catalog.some_table()


def _of_table(
    catalog: Catalog,
    operation_id: str,
    table: Table,
    headers: Mapping[str, str],
    body: Any = None,
) -> Reply:
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
    names = {"namespace": catalog.given_home()}
    body = create_view_body(catalog.new_name())
    return catalog.call("createView", names, body=body, headers=headers)


def _rename_view(catalog: Catalog, headers: Mapping[str, str]) -> Reply:
    view = given_view(catalog)
    destination = {"namespace": [*view.namespace], "name": catalog.new_name()}
    body = {"source": view.identifier, "destination": destination}
    return catalog.call("renameView", body=body, headers=headers)


def _create_namespace(catalog: Catalog, headers: Mapping[str, str]) -> Reply:
    body = {"namespace": [*catalog.new_namespace_name()], "properties": {}}
    return catalog.call("createNamespace", body=body, headers=headers)


def _create_table(catalog: Catalog, headers: Mapping[str, str]) -> Reply:
    namespace = catalog.given_home()
    body = bodies.create_table_body(catalog.new_name())
    return catalog.create_table(namespace, body, headers)


def _rename_table(catalog: Catalog, headers: Mapping[str, str]) -> Reply:
    table = catalog.given_table()
    destination = {"namespace": [*table.namespace], "name": catalog.new_name()}
    body = {"source": table.identifier, "destination": destination}
    return catalog.call("renameTable", body=body, headers=headers)


def _register_table(catalog: Catalog, headers: Mapping[str, str]) -> Reply:
    table = catalog.shared_table()
    body = {"name": catalog.new_name(), "metadata-location": table.metadata_location or ""}
    return catalog.call("registerTable", {"namespace": table.namespace}, body=body, headers=headers)


def _commit_transaction(catalog: Catalog, headers: Mapping[str, str]) -> Reply:
    change = {"identifier": catalog.shared_table().identifier, "requirements": [], "updates": []}
    return catalog.call("commitTransaction", body={"table-changes": [change]}, headers=headers)


_REQUESTS: Mapping[str, Send] = {
    "getConfig": lambda catalog, headers: catalog.call(
        "getConfig",
        query=[("warehouse", catalog.target.warehouse)] if catalog.target.warehouse else (),
        headers=headers,
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
}


# --------------------------------------------------------------------- false credentials


@check("auth.bad-token-refused", proves="auth.bad-token-refused")
def test_a_false_token_is_refused(catalog: Catalog) -> None:
    """A request with an invalid token is refused with 401."""
    _require_credentials(catalog)
    # Reading may be open to everybody, where writing is not.
    operation_id = "createNamespace" if catalog.claims("createNamespace") else "listNamespaces"
    _expect_unauthorized(_REQUESTS[operation_id](catalog, _FALSE_TOKEN))


@check("auth.refused-changes-nothing", proves="auth.refused-changes-nothing")
def test_a_write_refused_for_its_credentials_changes_nothing(catalog: Catalog) -> None:
    """A write that is refused for an invalid token leaves everything as it was."""
    _require_credentials(catalog)
    # Of its own: where the refused drop was carried out, others would miss a shared one.
    table = catalog.loaded(catalog.given_table())
    name = catalog.new_name()
    body = bodies.create_table_body(name)
    change = {"requirements": [], "updates": [set_property("1")]}
    replies = [
        catalog.create_table(table.namespace, body, _FALSE_TOKEN),
        _of_table(catalog, "updateTable", table, _FALSE_TOKEN, change),
        _of_table(catalog, "dropTable", table, _FALSE_TOKEN),
    ]
    if any(reply.ok for reply in replies):
        raise not_applicable("the catalog takes a made-up token for a good one")
    expect_unchanged(catalog, table)
    reply = catalog.load_table(table.namespace, name)
    if reply.ok:
        catalog.ledger_table(table.namespace, name)
        raise reply.violation(
            "changed-although-refused", "no table", "a table", detail="with a made-up token"
        )


def _expect_unauthorized(reply: Reply) -> None:
    if reply.ok:
        detail = f"{reply.exchange.operation} answered {reply.status} to a made-up token"
        raise reply.violation("leak:false-token", "401", "a success", detail=detail)
    reply.expect(401, detail="with a made-up token")


def _declare(operation_id: str, send: Send) -> Callable[[Catalog], None]:
    """Make the check of one operation; a route that is open to anybody is none of its business."""

    @check(
        f"{operation_id}.bad-token",
        proves=f"{operation_id}.401",
        title=f"{operation_id} with an invalid token is refused with 401",
    )
    def judge(catalog: Catalog) -> None:
        _require_credentials(catalog)
        reply = send(catalog, _FALSE_TOKEN)
        # There is no plan to ask for: 404 is what an open catalog says to anybody.
        if (reply.ok or reply.status == 404) and send(catalog, _NOBODY).status == reply.status:
            raise not_applicable(f"{operation_id} needs no credentials here")
        _expect_unauthorized(reply)

    return judge


# One check for each operation: they differ in nothing but the request.
for _operation_id, _send in _REQUESTS.items():
    globals()[f"test_{_operation_id}_with_a_false_token"] = _declare(_operation_id, _send)


# ------------------------------------------------------------------------ no credentials


@check("auth.no-success-without-credentials", proves="auth.no-success-without-credentials")
def test_nothing_protected_is_answered_without_credentials(catalog: Catalog) -> None:
    """What the catalog protects is not shown, altered or changed for a caller without credentials.

    Which routes are open is the catalog's business: those that read namespaces, those that read
    tables and those that write are each judged as one. A success is a leak where others of its
    kind are refused, and so is one that differs from what an authorized caller sees.
    """
    if not catalog.target.authenticates:
        raise not_applicable("the run was given no credentials")
    require(catalog, "listNamespaces", "loadNamespaceMetadata", "listTables", "loadTable")
    table = catalog.given_table(catalog.given_namespace())
    kinds = [_reading_namespaces(catalog, table), _reading_tables(catalog, table)]
    writing = _writing(catalog, table)
    if not any(_refused(reply) for replies in (*kinds, writing) for reply in replies):
        raise not_applicable("the catalog answers requests without credentials: it needs none")
    # Writing that is open to anybody, where anything at all is refused, is no one's design.
    for replies in (*kinds, [*writing, *(r for kind in kinds for r in kind if _refused(r))]):
        if any(_refused(reply) for reply in replies):
            _expect_no_success(replies)


def _reading_namespaces(catalog: Catalog, table: Table) -> list[Reply]:
    names = {"namespace": table.namespace}
    parent = table.namespace[:-1]
    asked = [("parent", catalog.session.offer.parent_parameter(parent))] if parent else []
    listed = catalog.call("listNamespaces", query=asked, headers=_NOBODY)
    _expect_unaltered(listed, lambda reply: table.namespace in namespaces_in(reply))
    replies = [listed, catalog.call("loadNamespaceMetadata", names, headers=_NOBODY)]
    if catalog.claims("namespaceExists"):
        replies.append(catalog.call("namespaceExists", names, headers=_NOBODY))
    return replies


def _reading_tables(catalog: Catalog, table: Table) -> list[Reply]:
    listed = catalog.call("listTables", {"namespace": table.namespace}, headers=_NOBODY)
    own = (table.namespace, table.name)
    _expect_unaltered(listed, lambda reply: own in tables_in(reply))
    replies = [listed, _of_table(catalog, "loadTable", table, _NOBODY)]
    if catalog.claims("tableExists"):
        replies.append(_of_table(catalog, "tableExists", table, _NOBODY))
    return replies


def _writing(catalog: Catalog, table: Table) -> list[Reply]:
    """Send the writing requests; the table itself goes last."""
    order = ("createNamespace", "createTable", "updateProperties", "updateTable", "dropTable")
    claimed = [each for each in order if catalog.claims(each)]
    own = {
        "updateTable": lambda: _of_table(
            catalog, "updateTable", table, _NOBODY, {"requirements": [], "updates": []}
        ),
        "dropTable": lambda: _of_table(catalog, "dropTable", table, _NOBODY),
    }
    return [own[each]() if each in own else _REQUESTS[each](catalog, _NOBODY) for each in claimed]


def _refused(reply: Reply) -> bool:
    # Some catalogs hide what may not be seen.
    return reply.status in {401, 403, 404}


def _expect_unaltered(reply: Reply, complete: Callable[[Reply], bool]) -> None:
    if reply.status == 200 and not complete(reply):
        raise reply.violation(
            "leak:altered-success",
            "401 or 403, or the same answer as with credentials",
            "a success without what is there",
            detail=f"{reply.exchange.operation} without credentials",
        )


def _expect_no_success(replies: list[Reply]) -> None:
    leaks = [reply for reply in replies if reply.ok]
    if leaks:
        refused = [str(r.exchange.operation) for r in replies if _refused(r)]
        raise leaks[0].violation(
            "leak:without-credentials",
            "401 or 403",
            "a success",
            detail=f"answered: {', '.join(str(r.exchange.operation) for r in leaks)}; "
            f"refused: {', '.join(refused)}",
        )
