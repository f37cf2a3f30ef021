"""Compares the metadata that an answer shows with those that the steps so far have made due."""

from collections.abc import Iterator, Mapping
from typing import Any

from icecheck.client.catalog import Table
from icecheck.objects.after_updates import as_assigned, without_expired
from icecheck.objects.comparing import Difference, first_difference
from icecheck.objects.metadata_view import field_ids
from icecheck.objects.views import View

Json = Mapping[str, Any]

_KINDS: Mapping[str, type[Table] | type[View]] = {"table": Table, "view": View}
_OF_SNAPSHOTS = ("snapshots", "statistics", "partition-statistics")


def unforeseen(
    kind: str, before: Json, foreseen: Json, shown: Json, *, whole_history: bool
) -> Difference | None:
    """Return how shown metadata differ from the foreseen ones, if they do.

    The server chooses the ids of what was added, and how long a view keeps old versions. Without
    ``whole_history`` it shows what it likes of the snapshots that are not current.
    """
    due = without_expired(before, as_assigned(before, foreseen, shown), shown)
    if not whole_history:
        due |= {member: shown.get(member) for member in _OF_SNAPSHOTS if member in shown}
    return first_difference(_KINDS[kind], dict(before), due, dict(shown))


# ---- what holds for any metadata

_IDS = (
    ("schemas", "schema-id"),
    ("partition-specs", "spec-id"),
    ("sort-orders", "order-id"),
    ("snapshots", "snapshot-id"),
    ("versions", "version-id"),
    ("encryption-keys", "key-id"),
)
_POINTERS = (
    ("current-schema-id", "schemas", "schema-id"),
    ("default-spec-id", "partition-specs", "spec-id"),
    ("default-sort-order-id", "sort-orders", "order-id"),
    ("current-version-id", "versions", "version-id"),
)
_NEVER_FALL = (
    "format-version", "last-column-id", "last-partition-id", "last-sequence-number", "next-row-id",
)  # fmt: skip
_UNSORTED = 0


def contradictions(before: Json, shown: Json, *, whole_history: bool) -> Iterator[tuple[str, str]]:
    """Yield what contradicts itself in metadata, or earlier metadata of the same life.

    Each is a member and a clause about it. ``before`` is empty for what is seen for the first time.
    """
    ids = {members: _ids_in(shown, members, id_member) for members, id_member in _IDS}
    for members, found in ids.items():
        if len(set(found)) < len(found):
            yield members, "two of them have one id"
    for pointer, members, _ in _POINTERS:
        named = shown.get(pointer)
        unsorted = members == "sort-orders" and named == _UNSORTED
        if ids[members] and named is not None and named not in ids[members] and not unsorted:
            yield pointer, f"it is {named}, which none of the {members} has"
    yield from _of_numbers(before, shown)
    if whole_history:
        yield from _of_refs(shown, ids["snapshots"])


def _of_numbers(before: Json, shown: Json) -> Iterator[tuple[str, str]]:
    for member in _NEVER_FALL:
        one, other = before.get(member), shown.get(member)
        if isinstance(one, int) and isinstance(other, int) and other < one:
            yield member, f"it has fallen from {one} to {other}"
    highest = max((i for s in _listed(shown, "schemas") for i in field_ids(s)), default=0)
    last = shown.get("last-column-id")
    if isinstance(last, int) and last < highest:
        yield "last-column-id", f"it is {last}, and a column has {highest}"
    numbers = [s.get("sequence-number") for s in _listed(shown, "snapshots")]
    sequence = max((n for n in numbers if isinstance(n, int)), default=0)
    last = shown.get("last-sequence-number")
    if isinstance(last, int) and last < sequence:
        yield "last-sequence-number", f"it is {last}, and a snapshot has {sequence}"


def _of_refs(shown: Json, snapshot_ids: list[Any]) -> Iterator[tuple[str, str]]:
    refs = shown.get("refs")
    known = refs if isinstance(refs, Mapping) else {}
    heads = {
        name: ref.get("snapshot-id") for name, ref in known.items() if isinstance(ref, Mapping)
    }
    current = shown.get("current-snapshot-id")
    for name, head in heads.items():
        if head not in snapshot_ids:
            yield "refs", f"{name} names a snapshot that is not there"
    if current is not None and "main" in heads and heads["main"] != current:
        yield "current-snapshot-id", "it is not where main is"


def _ids_in(metadata: Json, members: str, id_member: str) -> list[Any]:
    """Return the ids that are shown: those of schemas, specs and orders may be left out."""
    return [each[id_member] for each in _listed(metadata, members) if id_member in each]


def _listed(metadata: Json, member: str) -> list[Json]:
    listed = metadata.get(member)
    return [e for e in listed if isinstance(e, Mapping)] if isinstance(listed, list) else []
