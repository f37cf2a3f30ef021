"""Checks of properties whose keys are similar or well known: each is stored separately."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_namespace, given_table, shared_table
from icecheck.client.given import shared_namespace as given_home
from icecheck.conformance.kit.bisection import Pieces, expect_kept, no_breakdown, send_in_pieces
from icecheck.conformance.names.lookalike_names import properties_in
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.judging.check import generated_check
from icecheck.objects.arranging import require
from icecheck.objects.committing import commit
from icecheck.objects.metadata_view import metadata_in
from icecheck.objects.reading import not_applicable, supported
from icecheck.objects.views import (
    View,
    create_view_body,
    given_view,
    replace_view,
    shared_view,
)
from icecheck.replies.expect import Reply
from icecheck.replies.matching import ABSENT
from icecheck.targets.target import Namespace

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
    "write.metadata.metrics.default": ("truncate(24)", "full"),
    "write.metadata.metrics.column.data": ("counts", "none"),
    "write.metadata.metrics.max-inferred-column-defaults": ("7", "8"),
    "write.object-storage.enabled": ("true", "false"),
    "write.object-storage.partitioned-paths": ("false", "true"),
}
"""Properties by which engines decide what to write, with values to set first and later.

Who changes one changes the files of the engines.
"""
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
    """An object with properties: functions to set, remove and load them."""

    assign: Callable[[Mapping[str, str]], Reply]
    remove: Callable[[Sequence[str]], Reply]
    load: Callable[[], Reply]


def _update(action: str, member: str, value: Any) -> Json:
    return {"action": action, member: value}


def _namespace(catalog: Catalog, path: Namespace) -> _Holder:
    return _Holder(
        lambda updates: catalog.update_properties(path, updates=updates),
        lambda keys: catalog.update_properties(path, removals=keys),
        lambda: catalog.load_namespace_metadata(path),
    )


def _table(catalog: Catalog, table: Table) -> _Holder:
    return _Holder(
        lambda updates: commit(catalog, table, [_update("set-properties", "updates", updates)]),
        lambda keys: commit(catalog, table, [_update("remove-properties", "removals", keys)]),
        lambda: catalog.load_table(table.namespace, table.name),
    )


def _view(catalog: Catalog, view: View) -> _Holder:
    return _Holder(
        lambda updates: replace_view(
            catalog, view, [_update("set-properties", "updates", updates)]
        ),
        lambda keys: replace_view(catalog, view, [_update("remove-properties", "removals", keys)]),
        lambda: catalog.load_view(view.namespace, view.name),
    )


def _own(of: Table | View) -> Mapping[str, Any]:
    """Return the properties that a table or view has which was made with none."""
    properties = of.metadata.get("properties")
    return properties if isinstance(properties, dict) else {}


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


def _in_halves(holder: _Holder, own: Mapping[str, Any]) -> None:
    """Set every second key, the others and the first ones again, and judge all; then remove some.

    Neighbours are set by different requests: if setting one of two keys changes the other one too,
    a load shows it by the value, because each is set after the other and looked at then.
    """
    # Keys that a server sets by itself are left out: it may set them again.
    keys = [key for key in ALIKE if key not in own]
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
    create: Callable[[Mapping[str, str]], tuple[Reply, Callable[[], _Holder]]],
    own: Mapping[str, Any],
    more: Mapping[str, tuple[str, str]] | None = None,
    later: Callable[[Reply], Mapping[str, str]] = lambda _: {},
) -> None:
    """Judge that well-known keys are kept when set at the creation, and when changed later.

    ``more`` are set besides, with these values first and later. ``later`` reads from a load of the
    object what else is set later.
    """
    values = {key: (f"the {key} of it", f"another {key}") for key in WELL_KNOWN} | dict(more or {})
    # Keys that a server sets by itself are left out: it may set them again at any time.
    ours = {key: pair for key, pair in values.items() if key not in own}
    made: list[tuple[_Holder, Reply]] = []

    def expect(holder: _Holder, pairs: Pieces, what: str) -> Reply:
        loaded = holder.load().expect(200)
        symptom = EFFECT_MISSING.of("properties")
        expect_kept(loaded, dict(pairs), properties_in(loaded), symptom, what)
        return loaded

    def created(pairs: Pieces) -> Reply:
        reply, its_holder = create(dict(pairs))
        if reply.ok:
            holder = its_holder()
            made.append((holder, expect(holder, pairs, "created with")))
        return reply

    send_in_pieces([(key, first) for key, (first, _) in ours.items()], created)
    holder, loaded = made[0]

    def updated(pairs: Pieces) -> Reply:
        reply = holder.assign(dict(pairs))
        if reply.ok:
            expect(holder, pairs, "set later")
        return reply

    changed = {key: second for key, (_, second) in ours.items()}
    send_in_pieces([*(changed | dict(later(loaded))).items()], updated)


# ------------------------------------------------------------------------ namespaces


@generated_check("alike.namespace-keys", needs=("namespace-properties",))
def test_keys_of_a_namespace(catalog: Catalog) -> None:
    """Of keys that are alike, each property of a namespace changes by itself."""
    require(catalog, "createNamespace", "updateProperties", "loadNamespaceMetadata")
    path = given_namespace(catalog)
    own = properties_in(catalog.load_namespace_metadata(path).expect(200))
    _in_halves(_namespace(catalog, path), own)


@generated_check("alike.namespace-well-known-keys", needs=("namespace-properties",))
def test_well_known_keys_of_a_namespace(catalog: Catalog) -> None:
    """A namespace keeps properties whose keys stores have columns for."""
    require(catalog, "createNamespace", "updateProperties", "loadNamespaceMetadata")

    own = properties_in(catalog.load_namespace_metadata(given_home(catalog)).expect(200))

    def create(properties: Mapping[str, str]) -> tuple[Reply, Callable[[], _Holder]]:
        path = catalog.new_namespace_name()
        return catalog.create_namespace(path, properties), lambda: _namespace(catalog, path)

    _well_known(create, own)


# ---------------------------------------------------------------------------- tables


@generated_check("alike.table-keys")
def test_keys_of_a_table(catalog: Catalog) -> None:
    """Of keys that are alike, each property of a table changes by itself."""
    require(catalog, "createTable", "updateTable", "loadTable")
    table = given_table(catalog)
    _in_halves(_table(catalog, table), _own(table))


@generated_check("alike.table-well-known-keys")
def test_well_known_keys_of_a_table(catalog: Catalog) -> None:
    """A table keeps properties whose keys stores have columns for, or that engines obey."""
    require(catalog, "createTable", "updateTable", "loadTable")
    namespace = given_home(catalog)

    def create(properties: Mapping[str, str]) -> tuple[Reply, Callable[[], _Holder]]:
        name = catalog.new_name()
        body = bodies.create_table_body(name, properties=properties)
        reply = catalog.create_table(namespace, body)
        return reply, lambda: _table(catalog, _made_table(reply, namespace, name))

    _well_known(create, _own(shared_table(catalog)), METRICS, _places)


def _made_table(reply: Reply, namespace: Namespace, name: str) -> Table:
    """Return a table as far as a commit needs it, from the answer that made it."""
    uuid = reply.member("metadata", "table-uuid")
    return Table(namespace, name, {"table-uuid": uuid}, None)


def _places(loaded: Reply) -> Mapping[str, str]:
    """Return places to write to, in the location of a table that was loaded."""
    home = str(metadata_in(loaded).get("location", "")).rstrip("/")
    return {key: f"{home}/{key.split('.')[1]}-elsewhere" for key in PLACES if home}


# ----------------------------------------------------------------------------- views


@generated_check("alike.view-keys")
def test_keys_of_a_view(catalog: Catalog) -> None:
    """Of keys that are alike, each property of a view changes by itself."""
    require(catalog, "createView", "replaceView", "loadView")
    view = given_view(catalog)
    _in_halves(_view(catalog, view), _own(view))


@generated_check("alike.view-well-known-keys")
def test_well_known_keys_of_a_view(catalog: Catalog) -> None:
    """A view keeps properties whose keys stores have columns for."""
    require(catalog, "createView", "replaceView", "loadView")
    namespace = given_home(catalog)

    def create(properties: Mapping[str, str]) -> tuple[Reply, Callable[[], _Holder]]:
        name = catalog.new_name()
        body = create_view_body(name, namespace, properties=properties)
        reply = supported(catalog.create_view(namespace, body))
        return reply, lambda: _view(catalog, View(namespace, name, metadata_in(reply), None))

    _well_known(create, _own(shared_view(catalog)))
