"""Updates of snapshots, refs, statistics and keys with values that a careless server changes.

Each function returns the changes that ``round_trip.judge_changes`` makes one by one.
"""

from collections.abc import Sequence
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.objects.edge_values import (
    LONGS,
    STRINGS,
    EdgeValue,
    in_halves,
    shuffled,
    string_map,
)
from icecheck.objects.reading import not_applicable
from icecheck.objects.round_trip import Change, Make, together

Json = dict[str, Any]

_POSITIVE = tuple(each for each in LONGS if each.value > 0)
_REF_NAME_LENGTH_MAX = 250


# ---- snapshots


def add_snapshot(catalog: Catalog) -> list[Make]:
    """Add snapshots with odd ids, summaries, locations and sequence numbers."""
    summary = shuffled([*string_map().items()], catalog.session.seed, "add-snapshot")
    ids = [_snapshot(f"the snapshot id {s.what}", snapshot_id=s.value) for s in _POSITIVE]
    operations = [
        _snapshot(f"the operation {o}", ordinal, summary={"operation": o})
        for ordinal, o in enumerate(("replace", "overwrite", "delete"), start=31)
    ]
    place = "s3://b/a b%20c+d=\u00e9e\u0301.avro"
    numbers = (
        _snapshot("the sequence number 2^31 + 1", 51, sequence_number=2**31 + 1),
        _snapshot("the sequence number 2^53 + 1", 52, sequence_number=2**53 + 1),
    )
    placed = _snapshot("a place with odd letters", 41, manifest_list=place)
    return [
        together(_summarised(summary), together(*ids), together(*operations, placed)),
        together(*numbers),
    ]


def _snapshot(what: str, ordinal: int = 21, parts: tuple[Make, ...] = (), **members: Any) -> Make:
    def make(table: Table) -> Change:
        sent = {
            **bodies.snapshot(table.metadata),
            "snapshot-id": 7_000_000_000_000_000_900 + ordinal,
        }
        sent |= {key.replace("_", "-"): value for key, value in members.items()}

        def named(before: Json, after: Json) -> Json:
            return {
                "snapshots": [*(before.get("snapshots") or []), sent],
                "last-sequence-number": sent.get("sequence-number", 0),
                "next-row-id": after.get("next-row-id"),
            }

        return Change(what, [{"action": "add-snapshot", "snapshot": sent}], named, parts)

    return make


def _summarised(items: Sequence[tuple[str, str]], ordinal: int = 101) -> Make:
    halves = in_halves(items) if len(items) > 1 else ()
    # Each half, and each half of a half, has another ordinal and so another snapshot id.
    parts = tuple(_summarised(half, 2 * ordinal + at) for at, half in enumerate(halves))
    return _snapshot(
        "values and keys of a summary",
        ordinal,
        parts,
        summary={"operation": "append", **dict(items)},
    )


def remove_snapshots(table: Table) -> list[Make]:
    """Remove snapshots without refs: one from the middle, then the first, then two at once."""
    named_by_refs = {r.get("snapshot-id") for r in (table.metadata.get("refs") or {}).values()}
    ids = [s["snapshot-id"] for s in table.metadata.get("snapshots") or []]
    free = [each for each in ids if each not in named_by_refs]

    def make(*gone: int) -> Make:
        def named(before: Json, after: Json) -> Json:
            def left(member: str) -> list[Json]:
                # The catalog may remove the statistics of a removed snapshot too.
                now = after.get(member) or []
                return [
                    each
                    for each in before.get(member) or []
                    if each["snapshot-id"] not in gone or each in now
                ]

            snapshots = [s for s in before["snapshots"] if s["snapshot-id"] not in gone]
            files = ("statistics", "partition-statistics")
            return {"snapshots": snapshots, **{member: left(member) for member in files}}

        update = {"action": "remove-snapshots", "snapshot-ids": [*gone]}
        return lambda _table: Change(f"{len(gone)} of many snapshots", [update], named)

    return [make(*part) for part in (free[1:2], free[:1], [*free[2:4]][::-1]) if part]


def _snapshot_ids(table: Table) -> list[int]:
    """Return the ids of a table's snapshots; end the check if the table shows none."""
    ids = [s["snapshot-id"] for s in table.metadata.get("snapshots") or []]
    if not ids:
        raise not_applicable("the table shows no snapshot that the update could be about")
    return ids


# ---- refs


def set_refs(table: Table, kinds: Sequence[str]) -> list[Make]:
    """Set refs with odd names and ages; some names differ in case only."""
    ids = _snapshot_ids(table)
    first, last = ids[0], ids[-1]
    members = ("min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms")
    aged = []
    for at, each in enumerate(_POSITIVE):
        kind = kinds[at % len(kinds)]
        retention = members if kind == "branch" else members[2:]
        # The number of snapshots to keep is a 32-bit integer.
        values = {
            m: min(each.value, 2**31 - 1) if m == members[0] else each.value for m in retention
        }
        aged.append(_ref(f"the ages {each.what}", f"aged_{at}", kind, first, **values))
    names = [EdgeValue("a name with a capital", "Aged_0"), *STRINGS]
    odd = [n for n in names if n.value.strip() and len(n.value) < _REF_NAME_LENGTH_MAX]
    named = [
        _ref(f"a ref called like {each.what}", each.value, kinds[at % len(kinds)], last)
        for at, each in enumerate(odd[:_ODD_NAMES_MAX])
    ]
    others = [
        _ref("a ref that becomes one of the other kind", f"aged_{at}", kinds[at - 1], last)
        for at in range(len(kinds))
    ]
    moved = _ref("a ref that is moved", "aged_2", kinds[2 % len(kinds)], last)
    return [together(*aged), together(*named), together(moved, *others)]


_ODD_NAMES_MAX = 7


def _ref(what: str, name: str, kind: str, snapshot_id: int, **retention: int) -> Make:
    update = bodies.snapshot_ref(snapshot_id, name, kind)
    update |= retention
    sent = {k: v for k, v in update.items() if k not in {"action", "ref-name"}}

    def named(before: Json, _after: Json) -> Json:
        return {"refs": {**(before.get("refs") or {}), name: sent}}

    return lambda _table: Change(what, [update], named)


def remove_refs(table: Table) -> list[Make]:
    """Remove every second ref but main, then the rest; others point at the same snapshots."""

    def make(name: str) -> Make:
        def named(before: Json, _after: Json) -> Json:
            return {"refs": {k: v for k, v in before["refs"].items() if k != name}}

        update = {"action": "remove-snapshot-ref", "ref-name": name}
        return lambda _table: Change("one ref of many", [update], named)

    names = sorted(name for name in table.metadata.get("refs") or {} if name != "main")
    return [together(*map(make, part)) for part in (names[::2], names[1::2])]


# ---- statistics


def _in_place(member: str, update: Json, file: Json, what: str) -> Make:
    def named(before: Json, _after: Json) -> Json:
        others = [
            each for each in before.get(member) or [] if each["snapshot-id"] != file["snapshot-id"]
        ]
        return {member: [*others, file]}

    return lambda _table: Change(what, [update], named)


def set_statistics_of(table: Table) -> list[Make]:
    """Set statistics with odd sizes, paths and blobs, both replacing and adding to others."""
    ids = _snapshot_ids(table)

    def make(what: str, at: int, blobs: Sequence[Json] = (), **members: Any) -> tuple[int, Make]:
        file = bodies.statistics_file(table.metadata, ids[at % len(ids)], at)
        file |= {key.replace("_", "-"): value for key, value in members.items()}
        file["blob-metadata"] = [{**file["blob-metadata"][0], **blob} for blob in blobs or [{}]]
        return at % len(ids), _in_place("statistics", bodies.set_statistics(file), file, what)

    sized = [
        make(
            f"the sizes {each.what}",
            at,
            file_size_in_bytes=each.value,
            file_footer_size_in_bytes=each.value,
        )
        for at, each in enumerate(LONGS, start=1)
    ]
    return _of_several_snapshots(
        make("a blob of another snapshot", 0, [{"snapshot-id": ids[0]}, {"snapshot-id": ids[-1]}]),
        *sized,
        make("a place with odd letters", 11, statistics_path="s3://b/a b%20c+\u00e9e\u0301.puffin"),
        make("no blobs' properties", 12, [{"properties": {}}]),
        make("properties of a blob", 13, [{"properties": string_map()}]),
        make("fields in another order", 14, [{"fields": [5, 1, 3]}]),
        make("two blobs that differ in one field", 15, [{"fields": [2]}, {"fields": [1]}]),
        make("a large sequence number", 16, [{"sequence-number": 2**53 + 1}]),
        make("a type of another's making", 17, [{"type": "icecheck-\u00e9 v1 "}]),
    )


def _of_several_snapshots(*makes: tuple[int, Make]) -> list[Make]:
    """Return the changes in as few commits as have one file at most for each snapshot.

    The changes come with the index of their snapshot; a file replaces an earlier one of the same.
    """
    commits: list[dict[int, Make]] = [{}]
    for at, make in makes:
        if at in commits[-1]:
            commits.append({})
        commits[-1][at] = make
    return [together(*each.values()) for each in commits]


def set_partition_statistics_of(table: Table) -> list[Make]:
    """Set partition statistics with odd sizes and paths, both replacing and adding to others."""
    ids = _snapshot_ids(table)

    def make(what: str, at: int, **members: Any) -> tuple[int, Make]:
        file = bodies.partition_statistics_file(table.metadata, ids[at % len(ids)], at)
        file |= {key.replace("_", "-"): value for key, value in members.items()}
        change = _in_place(
            "partition-statistics", bodies.set_partition_statistics(file), file, what
        )
        return at % len(ids), change

    return _of_several_snapshots(
        *(
            make(f"the size {each.what}", at, file_size_in_bytes=each.value)
            for at, each in enumerate(LONGS)
        ),
        make(
            "a place with odd letters", 10, statistics_path="s3://b/a b%20c+\u00e9e\u0301.parquet"
        ),
    )


def remove_statistics(table: Table) -> list[Make]:
    """Remove the statistics of one snapshot, then those of two."""
    return _without(table, "statistics", "remove-statistics")


def remove_partition_statistics(table: Table) -> list[Make]:
    """Remove the partition statistics of one snapshot, then those of two."""
    return _without(table, "partition-statistics", "remove-partition-statistics")


def _without(table: Table, member: str, action: str) -> list[Make]:
    def make(gone: int) -> Make:
        def named(before: Json, _after: Json) -> Json:
            return {member: [f for f in before[member] if f["snapshot-id"] != gone]}

        update = {"action": action, "snapshot-id": gone}
        return lambda _table: Change("the file of one snapshot of many", [update], named)

    ids = [file["snapshot-id"] for file in table.metadata.get(member) or []]
    return [*map(make, ids[1:2]), together(*map(make, [*ids[-1:], *ids[:1]]))]


# ---- encryption keys


def add_encryption_key(_table: Table) -> list[Make]:
    """Add keys with odd ids, properties and bytes."""
    every = string_map()

    def make(what: str, key_id: str, encoded: str = "aWNl", **members: Any) -> Make:
        key: Json = {"key-id": key_id, "encrypted-key-metadata": encoded}
        key |= {name.replace("_", "-"): value for name, value in members.items()}

        def named(before: Json, _after: Json) -> Json:
            return {"encryption-keys": [*(before.get("encryption-keys") or []), key]}

        update = {"action": "add-encryption-key", "encryption-key": key}
        return lambda _table: Change(what, [update], named)

    short = [each for each in STRINGS if each.value.strip() and len(each.value) < _KEY_LENGTH_MAX]
    encoded = (
        make("bytes that other alphabets write otherwise", "k1", "+/+/+/8="),
        make("one byte, padded twice", "k2", "/w=="),
        make("bytes that are no text", "k3", "AAECA//+/Q=="),
    )
    alike = (
        make("an id that differs in its case", "K1"),
        make("the same bytes under another id", "k1 ", "+/+/+/8="),
    )
    odd = (make(f"an id like {each.what}", each.value) for each in short[:_ODD_KEYS_MAX])
    return [
        together(
            together(*encoded),
            make("properties of a key", "k4", properties=every),
            make("a key that another one encrypts", "k5", encrypted_by_id="k1"),
            together(*alike),
            together(*odd),
        )
    ]


_KEY_LENGTH_MAX = 100
_ODD_KEYS_MAX = 9


def remove_encryption_key(table: Table) -> list[Make]:
    """Remove some keys, then others; other keys differ from them in case and blanks only."""

    def make(gone: str) -> Make:
        def named(before: Json, _after: Json) -> Json:
            return {
                "encryption-keys": [k for k in before["encryption-keys"] if k["key-id"] != gone]
            }

        update = {"action": "remove-encryption-key", "key-id": gone}
        return lambda _table: Change("one key of many", [update], named)

    keys = [key["key-id"] for key in table.metadata.get("encryption-keys") or []]
    return [
        together(*map(make, part))
        for part in (keys[1:2], keys[:1] + keys[3:4], keys[4:], keys[2:3])
    ]
