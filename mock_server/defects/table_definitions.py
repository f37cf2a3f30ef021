"""Ways in which servers lose or bend what a creation says a table shall be."""

from collections.abc import Callable
from typing import Any

from msgspec import structs

from icecheck.mock_server import problem
from icecheck.mock_server.column_types import StructField, StructType
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import alter_request_body, sent_json, wrap
from icecheck.mock_server.defects.storing import Body, store_otherwise
from icecheck.mock_server.model import PartitionField, PartitionSpec, TableMetadata
from icecheck.mock_server.state import WarehouseState


def _create_from(registries: Registries, alter: Callable[[Body], Body]) -> None:
    alter_request_body(registries, "createTable", alter)


def _columns_as(registries: Registries, alter: Callable[[Body], Body]) -> None:
    def altered(body: Body) -> Body:
        schema = body.get("schema")
        if not isinstance(schema, dict) or not isinstance(schema.get("fields"), list):
            return body
        return body | {"schema": schema | {"fields": [alter(f) for f in schema["fields"]]}}

    _create_from(registries, altered)


# ------------------------------------------------------------------ columns


@defect(
    "column-docs-lost",
    breaks="createTable.schema-kept",
    suffering="Column comments are gone.",
)
def _docs_lost(registries: Registries) -> None:
    """Columns are stored in a table that has no place for their documentation."""
    _columns_as(registries, lambda field: {k: v for k, v in field.items() if k != "doc"})


@defect(
    "columns-all-optional",
    breaks="createTable.schema-kept",
    suffering="NOT NULL is gone: rows without a key get in.",
)
def _all_optional(registries: Registries) -> None:
    """Every column becomes optional."""
    _columns_as(registries, lambda field: field | {"required": False})


@defect(
    "columns-lower-cased",
    breaks="createTable.schema-kept",
    suffering="Readers that compare names by case find no column.",
)
def _lower_cased(registries: Registries) -> None:
    """Column names pass through a metastore that writes them in small letters."""
    _columns_as(registries, lambda field: field | {"name": str(field.get("name")).lower()})


@defect(
    "decimals-widened",
    breaks="createTable.schema-kept",
    suffering="Amounts read back with another scale.",
)
def _decimals_widened(registries: Registries) -> None:
    """Every decimal is stored with the precision and scale of the database behind."""

    def widened(field: Body) -> Body:
        kind = str(field.get("type"))
        return field | {"type": "decimal(38, 10)"} if kind.startswith("decimal") else field

    _columns_as(registries, widened)


@defect(
    "inner-ids-restart",
    breaks="createTable.nested-types",
    suffering="Readers project by id and read the wrong column.",
)
def _inner_ids_restart(registries: Registries) -> None:
    """Fields of a struct are numbered from 1 again."""

    def renumbered(field: StructField) -> StructField:
        if not isinstance(field.type, StructType):
            return field
        inner = [structs.replace(f, id=i) for i, f in enumerate(field.type.fields, start=1)]
        return structs.replace(field, type=StructType(fields=tuple(inner)))

    def change(metadata: TableMetadata, _body: Body) -> TableMetadata:
        schema = metadata.schemas[0]
        schema = structs.replace(schema, fields=tuple(map(renumbered, schema.fields)))
        return structs.replace(metadata, schemas=(schema,))

    store_otherwise(registries, "createTable", change)


@defect(
    "inner-fields-optional",
    breaks="createTable.nested-types",
    suffering="Required fields of structs may be null.",
)
def _inner_fields_optional(registries: Registries) -> None:
    """What is required inside a struct is only kept for columns."""

    def altered(field: Body) -> Body:
        kind = field.get("type")
        if not isinstance(kind, dict) or kind.get("type") != "struct":
            return field
        inner = [f | {"required": False} for f in kind["fields"]]
        return field | {"type": kind | {"fields": inner}}

    _columns_as(registries, altered)


@defect(
    "identifier-fields-lost",
    breaks="createTable.identifier-fields-kept",
    suffering="Flink's upsert writes have no key.",
)
def _identifiers_lost(registries: Registries) -> None:
    """The identifier fields of a schema are not read."""

    def change(metadata: TableMetadata, _body: Body) -> TableMetadata:
        schema = structs.replace(metadata.schemas[0], identifier_field_ids=())
        return structs.replace(metadata, schemas=(schema,))

    store_otherwise(registries, "createTable", change)


@defect(
    "identifier-fields-as-sent",
    breaks="createTable.identifier-fields-kept",
    suffering="Flink's upsert writes take another column for the key.",
)
def _identifiers_as_sent(registries: Registries) -> None:
    """Columns get new ids, identifier fields keep the ids that were sent."""

    def change(metadata: TableMetadata, body: Body) -> TableMetadata:
        sent = tuple(body["schema"].get("identifier-field-ids") or ())
        schema = structs.replace(metadata.schemas[0], identifier_field_ids=sent)
        return structs.replace(metadata, schemas=(schema,))

    store_otherwise(registries, "createTable", change)


@defect(
    "nanoseconds-in-version-2",
    breaks="createTable.v3-types-need-v3",
    suffering="Nanoseconds are cut off without a word.",
)
def _nanoseconds_in_version_2(registries: Registries) -> None:
    """Types that a format version lacks are replaced by the nearest that it has."""

    def nearest(field: Body) -> Body:
        return field | {"type": "timestamp"} if field.get("type") == "timestamp_ns" else field

    _columns_as(registries, nearest)


# ------------------------------------------------------------------ partitions and order


@defect(
    "partition-spec-lost",
    breaks="createTable.partition-spec-kept",
    suffering="PARTITIONED BY is ignored: every query reads everything.",
)
def _spec_lost(registries: Registries) -> None:
    """The partition spec of a creation is not read."""
    _create_from(registries, lambda body: body | {"partition-spec": None})


@defect(
    "partition-sources-as-sent",
    breaks="createTable.partition-spec-kept",
    suffering="Rows are partitioned by another column than the one named.",
)
def _partition_sources_as_sent(registries: Registries) -> None:
    """Columns get new ids, the partition spec keeps the ids that were sent."""

    def change(metadata: TableMetadata, body: Body) -> TableMetadata:
        sent = (body.get("partition-spec") or {}).get("fields", [])
        spec = metadata.partition_specs[0]
        fields = [
            structs.replace(field, source_id=asked["source-id"])
            for field, asked in zip(spec.fields, sent, strict=True)
        ]
        changed = structs.replace(spec, fields=tuple(fields))
        return structs.replace(metadata, partition_specs=(changed,))

    store_otherwise(registries, "createTable", change)


@defect(
    "field-id-zero-is-none",
    breaks="createTable.field-ids-from-zero",
    suffering="Spark cannot partition a table by its first column.",
)
def _zero_is_none(registries: Registries) -> None:
    """A source id of 0 is read as one that was not sent."""

    def check(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        spec = sent_json(call).get("partition-spec") or {}
        if any(field["source-id"] == 0 for field in spec.get("fields", ())):
            raise problem.bad_request("Invalid request body")
        return faithful(context, state, call)

    wrap(registries, "createTable", check)


@defect(
    "partition-spec-needs-its-id",
    breaks="createTable.spec-id-optional",
    suffering="Clients that leave the id to the server cannot create partitioned tables.",
)
def _spec_needs_its_id(registries: Registries) -> None:
    """A partition spec without spec-id is refused."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        spec = sent_json(call).get("partition-spec")
        if spec is not None and "spec-id" not in spec:
            raise problem.bad_request("Cannot parse missing int: spec-id")
        return faithful(context, state, call)

    wrap(registries, "createTable", around)


@defect(
    "partitioned-by-first-column",
    breaks="createTable.unpartitioned",
    suffering="A small table ends up in thousands of files.",
)
def _partitioned_by_first_column(registries: Registries) -> None:
    """A table without a partition spec is partitioned by its first column."""

    def change(metadata: TableMetadata, _body: Body) -> TableMetadata:
        if metadata.partition_specs[0].fields:
            return metadata
        first = metadata.schemas[0].fields[0]
        field = PartitionField(
            name=f"{first.name}_part", transform="identity", source_id=first.id, field_id=1000
        )
        spec = PartitionSpec(spec_id=0, fields=(field,))
        return structs.replace(metadata, partition_specs=(spec,), last_partition_id=1000)

    store_otherwise(registries, "createTable", change)


@defect(
    "write-order-lost",
    breaks="createTable.write-order-kept",
    suffering="WRITE ORDERED BY is ignored.",
)
def _order_lost(registries: Registries) -> None:
    """The sort order of a creation is not read."""
    _create_from(registries, lambda body: body | {"write-order": None})


@defect(
    "write-order-always-ascending",
    breaks="createTable.write-order-kept",
    suffering="Newest-first tables are written oldest first.",
)
def _always_ascending(registries: Registries) -> None:
    """Every sort field is stored as ascending."""

    def change(metadata: TableMetadata, _body: Body) -> TableMetadata:
        order = metadata.sort_orders[0]
        fields = tuple(structs.replace(f, direction="asc") for f in order.fields)
        return structs.replace(metadata, sort_orders=(structs.replace(order, fields=fields),))

    store_otherwise(registries, "createTable", change)


@defect(
    "unknown-columns-left-out",
    breaks="createTable.unresolved-columns-refused",
    suffering="A misspelled partition column goes unnoticed.",
)
def _unknown_columns_left_out(registries: Registries) -> None:
    """Partition and sort fields over unknown columns are dropped without a word."""

    def known(body: Body, member: str) -> Any:
        definition = body.get(member)
        if not definition:
            return definition
        columns = {f["id"] for f in body["schema"]["fields"]}
        fields = [f for f in definition["fields"] if f["source-id"] in columns]
        return {"spec-id": 0, "order-id": 1 if fields else 0, "fields": fields}

    _create_from(
        registries,
        lambda body: body | {m: known(body, m) for m in ("partition-spec", "write-order")},
    )
