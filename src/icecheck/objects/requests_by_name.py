"""The requests that find a table or a view by its name, one for each operation that does."""

from collections.abc import Callable, Mapping
from typing import Any

from icecheck.client.catalog import NO_BODY, Catalog, Table
from icecheck.objects.committing import set_property
from icecheck.objects.metrics_reports import commit_report
from icecheck.replies.expect import Reply
from icecheck.targets.target import Namespace

Json = dict[str, Any]
Place = tuple[Namespace, str]
Ask = Callable[[Catalog, Place, str], Reply]
"""Sends a request about a name; the string is the uuid that a commit asserts."""


def _identifier(place: Place) -> Json:
    return {"namespace": [*place[0]], "name": place[1]}


def _on(operation_id: str, body: Any = NO_BODY) -> Ask:
    """Return a request that names the object in its path only."""

    def ask(catalog: Catalog, place: Place, _uuid: str) -> Reply:
        kind = catalog.contract.operations[operation_id].facts.object
        names: Mapping[str, str | Namespace] = {"namespace": place[0], kind: place[1]}
        return catalog.call(operation_id, names, body=body)

    return ask


def _change(kind: str, place: Place, uuid: str) -> Json:
    return {
        "identifier": _identifier(place),
        "requirements": [{"type": f"assert-{kind}-uuid", "uuid": uuid}],
        "updates": [set_property("asked")],
    }


def _update_table(catalog: Catalog, place: Place, uuid: str) -> Reply:
    return _on("updateTable", _change("table", place, uuid))(catalog, place, uuid)


def _replace_view(catalog: Catalog, place: Place, uuid: str) -> Reply:
    return _on("replaceView", _change("view", place, uuid))(catalog, place, uuid)


def _commit_transaction(catalog: Catalog, place: Place, uuid: str) -> Reply:
    return catalog.commit_transaction([_change("table", place, uuid)])


def _report(catalog: Catalog, place: Place, _uuid: str) -> Reply:
    return catalog.report_metrics(*place, commit_report(Table(*place, {}, None)))


def _cancel(catalog: Catalog, place: Place, _uuid: str) -> Reply:
    names: Mapping[str, str | Namespace] = {
        "namespace": place[0],
        "table": place[1],
        "plan-id": "icecheck-no-such-plan",
    }
    return catalog.call("cancelPlanning", names)


def _renaming(operation_id: str) -> Ask:
    """Return a request that renames the object of a name within its namespace."""

    def ask(catalog: Catalog, place: Place, _uuid: str) -> Reply:
        target = (place[0], catalog.new_name())
        body = {"source": _identifier(place), "destination": _identifier(target)}
        return catalog.call(operation_id, body=body)

    return ask


BESIDE: Mapping[str, Ask] = {
    "loadCredentials": _on("loadCredentials"),
    "planTableScan": _on("planTableScan", {}),
    "reportMetrics": _report,
}
"""Operations that are often served by another service than the one that stores the tables."""

FINDING: Mapping[str, Mapping[str, Ask]] = {
    "table": {
        "loadTable": _on("loadTable"),
        "tableExists": _on("tableExists"),
        **BESIDE,
        "updateTable": _update_table,
        "commitTransaction": _commit_transaction,
    },
    "view": {
        "loadView": _on("loadView"),
        "viewExists": _on("viewExists"),
        "replaceView": _replace_view,
    },
}
"""By kind and operation: the requests that leave the object under its name."""

ENDING: Mapping[str, Mapping[str, Ask]] = {
    "table": {
        "cancelPlanning": _cancel,
        "renameTable": _renaming("renameTable"),
        "dropTable": _on("dropTable"),
    },
    "view": {"renameView": _renaming("renameView"), "dropView": _on("dropView")},
}
"""By kind and operation: the requests that are sent only where no object is.

They would rename or drop it; a plan that never existed is missing under every name.
"""
