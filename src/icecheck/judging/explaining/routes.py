"""Whether the operations that checks use beside their own are served at all.

A claimed operation that answers every request as an unknown route does not show in its own checks
alone: others use it too, and can do without it.
"""

from collections.abc import Callable, Mapping
from http import HTTPStatus

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace, given_table
from icecheck.replies.expect import NotOffered, Reply

PROPERTY = {"icecheck": "probe"}
_UNKNOWN = frozenset({HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED})
_OF_MISSING_OBJECTS = b'"NoSuch'


def is_unknown_route(reply: Reply) -> bool:
    """Return whether an answer says that there is no such route, and not that an object is gone."""
    if reply.status == HTTPStatus.NOT_FOUND:
        return _OF_MISSING_OBJECTS not in (reply.exchange.response_body or b"")
    return reply.status in _UNKNOWN


def _update_properties(catalog: Catalog) -> Reply:
    return catalog.update_properties(given_namespace(catalog), updates=PROPERTY)


def _drop_namespace(catalog: Catalog) -> Reply:
    return catalog.drop_namespace(given_namespace(catalog))


def _drop_table(catalog: Catalog) -> Reply:
    table = given_table(catalog)
    return catalog.drop_table(table.namespace, table.name)


def _rename_table(catalog: Catalog) -> Reply:
    table = given_table(catalog)
    own = (table.namespace, table.name)
    return catalog.rename_table(own, (table.namespace, catalog.new_name()))


def _table_exists(catalog: Catalog) -> Reply:
    table = given_table(catalog)
    return catalog.table_exists(table.namespace, table.name)


def _register_table(catalog: Catalog) -> Reply:
    table = given_table(catalog)
    if table.metadata_location is None:
        raise NotOffered("the catalog tells no metadata location")
    name = catalog.new_name()
    return catalog.register_table(table.namespace, name, table.metadata_location)


def _commit_transaction(catalog: Catalog) -> Reply:
    table = given_table(catalog)
    updates = [bodies.set_properties(PROPERTY)]
    change = {"identifier": table.identifier, "requirements": [], "updates": updates}
    return catalog.commit_transaction([change])


def _report_metrics(catalog: Catalog) -> Reply:
    table = given_table(catalog)
    report = {
        "report-type": "commit-report",
        "table-name": ".".join((*table.namespace, table.name)),
        "snapshot-id": 1,
        "sequence-number": 1,
        "operation": "append",
        "metrics": {},
    }
    return catalog.report_metrics(table.namespace, table.name, report)


ROUTES: Mapping[str, Callable[[Catalog], Reply]] = {
    "updateProperties.200": _update_properties,
    "dropNamespace.204": _drop_namespace,
    "dropTable.204": _drop_table,
    "renameTable.204": _rename_table,
    "tableExists.204": _table_exists,
    "registerTable.200": _register_table,
    "commitTransaction.204": _commit_transaction,
    "reportMetrics.204": _report_metrics,
}
"""Requirement of an operation's success -> an ordinary request to it, for those that others use."""
