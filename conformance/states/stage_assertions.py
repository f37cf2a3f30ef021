"""Requirements of commits: those that hold for a table, and wrong ones with a near value."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from icecheck.conformance.states.history_stages import AHEAD, TAG
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import numbered_assertions

Json = dict[str, Any]
Metadata = Mapping[str, Any]

BY_UPDATE, BY_TRANSACTION = range(2)
"""The ways to commit, which share the wrong values where a catalog has both."""
_NEVER_MADE = "never_made"
"""The name of a ref that no table has."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """A requirement that does not hold, the one that does, and what the wrong value stands for.

    The ways to commit share the wrong values for one truth: ``ways`` are those that send this one.
    """

    assertion: Json
    truth: Json
    what: str
    ways: tuple[int, ...]


def _refs(metadata: Metadata, *, besides_main: bool) -> dict[str, int | None]:
    """Return ref name -> snapshot id; None for a ref that does not exist.

    Clients name one beside main where there is a snapshot for it. That it does not exist in a table
    without snapshots is asserted by a check of its own (verdict-rules 20).
    """
    shown = metadata.get("refs")
    found = {name: ref.get("snapshot-id") for name, ref in (shown or {}).items()}
    current = metadata.get("current-snapshot-id")
    if current in {None, -1}:
        current = None
    absent = dict.fromkeys((_NEVER_MADE, AHEAD, TAG) if besides_main and current else ())
    return {"main": current, **absent, **found}


def true_assertions(metadata: Metadata, *, besides_main: bool) -> list[Json]:
    """Return every requirement that holds for a table with these metadata.

    With ``besides_main`` these include requirements that other refs do not exist, for catalogs that
    offer such refs.
    """
    numbers = numbered_assertions(metadata)
    refs = [
        _ref_is(name, snapshot_id)
        for name, snapshot_id in _refs(metadata, besides_main=besides_main).items()
    ]
    return [{"type": "assert-table-uuid", "uuid": metadata["table-uuid"]}, *numbers, *refs]


def _ref_is(name: str, snapshot_id: int | None) -> Json:
    return {"type": "assert-ref-snapshot-id", "ref": name, "snapshot-id": snapshot_id}


def nearly_true(metadata: Metadata, another_uuid: str, *, besides_main: bool) -> Iterator[Wrong]:
    """Yield requirements that hold only for a server that compares the wrong member.

    Each has the value of another member, another ref or another definition.
    """
    refs = _refs(metadata, besides_main=besides_main)
    for at, truth in enumerate(true_assertions(metadata, besides_main=besides_main)):
        if truth["type"] == "assert-table-uuid":
            member, near = "uuid", {another_uuid: "the uuid of the table beside it"}
        elif truth["type"] == "assert-ref-snapshot-id":
            member, near = "snapshot-id", _near_ref(metadata, refs, truth["snapshot-id"])
        else:
            member = truth["type"].removeprefix("assert-")
            near = _near_number(metadata, member)
        wrong = [each for each in near if each != truth[member]]
        for number, value in enumerate(wrong, start=at):
            both = (BY_UPDATE, BY_TRANSACTION)
            ways = (both[number % 2],) if len(wrong) > 1 else both
            yield Wrong({**truth, member: value}, truth, near[value], ways)


def _near_number(metadata: Metadata, member: str) -> dict[Any, str]:
    match member:
        case "last-assigned-field-id":
            return _column_ids(metadata)
        case "last-assigned-partition-id":
            return _field_ids(metadata)
        case "current-schema-id":
            return _others(metadata, "schemas", "schema-id", "a schema")
        case "default-spec-id":
            return _others(metadata, "partition-specs", "spec-id", "a spec")
        case _:
            return _others(metadata, "sort-orders", "order-id", "a sort order")


def _column_ids(metadata: Metadata) -> dict[int, str]:
    current, last = view.current_schema(metadata), metadata["last-column-id"]
    found = {
        last + 1: "one more than the last column id",
        last - 1: "one less than the last column id",
        max(view.column_names(metadata), default=0): "the last top-level column",
    }
    for schema in metadata.get("schemas") or []:
        found[max(view.field_ids(schema), default=0)] = "the last column of some schema"
    found[max(view.field_ids(current), default=0)] = "the last column of the current schema"
    return found


def _field_ids(metadata: Metadata) -> dict[int, str]:
    last = metadata["last-partition-id"]
    found = {
        last + 1: "one more than the last partition field id",
        last - 1: "one less than the last partition field id",
    }
    for spec in metadata.get("partition-specs") or []:
        found[_last_field(spec)] = "the last field of some spec"
    found[_last_field(view.default_spec(metadata))] = "the last field of the default spec"
    return found


def _last_field(spec: Metadata) -> int:
    return max((each.get("field-id", 0) for each in spec.get("fields") or []), default=999)


def _others(metadata: Metadata, members: str, id_member: str, what: str) -> dict[int, str]:
    ids = [each.get(id_member, 0) for each in metadata.get(members) or []]
    return {
        max(ids, default=0) + 1: f"{what} that there will be",
        len(ids): "how many there are",
        **dict.fromkeys([*ids[:2], *ids[-2:]], f"{what} that there is"),
    }


def _near_ref(metadata: Metadata, refs: Mapping[str, Any], own: int | None) -> dict[Any, str]:
    snapshots = {each.get("snapshot-id"): each for each in metadata.get("snapshots") or []}
    near: dict[Any, str] = dict.fromkeys([*snapshots][-1:], "the snapshot that was added last")
    near[snapshots.get(own, {}).get("parent-snapshot-id")] = "the snapshot before"
    near |= {snapshot_id: f"the snapshot of {ref}" for ref, snapshot_id in refs.items()}
    near[None] = "null"  # null asserts that the ref does not exist
    return near
