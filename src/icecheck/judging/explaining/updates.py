"""The updates on which checks rely, and how each is tried: alone, after those that it needs."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import arrange, given_commit, given_table, shared_namespace
from icecheck.judging.explaining.routes import PROPERTY
from icecheck.replies.expect import NotOffered, Reply
from icecheck.targets.target import Namespace

Json = dict[str, Any]
Make = Callable[[Json], Json]
"""Makes an update for the metadata that a load shows."""

_BRANCH = "icecheck-probe"
_TWO_KEYS = frozenset({"icecheck.one", "icecheck.two"})
_OF_ITS_TIME = frozenset({"last-updated-ms", "metadata-log"})


@dataclass(frozen=True, slots=True)
class _Pointed:
    """Members of metadata of which one is current: their ids, and what points at one."""

    members: str
    id_member: str
    pointer: str


_SCHEMAS = _Pointed("schemas", "schema-id", "current-schema-id")
_SPECS = _Pointed("partition-specs", "spec-id", "default-spec-id")
_ORDERS = _Pointed("sort-orders", "order-id", "default-sort-order-id")
_VERSIONS = _Pointed("versions", "version-id", "current-version-id")


def make_view(catalog: Catalog, **members: Any) -> tuple[Namespace, str]:
    """Make a view in the shared namespace; ``members`` are those of its creation's body."""
    namespace, name = shared_namespace(catalog), catalog.new_name()
    body = bodies.create_view_body(name, namespace, **members)
    arrange(catalog, "createView", lambda: catalog.create_view(namespace, body))
    return namespace, name


def _sends(actions: Collection[str], sent: Json) -> bool:
    """Return whether the body of a commit or a transaction has such an update."""
    found = (update.get("action") for updates in _commits(sent) for update in updates)
    return any(isinstance(action, str) and action in actions for action in found)


def has_several_updates(sent: Json) -> bool:
    """Return whether the body of a commit or a transaction has several updates of one table."""
    return any(len(updates) > 1 for updates in _commits(sent))


def _commits(sent: Json) -> Iterator[list[Json]]:
    """Yield the updates of each table in the body of a commit or a transaction."""
    changes = sent.get("table-changes")
    for part in changes if isinstance(changes, list) else (sent,):
        listed = part.get("updates") if isinstance(part, dict) else None
        updates = listed if isinstance(listed, list) else ()
        yield [update for update in updates if isinstance(update, dict)]


_SECOND = bodies.set_properties({"icecheck.second": "probe"})


def _set_properties(_: Json) -> Json:
    return bodies.set_properties(PROPERTY)


def _remove_properties(_: Json) -> Json:
    return {"action": "remove-properties", "removals": [*PROPERTY]}


def _add_schema(metadata: Json) -> Json:
    schema = _last(metadata, "schemas")
    last = _known(metadata, "last-column-id") + 1
    fields = [*_known(schema, "fields"), bodies.struct_field(last, "extra", "string")]
    wider = bodies.schema(*fields, schema_id=_known(schema, "schema-id") + 1)
    return {"action": "add-schema", "schema": wider, "last-column-id": last}


def _add_spec(metadata: Json) -> Json:
    field_id = _known(metadata, "last-partition-id") + 1
    field = bodies.partition_field(_column(metadata), "bucket[2]", "icecheck", field_id)
    return {"action": "add-spec", "spec": bodies.partition_spec(field, spec_id=1)}


def _add_order(metadata: Json) -> Json:
    return {"action": "add-sort-order", "sort-order": bodies.sort_order(_column(metadata))}


def _add_snapshot(metadata: Json) -> Json:
    return {"action": "add-snapshot", "snapshot": bodies.snapshot(metadata)}


def _set_main(metadata: Json) -> Json:
    snapshot_id = bodies.snapshot(metadata)["snapshot-id"]
    if metadata.get("current-snapshot-id") == snapshot_id:
        raise NotOffered("the snapshot is current already")
    return bodies.snapshot_ref(snapshot_id)


def _set_branch(metadata: Json) -> Json:
    return bodies.snapshot_ref(bodies.snapshot(metadata)["snapshot-id"], _BRANCH)


def _remove_branch(_: Json) -> Json:
    return {"action": "remove-snapshot-ref", "ref-name": _BRANCH}


def _set_statistics(metadata: Json) -> Json:
    snapshot_id = _known(_last(metadata, "snapshots"), "snapshot-id")
    return bodies.set_statistics(bodies.statistics_file(metadata, snapshot_id))


def _remove(action: str, kind: _Pointed, metadata: Json) -> Json:
    """Return the update that removes one of the members that is not the current one."""
    return {"action": action, f"{kind.id_member}s": [_not_current(kind, metadata)]}


def _point(action: str, member: str, kind: _Pointed, metadata: Json) -> Json:
    """Return the update that makes another one of the members current."""
    return {"action": action, member: _not_current(kind, metadata)}


def _not_current(kind: _Pointed, metadata: Json) -> Any:
    """Return the id of the newest member that is not current; raise NotOffered if none is.

    A catalog may have made current what was added: that shows no lack of a later update.
    """
    ids = {_known(each, kind.id_member) for each in _known(metadata, kind.members)}
    others = ids - {metadata.get(kind.pointer)}
    if not others:
        raise NotOffered(f"the catalog shows none of the {kind.members} but the current one")
    return max(others)


def _add_version(metadata: Json) -> Json:
    version = _last(metadata, "versions")
    newer = {
        "version-id": _known(version, "version-id") + 1,
        "timestamp-ms": _known(version, "timestamp-ms") + 1,
        "representations": [
            {"type": "sql", "sql": "SELECT 2 AS id, 'b' AS data", "dialect": "spark"}
        ],
    }
    return {"action": "add-view-version", "view-version": {**version, **newer}}


def _known(shown: Any, member: str) -> Any:
    """Return a member that an update needs; raise NotOffered where the catalog leaves it out."""
    if not isinstance(shown, dict) or shown.get(member) in (None, []):
        raise NotOffered(f"the catalog shows no {member}")
    return shown[member]


def _last(metadata: Json, members: str) -> Json:
    last: Json = _known(metadata, members)[-1]
    return last


def _column(metadata: Json) -> int:
    return int(_known(_known(_last(metadata, "schemas"), "fields")[0], "id"))


@dataclass(frozen=True, slots=True)
class _Update:
    """How an update is made for the metadata shown, and the updates that have to precede it.

    ``arranged`` are further ones of the same kind, with which nothing else is tried.
    """

    make: Make
    after: tuple[str, ...] = ()
    arranged: tuple[Make, ...] = ()


_OF_TABLES: Mapping[str, _Update] = {
    "set-properties": _Update(_set_properties),
    "remove-properties": _Update(_remove_properties, ("set-properties",)),
    "add-schema": _Update(_add_schema),
    "set-current-schema": _Update(
        partial(_point, "set-current-schema", "schema-id", _SCHEMAS), ("add-schema",)
    ),
    "remove-schemas": _Update(partial(_remove, "remove-schemas", _SCHEMAS), ("add-schema",)),
    "add-spec": _Update(_add_spec),
    "set-default-spec": _Update(
        partial(_point, "set-default-spec", "spec-id", _SPECS), ("add-spec",)
    ),
    "remove-partition-specs": _Update(
        partial(_remove, "remove-partition-specs", _SPECS), ("add-spec",)
    ),
    "add-sort-order": _Update(_add_order),
    "set-default-sort-order": _Update(
        partial(_point, "set-default-sort-order", "sort-order-id", _ORDERS), ("add-sort-order",)
    ),
    "add-snapshot": _Update(_add_snapshot),
    "set-snapshot-ref": _Update(_set_main, ("add-snapshot",)),
    # Removing main is a rarer form.
    "remove-snapshot-ref": _Update(
        _remove_branch, ("add-snapshot", "set-snapshot-ref"), (_set_branch,)
    ),
    "set-statistics": _Update(_set_statistics, ("add-snapshot", "set-snapshot-ref")),
}
_OF_VIEWS: Mapping[str, _Update] = {
    "set-properties": _Update(_set_properties),
    "remove-properties": _Update(_remove_properties, ("set-properties",)),
    "add-view-version": _Update(_add_version),
    "set-current-view-version": _Update(
        partial(_point, "set-current-view-version", "view-version-id", _VERSIONS),
        ("add-view-version",),
    ),
}


def _changes_table(makes: Sequence[Make], catalog: Catalog) -> bool:
    table = given_table(catalog)
    return _changes(
        makes,
        lambda: catalog.load_table(table.namespace, table.name),
        lambda update: given_commit(catalog, table, [update]).metadata,
    )


def _changes_view(makes: Sequence[Make], catalog: Catalog) -> bool:
    view = make_view(catalog)

    def commit(update: Json) -> Any:
        reply = arrange(catalog, "replaceView", lambda: catalog.replace_view(*view, [update]))
        return reply.member("metadata")

    return _changes(makes, lambda: catalog.load_view(*view), commit)


def all_updates_change(catalog: Catalog) -> bool:
    """Return whether a commit of two updates shows both, or neither: then two are no matter."""
    table = given_table(catalog)
    given_commit(catalog, table, [bodies.set_properties({key: "1"}) for key in sorted(_TWO_KEYS)])
    shown = catalog.load_table(table.namespace, table.name).expect(200).member("metadata")
    kept = _TWO_KEYS & (shown.get("properties") or {}).keys()
    return not kept or kept == _TWO_KEYS


def transaction_changes(catalog: Catalog) -> bool:
    """Return whether a transaction with one change of one table shows."""
    table = given_table(catalog)

    def commit(update: Json) -> Any:
        if update == _SECOND:
            return given_commit(catalog, table, [update]).metadata
        change = {"identifier": table.identifier, "requirements": [], "updates": [update]}
        arrange(catalog, "commitTransaction", lambda: catalog.commit_transaction([change]))
        return None

    return _changes(
        [_set_properties], lambda: catalog.load_table(table.namespace, table.name), commit
    )


def _changes(
    makes: Sequence[Make], load: Callable[[], Reply], commit: Callable[[Json], Any]
) -> bool:
    """Return whether the last of the commits changes what is shown afterwards.

    Where no load shows it, the answer to a later commit may: then the loads are out of date. Raises
    NotOffered if a commit before the last one shows no change.
    """
    shown = load().expect(200).member("metadata")
    for make in makes[:-1]:
        before, _ = shown, commit(make(shown))
        shown = load().expect(200).member("metadata")
        if _settled(shown) == _settled(before):
            raise NotOffered("an update that is needed before is not shown")
    commit(makes[-1](shown))
    was, now = _settled(shown), _settled(load().expect(200).member("metadata"))
    return now != was or _settled(commit(_SECOND)) != was


def _settled(metadata: Json) -> Json:
    kept = {key: value for key, value in metadata.items() if key not in _OF_ITS_TIME}
    properties = {
        key: value
        for key, value in (metadata.get("properties") or {}).items()
        if key not in _SECOND["updates"]
    }
    return {**kept, "properties": properties}


@dataclass(frozen=True, slots=True)
class TriedUpdate:
    """An update whose effect is tried, and a test of bodies of commits that rely on it."""

    is_kept: Callable[[Catalog], bool]
    relies: Callable[[Json], bool]


def _tried(
    updates: Mapping[str, _Update], is_kept: Callable[[Sequence[Make], Catalog], bool]
) -> dict[str, TriedUpdate]:
    """Return the updates by action; what an update needs before it is relied on with it."""
    found: dict[str, TriedUpdate] = {}
    for action, update in updates.items():
        earlier = (updates[each].make for each in update.after)
        makes = [*earlier, *update.arranged, update.make]
        relying = {action, *(each for each in updates if action in updates[each].after)}
        found[action] = TriedUpdate(partial(is_kept, makes), partial(_sends, relying))
    return found


TABLE_UPDATES = _tried(_OF_TABLES, _changes_table)
VIEW_UPDATES = _tried(_OF_VIEWS, _changes_view)
