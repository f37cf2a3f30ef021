"""Lawful forms of updates that no named client sends, found in the commits that a mock accepts."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.metadata.encoding import encode
from icecheck.mock_server.metadata.view_metadata import encode_view

Json = dict[str, Any]

# Action -> the member of the metadata that gets the object, the object in the update, its id.
_ADDED = {
    "add-schema": ("schemas", "schema", "schema-id"),
    "add-spec": ("partition-specs", "spec", "spec-id"),
    "add-sort-order": ("sort-orders", "sort-order", "order-id"),
    "add-snapshot": ("snapshots", "snapshot", "snapshot-id"),
    "add-view-version": ("versions", "view-version", "version-id"),
    "add-encryption-key": ("encryption-keys", "encryption-key", "key-id"),
    "set-statistics": ("statistics", "statistics", "snapshot-id"),
    "set-partition-statistics": ("partition-statistics", "partition-statistics", "snapshot-id"),
}
# Action -> the member of the metadata that loses something, and the ids or keys in the update.
_REMOVED = {
    "remove-properties": ("properties", "removals"),
    "remove-schemas": ("schemas", "schema-ids"),
    "remove-partition-specs": ("partition-specs", "spec-ids"),
    "remove-snapshots": ("snapshots", "snapshot-ids"),
    "remove-snapshot-ref": ("refs", "ref-name"),
    "remove-statistics": ("statistics", "snapshot-id"),
    "remove-partition-statistics": ("partition-statistics", "snapshot-id"),
    "remove-encryption-key": ("encryption-keys", "key-id"),
}
_LEFT_OUT = {"add-schema": "last-column-id", "set-statistics": "snapshot-id"}
"""Action -> a member that the document makes optional and every client sends."""
_NUMBERED_BY_CLIENTS = frozenset({"add-schema", "add-spec", "add-sort-order"})
"""Actions whose object gets from every client the id after the highest that the table has."""


def watch_forms(registries: Registries, current: list[str], found: dict[str, set[str]]) -> None:
    """Note for each rarer form of an accepted commit the check that is ``current``."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        for updates, metadata, asserted in _parts(state, call):
            for form in (*rarer_forms(updates, metadata), *rarer_assertions(asserted, metadata)):
                found.setdefault(form, set()).add(current[0])
        return outcome

    for operation_id in ("updateTable", "replaceView", "commitTransaction"):
        wrap(registries, operation_id, around)


def _parts(
    state: WarehouseState, call: Call
) -> Iterator[tuple[Sequence[Json], Json, Sequence[Json]]]:
    """Yield of each table or view in a commit the updates, the metadata before, the assertions."""
    sent = sent_json(call)
    for part in sent.get("table-changes", [sent]):
        place, name = call.namespace, call.name
        if "table-changes" in sent:
            place, name = tuple(part["identifier"]["namespace"]), part["identifier"]["name"]
        table, view = state.table(place, name), state.view(place, name)
        text = b"{}"
        if call.operation_id == "replaceView" and view is not None:
            text = encode_view(view.metadata)
        elif table is not None:
            text = encode(table.metadata)
        asserted = part.get("requirements") or []
        adds = any(each["action"] == "add-snapshot" for each in part.get("updates") or [])
        yield part.get("updates") or [], json.loads(text), () if adds else asserted


def rarer_assertions(asserted: Sequence[Json], before: Json) -> Iterator[str]:
    """Yield the rarer forms in the assertions of one commit that adds no snapshot.

    Java asserts of a ref beside main that it is not there when it is to name a snapshot.
    """
    for each in asserted:
        is_ref = each["type"] == "assert-ref-snapshot-id" and each["ref"] != "main"
        if is_ref and each.get("snapshot-id") is None and not before.get("snapshots"):
            yield "assert-ref-snapshot-id of a ref beside main without snapshots"


def rarer_forms(updates: Sequence[Json], before: Json) -> Iterator[str]:
    """Yield the rarer forms in the updates of one commit to this metadata."""
    known = {member for member, *_ in (*_REMOVED.values(), *_ADDED.values())}
    there = {member: _ids(before, member) for member in known}
    added: set[tuple[str, Any]] = set()
    for update in updates:
        action = update["action"]
        if action in _LEFT_OUT and _LEFT_OUT[action] not in update:
            yield f"{action} without {_LEFT_OUT[action]}"
        if action in _ADDED:
            member, item, id_member = _ADDED[action]
            new_id = update[item].get(id_member)
            held = [it for it in before.get(member) or [] if it.get(id_member) == new_id]
            if form := _form_of_id(
                action, update[item], added, held if new_id in there[member] else ()
            ):
                yield f"{action} {form}"
            added.add((member, new_id))
            there[member].add(new_id)
        elif action == "set-properties":
            there["properties"] |= {*update["updates"]}
        elif action == "set-snapshot-ref":
            there["refs"].add(update["ref-name"])
        elif action in _REMOVED:
            member, named = _REMOVED[action]
            gone = update[named] if isinstance(update[named], list) else [update[named]]
            if not there[member].issuperset(gone):
                yield f"{action} of what is absent"
            there[member].difference_update(gone)


def _form_of_id(action: str, sent: Json, added: set[tuple[str, Any]], held: Sequence[Json]) -> str:
    """Return what is rare about the id of a new object, or an empty string.

    ``added`` holds the new ids of the commit, ``held`` what the metadata has under this one.
    """
    member, _, id_member = _ADDED[action]
    new_id = sent.get(id_member)
    if new_id is None:
        return "without an id"
    if (member, new_id) in added:
        return "twice under one id"
    is_another = any(each.get("fields") != sent.get("fields") for each in held)
    return "under the id of another" if is_another and action in _NUMBERED_BY_CLIENTS else ""


def _ids(metadata: Json, member: str) -> set[Any]:
    held = metadata.get(member) or {}
    id_members = [id_member for into, _, id_member in _ADDED.values() if into == member]
    return {*held} if isinstance(held, dict) else {each.get(id_members[0]) for each in held}
