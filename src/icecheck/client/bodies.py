"""Request bodies as real clients send them: with every member, explicit nulls included."""

from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]


def struct_field(
    id: int,  # noqa: A002 - the member's name
    name: str,
    type: Any,  # noqa: A002
    *,
    required: bool = False,
    **more: Any,
) -> Json:
    """Return one field of a struct; ``more`` takes doc, initial-default, write-default."""
    extra = {key.replace("_", "-"): value for key, value in more.items()}
    return {"id": id, "name": name, "type": type, "required": required, **extra}


def schema(*fields: Json, schema_id: int = 0, identifier_field_ids: Sequence[int] = ()) -> Json:
    """Return a table schema."""
    identifiers = {"identifier-field-ids": [*identifier_field_ids]} if identifier_field_ids else {}
    return {"type": "struct", "schema-id": schema_id, **identifiers, "fields": [*fields]}


DEFAULT_SCHEMA: Json = schema(
    struct_field(1, "id", "long", required=True), struct_field(2, "data", "string")
)
FIRST_SQL = "SELECT 1 AS id, 'a' AS data"
VIEW_SCHEMA: Json = schema(
    struct_field(1, "id", "int", required=True), struct_field(2, "data", "string")
)
_CREATED_MS = 1_767_225_600_000  # a fixed time: equal runs send equal bytes


def partition_field(source_id: int, transform: str, name: str, field_id: int | None = None) -> Json:
    """Return one partition field; without ``field_id`` the server assigns it."""
    assigned = {} if field_id is None else {"field-id": field_id}
    return {"source-id": source_id, "transform": transform, "name": name, **assigned}


def partition_spec(*fields: Json, spec_id: int = 0) -> Json:
    """Return a partition spec."""
    return {"spec-id": spec_id, "fields": [*fields]}


def sort_order(*source_ids: int, order_id: int = 1) -> Json:
    """Return an ascending, nulls-first sort order over columns."""
    fields = [
        {"source-id": s, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}
        for s in source_ids
    ]
    return {"order-id": order_id if fields else 0, "fields": fields}


def create_table_body(
    name: str,
    *,
    table_schema: Json | None = None,
    spec: Json | None = None,
    write_order: Json | None = None,
    properties: Mapping[str, str] | None = None,
    location: str | None = None,
    stage_create: bool = False,
) -> Json:
    """Return a createTable body with the members that Spark's Java client always sends."""
    return {
        "name": name,
        "location": location,
        "schema": table_schema or DEFAULT_SCHEMA,
        "partition-spec": spec,
        "write-order": write_order,
        "properties": dict(properties or {}),
        "stage-create": stage_create,
    }


def snapshot(
    metadata: Mapping[str, Any], ordinal: int = 1, *, parent: int | None = None, **members: Any
) -> Json:
    """Return a metadata-only snapshot that a commit on this metadata may add.

    Everything in it follows from the loaded metadata, so equal metadata gives equal bytes: the id
    from ``ordinal``, the time from the latest in it (clients' clocks run after that), the sequence
    number from the last one, row ids from ``next-row-id``.
    """
    version = _number(metadata, "format-version", 2)
    made: Json = {
        "snapshot-id": 7_000_000_000_000_000_000 + ordinal,
        "timestamp-ms": _latest_ms(metadata) + ordinal,
        "summary": {"operation": "append", "added-records": "0", "total-records": "0"},
        "manifest-list": f"{metadata.get('location') or ''}/metadata/snap-{ordinal}.avro",
        "schema-id": metadata.get("current-schema-id", 0),
    }
    if parent is not None:
        made["parent-snapshot-id"] = parent
    if version >= 2:
        made["sequence-number"] = _number(metadata, "last-sequence-number") + ordinal
    if version >= 3:
        made["first-row-id"] = _number(metadata, "next-row-id")
        made["added-rows"] = 0
    made.update({key.replace("_", "-"): value for key, value in members.items()})
    return made


def _latest_ms(metadata: Mapping[str, Any]) -> int:
    """Return the latest time in table metadata; several are read because one may be wrong."""
    logs = [metadata.get(log) for log in ("snapshots", "snapshot-log", "metadata-log")]
    entries = [each for log in logs if isinstance(log, list) for each in log]
    logged = [_number(each, "timestamp-ms") for each in entries if isinstance(each, dict)]
    return max([_number(metadata, "last-updated-ms"), *logged])


def _number(metadata: Mapping[str, Any], member: str, otherwise: int = 0) -> int:
    """Return an integer member, or ``otherwise``; other types are for a schema check to report."""
    value = metadata.get(member)
    return value if isinstance(value, int) else otherwise


def snapshot_ref(
    snapshot_id: int, ref_name: str = "main", ref_type: str = "branch", **retention: int
) -> Json:
    """Return the update that points a branch or tag at a snapshot."""
    extra = {key.replace("_", "-"): value for key, value in retention.items()}
    return {
        "action": "set-snapshot-ref",
        "ref-name": ref_name,
        "type": ref_type,
        "snapshot-id": snapshot_id,
        **extra,
    }


def set_properties(updates: Mapping[str, str]) -> Json:
    """Return the update that sets these properties."""
    return {"action": "set-properties", "updates": {**updates}}


def statistics_file(metadata: Mapping[str, Any], snapshot_id: int, ordinal: int = 1) -> Json:
    """Return a statistics file of a table's snapshot; another ordinal gives another file."""
    blob = {
        "type": "apache-datasketches-theta-v1",
        "snapshot-id": snapshot_id,
        "sequence-number": 1,
        "fields": [1],
        "properties": {"ndv": str(ordinal)},
    }
    return {
        "snapshot-id": snapshot_id,
        "statistics-path": f"{metadata.get('location')}/metadata/{ordinal}.stats",
        "file-size-in-bytes": 400 + ordinal,
        "file-footer-size-in-bytes": 40,
        "blob-metadata": [blob],
    }


def partition_statistics_file(
    metadata: Mapping[str, Any], snapshot_id: int, ordinal: int = 1
) -> Json:
    """Return a partition statistics file of a snapshot; another ordinal gives another file."""
    return {
        "snapshot-id": snapshot_id,
        "statistics-path": f"{metadata.get('location')}/metadata/{ordinal}.parquet",
        "file-size-in-bytes": 400 + ordinal,
    }


def set_statistics(file: Json) -> Json:
    """Return the update that sets a statistics file, with the deprecated snapshot id.

    Java clients send it, and before 1.8.0 it was required.
    """
    return {"action": "set-statistics", "snapshot-id": file["snapshot-id"], "statistics": file}


def set_partition_statistics(file: Json) -> Json:
    """Return the update that sets a partition statistics file."""
    return {"action": "set-partition-statistics", "partition-statistics": file}


def rename_body(
    source: tuple[Sequence[str], str], destination: tuple[Sequence[str], str]
) -> dict[str, Json]:
    """Return the body of a rename; each end is a namespace and a name in it."""
    ends = {"source": source, "destination": destination}
    return {end: {"namespace": [*ns], "name": name} for end, (ns, name) in ends.items()}


def commit_body(
    namespace: Sequence[str], name: str, updates: Sequence[Json], requirements: Sequence[Json]
) -> Json:
    """Return the body of a commit to a table or view, with the identifier."""
    return {
        "identifier": {"namespace": [*namespace], "name": name},
        "requirements": [*requirements],
        "updates": [*updates],
    }


def view_version(
    sql: str = FIRST_SQL,
    *,
    namespace: Sequence[str],
    version_id: int = 1,
    schema_id: int = 0,
    timestamp_ms: int = _CREATED_MS,
    dialects: Sequence[str] = ("spark",),
) -> Json:
    """Return a version of a view with the same query in every dialect.

    ``namespace`` is its default namespace: one level or more (L2016), and one that exists.
    """
    return {
        "version-id": version_id,
        "timestamp-ms": timestamp_ms,
        "schema-id": schema_id,
        "summary": {"engine-name": "icecheck", "engine-version": "1"},
        "default-namespace": [*namespace],
        "representations": [{"type": "sql", "sql": sql, "dialect": each} for each in dialects],
    }


def create_view_body(
    name: str,
    namespace: Sequence[str],
    *,
    version: Json | None = None,
    schema: Json | None = None,
    properties: Mapping[str, str] | None = None,
) -> Json:
    """Return a createView body; without a location, as Spark sends it.

    ``namespace`` is the default namespace of the version unless one is given.
    """
    return {
        "name": name,
        "schema": schema or VIEW_SCHEMA,
        "view-version": version or view_version(namespace=namespace),
        "properties": dict(properties or {}),
    }
