"""Arrange steps: make what a check needs before it begins, as an ordinary client would.

Each function takes the catalog first, and raises NotOffered or Blocked if the step fails.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.shared_objects import LentNamespace, Named
from icecheck.client.shared_setup import lent_object, setup_namespace
from icecheck.client.table import Table
from icecheck.findings.verdict import SkipKind
from icecheck.replies.expect import Blocked, NotOffered, Reply
from icecheck.targets.target import Namespace
from icecheck.wire.unreachable import CredentialsEnded, Unreachable

Json = Any
_FORMAT_VERSION = "format-version"
_NOT_SO_DEEP = frozenset({400, 406, 422, 501})
_NO_MORE = frozenset({400, 409, 413, 422, 501})
_FEW = 3
T = TypeVar("T", bound=Named)
Thing = TypeVar("Thing")


def arrange(catalog: Catalog, operation_id: str, send: Callable[[], Reply]) -> Reply:
    """Send an arrange step; raise NotOffered or Blocked if it does not succeed."""
    if not catalog.claims(operation_id):
        raise NotOffered(f"the catalog does not claim {operation_id}, which this check needs")
    with catalog.arranging():
        reply = send()
    if reply.status == 403:
        words = f"{operation_id} answered 403: run with credentials that may do this"
        raise NotOffered(words, lacks=operation_id)
    if reply.unsupported:
        raise NotOffered(f"the catalog answers {operation_id} with 406: not supported")
    if operation_id == "createNamespace" and not reply.ok and _works_in_parent(catalog):
        raise NotOffered(f"the catalog creates no namespaces here: it answers {reply.status}")
    if operation_id == "createNamespace" and (depth := refused_depth(catalog, reply)):
        reason = f"the catalog has no deep-namespaces: {depth} levels are answered {reply.status}"
        raise NotOffered(reason, SkipKind.NOT_APPLICABLE)
    if not reply.ok:
        reason = f"{operation_id} answered {reply.status} to an ordinary request"
        due = catalog.contract.operations[operation_id].success
        raise Blocked(due, reason, exchange=reply.exchange.ordinal)
    return reply


def arrange_made(
    catalog: Catalog, operation_id: str, create: Callable[[], Reply], load: Callable[[], Reply]
) -> Reply:
    """Send an arrange step that creates something, and return an answer that shows it.

    Where the answer is lost, a load tells whether it is there; if not, it is created once more.
    Raises NotOffered or Blocked like ``arrange``; Unreachable if nothing tells.
    """
    try:
        return arrange(catalog, operation_id, create)
    except CredentialsEnded:
        raise
    except Unreachable:
        with catalog.arranging():
            there = load()
            again = create() if there.status == 404 else there
        if not again.ok:  # what was sent first may have taken effect meanwhile
            raise
        return again


def refused_depth(catalog: Catalog, reply: Reply) -> int:
    """Return how deep a refused namespace was, if only its depth can be the reason; else 0.

    The run's own namespaces, and those of two levels, are known to be accepted. What deeper ones
    show of the capability is remembered.
    """
    depth = len(json.loads(reply.exchange.request_body or b"{}").get("namespace", ()))
    refused = reply.status in _NOT_SO_DEEP
    if depth <= max(2, len(catalog.session.isolation.base) + 1) or not (refused or reply.ok):
        return 0
    catalog.session.saw("deep-namespaces", catalog.check_id, present=reply.ok)
    return depth if refused else 0


def given_many(catalog: Catalog, count: int, make: Callable[[], Thing]) -> list[Thing]:
    """Make so many things; end the check where a catalog that has made a few refuses more.

    How many objects a catalog or a namespace may hold, no sentence says.
    """
    made: list[Thing] = []
    for _ in range(count):
        try:
            made.append(make())
        except Blocked as refused:
            if len(made) < _FEW or catalog.exchanges[-1].status not in _NO_MORE:
                raise
            reason = f"the catalog makes {len(made)} of {count}, and then {refused.reason}"
            raise NotOffered(reason, SkipKind.NOT_APPLICABLE) from refused
    return made


def _works_in_parent(catalog: Catalog) -> bool:
    return catalog.session.adaptations.only_in is not None


# -------------------------------------------------------------------------- namespaces


def shared_namespace(catalog: Catalog) -> Namespace:
    """Return the shared namespace in which many checks keep their tables and views.

    It is made when a check first asks for it. Checks that list, change or drop a namespace, or
    judge its content, make one of their own (``given_namespace``).
    """
    only_in = catalog.session.adaptations.only_in
    if only_in is not None:
        return only_in
    return setup_namespace(catalog, "home", _make_shared_namespace)


def another_shared_namespace(catalog: Catalog) -> Namespace:
    """Return a second namespace of this sort, for objects that are moved to another one."""
    return setup_namespace(catalog, "away", _make_shared_namespace)


def _make_shared_namespace(maker: Catalog, namespace: Namespace) -> None:
    try:
        arrange(maker, "createNamespace", lambda: maker.create_namespace(namespace))
    except Blocked:
        # The name is the run's own: an earlier attempt whose answer was lost has made the
        # namespace.
        if maker.exchanges[-1].status != 409:
            raise
        maker.ledger_namespace(namespace)


def given_namespace(
    catalog: Catalog,
    properties: Mapping[str, str] | None = None,
    *,
    under: Namespace | None = None,
    hint: str = "",
) -> Namespace:
    """Create a namespace of the run's own, nested under another if asked, and return it."""
    base = catalog.session.isolation.base if under is None else under
    namespace = (*base, catalog.new_name(hint))
    at_once = not properties or catalog.keeps("createNamespace.properties-stored")
    first = properties if at_once else {}
    arrange_made(
        catalog,
        "createNamespace",
        lambda: catalog.create_namespace(namespace, first),
        lambda: catalog.load_namespace_metadata(namespace),
    )
    if not at_once:
        later = partial(catalog.update_properties, namespace, updates=properties)
        arrange(catalog, "updateProperties", later)
    return namespace


def some_namespace(catalog: Catalog) -> Namespace:
    """Return a namespace to read: an empty shared one, or the user's if the run may only read.

    Its other content and its name make no difference to the check.
    """
    return _theirs(catalog) if catalog.target.read_only else shared_empty_namespace(catalog)


def shared_empty_namespace(catalog: Catalog) -> Namespace:
    """Return an empty namespace that checks share: for requests that only read it."""
    return lent_namespace(catalog, "namespace").path


def shared_namespaces(catalog: Catalog) -> LentNamespace:
    """Return a namespace that checks share: it holds three others, the first of them a fourth.

    The fourth is the last of the names. For requests that read, and for refused ones.
    """

    def fill(maker: Catalog, path: Namespace) -> list[str]:
        made = [given_namespace(maker, under=path) for _ in range(3)]
        return [each[-1] for each in (*made, given_namespace(maker, under=made[0]))]

    return lent_namespace(catalog, "namespaces", fill, hint="_a")


def lent_namespace(
    catalog: Catalog,
    kind: str,
    fill: Callable[[Catalog, Namespace], Sequence[str]] = lambda *_: (),
    **members: Any,
) -> LentNamespace:
    """Return a namespace of a kind that checks share; ``fill`` makes what it is to hold.

    For requests that read, and for refused ones. If one that may have changed something in it was
    not refused, the next check gets another one. ``members`` are those of ``given_namespace``.
    """

    def make(maker: Catalog) -> LentNamespace:
        path = given_namespace(maker, **members)
        return LentNamespace(path, tuple(fill(maker, path)))

    return lent_object(catalog, kind, make)


def some_shared_namespace(catalog: Catalog) -> Namespace:
    """Return a namespace to look for objects in: the run's shared one, or the user's.

    The user's namespace is taken if the run may only read.
    """
    return _theirs(catalog) if catalog.target.read_only else shared_namespace(catalog)


def _theirs(catalog: Catalog) -> Namespace:
    theirs = catalog.target.given
    if theirs.namespace:
        return theirs.namespace
    if theirs.table is None:
        raise NotOffered("name a namespace to read with --given-table", SkipKind.SAFETY_LEVEL)
    return theirs.table[0]


# ------------------------------------------------------------------------------ tables


def given_table(
    catalog: Catalog,
    namespace: Namespace | None = None,
    *,
    hint: str = "",
    headers: Mapping[str, str] | None = None,
    **members: Any,
) -> Table:
    """Create a table, in the run's shared namespace unless one is given, and return it.

    ``members`` are those of ``bodies.create_table_body``, ``headers`` go with the creation. The
    properties are committed afterwards where the catalog loses those of a creation.
    """
    where = shared_namespace(catalog) if namespace is None else namespace
    name, later = catalog.new_name(hint), {}
    body = bodies.create_table_body(name, **members)
    if own := {k: v for k, v in body["properties"].items() if k != _FORMAT_VERSION}:
        later = {} if catalog.keeps("createTable.properties-kept") else own
    body["properties"] = {k: v for k, v in body["properties"].items() if k not in later}
    reply = arrange_made(
        catalog,
        "createTable",
        lambda: catalog.create_table(where, body, headers),
        lambda: catalog.load_table(where, name),
    )
    table = _table(where, name, reply)
    return given_commit(catalog, table, [bodies.set_properties(later)]) if later else table


def shared_table(catalog: Catalog) -> Table:
    """Return an empty table that checks share: for checks that only read it or are refused.

    Its metadata is what a load has shown, where the catalog loads tables. If a request that may
    have changed it was not refused, the next check gets another table.
    """
    return shared_object(
        catalog, "table", lambda s, namespace: given_loaded(s, given_table(s, namespace))
    )


def shared_object(catalog: Catalog, kind: str, make: Callable[[Catalog, Namespace], T]) -> T:
    """Return the table or view of a kind that checks share; ``make`` makes it in a namespace."""
    namespace = shared_namespace(catalog)
    return lent_object(catalog, kind, lambda maker: make(maker, namespace))


def shared_tables(catalog: Catalog, count: int = 3) -> LentNamespace:
    """Return a namespace with so many tables that checks share, to be listed."""
    return lent_namespace(
        catalog,
        f"{count} tables",
        lambda maker, namespace: given_many(
            maker, count, lambda: given_table(maker, namespace).name
        ),
    )


def some_table(catalog: Catalog) -> Table:
    """Return a table to read: the shared one, or the user's if the run may only read."""
    if not catalog.target.read_only:
        return shared_table(catalog)
    if catalog.target.given.table is None:
        raise NotOffered("name a table to read with --given-table", SkipKind.SAFETY_LEVEL)
    namespace, name = catalog.target.given.table
    reply = arrange(catalog, "loadTable", lambda: catalog.load_table(namespace, name))
    return _table(namespace, name, reply)


def given_loaded(catalog: Catalog, table: Table) -> Table:
    """Return a table as a load shows it, or as it was created where the catalog loads none."""
    if not catalog.claims("loadTable"):
        return table
    reply = arrange(catalog, "loadTable", lambda: catalog.load_table(table.namespace, table.name))
    return _table(table.namespace, table.name, reply)


def given_commit(
    catalog: Catalog, table: Table, updates: Sequence[Json], requirements: Sequence[Json] = ()
) -> Table:
    """Commit updates as an arrange step; return the table after it."""

    def send() -> Reply:
        return catalog.update_table(table.namespace, table.name, updates, requirements)

    return _table(table.namespace, table.name, arrange(catalog, "updateTable", send))


def given_snapshot(catalog: Catalog, table: Table, ordinal: int = 1, ref: str = "main") -> Table:
    """Add a metadata-only snapshot and point a branch at it."""
    current = (table.metadata.get("refs") or {}).get(ref, {}).get("snapshot-id")
    added = bodies.snapshot(table.metadata, ordinal, parent=current)
    updates = [
        {"action": "add-snapshot", "snapshot": added},
        bodies.snapshot_ref(added["snapshot-id"], ref),
    ]
    return given_commit(catalog, table, updates)


def given_dropped(catalog: Catalog, namespace: Namespace, name: str) -> None:
    """Drop a table without purge, as an arrange step."""
    arrange(catalog, "dropTable", lambda: catalog.drop_table(namespace, name))


def given_transaction(catalog: Catalog, changes: Sequence[Json]) -> None:
    """Commit to several tables as an arrange step."""
    arrange(catalog, "commitTransaction", lambda: catalog.commit_transaction(changes))


def reloaded(catalog: Catalog, table: Table) -> Table:
    """Load a table that must be there, and return it as it is now.

    Raises Violation if it is not there.
    """
    reply = catalog.load_table(table.namespace, table.name).expect(200)
    metadata = reply.member("metadata")
    location = reply.json().get("metadata-location")
    return replace(table, metadata=metadata, metadata_location=location)


def _table(namespace: Namespace, name: str, reply: Reply) -> Table:
    metadata = reply.member("metadata")
    if not isinstance(metadata, dict) or "table-uuid" not in metadata:
        operation = reply.exchange.operation
        raise Blocked(f"schema.{operation}.200", "the answer has no usable table metadata")
    return Table(namespace, name, metadata, reply.json().get("metadata-location"))
