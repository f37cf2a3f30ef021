"""The rules that the metadata of every table obeys as a whole."""

from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from operator import attrgetter

from icecheck.mock_server.metadata.binding import check_order_resolves, check_spec_resolves
from icecheck.mock_server.metadata.model import (
    MAIN_BRANCH,
    Schema,
    Snapshot,
    SnapshotRef,
    TableMetadata,
)
from icecheck.mock_server.metadata.schemas import Column, columns_by_id
from icecheck.mock_server.protocol.problem import bad_request

FORMAT_VERSION_MIN = 1
FORMAT_VERSION_MAX = 3
"""The document's bounds (`TableMetadata.format-version`)."""

LOG_TOLERANCE_MS = 60_000
"""How far back a log entry may be dated, in milliseconds: clocks of writers differ."""


def check_format_version(format_version: int) -> None:
    """Refuse (400) a format version that the document does not know."""
    if not FORMAT_VERSION_MIN <= format_version <= FORMAT_VERSION_MAX:
        raise bad_request(
            f"Unsupported format version: v{format_version} (supported: v{FORMAT_VERSION_MAX})"
        )


def check_metadata(
    metadata: TableMetadata,
    base: TableMetadata | None = None,
    added: Collection[Snapshot] = (),
    columns: Mapping[int, Column] | None = None,
) -> None:
    """Refuse (400) metadata that contradicts itself.

    With `base`, which is known to be sound, values that have not changed are not checked again; the
    snapshots are then those of `base`, of which some may be gone, and those `added`. `columns` are
    those of the current schema, from a caller who has them.
    """
    check_format_version(metadata.format_version)
    if not metadata.location:
        raise bad_request("Invalid table metadata: the location is empty")
    if base is None or not _has_layout_of(metadata, base):
        _check_defaults_exist(metadata)
        _check_defaults_resolve(metadata, columns)
    if base is None:
        _check_snapshot_ids(metadata)
    _check_sequence_numbers(metadata, base, added)
    _check_refs(metadata, base, added)
    _check_logs(metadata, base)


def check_ref(name: str, ref: SnapshotRef) -> None:
    """Refuse (400) retention values that are not positive, or that a tag cannot have."""
    retention = {
        "min-snapshots-to-keep": ref.min_snapshots_to_keep,
        "max-snapshot-age-ms": ref.max_snapshot_age_ms,
        "max-ref-age-ms": ref.max_ref_age_ms,
    }
    for member, value in retention.items():
        if value is None:
            continue
        if value <= 0:
            raise bad_request(f"Ref {name}: {member} must be positive")
        if ref.type == "tag" and member != "max-ref-age-ms":
            raise bad_request(f"Ref {name} is a tag and cannot have {member}")


def current_schema(metadata: TableMetadata) -> Schema:
    """Return the schema that `current-schema-id` names; a 400 Problem if there is none."""
    for schema in metadata.schemas:
        if schema.schema_id == metadata.current_schema_id:
            return schema
    raise bad_request(f"Invalid table metadata: no schema with id {metadata.current_schema_id}")


def _check_defaults_exist(metadata: TableMetadata) -> None:
    _check_among(
        "schema", metadata.current_schema_id, map(attrgetter("schema_id"), metadata.schemas)
    )
    _check_among(
        "partition spec",
        metadata.default_spec_id,
        map(attrgetter("spec_id"), metadata.partition_specs),
    )
    _check_among(
        "sort order",
        metadata.default_sort_order_id,
        map(attrgetter("order_id"), metadata.sort_orders),
    )


def _check_among(kind: str, chosen: int, ids: Iterable[int]) -> None:
    known = list(ids)
    if len(set(known)) != len(known):
        raise bad_request(f"Invalid table metadata: two of kind {kind} have the same id")
    if chosen not in known:
        raise bad_request(f"Invalid table metadata: no {kind} with id {chosen}")


def _has_layout_of(metadata: TableMetadata, base: TableMetadata) -> bool:
    """Return whether schemas, specs, orders and the ids of the chosen ones are unchanged."""
    return (
        metadata.schemas is base.schemas
        and metadata.current_schema_id == base.current_schema_id
        and metadata.partition_specs is base.partition_specs
        and metadata.default_spec_id == base.default_spec_id
        and metadata.sort_orders is base.sort_orders
        and metadata.default_sort_order_id == base.default_sort_order_id
    )


def _check_defaults_resolve(metadata: TableMetadata, columns: Mapping[int, Column] | None) -> None:
    if columns is None:
        columns = columns_by_id(current_schema(metadata))
    for spec in metadata.partition_specs:
        if spec.spec_id == metadata.default_spec_id:
            check_spec_resolves(spec, columns)
    for order in metadata.sort_orders:
        if order.order_id == metadata.default_sort_order_id:
            check_order_resolves(order, columns)


def _check_snapshot_ids(metadata: TableMetadata) -> None:
    if len(set(map(attrgetter("snapshot_id"), metadata.snapshots))) != len(metadata.snapshots):
        raise bad_request("Invalid table metadata: two snapshots have the same id")


def _check_sequence_numbers(
    metadata: TableMetadata, base: TableMetadata | None, added: Collection[Snapshot]
) -> None:
    last = metadata.last_sequence_number
    if metadata.format_version == 1 and last != 0:
        raise bad_request(f"Version 1 has no sequence numbers: {last}")
    known_to_fit = base is not None and base.last_sequence_number <= last
    snapshots = added if known_to_fit else metadata.snapshots
    highest = max(map(attrgetter("sequence_number"), snapshots), default=0)
    if highest > last:
        raise bad_request(
            f"Snapshot sequence number {highest} is above the table's last one, {last}"
        )


def _check_refs(
    metadata: TableMetadata, base: TableMetadata | None, added: Collection[Snapshot]
) -> None:
    if (
        base is not None
        and metadata.refs is base.refs
        and metadata.snapshots is base.snapshots
        and metadata.current_snapshot_id == base.current_snapshot_id
    ):
        return
    missing = _named(metadata)
    if base is not None and len(metadata.snapshots) == len(base.snapshots) + len(added):
        # No snapshot is gone: every snapshot that was named before is still there.
        missing -= _named(base) | set(map(attrgetter("snapshot_id"), added))
    if missing:
        missing.difference_update(map(attrgetter("snapshot_id"), metadata.snapshots))
    for name, ref in metadata.refs.items():
        if ref.snapshot_id in missing:
            raise bad_request(f"Ref {name} names a snapshot that does not exist: {ref.snapshot_id}")
    current, main = metadata.current_snapshot_id, metadata.refs.get(MAIN_BRANCH)
    if current is None:
        if main is not None:
            raise bad_request("There is a branch main but no current snapshot")
        return
    if current in missing:
        raise bad_request(f"The current snapshot does not exist: {current}")
    if main is not None and main.snapshot_id != current:
        raise bad_request(
            f"Branch main is at {main.snapshot_id}, the current snapshot is {current}"
        )


def _named(metadata: TableMetadata) -> set[int]:
    """Return the ids of the current snapshot and of the snapshots that refs name."""
    named = {ref.snapshot_id for ref in metadata.refs.values()}
    if metadata.current_snapshot_id is not None:
        named.add(metadata.current_snapshot_id)
    return named


def _check_logs(metadata: TableMetadata, base: TableMetadata | None) -> None:
    for name, log, previous in (
        ("snapshot log", metadata.snapshot_log, base and base.snapshot_log),
        ("metadata log", metadata.metadata_log, base and base.metadata_log),
    ):
        # If the base's log is sound, and has only grown at its end or lost its beginning, only the
        # last step can be out of order.
        grown = previous and len(log) > 1 and log[:-1] == previous[1 - len(log) :]
        stamps = [entry.timestamp_ms for entry in (log[-2:] if grown else log)]
        # Nearly every log is in order; sorting shows that at once.
        if (
            log is not previous
            and stamps != sorted(stamps)
            and any(later - earlier < -LOG_TOLERANCE_MS for earlier, later in pairwise(stamps))
        ):
            raise bad_request(f"The {name} is out of order")
        if stamps and metadata.last_updated_ms - stamps[-1] < -LOG_TOLERANCE_MS:
            raise bad_request(
                f"The change at {metadata.last_updated_ms} ms comes before the latest "
                f"{name} entry at {stamps[-1]} ms"
            )
