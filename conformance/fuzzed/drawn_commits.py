"""Strategies for commits to tables: updates of one commit that depend on each other.

What a table has already stands in placeholders, which are replaced when a commit is sent.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from icecheck.client import bodies
from icecheck.conformance.fuzzed.drawn_schemas import (
    columns_of,
    schemas,
    sort_orders,
    specs,
    string_maps,
    texts,
)
from icecheck.conformance.generated.live_values import live
from icecheck.conformance.generated.sample_values import (
    NAME,
    NAMESPACE,
    TABLE_LOCATION,
    TABLE_TIME,
    sample_of,
)
from icecheck.objects.after_updates import LAST_ADDED

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Json = dict[str, Any]

_SNAPSHOT_ID = 8_000_000_000_000_000_000
_UNKNOWN_ID = 7_777
_COLUMNS = bodies.DEFAULT_SCHEMA["fields"]
_UUID = "0b9a5bfa-7b1e-4a3c-9d5e-2f6c8e1d4a70"
_PARTS_MAX = 3
_ASSERTED = (
    ("assert-table-uuid", "uuid", live("table-uuid"), _UUID),
    ("assert-current-schema-id", "current-schema-id", live("current-schema-id"), _UNKNOWN_ID),
    ("assert-default-spec-id", "default-spec-id", live("default-spec-id"), _UNKNOWN_ID),
    (
        "assert-default-sort-order-id", "default-sort-order-id", live("default-sort-order-id"),
        _UNKNOWN_ID,
    ),
    (
        "assert-last-assigned-field-id", "last-assigned-field-id", live("last-column-id"),
        _UNKNOWN_ID,
    ),
    (
        "assert-last-assigned-partition-id", "last-assigned-partition-id",
        live("last-partition-id"), _UNKNOWN_ID,
    ),
)  # fmt: skip
"""Type of a requirement, its member, the value that holds, and one that does not."""


def commits() -> "SearchStrategy[Json]":
    """Draw the body of a commit to one table."""
    from hypothesis import strategies as st

    parts = st.lists(st.one_of(*_parts()), min_size=1, max_size=_PARTS_MAX)
    return st.builds(
        lambda required, drawn: {
            "requirements": [each for some in required for each in some],
            "updates": [update for part in drawn for update in part],
        },
        st.one_of(st.just([]), st.lists(_requirements(), max_size=2)),
        parts,
    )


def transactions() -> "SearchStrategy[Json]":
    """Draw the body of a transaction: changes, all of them of the one table that is there."""
    from hypothesis import strategies as st

    identifier = {"identifier": {"namespace": NAMESPACE, "name": NAME}}
    changes = st.lists(commits().map(lambda body: identifier | body), min_size=1, max_size=2)
    return changes.map(lambda drawn: {"table-changes": drawn})


def _requirements() -> "SearchStrategy[list[Json]]":
    from hypothesis import strategies as st

    held = st.sampled_from((True, True, True, True, False))
    scalar = st.builds(
        lambda row, holds: [{"type": row[0], row[1]: row[2] if holds else row[3]}],
        st.sampled_from(_ASSERTED),
        held,
    )
    ref = held.map(
        lambda holds: [
            {
                "type": "assert-ref-snapshot-id",
                "ref": "main",
                "snapshot-id": live("main") if holds else _UNKNOWN_ID,
            }
        ]
    )
    creation = st.just([{"type": "assert-create"}])
    return st.one_of(scalar, scalar, scalar, scalar, scalar, ref, ref, ref, creation)


def _parts() -> "Sequence[SearchStrategy[list[Json]]]":
    """Return strategies for updates that belong together."""
    return (
        _schema_changes(), _spec_changes(), _order_changes(), _snapshots(), _snapshots(),
        _properties(), _single(),
    )  # fmt: skip


def _schema_changes() -> "SearchStrategy[list[Json]]":
    """Draw an added schema that may become current, and a spec and an order over its columns."""
    from hypothesis import strategies as st

    def with_layout(schema: Json) -> "SearchStrategy[list[Json]]":
        columns = columns_of(schema)
        added = {"action": "add-schema", "schema": schema}
        current = {"action": "set-current-schema", "schema-id": LAST_ADDED}
        return st.builds(
            lambda is_current, spec, order: [
                added,
                *([current] if is_current else []),
                *([{"action": "add-spec", "spec": spec}] if spec else []),
                *([{"action": "add-sort-order", "sort-order": order}] if order else []),
            ],
            st.booleans(),
            st.one_of(st.none(), specs(columns)),
            st.one_of(st.none(), sort_orders(columns)),
        )

    return schemas(added_to=_COLUMNS).flatmap(with_layout)


def _spec_changes() -> "SearchStrategy[list[Json]]":
    from hypothesis import strategies as st

    default = {"action": "set-default-spec", "spec-id": LAST_ADDED}
    former = {"action": "remove-partition-specs", "spec-ids": [live("default-spec-id")]}
    return st.builds(
        lambda spec, further: [{"action": "add-spec", "spec": spec}, *further],
        specs(columns_of({"fields": _COLUMNS})),
        st.sampled_from(([], [default], [default, former], [former])),
    )


def _order_changes() -> "SearchStrategy[list[Json]]":
    from hypothesis import strategies as st

    default = {"action": "set-default-sort-order", "sort-order-id": LAST_ADDED}
    return st.builds(
        lambda order, further: [{"action": "add-sort-order", "sort-order": order}, *further],
        sort_orders(columns_of({"fields": _COLUMNS})),
        st.sampled_from(([], [default], [default, default])),
    )


def _snapshots() -> "SearchStrategy[list[Json]]":
    """Draw snapshots, each the child of the one before it, and refs and files of the last one."""
    from hypothesis import strategies as st

    ids = st.lists(st.integers(1, 40), min_size=1, max_size=3, unique=True)

    def of(chosen: list[int]) -> "SearchStrategy[list[Json]]":
        return st.builds(
            lambda operations, more: [
                *(_added(each, chosen[:at], operations[at]) for at, each in enumerate(chosen)),
                *(update for some in more for update in some),
            ],
            st.tuples(*(_summaries() for _ in chosen)),
            st.lists(st.sampled_from(_about(_SNAPSHOT_ID + chosen[-1])), max_size=3),
        )

    return ids.flatmap(of)


def _added(number: int, before: Sequence[int], summary: dict[str, str]) -> Json:
    at = len(before)
    parent = _SNAPSHOT_ID + before[-1] if before else live("main")
    snapshot = {
        "snapshot-id": _SNAPSHOT_ID + number,
        "sequence-number": live("sequence-number", at + 1),
        "timestamp-ms": TABLE_TIME,
        "manifest-list": f"{TABLE_LOCATION}/metadata/snap-{number}.avro",
        "summary": summary,
        "schema-id": live("current-schema-id"),
    }
    if number % 2:
        snapshot["parent-snapshot-id"] = parent
    return {"action": "add-snapshot", "snapshot": snapshot}


def _summaries() -> "SearchStrategy[dict[str, str]]":
    from hypothesis import strategies as st

    operations = st.sampled_from(("append", "replace", "overwrite", "delete"))
    return st.builds(lambda op, more: {**more, "operation": op}, operations, string_maps(2))


def _about(snapshot_id: int) -> tuple[list[Json], ...]:
    """Return updates that refer to a snapshot, or to another one than is there."""
    branch = bodies.snapshot_ref(snapshot_id, "icecheck_branch", min_snapshots_to_keep=3)
    tag = bodies.snapshot_ref(snapshot_id, "icecheck_tag", "tag", max_ref_age_ms=86_400_000)
    gone = {"action": "remove-snapshot-ref", "ref-name": "icecheck_branch"}
    statistics = {**sample_of("StatisticsFile"), "snapshot-id": snapshot_id}
    of_file = {"action": "set-statistics", "snapshot-id": snapshot_id, "statistics": statistics}
    partitions = {**sample_of("PartitionStatisticsFile"), "snapshot-id": snapshot_id}
    return (
        [bodies.snapshot_ref(snapshot_id)],
        [bodies.snapshot_ref(snapshot_id)],
        [branch],
        [branch, gone],
        [tag],
        [tag, {**tag, "type": "branch"}],
        [bodies.snapshot_ref(_UNKNOWN_ID)],
        [gone],
        [{"action": "remove-snapshots", "snapshot-ids": [snapshot_id]}],
        [of_file],
        [{"action": "remove-statistics", "snapshot-id": snapshot_id}],
        [{"action": "set-partition-statistics", "partition-statistics": partitions}],
        [{"action": "remove-partition-statistics", "snapshot-id": snapshot_id}],
    )


def _properties() -> "SearchStrategy[list[Json]]":
    from hypothesis import strategies as st

    removed = st.lists(st.sampled_from(("icecheck.gone", "icecheck.a", "")), max_size=2)
    return st.builds(
        lambda updates, removals, is_last: [
            bodies.set_properties(updates),
            {"action": "remove-properties", "removals": removals},
        ][:: -1 if is_last else 1],
        string_maps(),
        removed,
        st.booleans(),
    )


def _single() -> "SearchStrategy[list[Json]]":
    """Draw an update that stands for itself: several name what the table does not have."""
    from hypothesis import strategies as st

    version = st.sampled_from((1, 2, 2, 3, 4))
    key = texts().map(lambda text: {"key-id": text, "encrypted-key-metadata": "aWNlY2hlY2s="})
    return st.one_of(
        version.map(lambda v: [{"action": "upgrade-format-version", "format-version": v}]),
        key.map(lambda k: [{"action": "add-encryption-key", "encryption-key": k}]),
        st.sampled_from(
            (
                [{"action": "assign-uuid", "uuid": live("table-uuid")}],
                [{"action": "assign-uuid", "uuid": _UUID}],
                [{"action": "set-location", "location": TABLE_LOCATION}],
                [{"action": "set-current-schema", "schema-id": live("current-schema-id")}],
                [{"action": "set-current-schema", "schema-id": _UNKNOWN_ID}],
                [{"action": "set-current-schema", "schema-id": LAST_ADDED}],
                [{"action": "set-default-spec", "spec-id": live("default-spec-id")}],
                [{"action": "set-default-spec", "spec-id": _UNKNOWN_ID}],
                [{"action": "set-default-sort-order", "sort-order-id": _UNKNOWN_ID}],
                [{"action": "remove-schemas", "schema-ids": [live("current-schema-id")]}],
                [{"action": "remove-partition-specs", "spec-ids": [live("default-spec-id")]}],
                [{"action": "remove-snapshots", "snapshot-ids": [_UNKNOWN_ID]}],
                [{"action": "remove-encryption-key", "key-id": "plain"}],
            )
        ),
    )
