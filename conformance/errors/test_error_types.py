"""Checks of the type of an error, which says which of the named objects is missing."""

from collections.abc import Iterator, Mapping
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import NO_BODY, Catalog, Table
from icecheck.client.given import given_namespace, given_table, shared_table
from icecheck.findings.shared_symptoms import ERROR_TYPE
from icecheck.judging.check import check, generated_check
from icecheck.objects.arranging import UNKNOWN_PLAN, UNKNOWN_PLAN_TASK
from icecheck.objects.committing import set_property
from icecheck.objects.metrics_reports import commit_report
from icecheck.objects.reading import expect_json, object_in
from icecheck.objects.views import given_view, view_version
from icecheck.replies.expect import Blocked, NotOffered, Reply
from icecheck.replies.matching import show
from icecheck.targets.target import Namespace

_NAMESPACE = "NoSuchNamespaceException"
_TABLE = "NoSuchTableException"
_VIEW = "NoSuchViewException"
_WITH_A_BODY = frozenset({401, 403, 404, 406, 409, 422})
"""The statuses for which the document defines an error body; a gateway's statuses are left out."""
_ABSENT_UUID = "9c12d441-03fe-4693-9a96-a0705ddf69c1"

Json = dict[str, Any]
Request = tuple[str, Mapping[str, str | Namespace], Any]
"""An operation, its path parameters, and its body."""
Missing = tuple[*Request, str]
"""A request, and the error type that a 404 must have."""


@check("error.type-of-missing-namespace")
def test_a_missing_namespace_is_told_from_a_missing_table(catalog: Catalog) -> None:
    """Where a table or view is put into a missing namespace, the error's type says namespace."""
    table = shared_table(catalog)
    missing = catalog.new_namespace_name()
    body = bodies.create_table_body(catalog.new_name())
    _expect_no_such_namespace(catalog.create_table(missing, body))
    registers = catalog.serves("registerTable") and catalog.keeps("registerTable.404")
    if table.metadata_location is not None and registers:
        name = catalog.new_name()
        _expect_no_such_namespace(catalog.register_table(missing, name, table.metadata_location))
    if catalog.claims("createView"):
        view = bodies.create_view_body(catalog.new_name(), table.namespace)
        reply = catalog.create_view(missing, view)
        if reply.status != 406:  # it supports no views
            _expect_no_such_namespace(reply)


def _expect_no_such_namespace(reply: Reply) -> None:
    if reply.status == 403:  # the user may not do that, whatever is there
        return
    if reply.status != 404:
        reason = f"a missing namespace is answered {reply.status}"
        raise Blocked(f"{reply.exchange.operation}.404", reason, exchange=reply.exchange.ordinal)
    _expect_type(reply, _NAMESPACE)


@generated_check("error.type-of-what-is-missing")
def test_the_type_of_an_error_says_what_is_missing(catalog: Catalog) -> None:
    """The type of a 404 says which of the objects that the request names is missing."""
    table = given_table(catalog)
    asked = [*_of_tables(catalog, table), *_of_views(catalog, table.namespace)]
    told = 0
    for operation_id, names, body, due in asked:
        if not catalog.serves(operation_id):
            continue
        reply = catalog.call(operation_id, names, body=body)
        if reply.status == 404 and reply.exchange.claims_json:
            _expect_type(reply, due)
            told += 1
    if not told:
        raise NotOffered("no answer was a 404 that claims to be JSON")


@generated_check("http.json-refusals", proves="http.json-content-type")
def test_refusals_say_that_they_are_json(catalog: Catalog) -> None:
    """A refusal with a body says application/json; only a 400 may have another content type."""
    table = given_table(catalog, given_namespace(catalog))
    missing = [*_of_tables(catalog, table), *_of_views(catalog, table.namespace)]
    asked = [*(each[:3] for each in missing), *_that_conflict(catalog, table)]
    for operation_id, names, body in asked:
        if catalog.claims(operation_id):
            reply = catalog.call(operation_id, names, body=body)
            if reply.status in _WITH_A_BODY:
                expect_json(reply)


def _that_conflict(catalog: Catalog, table: Table) -> Iterator[Request]:
    """Yield requests that create existing objects, and commits with another table's uuid."""
    inside = {"namespace": table.namespace}
    same = {"namespace": [*table.namespace], "properties": {}}
    commit = _commit(table.namespace, table.name, "assert-table-uuid", [set_property("1")])
    yield "createNamespace", {}, same
    yield "createTable", inside, bodies.create_table_body(table.name)
    yield "updateTable", {**inside, "table": table.name}, commit
    yield "commitTransaction", {}, {"table-changes": [commit]}
    yield "dropNamespace", inside, NO_BODY


def _of_tables(catalog: Catalog, table: Table) -> Iterator[Missing]:
    """Yield requests about a missing table beside an existing one, and into a missing namespace."""
    name = catalog.new_name()
    there: Mapping[str, str | Namespace] = {"namespace": table.namespace, "table": table.name}
    missing = {**there, "table": name}
    commit = _commit(table.namespace, name, "assert-table-uuid", [set_property("1")])
    yield "loadTable", missing, NO_BODY, _TABLE
    yield "updateTable", missing, commit, _TABLE
    yield "loadCredentials", missing, NO_BODY, _TABLE
    yield "reportMetrics", missing, commit_report(table), _TABLE
    yield "planTableScan", missing, {}, _TABLE
    yield "commitTransaction", {}, {"table-changes": [commit]}, _TABLE
    yield "dropTable", missing, NO_BODY, _TABLE
    yield "renameTable", {}, _within(table.namespace, name), _TABLE
    nowhere = bodies.rename_body(
        (table.namespace, table.name), (catalog.new_namespace_name(), name)
    )
    yield "renameTable", {}, nowhere, _NAMESPACE
    yield (
        "fetchPlanningResult",
        {**there, "plan-id": UNKNOWN_PLAN},
        NO_BODY,
        "NoSuchPlanIdException",
    )
    yield "fetchScanTasks", there, {"plan-task": UNKNOWN_PLAN_TASK}, "NoSuchPlanTaskException"


def _of_views(catalog: Catalog, namespace: Namespace) -> Iterator[Missing]:
    """Yield requests about a missing view beside an existing one, and into a missing namespace.

    Yields nothing where the catalog has no views; the requests about tables are judged anyway.
    """
    try:
        view = given_view(catalog, namespace)
    except NotOffered:
        return
    name = catalog.new_name()
    missing: Mapping[str, str | Namespace] = {"namespace": view.namespace, "view": name}
    version = view_version(namespace=view.namespace)
    update = {"action": "add-view-version", "view-version": version}
    commit = _commit(view.namespace, name, "assert-view-uuid", [update])
    yield "loadView", missing, NO_BODY, _VIEW
    yield "replaceView", missing, commit, _VIEW
    yield "dropView", missing, NO_BODY, _VIEW
    yield "renameView", {}, _within(view.namespace, name), _VIEW
    nowhere = bodies.rename_body((view.namespace, view.name), (catalog.new_namespace_name(), name))
    yield "renameView", {}, nowhere, _NAMESPACE


def _within(namespace: Namespace, name: str) -> Json:
    return bodies.rename_body((namespace, name), (namespace, f"{name}x"))


def _commit(namespace: Namespace, name: str, requirement: str, updates: list[Json]) -> Json:
    return {
        "identifier": {"namespace": [*namespace], "name": name},
        "requirements": [{"type": requirement, "uuid": _ABSENT_UUID}],
        "updates": updates,
    }


def _expect_type(reply: Reply, due: str) -> None:
    body = object_in(reply)
    error = body.get("error", body)  # without the envelope for views, as in the document
    said = error.get("type") if isinstance(error, dict) else None
    if said != due:
        # The same wording as the judgement of all other type names: the wrong names of a server are
        # one cause.
        raise reply.violation(
            ERROR_TYPE,
            "the type name that the document gives",
            "another name",
            pointer="/error/type",
            detail=f"{reply.exchange.operation}.404 says {show(said)}, due is {due}",
        )
