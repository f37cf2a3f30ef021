"""Checks of requests about missing objects, in every form that a request may have."""

from collections.abc import Iterator
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.client.sender import ASKING_FOR_CREDENTIALS
from icecheck.conformance.kit.every_route import (
    Asked,
    Names,
    Own,
    expect_own_unchanged,
    shared_own,
)
from icecheck.judging.check import generated_check
from icecheck.objects.committing import set_property
from icecheck.targets.target import Namespace

_PAGE = (("pageToken", ""), ("pageSize", "1"))
_CHANGING = frozenset({"renameTable", "registerTable"})
_OPTIONAL = "if that is done at all"
"""The ending of optional forms, which may be refused with any status but 500."""


@generated_check("error.missing-in-every-form", proves=(
        "listNamespaces.404", "listTables.404", "listViews.404", "loadTable.404", "dropTable.404",
        "loadNamespaceMetadata.404", "namespaceExists.404", "dropNamespace.404",
        "updateProperties.404", "registerTable.404", "renameTable.404", "updateTable.404",
    ))  # fmt: skip
def test_what_is_missing_is_so_in_every_form(catalog: Catalog) -> None:
    """A request for a missing object is answered 404 in every form that the request may have."""
    own = shared_own(catalog)
    missing = catalog.new_namespace_name()
    asked = [*_reads(catalog, own, missing)]
    if not catalog.target.read_only:
        asked += _writes(catalog, own, missing)
    plain: dict[str, int] = {}
    done = False
    for each in asked:
        if not catalog.claims(each.operation_id):
            continue
        reply = each.send(catalog)
        done = done or (reply.ok and each.operation_id in _CHANGING)
        if plain.setdefault(each.operation_id, reply.status) != 404:
            continue  # the checks of that operation judge it
        if not each.form.endswith(_OPTIONAL) or reply.ok or reply.status == 500:
            reply.expect(404, detail=f"{each}, of what is not there")
    if done:  # an accepted request may have moved these objects
        return
    expect_own_unchanged(catalog, own)
    if catalog.claims("namespaceExists"):
        catalog.namespace_exists(missing).expect(404, detail="a namespace that does not exist")


def _reads(catalog: Catalog, own: Own, missing: Namespace) -> Iterator[Asked]:
    """Yield reads of missing namespaces, also nested ones, and of a missing table."""
    nowhere: list[tuple[str, Namespace]] = [("", missing)]
    if own.inner is not None:
        nowhere.append(("inside of one that is there", (*own.namespace, catalog.new_name())))
        nowhere.append(("inside of one that is missing", (*missing, own.inner[-1])))
    for form, namespace in nowhere:
        parent = [("parent", catalog.session.offer.parent_parameter(namespace))]
        names: Names = {"namespace": namespace}
        page = f"a page, {form}".rstrip(", ")
        if own.inner is not None:
            yield Asked("listNamespaces", {}, form, parent)
            yield Asked("listNamespaces", {}, page, [*parent, *_PAGE])
        for operation_id in ("listTables", "listViews"):
            yield Asked(operation_id, names, form)
            yield Asked(operation_id, names, page, _PAGE)
        yield Asked("loadNamespaceMetadata", names, form)
        yield Asked("namespaceExists", names, form)
    table: Names = {"namespace": own.namespace, "table": catalog.new_name()}
    yield Asked("loadTable", table)
    yield Asked("loadTable", table, "snapshots=refs", [("snapshots", "refs")])
    yield Asked("loadTable", table, "with credentials", headers=ASKING_FOR_CREDENTIALS)
    for what, tag in (("the tag of another one", own.tag), ("any tag", "*")):
        if tag is not None:
            yield Asked("loadTable", table, f"with {what}", headers={"If-None-Match": tag})
    yield Asked("loadTable", {"namespace": missing, "table": own.table.name}, "in no namespace")


def _writes(catalog: Catalog, own: Own, missing: Namespace) -> Iterator[Asked]:
    """Yield writes to missing objects, and writes into missing namespaces."""
    names: Names = {"namespace": missing}
    yield Asked("dropNamespace", names)
    yield Asked("updateProperties", names, body={"removals": ["a"], "updates": {"b": "1"}})
    yield Asked("updateProperties", names, "to set some", body={"updates": {"b": "1"}})
    yield Asked("updateProperties", names, "to remove some", body={"removals": ["a"]})
    table: Names = {"namespace": own.namespace, "table": catalog.new_name()}
    yield Asked("dropTable", table)
    for purge in ("false", "true"):
        form = f"purgeRequested={purge}" + (f", {_OPTIONAL}" if purge == "true" else "")
        yield Asked("dropTable", table, form, [("purgeRequested", purge)])
    change: dict[str, Any] = {"requirements": [], "updates": [set_property("1")]}
    same = {**change, "requirements": [{"type": "assert-table-uuid", "uuid": own.table.uuid}]}
    yield Asked("updateTable", table, body=same)
    yield Asked("updateTable", table, "without requirements", body=change)
    if own.table.metadata_location is not None:
        body = {"name": catalog.new_name(), "metadata-location": own.table.metadata_location}
        yield Asked("registerTable", names, body=body)
        for overwrite in (False, True):
            form = f"overwrite: {str(overwrite).lower()}, {_OPTIONAL}"
            yield Asked("registerTable", names, form, body={**body, "overwrite": overwrite})
    targets: list[tuple[str, Namespace]] = [("", missing)]
    if own.inner is not None:
        inside = (*own.namespace, catalog.new_name())
        targets.append(("to the inside of its own namespace", inside))
    for form, namespace in targets:
        target = {"namespace": [*namespace], "name": own.table.name}
        ends = {"source": own.table.identifier, "destination": target}
        yield Asked("renameTable", {}, form, body=ends)
