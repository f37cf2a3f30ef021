"""Checks of properties whose keys are similar or well known: each is stored separately."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_namespace, given_table
from icecheck.client.given import shared_namespace as given_home
from icecheck.conformance.kit.bisection import Pieces, expect_kept, no_breakdown, send_in_pieces
from icecheck.conformance.names.lookalike_names import properties_in
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.judging.check import generated_check
from icecheck.objects.arranging import require
from icecheck.objects.committing import commit
from icecheck.objects.reading import not_applicable, supported
from icecheck.objects.views import (
    create_view_body,
    given_view,
    replace_view,
)
from icecheck.replies.expect import Reply
from icecheck.replies.matching import ABSENT

WELL_KNOWN = (
    "owner",  # own columns in some stores
    "Owner",
    "comment",
    "description",
    "name",
    "id",
    "type",
    "created-at",
    "provider",
    "tags",
)
"""Keys for which stores, engines and servers have members or columns; Iceberg reserves none."""
METRICS = {
    "write.metadata.metrics.default": "truncate(24)",
    "write.metadata.metrics.column.data": "counts",
    "write.metadata.metrics.max-inferred-column-defaults": "7",
    "write.object-storage.enabled": "true",
    "write.object-storage.partitioned-paths": "false",
}
"""Properties by which engines decide what to write; who changes one changes their files."""
PLACES = ("write.data.path", "write.metadata.path")
"""Properties that name where engines write; a catalog may refuse them."""
ALIKE = (
    "Owner",  # equal to "owner" in a collation without case
    "owner",
    "icecheck.alike",
    "icecheck.Alike",
    "icecheck.alike.one",  # dots read as nesting, prefixes as keys
    "icecheck.alike_one",  # LIKE; a hyphen confused with an underscore
    "icecheck.alike-one",
    "icecheck.alike one",
    "icecheck.alikeone",
    "icecheck.alike.one.two",
)
"""Similar keys, in an order in which each follows or precedes keys that it may be confused with."""
REMOVED = ("Owner", "icecheck.alike", "icecheck.alike.one", "icecheck.alike_one")
"""Keys to remove: each may be confused with one that stays, by its case, as a beginning, as an
object or as a pattern."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Holder:
    """An object with properties: those it was made with; functions to set, remove and load them."""

    own: Callable[[], Mapping[str, Any]]
    assign: Callable[[Mapping[str, str]], Reply]
    remove: Callable[[Sequence[str]], Reply]
    load: Callable[[], Reply]


def _update(action: str, member: str, value: Any) -> Json:
    return {"action": action, member: value}


def _namespace(catalog: Catalog) -> _Holder:
    path = given_namespace(catalog)
    return _Holder(
        lambda: properties_in(catalog.load_namespace_metadata(path).expect(200)),
        lambda updates: catalog.update_properties(path, updates=updates),
        lambda keys: catalog.update_properties(path, removals=keys),
        lambda: catalog.load_namespace_metadata(path),
    )


def _table(catalog: Catalog, table: Table | None = None) -> _Holder:
    table = table or given_table(catalog)
    return _Holder(
        lambda: table.metadata.get("properties") or {},
        lambda updates: commit(catalog, table, [_update("set-properties", "updates", updates)]),
        lambda keys: commit(catalog, table, [_update("remove-properties", "removals", keys)]),
        lambda: catalog.load_table(table.namespace, table.name),
    )


def _view(catalog: Catalog) -> _Holder:
    view = given_view(catalog)
    return _Holder(
        lambda: view.metadata.get("properties") or {},
        lambda updates: replace_view(
            catalog, view, [_update("set-properties", "updates", updates)]
        ),
        lambda keys: replace_view(catalog, view, [_update("remove-properties", "removals", keys)]),
        lambda: catalog.load_view(view.namespace, view.name),
    )


def _expect(holder: _Holder, keys: Sequence[str], due: Mapping[str, str], what: str) -> None:
    """Judge that a load shows exactly those of these keys that are due."""
    reply = holder.load().expect(200)
    found = properties_in(reply)
    wanted = {key: due.get(key, ABSENT) for key in keys}
    shown = {key: found.get(key, ABSENT) for key in keys}
    expect_kept(reply, wanted, shown, EFFECT_MISSING.of("properties"), what)


def _assigned(holder: _Holder, updates: Mapping[str, str]) -> dict[str, str]:
    """Set these keys, one by one where they are refused together; return those that are set."""
    if no_breakdown(holder.assign(updates)).ok:
        return dict(updates)
    alone = [{key: value} for key, value in updates.items()] if len(updates) > 1 else []
    done: dict[str, str] = {}
    for each in alone:
        done |= _assigned(holder, each)
    return done


def _in_halves(holder: _Holder) -> None:
    """Set every second key, the others and the first ones again, and judge all; then remove some.

    Neighbours are set by different requests: if setting one of two keys changes the other one too,
    a load shows it by the value, because each is set after the other and looked at then.
    """
    before = holder.own()
    # Keys that a server has set by itself are left out: it may set them again.
    keys = [key for key in ALIKE if key not in before]
    due: dict[str, str] = {}
    for turn, halves in (("first", (keys[::2], keys[1::2])), ("second", (keys[::2],))):
        for half in halves:
            due |= _assigned(holder, {key: f"{turn} of {key}" for key in half})
        _expect(holder, keys, due, f"each of {len(keys)} keys was set")
    if not due:
        raise not_applicable("the catalog takes none of these keys")
    if gone := [key for key in REMOVED if key in due]:
        if no_breakdown(holder.remove(gone)).ok:
            due = {key: value for key, value in due.items() if key not in gone}
        _expect(holder, keys, due, f"the removal of {', '.join(gone)} was sent")


def _well_known(
    holder: _Holder,
    create: Callable[[Mapping[str, str]], tuple[Reply, Callable[[], Reply]]],
    more: Mapping[str, str] | None = None,
    later: Mapping[str, str] | None = None,
) -> None:
    """Judge that well-known keys are kept when set at the creation and when set later.

    ``more`` are set besides, and ``later`` not at the creation.
    """
    # Keys that a server has set by itself are left out: it may set them again at any time.
    before = holder.own()
    known = {key: f"the {key} of it" for key in WELL_KNOWN} | dict(more or {})
    items, afterwards = (
        [(key, value) for key, value in each.items() if key not in before]
        for each in (known, known | dict(later or {}))
    )

    def created(pairs: Pieces) -> Reply:
        reply, load = create(dict(pairs))
        if reply.ok:
            loaded = load().expect(200)
            found = properties_in(loaded)
            expect_kept(loaded, dict(pairs), found, EFFECT_MISSING.of("properties"), "created with")
        return reply

    def updated(pairs: Pieces) -> Reply:
        reply = holder.assign(dict(pairs))
        if reply.ok:
            loaded = holder.load().expect(200)
            found = properties_in(loaded)
            expect_kept(loaded, dict(pairs), found, EFFECT_MISSING.of("properties"), "set later")
        return reply

    send_in_pieces(items, created)
    send_in_pieces(afterwards, updated)


# ------------------------------------------------------------------------ namespaces


@generated_check("alike.namespace-keys", needs=("namespace-properties",))
def test_keys_of_a_namespace(catalog: Catalog) -> None:
    """Of keys that are alike, each property of a namespace changes by itself."""
    require(catalog, "createNamespace", "updateProperties", "loadNamespaceMetadata")
    _in_halves(_namespace(catalog))


@generated_check("alike.namespace-well-known-keys", needs=("namespace-properties",))
def test_well_known_keys_of_a_namespace(catalog: Catalog) -> None:
    """A namespace keeps properties whose keys stores have columns for."""
    require(catalog, "createNamespace", "updateProperties", "loadNamespaceMetadata")

    def create(properties: Mapping[str, str]) -> tuple[Reply, Callable[[], Reply]]:
        path = catalog.new_namespace_name()
        reply = catalog.create_namespace(path, properties)
        return reply, lambda: catalog.load_namespace_metadata(path)

    _well_known(_namespace(catalog), create)


# ---------------------------------------------------------------------------- tables


@generated_check("alike.table-keys")
def test_keys_of_a_table(catalog: Catalog) -> None:
    """Of keys that are alike, each property of a table changes by itself."""
    require(catalog, "createTable", "updateTable", "loadTable")
    _in_halves(_table(catalog))


@generated_check("alike.table-well-known-keys")
def test_well_known_keys_of_a_table(catalog: Catalog) -> None:
    """A table keeps properties whose keys stores have columns for, or that engines obey."""
    require(catalog, "createTable", "updateTable", "loadTable")
    namespace = given_home(catalog)
    table = given_table(catalog)
    home = str(table.metadata.get("location", "")).rstrip("/")

    def create(properties: Mapping[str, str]) -> tuple[Reply, Callable[[], Reply]]:
        name = catalog.new_name()
        body = bodies.create_table_body(name, properties=properties)
        return catalog.create_table(namespace, body), lambda: catalog.load_table(namespace, name)

    places = {key: f"{home}/{key.split('.')[1]}-elsewhere" for key in PLACES if home}
    _well_known(_table(catalog, table), create, METRICS, places)


# ----------------------------------------------------------------------------- views


@generated_check("alike.view-keys")
def test_keys_of_a_view(catalog: Catalog) -> None:
    """Of keys that are alike, each property of a view changes by itself."""
    require(catalog, "createView", "replaceView", "loadView")
    _in_halves(_view(catalog))


@generated_check("alike.view-well-known-keys")
def test_well_known_keys_of_a_view(catalog: Catalog) -> None:
    """A view keeps properties whose keys stores have columns for."""
    require(catalog, "createView", "replaceView", "loadView")
    namespace = given_home(catalog)

    def create(properties: Mapping[str, str]) -> tuple[Reply, Callable[[], Reply]]:
        name = catalog.new_name()
        reply = supported(
            catalog.create_view(namespace, create_view_body(name, namespace, properties=properties))
        )
        return reply, lambda: catalog.load_view(namespace, name)

    _well_known(_view(catalog), create)
