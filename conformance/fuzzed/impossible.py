"""Says why a request that its schema allows cannot be carried out, if that is certain.

Only what a MUST of its own demands counts: a requirement that does not hold, and a reference to
what is not there. Whatever the object's metadata does not tell is not judged.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from icecheck.findings.shared_symptoms import REQUIREMENT_IGNORED
from icecheck.findings.statuses import STATUS
from icecheck.findings.symptoms import Symptom

_LAST_ADDED = -1
# Type of a requirement -> its member, and the member of the metadata that it has to equal.
_ASSERTED = {
    "assert-current-schema-id": ("current-schema-id", "current-schema-id"),
    "assert-default-spec-id": ("default-spec-id", "default-spec-id"),
    "assert-default-sort-order-id": ("default-sort-order-id", "default-sort-order-id"),
    "assert-last-assigned-field-id": ("last-assigned-field-id", "last-column-id"),
    "assert-last-assigned-partition-id": ("last-assigned-partition-id", "last-partition-id"),
}
_UUIDS = {"assert-table-uuid": "table-uuid", "assert-view-uuid": "view-uuid"}
# Action -> its member, the update that adds such things, and where and how metadata lists them.
_REFERENCES = {
    "set-current-schema": ("schema-id", "add-schema", "schemas", "schema-id"),
    "set-default-spec": ("spec-id", "add-spec", "partition-specs", "spec-id"),
    "set-default-sort-order": ("sort-order-id", "add-sort-order", "sort-orders", "order-id"),
    "set-snapshot-ref": ("snapshot-id", "add-snapshot", "snapshots", "snapshot-id"),
    "set-current-view-version": (
        "view-version-id", "add-view-version", "versions", "version-id",
    ),
}  # fmt: skip

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Impossible:
    """Why a request must be refused, in words, and the symptom of a catalog that accepts it."""

    why: str
    accepted: Symptom


def why_impossible(operation_id: str, body: Any, metadata: Json) -> Impossible | None:
    """Return why a request must be refused; None if it may be carried out.

    ``metadata`` is that of the table or view that the request is about, as last told.
    """
    if not isinstance(body, dict) or not metadata:
        return None
    if operation_id == "commitTransaction":
        changes = body["table-changes"]
        # With two changes of one table it is open what the second one is compared with.
        return next(_reasons(changes[0], metadata), None) if len(changes) == 1 else None
    if operation_id in {"updateTable", "replaceView"}:
        return next(_reasons(body, metadata), None)
    return None


def _reasons(body: Json, metadata: Json) -> Iterator[Impossible]:
    for each in body.get("requirements", ()):
        if why := _not_held(each, metadata):
            yield Impossible(why, REQUIREMENT_IGNORED)
    updates = body.get("updates", ())
    for each in updates:
        if why := _missing(each, updates, metadata):
            yield Impossible(why, STATUS)


def _not_held(requirement: Json, metadata: Json) -> str:
    kind = str(requirement["type"])
    if kind == "assert-create":
        return "it asserts that the object does not exist"
    if kind in _UUIDS:
        told, sent = metadata.get(_UUIDS[kind]), requirement["uuid"]
        differs = isinstance(told, str) and told.lower() != sent.lower()
        return f"{kind} does not hold" if differs else ""
    if kind in _ASSERTED:
        member, shown = _ASSERTED[kind]
        told = metadata.get(shown)
        differs = isinstance(told, int) and told != requirement[member]
        return f"{kind} does not hold" if differs else ""
    refs = metadata.get("refs")
    if kind != "assert-ref-snapshot-id" or not isinstance(refs, dict):
        return ""
    ref = refs.get(requirement["ref"])
    held = ref["snapshot-id"] if isinstance(ref, dict) and "snapshot-id" in ref else None
    return f"{kind} does not hold" if held != requirement.get("snapshot-id") else ""


def _missing(update: Json, updates: Sequence[Json], metadata: Json) -> str:
    """Return that an update refers to what neither the object nor the commit has, or nothing."""
    known = _REFERENCES.get(str(update["action"]))
    if known is None:
        return ""
    member, adding, listed, id_member = known
    entries, wanted = metadata.get(listed), update[member]
    # A catalog may give what a commit adds an id of its own.
    added = any(each["action"] == adding for each in updates)
    if wanted == _LAST_ADDED or added or not isinstance(entries, list):
        return ""
    ids = [entry.get(id_member) for entry in entries if isinstance(entry, dict)]
    return "" if wanted in ids else f"{update['action']} names {wanted}, which is not there"
