"""Realistic values for the schemas of request bodies, so that a generated request has one flaw.

A generator that fills the rest of a body with blanks makes requests that are refused for several
reasons at once. These samples are examples in the copy of the contract that requests are generated
from: then the flaw of a case is the only thing wrong with it.
"""

import copy
from typing import Any

NAMESPACE = ["icecheck"]
"""The placeholder for a namespace; confinement replaces it."""
NAME = "icecheck"
"""The placeholder for a table name; confinement replaces it."""
TABLE_LOCATION = "{table-location}"
"""The placeholder for the location of the table that a request is sent to."""
TABLE_TIME = 4_102_444_800_000
"""The placeholder for a time (epoch milliseconds) just after the table's last change."""

_SNAPSHOT_ID = 7_000_000_000_000_000_001
_FIELD = {"id": 1, "name": "id", "type": "long", "required": False}
_SCHEMA = {"type": "struct", "schema-id": 0, "fields": [_FIELD]}
_PARTITION_FIELD = {
    "source-id": 1,
    "field-id": 1000,
    "transform": "identity",
    "name": "id_part",
}
_PARTITION_SPEC = {"spec-id": 0, "fields": [_PARTITION_FIELD]}
_SORT_FIELD = {
    "source-id": 1,
    "transform": "identity",
    "direction": "asc",
    "null-order": "nulls-first",
}
_SORT_ORDER = {"order-id": 1, "fields": [_SORT_FIELD]}
_SNAPSHOT = {
    "snapshot-id": _SNAPSHOT_ID + 1,
    "sequence-number": 9,
    "timestamp-ms": TABLE_TIME,
    "manifest-list": f"{TABLE_LOCATION}/metadata/snap-9.avro",
    "summary": {"operation": "append"},
    "schema-id": 0,
}
_REFERENCE = {"type": "branch", "snapshot-id": _SNAPSHOT_ID}
_BLOB = {"type": "apache-datasketches-theta-v1", "snapshot-id": _SNAPSHOT_ID}
_BLOB |= {"sequence-number": 1, "fields": [1]}
_STATISTICS = {
    "snapshot-id": _SNAPSHOT_ID,
    "statistics-path": f"{TABLE_LOCATION}/metadata/statistics.puffin",
    "file-size-in-bytes": 4096,
    "file-footer-size-in-bytes": 512,
    "blob-metadata": [_BLOB],
}
_PARTITION_STATISTICS = {
    "snapshot-id": _SNAPSHOT_ID,
    "statistics-path": f"{TABLE_LOCATION}/metadata/partition-statistics.parquet",
    "file-size-in-bytes": 4096,
}
_KEY = {"key-id": "key-1", "encrypted-key-metadata": "aWNlY2hlY2s="}
_PROPERTIES = {"icecheck.generated": "1"}
_IDENTIFIER = {"namespace": NAMESPACE, "name": NAME}

_SCAN_REPORT = {
    "table-name": NAME,
    "snapshot-id": _SNAPSHOT_ID,
    "filter": True,
    "schema-id": 0,
    "projected-field-ids": [1],
    "projected-field-names": ["id"],
    "metrics": {},
}

_REPRESENTATION = {"type": "sql", "sql": "SELECT 1 AS id", "dialect": "spark"}
_VIEW_VERSION = {
    "version-id": 1,
    "timestamp-ms": TABLE_TIME,
    "schema-id": 0,
    "summary": {"engine-name": "icecheck"},
    "representations": [_REPRESENTATION],
    "default-namespace": NAMESPACE,
}
_PLAIN_FILTER = {"type": "eq", "term": "id", "value": 1}

_UPDATES: dict[str, dict[str, Any]] = {
    "AssignUUIDUpdate": {"action": "assign-uuid", "uuid": "0b9a5bfa-7b1e-4a3c-9d5e-2f6c8e1d4a70"},
    "UpgradeFormatVersionUpdate": {"action": "upgrade-format-version", "format-version": 2},
    "AddSchemaUpdate": {"action": "add-schema", "schema": _SCHEMA},
    "SetCurrentSchemaUpdate": {"action": "set-current-schema", "schema-id": 0},
    "AddPartitionSpecUpdate": {"action": "add-spec", "spec": _PARTITION_SPEC},
    "SetDefaultSpecUpdate": {"action": "set-default-spec", "spec-id": 0},
    "AddSortOrderUpdate": {"action": "add-sort-order", "sort-order": _SORT_ORDER},
    "SetDefaultSortOrderUpdate": {"action": "set-default-sort-order", "sort-order-id": 0},
    "AddSnapshotUpdate": {"action": "add-snapshot", "snapshot": _SNAPSHOT},
    "SetSnapshotRefUpdate": {"action": "set-snapshot-ref", "ref-name": "main", **_REFERENCE},
    "RemoveSnapshotsUpdate": {"action": "remove-snapshots", "snapshot-ids": [_SNAPSHOT_ID]},
    "RemoveSnapshotRefUpdate": {"action": "remove-snapshot-ref", "ref-name": "main"},
    "SetLocationUpdate": {"action": "set-location", "location": TABLE_LOCATION},
    "SetPropertiesUpdate": {"action": "set-properties", "updates": _PROPERTIES},
    "RemovePropertiesUpdate": {"action": "remove-properties", "removals": [*_PROPERTIES]},
    "SetStatisticsUpdate": {"action": "set-statistics", "statistics": _STATISTICS},
    "RemoveStatisticsUpdate": {"action": "remove-statistics", "snapshot-id": _SNAPSHOT_ID},
    "SetPartitionStatisticsUpdate": {
        "action": "set-partition-statistics",
        "partition-statistics": _PARTITION_STATISTICS,
    },
    "RemovePartitionStatisticsUpdate": {
        "action": "remove-partition-statistics",
        "snapshot-id": _SNAPSHOT_ID,
    },
    "RemovePartitionSpecsUpdate": {"action": "remove-partition-specs", "spec-ids": [7]},
    "RemoveSchemasUpdate": {"action": "remove-schemas", "schema-ids": [7]},
    "AddEncryptionKeyUpdate": {"action": "add-encryption-key", "encryption-key": _KEY},
    "RemoveEncryptionKeyUpdate": {"action": "remove-encryption-key", "key-id": "key-1"},
    "AddViewVersionUpdate": {
        "action": "add-view-version",
        "view-version": {**_VIEW_VERSION, "version-id": 2},
    },
    "SetCurrentViewVersionUpdate": {"action": "set-current-view-version", "view-version-id": 1},
}

_REQUIREMENTS: dict[str, dict[str, Any]] = {
    "AssertCreate": {"type": "assert-create"},
    "AssertTableUUID": {
        "type": "assert-table-uuid",
        "uuid": "0b9a5bfa-7b1e-4a3c-9d5e-2f6c8e1d4a70",
    },
    "AssertRefSnapshotId": {
        "type": "assert-ref-snapshot-id",
        "ref": "main",
        "snapshot-id": _SNAPSHOT_ID,
    },
    "AssertLastAssignedFieldId": {
        "type": "assert-last-assigned-field-id",
        "last-assigned-field-id": 2,
    },
    "AssertCurrentSchemaId": {"type": "assert-current-schema-id", "current-schema-id": 0},
    "AssertLastAssignedPartitionId": {
        "type": "assert-last-assigned-partition-id",
        "last-assigned-partition-id": 999,
    },
    "AssertDefaultSpecId": {"type": "assert-default-spec-id", "default-spec-id": 0},
    "AssertDefaultSortOrderId": {
        "type": "assert-default-sort-order-id",
        "default-sort-order-id": 0,
    },
    "AssertViewUUID": {
        "type": "assert-view-uuid",
        "uuid": "0b9a5bfa-7b1e-4a3c-9d5e-2f6c8e1d4a70",
    },
}

_SAMPLES: dict[str, Any] = {
    "Namespace": NAMESPACE,
    "TableIdentifier": _IDENTIFIER,
    "StructField": _FIELD,
    "StructType": {"type": "struct", "fields": [{**_FIELD, "id": 11, "name": "inner"}]},
    "ListType": {"type": "list", "element-id": 12, "element": "string", "element-required": False},
    "MapType": {
        "type": "map",
        "key-id": 13,
        "key": "string",
        "value-id": 14,
        "value": "long",
        "value-required": False,
    },
    "Schema": _SCHEMA,
    "PartitionField": _PARTITION_FIELD,
    "PartitionSpec": _PARTITION_SPEC,
    "SortField": _SORT_FIELD,
    "SortOrder": _SORT_ORDER,
    "Snapshot": _SNAPSHOT,
    "SnapshotReference": _REFERENCE,
    "BlobMetadata": _BLOB,
    "StatisticsFile": _STATISTICS,
    "PartitionStatisticsFile": _PARTITION_STATISTICS,
    "EncryptedKey": _KEY,
    **_UPDATES,
    **_REQUIREMENTS,
    "CreateNamespaceRequest": {"namespace": NAMESPACE, "properties": _PROPERTIES},
    "UpdateNamespacePropertiesRequest": {"removals": ["icecheck.gone"], "updates": _PROPERTIES},
    # Without a location: many catalogs choose it, and refuse a given one.
    "CreateTableRequest": {
        "name": NAME,
        "schema": _SCHEMA,
        "partition-spec": _PARTITION_SPEC,
        "write-order": _SORT_ORDER,
        "stage-create": False,
        "properties": _PROPERTIES,
    },
    "RegisterTableRequest": {
        "name": NAME,
        "metadata-location": f"{TABLE_LOCATION}/metadata/registered.metadata.json",
    },
    "RenameTableRequest": {"source": _IDENTIFIER, "destination": _IDENTIFIER},
    "CommitTableRequest": {"requirements": [], "updates": []},
    "CommitTransactionRequest": {
        "table-changes": [{"identifier": _IDENTIFIER, "requirements": [], "updates": []}]
    },
    "SQLViewRepresentation": _REPRESENTATION,
    "ViewVersion": _VIEW_VERSION,
    "CreateViewRequest": {
        "name": NAME,
        "schema": _SCHEMA,
        "view-version": _VIEW_VERSION,
        "properties": _PROPERTIES,
    },
    "CommitViewRequest": {"requirements": [], "updates": []},
    "RegisterViewRequest": {
        "name": NAME,
        "metadata-location": f"{TABLE_LOCATION}/metadata/registered.metadata.json",
    },
    "LiteralExpression": _PLAIN_FILTER,
    "PlanTableScanRequest": {"select": ["id"], "filter": _PLAIN_FILTER, "case-sensitive": True},
    "FetchScanTasksRequest": {"plan-task": "icecheck-no-such-plan-task"},
    "ScanReport": _SCAN_REPORT,
    "CommitReport": {
        "table-name": NAME,
        "snapshot-id": _SNAPSHOT_ID,
        "sequence-number": 1,
        "operation": "append",
        "metrics": {},
    },
    "RemoteSignRequest": {
        "region": "us-east-1",
        "uri": "https://s3.us-east-1.amazonaws.com/icecheck/data/icecheck.parquet",
        "method": "GET",
        "headers": {},
        "provider": "s3",
    },
    "ReportMetricsRequest": {"report-type": "scan-report", **_SCAN_REPORT},
}


def sampled_schemas() -> frozenset[str]:
    """Return the names of the schemas that have a sample."""
    return frozenset(_SAMPLES)


def sample_of(schema_name: str) -> Any:
    """Return the sample of a schema, which must not be changed; raise KeyError if there is none."""
    return _SAMPLES[schema_name]


def seeded(document: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of an OpenAPI document whose request schemas have the samples as examples.

    An older document may lack the schema of a sample.
    """
    copied = copy.deepcopy(document)
    schemas = copied["components"]["schemas"]
    for name, sample in _SAMPLES.items():
        if name in schemas:
            schemas[name]["example"] = copy.deepcopy(sample)
    return copied
