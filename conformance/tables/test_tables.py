"""Checks of createTable: answers, refusals, and the created table."""

from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import NO_BODY, Catalog, Table
from icecheck.client.given import (
    arrange,
    given_namespace,
    given_table,
    reloaded,
    shared_namespace,
    shared_table,
)
from icecheck.client.sender import DELEGATION_HEADER, encode
from icecheck.conformance.kit.demanding_values import zero_based
from icecheck.findings.shared_symptoms import (
    CHANGED_ALTHOUGH_REFUSED,
    EFFECT_MISSING,
)
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check
from icecheck.judging.probes import is_declined
from icecheck.objects import metadata_view as view
from icecheck.objects.comparing import KEPT, expect_answer
from icecheck.objects.round_trip import shown_of
from icecheck.replies.expect import equal
from icecheck.replies.matching import ANY_OBJECT, ANY_STRING, containing

_DUPLICATE_FIELD_IDS = declare(
    "duplicate-field-ids",
    "Gives several fields of a schema one id",
    Severity.FALSE_OR_LOST,
    "every client: it reads one column for another",
)
_UNASKED_PARTITION_FIELDS = declare(
    "unasked-partition-fields",
    "Partitions a table that was created without partitions",
    Severity.FALSE_OR_LOST,
)

STRUCT = bodies.struct_field
MARK = "icecheck.mark"

# Ids that no server assigns by itself, inner fields after the outer ones as Java numbers them: one
# that assigns its own ids must map all references to them in the request. Ids from 0, which Java
# sends, are one check of their own (createTable.field-ids-from-zero).
NESTED = bodies.schema(
    STRUCT(2, "id", "long", required=True, doc="the key"),
    STRUCT(3, "place", {"type": "struct", "fields": [
        STRUCT(6, "lat", "double", required=True), STRUCT(7, "tags", {
            "type": "list", "element-id": 8, "element": "string", "element-required": False})]}),
    STRUCT(4, "scores", {"type": "map", "key-id": 9, "key": "string", "value-id": 10,
                         "value": {"type": "struct", "fields": [STRUCT(11, "points", "int")]},
                         "value-required": False}),
    STRUCT(5, "price", "decimal(9, 2)"),
)  # fmt: skip
ORDERS = bodies.schema(
    STRUCT(2, "note", "string", doc="as the customer wrote it"),
    STRUCT(3, "region", "string", required=True),
    STRUCT(4, "id", "long", required=True),
    STRUCT(5, "at", "timestamp"),
    identifier_field_ids=[3, 4],
)
SPEC = bodies.partition_spec(
    bodies.partition_field(3, "identity", "region", 1000),
    bodies.partition_field(5, "day", "at_day", 1001),
    bodies.partition_field(4, "bucket[16]", "id_bucket", 1002),
)
ORDER = {
    "order-id": 1,
    "fields": [
        {"source-id": 3, "transform": "identity", "direction": "desc",
         "null-order": "nulls-last"},
        {"source-id": 4, "transform": "bucket[8]", "direction": "asc",
         "null-order": "nulls-first"},
    ],
}  # fmt: skip


def _created(catalog: Catalog, **members: Any) -> dict[str, Any]:
    """Create a table (a failure is the check's finding), and return the metadata of a load."""
    namespace = shared_namespace(catalog)
    name = catalog.new_name()
    catalog.create_table(namespace, bodies.create_table_body(name, **members)).expect(200)
    return view.metadata_in(catalog.load_table(namespace, name).expect(200))


@check("createTable.succeeds", proves="createTable.200")
def test_create_table(catalog: Catalog) -> None:
    """Creating a table succeeds and answers its metadata."""
    namespace = shared_namespace(catalog)
    # The body uses only what the schema clearly allows: no nulls, and every optional id.
    body = {
        "name": catalog.new_name(),
        "schema": bodies.DEFAULT_SCHEMA,
        "partition-spec": bodies.partition_spec(),
        "write-order": bodies.sort_order(),
        "stage-create": False,
        "properties": {},
    }
    catalog.create_table(namespace, body).expect(200).expect_json({"metadata": ANY_OBJECT})


@check("createTable.exists-at-once", proves="createTable.immediate")
def test_created_table_exists(catalog: Catalog) -> None:
    """A created table loads and is listed at once."""
    table = given_table(catalog, given_namespace(catalog))
    catalog.load_table(table.namespace, table.name).expect(200)
    listed = catalog.list_tables(table.namespace).expect(200)
    listed.expect_json(
        {"identifiers": containing(table.identifier)}, symptom=EFFECT_MISSING.of("table-not-listed")
    )


@check("createTable.answer-agrees-with-load", proves="createTable.answer-is-the-table")
def test_answer_is_what_load_returns(catalog: Catalog) -> None:
    """The answer to a creation is what a load returns right after it."""
    namespace, name = shared_namespace(catalog), catalog.new_name()
    rich: dict[str, Any] = {"table_schema": ORDERS, "spec": SPEC, "write_order": ORDER}
    answer = catalog.create_table(
        namespace, bodies.create_table_body(name, properties=KEPT, **rich)
    )
    if not answer.ok:  # other checks judge whether a part of it may be refused
        name = catalog.new_name()
        body = bodies.create_table_body(name, properties=KEPT)
        answer = arrange(catalog, "createTable", lambda: catalog.create_table(namespace, body))
    loaded = catalog.load_table(namespace, name).expect(200)
    expect_answer(answer, shown_of(loaded, Table(namespace, name, {}, None)), "a new table")


@check("createTable.minimal-body-accepted", proves="createTable.minimal-body")
def test_minimal_body(catalog: Catalog) -> None:
    """Name and schema are enough to create a table."""
    namespace = shared_namespace(catalog)
    body = {"name": catalog.new_name(), "schema": bodies.DEFAULT_SCHEMA}
    # Sent as bytes, so that no adaptation adds members for this catalog or user.
    catalog.call("createTable", {"namespace": namespace}, body=encode(body)).expect(200)


@check("createTable.nulls-accepted", proves="createTable.explicit-nulls")
def test_explicit_nulls(catalog: Catalog) -> None:
    """Nulls for unused optional members are accepted, as Spark sends them."""
    namespace = shared_namespace(catalog)
    name = catalog.new_name()
    body = bodies.create_table_body(name, location=catalog.location_for(namespace, name))
    catalog.call("createTable", {"namespace": namespace}, body=encode(body)).expect(200)


@check("createTable.malformed-refused", proves="createTable.400")
def test_malformed_bodies(catalog: Catalog) -> None:
    """A creation with an unusable body is refused with 400."""
    namespace = shared_namespace(catalog)
    name = catalog.new_name()
    whole = bodies.create_table_body(name)
    wrong: dict[str, Any] = {
        "no body": NO_BODY,
        "no JSON": b'{"name": ',
        "no object": [whole],
        "no name": {k: v for k, v in whole.items() if k != "name"},
        "no schema": {k: v for k, v in whole.items() if k != "schema"},
        "a schema that is a string": {**whole, "schema": "id long"},
        "a field without a type": {
            **whole,
            "schema": bodies.schema({"id": 1, "name": "id", "required": True}),
        },
    }
    for what, body in wrong.items():
        reply = catalog.call("createTable", {"namespace": namespace}, body=body)
        reply.expect(400, detail=f"sent {what}")
    catalog.load_table(namespace, name).expect(404, detail="a refused table must not exist")


@check("createTable.missing-namespace", proves="createTable.404")
def test_missing_namespace(catalog: Catalog) -> None:
    """Creating a table in a namespace that does not exist is refused."""
    missing, name = catalog.new_namespace_name(), catalog.new_name()
    catalog.create_table(missing, bodies.create_table_body(name)).expect(404)
    catalog.load_table(missing, name).expect(404, detail="a refused table must not exist")


@check(
    "createTable.already-exists", proves=("createTable.409", "createTable.conflict-changes-nothing")
)
def test_existing_table(catalog: Catalog) -> None:
    """Creating a table that exists is refused and leaves it as it was."""
    table = shared_table(catalog)
    body = bodies.create_table_body(
        table.name,
        table_schema=bodies.schema(STRUCT(1, "other", "string")),
        properties={MARK: "second"},
    )
    catalog.create_table(table.namespace, body).expect(409)
    equal(
        view.settled(reloaded(catalog, table).metadata, MARK),
        view.settled(table.metadata, MARK),
        symptom=CHANGED_ALTHOUGH_REFUSED,
    )


@check("createTable.keeps-schema", proves="createTable.schema-kept")
def test_schema_kept(catalog: Catalog) -> None:
    """The table has the columns that were sent."""
    fields = [
        STRUCT(i, f"Column{i}", type_, required=i % 2 == 0, doc=f"column {i}")
        for i, type_ in enumerate(
            ("boolean", "int", "long", "float", "double", "decimal(9,2)", "date", "time",
             "timestamp", "timestamptz", "string", "uuid", "fixed[16]", "binary"), start=2)
    ]  # fmt: skip
    equal(
        view.shape(view.current_schema(_created(catalog, table_schema=bodies.schema(*fields)))),
        view.shape(bodies.schema(*fields)),
        symptom=EFFECT_MISSING.of("schema"),
    )


@check("createTable.keeps-nested-types", proves="createTable.nested-types")
def test_nested_types(catalog: Catalog) -> None:
    """Nested structs, lists and maps are kept, every field with an id of its own."""
    metadata = _created(catalog, table_schema=NESTED)
    schema = view.current_schema(metadata)
    equal(view.shape(schema), view.shape(NESTED), symptom=EFFECT_MISSING.of("schema"))
    ids = list(view.field_ids(schema))
    equal(len(set(ids)), len(ids), symptom=_DUPLICATE_FIELD_IDS, detail=f"ids {ids}")


@check("createTable.keeps-identifier-fields", proves="createTable.identifier-fields-kept")
def test_identifier_fields(catalog: Catalog) -> None:
    """The identifier fields that were sent are the table's."""
    metadata = _created(catalog, table_schema=ORDERS)
    names = view.column_names(metadata)
    identifiers = view.current_schema(metadata).get("identifier-field-ids") or []
    equal(
        sorted(str(names.get(i)) for i in identifiers),
        ["id", "region"],
        symptom=EFFECT_MISSING.of("identifier-fields"),
    )


@check("createTable.keeps-partition-spec", proves="createTable.partition-spec-kept")
def test_partition_spec(catalog: Catalog) -> None:
    """The table is partitioned as was asked."""
    equal(
        view.partition_fields(_created(catalog, table_schema=ORDERS, spec=SPEC)),
        [("region", "identity", "region"), ("at", "day", "at_day"),
         ("id", "bucket[16]", "id_bucket")],
        symptom=EFFECT_MISSING.of("partition-spec"),
    )  # fmt: skip


@check("createTable.field-ids-from-zero")
def test_field_ids_from_zero(catalog: Catalog) -> None:
    """A creation that partitions and sorts by the column with id 0, as Spark does, is accepted."""
    body = bodies.create_table_body(catalog.new_name(), **zero_based())
    catalog.create_table(shared_namespace(catalog), body).expect(200)


@check("createTable.spec-without-id", proves="createTable.spec-id-optional")
def test_spec_without_id(catalog: Catalog) -> None:
    """A partition spec without spec-id is accepted."""
    spec = {"fields": [bodies.partition_field(1, "bucket[4]", "id_bucket", 1000)]}
    equal(
        view.partition_fields(_created(catalog, spec=spec)),
        [("id", "bucket[4]", "id_bucket")],
        symptom=EFFECT_MISSING.of("partition-spec"),
    )


@check("createTable.without-spec", proves="createTable.unpartitioned")
def test_unpartitioned(catalog: Catalog) -> None:
    """A table created without a partition spec is unpartitioned."""
    metadata = shared_table(catalog).metadata
    equal(view.partition_fields(metadata), [], symptom=_UNASKED_PARTITION_FIELDS)


@check("createTable.keeps-write-order", proves="createTable.write-order-kept")
def test_write_order(catalog: Catalog) -> None:
    """The table has the sort order that was sent."""
    equal(
        view.sort_fields(_created(catalog, table_schema=ORDERS, write_order=ORDER)),
        [("region", "identity", "desc", "nulls-last"), ("id", "bucket[8]", "asc", "nulls-first")],
        symptom=EFFECT_MISSING.of("sort-orders"),
    )


@check("createTable.keeps-properties", proves="createTable.properties-kept")
def test_properties(catalog: Catalog) -> None:
    """The table has the properties that were sent."""
    plain = {MARK: "first", "icecheck.Case.Kept": "1", "icecheck.number": "0042"}
    odd = {"icecheck.empty": "", "icecheck.unicode": "Ünïcode ☃", "icecheck.spaces": " kept "}
    namespace, name, sent = shared_namespace(catalog), catalog.new_name(), plain | odd
    # A catalog may refuse values that it cannot store, but may not store others instead.
    if is_declined(
        catalog.create_table(namespace, bodies.create_table_body(name, properties=sent))
    ):
        name, sent = given_table(catalog, namespace, properties=plain).name, plain
    catalog.load_table(namespace, name).expect(200).expect_json(
        sent, at=["metadata", "properties"], symptom=EFFECT_MISSING.of("properties")
    )


@check("createTable.tolerates-delegation-header", proves="createTable.access-delegation-list")
def test_delegation_header(catalog: Catalog) -> None:
    """Naming several access delegation mechanisms never fails a request."""
    namespace = shared_namespace(catalog)
    name = catalog.new_name()
    headers = {DELEGATION_HEADER: "vended-credentials,remote-signing"}
    body = bodies.create_table_body(name)
    catalog.create_table(namespace, body, headers=headers).expect(200)
    reply = catalog.load_table(namespace, name, headers=headers).expect(200)
    reply.expect_json({"metadata": {"table-uuid": ANY_STRING}})
