"""What the metadata of a table or a view are after a commit, as its updates say it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from icecheck.objects.comparing import ANYTHING
from icecheck.objects.metadata_view import field_ids, shape
from icecheck.objects.views import definition_of

Json = dict[str, Any]
Metadata = Mapping[str, Any]

LAST_ADDED = -1
"""Stands for the id of what the same commit has added last."""
_FIRST_FORMAT, _FORMAT_OF_ROW_IDS = 1, 3


@dataclass(frozen=True, slots=True)
class _Definitions:
    """A list of definitions in metadata: the member, that of their ids, and that of the current id.

    ``content`` is what tells a definition from others, whatever id the server gives it.
    """

    members: str
    id_member: str
    current: str
    content: Callable[[Any], Any]


def _fields_of(spec: Metadata) -> Any:
    return [
        (f.get("source-id"), f.get("transform"), f.get("name")) for f in spec.get("fields") or []
    ]


_SCHEMAS = _Definitions("schemas", "schema-id", "current-schema-id", shape)
_SPECS = _Definitions("partition-specs", "spec-id", "default-spec-id", _fields_of)
_ORDERS = _Definitions(
    "sort-orders", "order-id", "default-sort-order-id", lambda order: order.get("fields")
)
_VERSIONS = _Definitions("versions", "version-id", "current-version-id", definition_of)
_ALL = (_SCHEMAS, _SPECS, _ORDERS, _VERSIONS)

_ADDS = {
    "add-schema": (_SCHEMAS, "schema"),
    "add-spec": (_SPECS, "spec"),
    "add-sort-order": (_ORDERS, "sort-order"),
    "add-view-version": (_VERSIONS, "view-version"),
}
_MAKES_CURRENT = {
    "set-current-schema": (_SCHEMAS, "schema-id"),
    "set-default-spec": (_SPECS, "spec-id"),
    "set-default-sort-order": (_ORDERS, "sort-order-id"),
    "set-current-view-version": (_VERSIONS, "view-version-id"),
}
_PUTS = {
    "add-encryption-key": ("encryption-keys", "key-id", "encryption-key"),
    "set-statistics": ("statistics", "snapshot-id", "statistics"),
    "set-partition-statistics": ("partition-statistics", "snapshot-id", "partition-statistics"),
}
"""Action -> the list, the member that names an item, and the member of the update."""
_REMOVES = {
    "remove-schemas": ("schemas", "schema-id", "schema-ids"),
    "remove-partition-specs": ("partition-specs", "spec-id", "spec-ids"),
    "remove-snapshots": ("snapshots", "snapshot-id", "snapshot-ids"),
    "remove-statistics": ("statistics", "snapshot-id", "snapshot-id"),
    "remove-partition-statistics": ("partition-statistics", "snapshot-id", "snapshot-id"),
    "remove-encryption-key": ("encryption-keys", "key-id", "key-id"),
}


def after_updates(metadata: Metadata, updates: Sequence[Json]) -> Json:
    """Return the metadata that a load must show after a commit of these updates.

    What is added has the id that was sent, or the next one if that is taken; ``as_assigned`` puts
    the server's ids in their place. A member that only the server knows is ``ANYTHING``. Times and
    logs are as they were, and what a removed snapshot leaves behind is not foreseen.
    """
    due, last = dict(metadata), dict[str, Any]()
    for update in updates:
        due |= _changed(due, update, last)
    return due


def _changed(due: Json, update: Json, last: Json) -> Json:
    """Return the members that one update changes; ``last`` keeps the id that was added last."""
    action = update["action"]
    if action in _ADDS:
        definitions, member = _ADDS[action]
        return _added(due, definitions, update[member], last)
    if action in _MAKES_CURRENT:
        definitions, member = _MAKES_CURRENT[action]
        named = update[member]
        return {definitions.current: last[definitions.members] if named == LAST_ADDED else named}
    if action in _PUTS:
        members, key, member = _PUTS[action]
        kept = [each for each in due.get(members) or [] if each[key] != update[member][key]]
        return {members: [*kept, update[member]]}
    if action in _REMOVES:
        members, key, member = _REMOVES[action]
        gone = update[member] if isinstance(update[member], list) else [update[member]]
        return {members: [each for each in due.get(members) or [] if each[key] not in gone]}
    return _OTHERS[action](due, update)


def _added(due: Json, definitions: _Definitions, sent: Json, last: Json) -> Json:
    known = due.get(definitions.members) or []
    taken = [each.get(definitions.id_member, 0) for each in known]
    proposed = sent.get(definitions.id_member, 0)
    new = 1 + max(taken) if proposed in taken else proposed
    made = {**sent, definitions.id_member: new}
    if definitions is _VERSIONS and sent["schema-id"] == LAST_ADDED:
        made["schema-id"] = last["schemas"]
    last[definitions.members] = new
    return {definitions.members: [*known, made], **_counted(due, definitions, sent)}


def _counted(due: Json, definitions: _Definitions, sent: Json) -> Json:
    """Return the highest ids that were ever assigned, of a table."""
    if definitions is _SCHEMAS and "last-column-id" in due:
        return {"last-column-id": max([due["last-column-id"], *field_ids(sent)])}
    if definitions is _SPECS:
        ids = [each["field-id"] for each in sent["fields"]]
        return {"last-partition-id": max([due["last-partition-id"], *ids])}
    return {}


# ---- properties, location, format version


def _with_properties(due: Json, update: Json) -> Json:
    return {"properties": {**(due.get("properties") or {}), **update["updates"]}}


def _without_properties(due: Json, update: Json) -> Json:
    known = due.get("properties") or {}
    return {"properties": {k: v for k, v in known.items() if k not in update["removals"]}}


def _moved(_: Json, update: Json) -> Json:
    return {"location": update["location"]}


def _upgraded(due: Json, update: Json) -> Json:
    before, after = due["format-version"], update["format-version"]
    begun: Json = {}
    if before < _FORMAT_OF_ROW_IDS <= after:
        begun["next-row-id"] = ANYTHING
    if before == _FIRST_FORMAT < after:
        begun["last-sequence-number"] = ANYTHING
    return {"format-version": max(before, after), **begun}


# ---- snapshots and refs


def _with_snapshot(due: Json, update: Json) -> Json:
    snapshot = update["snapshot"]
    changed: Json = {"snapshots": [*(due.get("snapshots") or []), snapshot]}
    if "sequence-number" in snapshot:
        changed["last-sequence-number"] = snapshot["sequence-number"]
    if "added-rows" in snapshot and isinstance(due.get("next-row-id"), int):
        return changed | {"next-row-id": snapshot["first-row-id"] + snapshot["added-rows"]}
    # Nobody knows where the rows start if the table has not shown it, as when the same commit
    # upgrades it.
    return changed | {"next-row-id": ANYTHING}


def _with_ref(due: Json, update: Json) -> Json:
    ref = {k: v for k, v in update.items() if k not in {"action", "ref-name"}}
    changed: Json = {"refs": {**(due.get("refs") or {}), update["ref-name"]: ref}}
    if update["ref-name"] == "main":
        changed["current-snapshot-id"] = update["snapshot-id"]
    return changed


def _without_ref(due: Json, update: Json) -> Json:
    return {"refs": {k: v for k, v in due["refs"].items() if k != update["ref-name"]}}


_OTHERS: Mapping[str, Callable[[Json, Json], Json]] = {
    "assign-uuid": lambda _due, _update: {},  # only ever the uuid that there is
    "upgrade-format-version": _upgraded,
    "set-properties": _with_properties,
    "remove-properties": _without_properties,
    "set-location": _moved,
    "add-snapshot": _with_snapshot,
    "set-snapshot-ref": _with_ref,
    "remove-snapshot-ref": _without_ref,
}

FORESEEN = frozenset({*_ADDS, *_MAKES_CURRENT, *_PUTS, *_REMOVES, *_OTHERS})
"""The actions of the updates whose effect is foreseen."""


# ---- what the server decides


def as_assigned(before: Metadata, due: Metadata, after: Metadata) -> Json:
    """Return due metadata with the ids that the server has assigned to new definitions.

    New definitions are found by their content; a server need not take the ids that a client
    proposes. It also chooses the field ids in a new schema of a view.
    """
    found, schema_ids = dict(due), dict[Any, Any]()
    for each in _ALL:
        if each.members not in due:
            continue
        # Not those that the commit removes: their ids may be given again.
        stay = [item for item in before.get(each.members) or [] if item in due[each.members]]
        old = {item.get(each.id_member) for item in stay}
        shown = after.get(each.members) or []
        new = [item for item in shown if item.get(each.id_member) not in old]
        ids: dict[Any, Any] = {}
        whole = each is _SCHEMAS and "view-uuid" in due
        items = [_of_schema(item, schema_ids) for item in due[each.members]]
        items = [
            item
            if item.get(each.id_member) in old
            else _shown_as(each, item, new, ids, whole=whole)
            for item in items
        ]
        found[each.members] = items
        if each.current in due:
            found[each.current] = ids.get(due[each.current], due[each.current])
        schema_ids = ids if "view-uuid" in due else {}
    if due.get("next-row-id") != before.get("next-row-id"):
        # Its own check judges where the next rows start; exactly there is only a SHOULD.
        found["next-row-id"] = ANYTHING
    return found


def _of_schema(item: Json, ids: Mapping[Any, Any]) -> Json:
    """Return a version of a view with the id that its schema was given."""
    named = item.get("schema-id")
    return {**item, "schema-id": ids[named]} if named in ids else item


def _shown_as(
    each: _Definitions, sent: Json, new: Sequence[Json], ids: dict[Any, Any], *, whole: bool
) -> Json:
    """Return a new definition with the id under which it is shown, or ``whole`` as it is shown.

    The id is remembered in ``ids``, under the one that was proposed.
    """
    proposed = sent.get(each.id_member)
    alike = [
        item
        for item in new
        if each.content(item) == each.content(sent) and item.get(each.id_member) not in ids.values()
    ]
    # Of two with one content, the one that differs in nothing else: answers list in any order.
    equal = [item for item in alike if item | {each.id_member: proposed} == sent]
    same = [item for item in alike if item.get("schema-id") == sent.get("schema-id")]
    same = equal or same or alike
    ids[proposed] = same[0].get(each.id_member) if same else proposed
    return {**(same[0] if same and whole else sent), each.id_member: ids[proposed]}


def without_expired(before: Metadata, due: Metadata, after: Metadata) -> Json:
    """Return due metadata without older versions of a view that are gone, and their schemas.

    How long a view keeps them is the catalog's choice. Tables have no versions.
    """
    if "versions" not in due:
        return dict(due)

    def left(members: str, id_member: str, needed: set[Any]) -> list[Json]:
        old, seen = (
            {each.get(id_member, 0) for each in metadata.get(members) or []}
            for metadata in (before, after)
        )
        return [
            each
            for each in due[members]
            if each.get(id_member, 0) in {*seen, *needed} or each.get(id_member, 0) not in old
        ]

    versions = left("versions", "version-id", {due.get("current-version-id")})
    schemas = left("schemas", "schema-id", {each["schema-id"] for each in versions})
    return {**due, "versions": versions, "schemas": schemas}
