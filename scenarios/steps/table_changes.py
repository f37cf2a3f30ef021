"""The changes of tables that histories commit, by name: together they are every update."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Table
from icecheck.objects import metadata_view as view
from icecheck.objects.after_updates import LAST_ADDED
from icecheck.objects.committing import NUMBERED
from icecheck.objects.evolving import last_partition_id, schema_addition, wider_schema
from icecheck.scenarios.steps.changes import (
    Base,
    Change,
    Make,
    Metadata,
    Vocabulary,
    changed_properties,
    relocated,
)
from icecheck.scenarios.steps.step import ANOTHER_UUID

Json = dict[str, Any]
Keep = Callable[[Metadata], Iterable[Any]]

BRANCH, TAG = "b1", "v1"
"""The names of refs beside main; the actions of histories may use them too."""
_UNKNOWN_ID = 4711
_UNKNOWN_SNAPSHOT = 4_242_424_242
_ROW_IDS, _FIRST_SNAPSHOT_ID = 3, 7_100_000_000_000_000_000
_ROWS = 7
_HISTORY = ("metadata-only-snapshots", "snapshot-history")


# ---- properties, location, identity, format version


def _same_uuid(base: Base) -> list[Json]:
    return [{"action": "assign-uuid", "uuid": base.now["table-uuid"]}]


def _upgraded(base: Base) -> list[Json]:
    if base.now.get("format-version", _ROW_IDS) >= _ROW_IDS:
        return []
    return [{"action": "upgrade-format-version", "format-version": _ROW_IDS}]


# ---- schemas


def _table(base: Base) -> Table:
    return Table((), "", dict(base.now), None)


def _wider(base: Base) -> list[Json]:
    if not view.current_schema(base.now):
        return []
    return _addition(base, wider_schema(_table(base), f"more_{base.unlike('schemas')}"))


def _addition(base: Base, schema: Json) -> list[Json]:
    return [schema_addition(base.now, {**schema, "schema-id": base.next("schemas", "schema-id")})]


def _shorter(base: Base) -> list[Json]:
    """Drop the last column, but for the first two, and rename the one before it."""
    schema = view.current_schema(base.now)
    fields = schema.get("fields") or []
    if len(fields) <= _COLUMNS_MIN:
        return []
    return _addition(base, {**schema, "fields": _with_new_name(base, fields[:-1])})


_COLUMNS_MIN = 2


def _renamed(base: Base) -> list[Json]:
    schema = view.current_schema(base.now)
    fields = schema.get("fields") or []
    if len(fields) < _COLUMNS_MIN:
        return []
    return _addition(base, {**schema, "fields": _with_new_name(base, fields)})


def _with_new_name(base: Base, fields: Sequence[Json]) -> list[Json]:
    """Return columns of which the last one is renamed: a catalog reuses a schema that it had."""
    return [*fields[:-1], {**fields[-1], "name": f"named_{base.unlike('schemas')}"}]


def _made_current(make: Make, action: str, member: str) -> Make:
    """Return the change that makes the definition current which another change adds."""

    def changed(base: Base) -> list[Json]:
        added = make(base)
        return [*added, {"action": action, member: LAST_ADDED}] if added else []

    return changed


def _another(members: str, id_member: str, pointer: str, action: str, member: str) -> Make:
    """Return the change that makes another known definition current: the oldest or the newest."""

    def changed(base: Base) -> list[Json]:
        others = [e for e in base.known(members, id_member) if e != base.now.get(pointer)]
        return [{"action": action, member: others[-(base.number % 2)]}] if others else []

    return changed


def _without(
    members: str, id_member: str, pointer: str, action: str, *, keep: Keep = lambda _: ()
) -> Make:
    """Return the change that removes a known definition which nothing needs."""

    def changed(base: Base) -> list[Json]:
        needed = {base.now.get(pointer), *keep(base.now)}
        others = [each for each in base.known(members, id_member) if each not in needed]
        return [{"action": action, f"{id_member}s": others[-1:]}] if others else []

    return changed


def _schemas_of_snapshots(metadata: Metadata) -> Iterable[Any]:
    return (each.get("schema-id") for each in metadata.get("snapshots") or ())


# ---- partition specs and sort orders


def _first_column(base: Base) -> int | None:
    return min(view.column_names(base.now), default=None)


def _partitioned(base: Base) -> list[Json]:
    column = _first_column(base)
    if column is None or not isinstance(base.now.get("last-partition-id"), int):
        return []
    # In format version 1 each spec numbers its fields from 1000.
    field_id = 1000 if base.now.get("format-version") == 1 else last_partition_id(base.now) + 1
    new = base.unlike("partition-specs")
    field = bodies.partition_field(column, f"bucket[{1 + new}]", f"part_{new}", field_id)
    spec = bodies.partition_spec(field, spec_id=base.next("partition-specs", "spec-id"))
    return [{"action": "add-spec", "spec": spec}]


def _sorted(base: Base) -> list[Json]:
    column = _first_column(base)
    if column is None:
        return []
    order = bodies.sort_order(column, order_id=base.next("sort-orders", "order-id"))
    order["fields"][0]["transform"] = f"bucket[{1 + base.unlike('sort-orders')}]"
    return [{"action": "add-sort-order", "sort-order": order}]


# ---- snapshots and refs


def _snapshot(base: Base, parent: int | None) -> Json | None:
    """Return a snapshot that the table can take, or None if it does not show its next row id."""
    rows: dict[str, Any] = {}
    if base.now.get("format-version", 2) >= _ROW_IDS:
        if not isinstance(base.now.get("next-row-id"), int):
            return None
        rows = {"added_rows": _ROWS}
    there = {each.get("snapshot-id") for each in base.now.get("snapshots") or ()}
    ids = (_FIRST_SNAPSHOT_ID + 1000 * base.number + at for at in range(1000))
    new = next(each for each in ids if each not in there)
    return bodies.snapshot(base.now, base.number, parent=parent, snapshot_id=new, **rows)


def _current(base: Base) -> int | None:
    current = base.now.get("current-snapshot-id")
    return current if isinstance(current, int) and current != -1 else None


def _head(base: Base, name: str) -> int | None:
    refs = base.now.get("refs") or {}
    head = refs.get(name, {}).get("snapshot-id")
    return head if isinstance(head, int) else None


def _staged(base: Base) -> list[Json]:
    added = _snapshot(base, _current(base))
    return [] if added is None else [{"action": "add-snapshot", "snapshot": added}]


def _appended(base: Base) -> list[Json]:
    return [
        part
        for added in _staged(base)
        for part in (added, bodies.snapshot_ref(added["snapshot"]["snapshot-id"]))
    ]


def _ahead(base: Base) -> list[Json]:
    added = _snapshot(base, _head(base, BRANCH) or _current(base))
    if added is None:
        return []
    ref = bodies.snapshot_ref(added["snapshot-id"], BRANCH)
    return [{"action": "add-snapshot", "snapshot": added}, ref]


def _published(base: Base) -> list[Json]:
    """Set main to the newest snapshot that it is not at."""
    current = _current(base)
    others = [each for each in base.known("snapshots", "snapshot-id") if each != current]
    return [bodies.snapshot_ref(others[-1])] if others else []


def _rolled_back(base: Base) -> list[Json]:
    parents = {
        each.get("snapshot-id"): each.get("parent-snapshot-id")
        for each in base.now.get("snapshots") or ()
    }
    parent = parents.get(_current(base))
    return [bodies.snapshot_ref(parent)] if parent is not None and parent in parents else []


def _forwarded(base: Base) -> list[Json]:
    head = _head(base, BRANCH)
    return [bodies.snapshot_ref(head)] if head is not None and head != _current(base) else []


def _named(name: str, ref_type: str) -> Make:
    def changed(base: Base) -> list[Json]:
        current = _current(base)
        return [] if current is None else [bodies.snapshot_ref(current, name, ref_type)]

    return changed


def _retained(base: Base) -> list[Json]:
    head = _head(base, BRANCH)
    if head is None:
        return []
    keep, age = 1 + base.number, 2**31 + base.number
    ref = bodies.snapshot_ref(head, BRANCH, min_snapshots_to_keep=keep, max_snapshot_age_ms=age)
    return [ref]


def _unnamed(name: str) -> Make:
    update = {"action": "remove-snapshot-ref", "ref-name": name}
    return lambda base: [] if _head(base, name) is None else [update]


def _expired(base: Base) -> list[Json]:
    """Remove a snapshot that no ref names; what is left of its statistics is not said."""
    named = {ref.get("snapshot-id") for ref in (base.now.get("refs") or {}).values()}
    files = [each for m in _FILES for each in base.now.get(m) or ()]
    needed = {_current(base), *named, *(each.get("snapshot-id") for each in files)}
    others = [each for each in base.known("snapshots", "snapshot-id") if each not in needed]
    return [{"action": "remove-snapshots", "snapshot-ids": others[:1]}] if others else []


# ---- statistics and encryption keys

_FILES = ("statistics", "partition-statistics")
_SETS: Mapping[str, Callable[[Metadata, int, int], Json]] = {
    "statistics": lambda metadata, snapshot_id, number: bodies.set_statistics(
        bodies.statistics_file(metadata, snapshot_id, number)
    ),
    "partition-statistics": lambda metadata, snapshot_id, number: bodies.set_partition_statistics(
        bodies.partition_statistics_file(metadata, snapshot_id, number)
    ),
}


def _counted(members: str) -> Make:
    def changed(base: Base) -> list[Json]:
        current = _current(base)
        return [] if current is None else [_SETS[members](base.now, current, base.number)]

    return changed


def _uncounted(members: str) -> Make:
    def changed(base: Base) -> list[Json]:
        ids = [each.get("snapshot-id") for each in base.now.get(members) or ()]
        return [{"action": f"remove-{members}", "snapshot-id": min(ids)}] if ids else []

    return changed


def _keyed(base: Base) -> list[Json]:
    if base.now.get("format-version", 1) < _ROW_IDS:
        return []
    key = {"key-id": f"key-{base.number:04}", "encrypted-key-metadata": "+/+/"}
    return [{"action": "add-encryption-key", "encryption-key": key}]


def _unkeyed(base: Base) -> list[Json]:
    ids = [each.get("key-id") for each in base.now.get("encryption-keys") or ()]
    return [{"action": "remove-encryption-key", "key-id": min(ids)}] if ids else []


# ---- all of them

_SCHEMA = ("schemas", "schema-id", "current-schema-id")
_SPEC = ("partition-specs", "spec-id", "default-spec-id")
_ORDER = ("sort-orders", "order-id", "default-sort-order-id")
_SETS_SCHEMA = ("set-current-schema", "schema-id")
_SETS_SPEC = ("set-default-spec", "spec-id")
_SETS_ORDER = ("set-default-sort-order", "sort-order-id")


def _on(make: Make, *needs: str) -> Change:
    return Change(make, needs=needs)


_CHANGES: Mapping[str, Change] = {
    "properties": Change(changed_properties, due=True),
    "relocate": Change(relocated),
    "same-uuid": Change(_same_uuid),
    "upgrade": _on(_upgraded, "format-version-3"),
    "add-schema": Change(_wider, due=True),
    "add-column": Change(_made_current(_wider, *_SETS_SCHEMA), due=True),
    "drop-column": Change(_made_current(_shorter, *_SETS_SCHEMA)),
    "rename-column": Change(_made_current(_renamed, *_SETS_SCHEMA)),
    "other-schema": Change(_another(*_SCHEMA, *_SETS_SCHEMA)),
    "drop-schema": Change(_without(*_SCHEMA, "remove-schemas", keep=_schemas_of_snapshots)),
    "add-spec": Change(_partitioned),
    "partition": Change(_made_current(_partitioned, *_SETS_SPEC)),
    "other-spec": Change(_another(*_SPEC, *_SETS_SPEC)),
    "drop-spec": Change(_without(*_SPEC, "remove-partition-specs")),
    "add-order": Change(_sorted),
    "sort": Change(_made_current(_sorted, *_SETS_ORDER)),
    "other-order": Change(_another(*_ORDER, *_SETS_ORDER)),
    "append": _on(_appended, "metadata-only-snapshots"),
    "stage-snapshot": _on(_staged, *_HISTORY),
    "publish": _on(_published, *_HISTORY),
    "roll-back": _on(_rolled_back, *_HISTORY),
    "branch": _on(_named(BRANCH, "branch"), "metadata-only-snapshots", "branches"),
    "ahead": _on(_ahead, *_HISTORY, "branches"),
    "retain": _on(_retained, "branches"),
    "fast-forward": _on(_forwarded, *_HISTORY, "branches"),
    "drop-branch": _on(_unnamed(BRANCH), "branches"),
    "tag": _on(_named(TAG, "tag"), "metadata-only-snapshots", "tags"),
    "drop-tag": _on(_unnamed(TAG), "tags"),
    "expire": _on(_expired, *_HISTORY),
    "statistics": _on(_counted("statistics"), "metadata-only-snapshots"),
    "drop-statistics": _on(_uncounted("statistics"), *_HISTORY),
    "partition-statistics": _on(_counted("partition-statistics"), *_HISTORY),
    "drop-partition-statistics": _on(_uncounted("partition-statistics"), *_HISTORY),
    "key": _on(_keyed, "format-version-3"),
    "drop-key": _on(_unkeyed, "format-version-3"),
}

_WRONG: Mapping[str, Json] = {
    "unknown-schema": {"action": "set-current-schema", "schema-id": _UNKNOWN_ID},
    "unknown-spec": {"action": "set-default-spec", "spec-id": _UNKNOWN_ID},
    "unknown-order": {"action": "set-default-sort-order", "sort-order-id": _UNKNOWN_ID},
    "unknown-snapshot": bodies.snapshot_ref(_UNKNOWN_SNAPSHOT),
}


def _one_more(type_: str, member: str, of_table: str) -> Callable[[Metadata], Json]:
    def stale(metadata: Metadata) -> Json:
        actual = metadata.get(of_table)
        return {"type": type_, member: 1 + (actual if isinstance(actual, int) else _UNKNOWN_ID)}

    return stale


_STALE: Mapping[str, Callable[[Metadata], Json]] = {
    "stale-create": lambda _: {"type": "assert-create"},
    "stale-uuid": lambda _: {"type": "assert-table-uuid", "uuid": ANOTHER_UUID},
    "stale-main": lambda _: {
        "type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": _UNKNOWN_SNAPSHOT,
    },
    "stale-branch": lambda _: {
        "type": "assert-ref-snapshot-id", "ref": BRANCH, "snapshot-id": _UNKNOWN_SNAPSHOT,
    },
    **{
        f"stale-{type_.removeprefix('assert-')}": _one_more(type_, member, of_table)
        for type_, member, of_table in NUMBERED
    },
}  # fmt: skip

TABLES = Vocabulary(_CHANGES, _WRONG, _STALE, "update")
