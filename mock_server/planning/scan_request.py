"""The body of planTableScan, and its meaning for a table (L4316-L4360)."""

from collections.abc import Mapping
from typing import Any

import msgspec

from icecheck.mock_server.metadata.column_types import FieldType, Int64
from icecheck.mock_server.metadata.model import Schema, Snapshot, TableMetadata
from icecheck.mock_server.metadata.schemas import Column, columns_by_id
from icecheck.mock_server.planning.filters.columns import ColumnNames
from icecheck.mock_server.planning.filters.expressions import parse_expression
from icecheck.mock_server.planning.filters.predicates import bind
from icecheck.mock_server.planning.filters.projection import bound_partition_spec
from icecheck.mock_server.planning.scan import Scan
from icecheck.mock_server.protocol.problem import bad_request

_APPEND = "append"


class PlanTableScanRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """The body of planTableScan; null means absent, as for every optional member but the filter.

    A null filter is refused: a filter that a client lost would silently become a scan of
    everything.
    """

    snapshot_id: Int64 | None = None
    select: tuple[str, ...] | None = None
    filter: Any = True
    case_sensitive: bool | None = None
    use_snapshot_schema: bool | None = None
    start_snapshot_id: Int64 | None = None
    end_snapshot_id: Int64 | None = None
    stats_fields: tuple[str, ...] | None = None


def requested_scan(request: PlanTableScanRequest, metadata: TableMetadata) -> Scan:
    """Check a request against a table and bind it; Problem 400 for every fault in it.

    Without a snapshot or a range it is a scan of the main branch (L626-L628).
    """
    snapshots = _snapshots(request, metadata)
    current = _schema(metadata, metadata.current_schema_id)
    schema = current
    if request.use_snapshot_schema:
        of = _named_snapshot(request, metadata)
        schema = current if of is None else _schema(metadata, of.schema_id) or current
    if schema is None:
        raise bad_request("The table has no current schema")
    names = ColumnNames(schema, case_sensitive=request.case_sensitive is not False)
    names.check_selected(request.select or ())
    expression = parse_expression(request.filter)
    columns = _columns(metadata, schema)
    types: Mapping[int, FieldType] = {column.id: column.type for column in columns.values()}
    return Scan(
        snapshots=snapshots,
        appends_only=request.end_snapshot_id is not None,
        expression=bind(expression, names),
        specs={
            spec.spec_id: bound_partition_spec(spec, types) for spec in metadata.partition_specs
        },
        columns=columns,
        statistics_ids=frozenset(names.find(name).id for name in request.stats_fields or ()),
    )


def _snapshots(request: PlanTableScanRequest, metadata: TableMetadata) -> tuple[Snapshot, ...]:
    start, end = request.start_snapshot_id, request.end_snapshot_id
    if start is None and end is None:
        snapshot = _named_snapshot(request, metadata)
        return () if snapshot is None else (snapshot,)
    if request.snapshot_id is not None:
        raise bad_request("A scan is of snapshot-id or from start- to end-snapshot-id, not both")
    if start is None or end is None:
        raise bad_request("An incremental scan needs start-snapshot-id and end-snapshot-id")
    return _appends(metadata, start, end)


def _named_snapshot(request: PlanTableScanRequest, metadata: TableMetadata) -> Snapshot | None:
    """Return the snapshot that is scanned or ends the range; None for a table without any."""
    named = request.end_snapshot_id if request.snapshot_id is None else request.snapshot_id
    if named is None and metadata.current_snapshot_id is None:
        return None
    return _existing(metadata, metadata.current_snapshot_id if named is None else named)


def _existing(metadata: TableMetadata, snapshot_id: int | None) -> Snapshot:
    for snapshot in metadata.snapshots:
        if snapshot.snapshot_id == snapshot_id:
            return snapshot
    raise bad_request(f"Snapshot does not exist: {snapshot_id}")


def _appends(metadata: TableMetadata, start: int, end: int) -> tuple[Snapshot, ...]:
    """Return the snapshots after `start` up to `end` that only appended, oldest first.

    `start` itself may have expired: it is enough that a snapshot of the range has it as parent.
    """
    by_id = {snapshot.snapshot_id: snapshot for snapshot in metadata.snapshots}
    lineage: list[Snapshot] = []
    step: int | None = _existing(metadata, end).snapshot_id
    while step is not None and step != start and len(lineage) < len(by_id):
        snapshot = by_id.get(step)
        if snapshot is None:
            break
        lineage.append(snapshot)
        step = snapshot.parent_snapshot_id
    if step != start:
        raise bad_request(f"Snapshot {start} is not an ancestor of snapshot {end}")
    return tuple(
        snapshot
        for snapshot in reversed(lineage)
        if (snapshot.summary or {}).get("operation") == _APPEND
    )


def _schema(metadata: TableMetadata, schema_id: int | None) -> Schema | None:
    return next((each for each in metadata.schemas if each.schema_id == schema_id), None)


def _columns(metadata: TableMetadata, schema: Schema) -> dict[int, Column]:
    """Return every column of every schema; files may be older than the scan's schema."""
    columns: dict[int, Column] = {}
    for each in (*metadata.schemas, schema):
        columns |= columns_by_id(each)
    return columns
