"""Requests on every route that names one namespace, table or view, in several forms each."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import NO_BODY, Catalog, Query, Table
from icecheck.client.given import given_loaded, given_namespace, given_table, some_table
from icecheck.client.sender import ASKING_FOR_CREDENTIALS
from icecheck.client.shared_setup import lent_object
from icecheck.findings.shared_symptoms import CHANGED_ALTHOUGH_REFUSED
from icecheck.judging.probes import has_capability
from icecheck.objects.committing import expect_unchanged, set_property
from icecheck.objects.reading import object_in, tables_in
from icecheck.objects.views import (
    View,
    create_view_body,
    expect_view_unchanged,
    given_view,
    some_view,
)
from icecheck.ownership.ledger import Entry
from icecheck.replies.expect import Blocked, NotOffered, Reply, Violation
from icecheck.targets.target import Namespace

Headers = Mapping[str, str]
Names = Mapping[str, str | Namespace]

OTHERS = "icecheck.others"
"""The property that every write of this module sets; no object of another check has it."""
_FIRST_PAGE = (("pageToken", ""), ("pageSize", "1"))


@dataclass(frozen=True, slots=True)
class Own:
    """Holds the objects that the check made, or the given ones where it may only read.

    ``inner`` is a namespace inside the first, where the catalog nests them; ``tag`` is the entity
    tag of the table, if it has one.
    """

    namespace: Namespace
    inner: Namespace | None
    table: Table
    view: View | None
    tag: str | None

    @property
    def name(self) -> str:
        """The last level of the namespace, which every request about these objects names."""
        return self.namespace[-1]

    @property
    def entries(self) -> list[Entry]:
        """The objects as they stand in the ledger, in the order in which they were made."""
        found = [Entry("namespace", n) for n in (self.namespace, self.inner) if n is not None]
        found.append(Entry("table", self.table.namespace, self.table.name))
        return found + [Entry("view", v.namespace, v.name) for v in [self.view] if v is not None]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request; ``form`` tells it from others of its operation and is empty for the plain one.

    ``shows`` is the last level or the name of an object that a list in the answer must contain.
    """

    operation_id: str
    names: Names
    form: str = ""
    query: Query = ()
    body: Any = NO_BODY
    headers: Headers = field(default_factory=dict)
    shows: str | None = None

    def __str__(self) -> str:
        """Return the name of the request in a report."""
        return f"{self.operation_id} ({self.form})" if self.form else self.operation_id

    def send(self, catalog: Catalog, headers: Headers | None = None) -> Reply:
        """Send the request with these headers in addition to its own."""
        return catalog.call(
            self.operation_id,
            self.names,
            query=self.query,
            body=self.body,
            headers={**self.headers, **(headers or {})},
        )

    def lists_it(self, reply: Reply) -> bool:
        """Return whether a list contains the object that it must show; True for other answers."""
        if self.shows is None:
            return True
        if self.operation_id == "listNamespaces":
            return self.shows in [level for ns in _levels(reply) for level in ns]
        return self.shows in [name for _, name in tables_in(reply)]


def _levels(reply: Reply) -> list[list[str]]:
    listed = object_in(reply).get("namespaces") or []
    return [each for each in listed if isinstance(each, list)]


def own_objects(catalog: Catalog) -> Own:
    """Make a namespace with a table and, where offered, a view and an inner namespace.

    Under read-only safety, return the given objects instead.
    """
    inner, view = None, None
    if catalog.target.read_only:
        table = some_table(catalog)
        with contextlib.suppress(NotOffered, Blocked):
            view = some_view(catalog) if catalog.claims("loadView") else None
        return Own(table.namespace, None, table, view, _loaded(catalog, table)[1])
    namespace = given_namespace(catalog)
    table = given_table(catalog, namespace)
    if catalog.claims("createView"):
        with contextlib.suppress(NotOffered):
            view = given_view(catalog, namespace)
    if has_capability(catalog, "nested-namespaces"):
        inner = given_namespace(catalog, under=namespace)
    table, tag = _loaded(catalog, table)
    return Own(namespace, inner, table, view, tag)


def shared_own(catalog: Catalog) -> Own:
    """Return such objects that checks share: for requests that read, and for refused ones."""
    if catalog.target.read_only:
        return own_objects(catalog)
    return lent_object(catalog, "own", own_objects)


def _loaded(catalog: Catalog, table: Table) -> tuple[Table, str | None]:
    """Return a table as a load shows it, and its entity tag."""
    loaded = given_loaded(catalog, table)
    return loaded, catalog.exchanges[-1].header("etag")


def reads(catalog: Catalog, own: Own) -> list[Asked]:
    """Return every read of these objects and of the catalog that the catalog claims."""
    return [each for each in _reads(catalog, own) if catalog.claims(each.operation_id)]


def _reads(catalog: Catalog, own: Own) -> Iterator[Asked]:
    yield Asked("getConfig", {}, query=catalog.target.warehouse_query)
    yield from _namespace_reads(catalog, own)
    yield from _table_reads(own)
    if own.view is not None:
        name = own.view.name
        inside: Names = {"namespace": own.view.namespace}
        names: Names = {**inside, "view": name}
        yield Asked("listViews", inside, shows=name)
        yield Asked("listViews", inside, "a page of it", _FIRST_PAGE)
        yield Asked("loadView", names)
        yield Asked("viewExists", names)


def _namespace_reads(catalog: Catalog, own: Own) -> Iterator[Asked]:
    parents = [(own.namespace[:-1], own.namespace)]
    if own.inner is not None:
        parents.append((own.namespace, own.inner))
    for parent, child in parents:
        joined = catalog.session.offer.parent_parameter(parent)
        query = [("parent", joined)] if parent else []
        form = "of its own namespace" if child == own.inner else ""
        yield Asked("listNamespaces", {}, form, query, shows=child[-1])
    names = {"namespace": own.namespace}
    yield Asked("loadNamespaceMetadata", names)
    yield Asked("namespaceExists", names)


def _table_reads(own: Own) -> Iterator[Asked]:
    name = own.table.name
    inside: Names = {"namespace": own.table.namespace}
    names: Names = {**inside, "table": name}
    yield Asked("listTables", inside, shows=name)
    yield Asked("listTables", inside, "a page of it", _FIRST_PAGE)
    yield Asked("loadTable", names)
    yield Asked("loadTable", names, "snapshots=refs", [("snapshots", "refs")])
    yield Asked("loadTable", names, "with credentials", headers=ASKING_FOR_CREDENTIALS)
    if own.tag is not None:
        yield Asked("loadTable", names, "If-None-Match", headers={"If-None-Match": own.tag})
    yield Asked("tableExists", names)
    yield Asked("loadCredentials", names)
    yield Asked("planTableScan", names, body={})


def writes(catalog: Catalog, own: Own) -> list[Asked]:
    """Return every request that changes or adds to these objects; those that delete come last."""
    if catalog.target.read_only:
        return []
    every = [*_namespace_writes(catalog, own), *_table_writes(catalog, own)]
    if own.view is not None:
        every += _view_writes(catalog, own.view)
    every += _drops(own)
    return [each for each in every if catalog.claims(each.operation_id)]


def _namespace_writes(catalog: Catalog, own: Own) -> Iterator[Asked]:
    beside, inside = catalog.new_namespace_name(), (*own.namespace, catalog.new_name())
    yield Asked("createNamespace", {}, body={"namespace": [*beside], "properties": {}})
    if own.inner is not None:
        body = {"namespace": [*inside], "properties": {}}
        yield Asked("createNamespace", {}, "inside of its own", body=body)
    names = {"namespace": own.namespace}
    yield Asked("updateProperties", names, body={"removals": [], "updates": {OTHERS: "1"}})


def _table_writes(catalog: Catalog, own: Own) -> Iterator[Asked]:
    table = own.table
    inside: Names = {"namespace": table.namespace}
    names: Names = {**inside, "table": table.name}
    body = bodies.create_table_body(catalog.new_name())
    yield Asked("createTable", inside, body=body)
    staged = bodies.create_table_body(catalog.new_name(), stage_create=True)
    if catalog.keeps("createTable.stage-creates-nothing"):
        yield Asked("createTable", inside, "staged", body=staged)
    if table.metadata_location is not None:
        file = {"metadata-location": table.metadata_location}
        yield Asked("registerTable", inside, body={"name": catalog.new_name(), **file})
        again = {"name": table.name, **file, "overwrite": True}
        yield Asked("registerTable", inside, "over its own table", body=again)
    change = {"requirements": [], "updates": [set_property("1", OTHERS)]}
    yield Asked("updateTable", names, body=change)
    changes = {"table-changes": [{"identifier": table.identifier, **change}]}
    yield Asked("commitTransaction", {}, body=changes)
    moved = {"namespace": [*table.namespace], "name": catalog.new_name()}
    yield Asked("renameTable", {}, body={"source": table.identifier, "destination": moved})


def _view_writes(catalog: Catalog, view: View) -> Iterator[Asked]:
    inside: Names = {"namespace": view.namespace}
    names: Names = {**inside, "view": view.name}
    yield Asked("createView", inside, body=create_view_body(catalog.new_name(), view.namespace))
    if view.metadata_location is not None:
        body = {"name": catalog.new_name(), "metadata-location": view.metadata_location}
        yield Asked("registerView", inside, body=body)
    change = {"requirements": [view.same], "updates": [set_property("1", OTHERS)]}
    yield Asked("replaceView", names, body=change)
    moved = {"namespace": [*view.namespace], "name": catalog.new_name()}
    yield Asked("renameView", {}, body={"source": view.identifier, "destination": moved})
    yield Asked("dropView", names)


def _drops(own: Own) -> Iterator[Asked]:
    names: Names = {"namespace": own.table.namespace, "table": own.table.name}
    yield Asked("dropTable", names)
    yield Asked("dropTable", names, "purgeRequested=false", [("purgeRequested", "false")])
    yield Asked("dropTable", names, "purgeRequested=true", [("purgeRequested", "true")])
    yield Asked("dropNamespace", {"namespace": own.inner or own.namespace})


def expect_own_unchanged(catalog: Catalog, own: Own) -> None:
    """Judge that requests which were all refused have left everything unchanged."""
    expect_unchanged(catalog, own.table)
    if catalog.claims("listTables") and not catalog.target.read_only:
        _expect_no_more_tables(catalog, own)
    if own.view is not None and catalog.claims("loadView"):
        expect_view_unchanged(catalog, own.view)
    if catalog.claims("loadNamespaceMetadata"):
        reply = catalog.load_namespace_metadata(own.namespace).expect(200)
        if OTHERS in (object_in(reply).get("properties") or {}):
            raise Violation(CHANGED_ALTHOUGH_REFUSED, "no new property", "a new property")


def _expect_no_more_tables(catalog: Catalog, own: Own) -> None:
    listed = catalog.list_tables(own.table.namespace).expect(200)
    more = [name for _, name in tables_in(listed) if name != own.table.name]
    # Some catalogs list views among their tables; other checks judge that.
    if [name for name in more if own.view is None or name != own.view.name]:
        raise listed.violation(
            CHANGED_ALTHOUGH_REFUSED, "its one table", "more", pointer="/identifiers"
        )
