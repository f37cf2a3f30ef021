"""Defects of a new table's definition: parts of it are lost or altered."""

from typing import Any

from msgspec import structs

from icecheck.mock_server.core.context import Call
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import request_of
from icecheck.mock_server.defects.kit.requests import Json, sent_json
from icecheck.mock_server.defects.kit.rewriting import (
    alter_created,
    alter_created_columns,
)
from icecheck.mock_server.defects.kit.storing import store_otherwise
from icecheck.mock_server.metadata.column_types import StructField, StructType
from icecheck.mock_server.metadata.model import PartitionField, PartitionSpec, TableMetadata


def _sent_spec(call: Call) -> Json:
    spec: Json = sent_json(call).get("partition-spec") or {}
    return spec


# ------------------------------------------------------------------ columns


declare_each(
    ("column-docs-lost", "createTable.schema-kept",
     "Columns are stored in a table that has no place for their documentation.",
     "Column comments are gone.",
     by(alter_created_columns, lambda field: {k: v for k, v in field.items() if k != "doc"})),
    ("columns-all-optional", "createTable.schema-kept", "Every column becomes optional.",
     "NOT NULL is gone: rows without a key get in.",
     by(alter_created_columns, lambda field: field | {"required": False})),
    ("columns-lower-cased", "createTable.schema-kept",
     "Column names pass through a metastore that writes them in small letters.",
     "Readers that compare names by case find no column.",
     by(alter_created_columns, lambda field: field | {"name": str(field.get("name")).lower()})),
)  # fmt: skip


@defect(
    "decimals-widened",
    on=through(alter_created_columns),
    breaks="createTable.schema-kept",
    suffering="Amounts read back with another scale.",
)
def _decimals_widened(field: Json) -> Json:
    """Every decimal is stored with the precision and scale of the database behind."""
    kind = str(field.get("type"))
    return field | {"type": "decimal(38, 10)"} if kind.startswith("decimal") else field


@defect(
    "inner-ids-restart",
    on=through(store_otherwise, "createTable"),
    breaks="createTable.nested-types",
    suffering="Readers project by id and read the wrong column.",
)
def _inner_ids_restart(metadata: TableMetadata, _body: Json) -> TableMetadata:
    """Fields of a struct are numbered from 1 again."""

    def renumbered(field: StructField) -> StructField:
        if not isinstance(field.type, StructType):
            return field
        inner = [structs.replace(f, id=i) for i, f in enumerate(field.type.fields, start=1)]
        return structs.replace(field, type=StructType(fields=tuple(inner)))

    schema = metadata.schemas[0]
    schema = structs.replace(schema, fields=tuple(map(renumbered, schema.fields)))
    return structs.replace(metadata, schemas=(schema,))


@defect(
    "inner-fields-optional",
    on=through(alter_created_columns),
    breaks="createTable.nested-types",
    suffering="Required fields of structs may be null.",
)
def _inner_fields_optional(field: Json) -> Json:
    """What is required inside a struct is only kept for columns."""
    kind = field.get("type")
    if not isinstance(kind, dict) or kind.get("type") != "struct":
        return field
    inner = [f | {"required": False} for f in kind["fields"]]
    return field | {"type": kind | {"fields": inner}}


@defect(
    "identifier-fields-lost",
    on=through(store_otherwise, "createTable"),
    breaks="createTable.identifier-fields-kept",
    suffering="Flink's upsert writes have no key.",
)
def _identifiers_lost(metadata: TableMetadata, _body: Json) -> TableMetadata:
    """The identifier fields of a schema are not read."""
    schema = structs.replace(metadata.schemas[0], identifier_field_ids=())
    return structs.replace(metadata, schemas=(schema,))


@defect(
    "identifier-fields-as-sent",
    on=through(store_otherwise, "createTable"),
    breaks="createTable.identifier-fields-kept",
    suffering="Flink's upsert writes take another column for the key.",
)
def _identifiers_as_sent(metadata: TableMetadata, body: Json) -> TableMetadata:
    """Columns get new ids, identifier fields keep the ids that were sent."""
    sent = tuple(body["schema"].get("identifier-field-ids") or ())
    schema = structs.replace(metadata.schemas[0], identifier_field_ids=sent)
    return structs.replace(metadata, schemas=(schema,))


@defect(
    "nanoseconds-in-version-2",
    on=through(alter_created_columns),
    breaks="createTable.v3-types-need-v3",
    suffering="Nanoseconds are cut off without a word.",
)
def _nanoseconds_in_version_2(field: Json) -> Json:
    """Types that a format version lacks are replaced by the nearest that it has."""
    return field | {"type": "timestamp"} if field.get("type") == "timestamp_ns" else field


# ------------------------------------------------------------------ partitions and order


@defect(
    "partition-sources-as-sent",
    on=through(store_otherwise, "createTable"),
    breaks="createTable.partition-spec-kept",
    suffering="Rows are partitioned by another column than the one named.",
)
def _partition_sources_as_sent(metadata: TableMetadata, body: Json) -> TableMetadata:
    """Columns get new ids, the partition spec keeps the ids that were sent."""
    sent = (body.get("partition-spec") or {}).get("fields", [])
    spec = metadata.partition_specs[0]
    fields = [
        structs.replace(field, source_id=asked["source-id"])
        for field, asked in zip(spec.fields, sent, strict=True)
    ]
    changed = structs.replace(spec, fields=tuple(fields))
    return structs.replace(metadata, partition_specs=(changed,))


@defect(
    "partitioned-by-first-column",
    on=through(store_otherwise, "createTable"),
    breaks="createTable.unpartitioned",
    suffering="A small table ends up in thousands of files.",
)
def _partitioned_by_first_column(metadata: TableMetadata, _body: Json) -> TableMetadata:
    """A table without a partition spec is partitioned by its first column."""
    if metadata.partition_specs[0].fields:
        return metadata
    first = metadata.schemas[0].fields[0]
    field = PartitionField(
        name=f"{first.name}_part", transform="identity", source_id=first.id, field_id=1000
    )
    spec = PartitionSpec(spec_id=0, fields=(field,))
    return structs.replace(metadata, partition_specs=(spec,), last_partition_id=1000)


declare_each(
    ("field-id-zero-is-none", "createTable.field-ids-from-zero",
     "A source id of 0 is read as one that was not sent.",
     "Spark cannot partition a table by its first column.",
     by(
         refuse_where,
         "createTable",
         lambda _, call: any(
             field["source-id"] == 0 for field in _sent_spec(call).get("fields", ())
         ),
     )),
    ("partition-spec-needs-its-id", "createTable.spec-id-optional",
     "A partition spec without spec-id is refused.",
     "Clients that leave the id to the server cannot create partitioned tables.",
     by(refuse_where, "createTable",
        lambda _, call: _sent_spec(call) and "spec-id" not in _sent_spec(call))),
    ("partition-spec-lost", "createTable.partition-spec-kept",
     "The partition spec of a creation is not read.",
     "PARTITIONED BY is ignored: every query reads everything.",
     by(alter_created, "partition-spec", lambda _: None)),
    ("write-order-lost", "createTable.write-order-kept",
     "The sort order of a creation is not read.", "WRITE ORDERED BY is ignored.",
     by(alter_created, "write-order", lambda _: None)),
)  # fmt: skip


@defect(
    "write-order-always-ascending",
    on=through(store_otherwise, "createTable"),
    breaks="createTable.write-order-kept",
    suffering="Newest-first tables are written oldest first.",
)
def _always_ascending(metadata: TableMetadata, _body: Json) -> TableMetadata:
    """Every sort field is stored as ascending."""
    order = metadata.sort_orders[0]
    fields = tuple(structs.replace(f, direction="asc") for f in order.fields)
    return structs.replace(metadata, sort_orders=(structs.replace(order, fields=fields),))


@defect(
    "unknown-columns-left-out",
    on=request_of("createTable"),
    breaks="createTable.unresolved-columns-refused",
    suffering="A misspelled partition column goes unnoticed.",
)
def _unknown_columns_left_out(body: Json) -> Json:
    """Partition and sort fields over unknown columns are dropped without a word."""

    def known(member: str) -> Any:
        definition = body.get(member)
        if not definition:
            return definition
        columns = {f["id"] for f in body["schema"]["fields"]}
        fields = [f for f in definition["fields"] if f["source-id"] in columns]
        return {"spec-id": 0, "order-id": 1 if fields else 0, "fields": fields}

    return body | {member: known(member) for member in ("partition-spec", "write-order")}


_COLUMNS_MAX = 500


@defect(
    "columns-cut-at-500",
    on=request_of("createTable"),
    breaks="createTable.schema-kept",
    suffering="Wide tables of sensors and features lose half of their columns.",
)
def _columns_cut(body: dict[str, Any]) -> dict[str, Any]:
    """A table is created with its first 500 columns."""
    schema = body.get("schema")
    if not isinstance(schema, dict) or len(schema.get("fields", ())) <= _COLUMNS_MAX:
        return body
    return {**body, "schema": {**schema, "fields": schema["fields"][:_COLUMNS_MAX]}}


@defect(
    "partition-by-column-zero-left-out",
    on=through(alter_created, "partition-spec"),
    breaks="createTable.partition-spec-kept",
    suffering="Tables that Spark partitions by their first column are not partitioned.",
)
def _column_zero_left_out(spec: Any) -> Any:
    """A source id of 0 is none, and the partition field that has it is left out."""
    if not isinstance(spec, dict) or not isinstance(spec.get("fields"), list):
        return spec
    return {**spec, "fields": [field for field in spec["fields"] if field.get("source-id")]}
