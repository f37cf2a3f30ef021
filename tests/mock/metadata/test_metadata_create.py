"""createTable: the first metadata of a table."""

import pytest

from icecheck.mock_server.metadata.encoding import (
    PartitionField,
    PartitionSpec,
    SortField,
    SortOrder,
)


def spec_field(name, source_id, transform="identity", **members):
    return {"name": name, "source-id": source_id, "transform": transform, **members}


def sort_field(source_id, transform="identity"):
    return {
        "source-id": source_id,
        "transform": transform,
        "direction": "asc",
        "null-order": "nulls-first",
    }


@pytest.mark.parametrize("version", ["0", "4", "-1", "two", "", "2.0", " 2", "9" * 5000])
def test_another_format_version_is_refused(new_table, version, refused):
    with refused(400, "ormat version"):
        new_table(version)


def test_the_server_numbers_columns_specs_and_orders(new_table, schema_of):
    table = new_table(
        schema=schema_of(
            {"id": 50, "name": "id", "required": True, "type": "long"},
            {"id": 0, "name": "time", "required": False, "type": "timestamptz"},
            **{"schema-id": 9, "identifier-field-ids": [50]},
        ),
        partition_spec={
            "spec-id": 7,
            "fields": [
                spec_field("day", 0, "Day", **{"field-id": 55}),
                spec_field("id", 50, **{"field-id": 54}),
            ],
        },
        write_order={"order-id": 9, "fields": [sort_field(0)]},
    )
    assert (table.current_schema_id, table.schemas[0].schema_id) == (0, 0)
    assert [field.id for field in table.schemas[0].fields] == [1, 2]
    assert table.schemas[0].identifier_field_ids == (1,)
    assert table.partition_specs == (
        PartitionSpec(
            spec_id=0,
            fields=(
                PartitionField(name="day", transform="day", source_id=2, field_id=1000),
                PartitionField(name="id", transform="identity", source_id=1, field_id=1001),
            ),
        ),
    )
    assert table.last_partition_id == 1001
    order = SortField(transform="identity", source_id=2, direction="asc", null_order="nulls-first")
    assert table.sort_orders == (SortOrder(order_id=1, fields=(order,)),)
    assert table.default_sort_order_id == 1


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("s3://bucket/t///", "s3://bucket/t"),
        ("s3://", "s3://"),
        ("file:///t/", "file:///t"),
        (None, "s3://warehouse/sales/orders"),
    ],
)
def test_a_location_is_stored_without_trailing_slashes(new_table, sent, stored):
    assert new_table(location=sent).location == stored


@pytest.mark.parametrize(
    "key",
    [
        "commit.retry.num-retries",
        "commit.retry.min-wait-ms",
        "commit.retry.max-wait-ms",
        "commit.retry.total-timeout-ms",
    ],
)
def test_retry_properties_are_natural_numbers(new_table, key, refused):
    for value in ("0", "2147483647"):
        assert new_table(properties={key: value}).properties[key] == value
    for value in ("-1", "x", "1.5", "2147483648"):
        with refused(400, key):
            new_table(properties={key: value})


def test_metrics_properties_name_columns(new_table, schema_of, refused):
    nested = {"type": "struct", "fields": [
        {"id": 3, "name": "x", "required": False, "type": "int"},
    ]}  # fmt: skip
    kind = {"type": "list", "element-id": 2, "element": nested, "element-required": True}
    schema = schema_of({"id": 1, "name": "a", "required": False, "type": kind})
    for name in ("a", "a.element.x", "a.x"):
        key = f"write.metadata.metrics.column.{name}"
        assert new_table(schema=schema, properties={key: "none"}).properties[key] == "none"
    with refused(400, "column.b names no column"):
        new_table(schema=schema, properties={"write.metadata.metrics.column.b": "none"})


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ([spec_field("x", 9)], "no column 9"),
        ([spec_field("x", 2, "day")], "does not apply to type string"),
        ([spec_field("", 1)], "has no name"),
        ([spec_field("x", 1), spec_field("x", 2)], "Two partition fields are named x"),
        ([spec_field("data", 1)], "not its source"),
        (
            [spec_field("x", 1, **{"field-id": 1000}), spec_field("y", 2)],
            "for all fields or for none",
        ),
        ([spec_field("x", 1, "bucket[0]")], "width"),
    ],
)
def test_a_partition_spec_that_does_not_fit_is_refused(new_table, fields, why, refused):
    with refused(400, why):
        new_table(partition_spec={"spec-id": 0, "fields": fields})


def test_a_column_in_a_list_is_no_partition_source(new_table, schema_of, refused):
    kind = {"type": "list", "element-id": 2, "element": "int", "element-required": True}
    schema = schema_of({"id": 1, "name": "a", "required": False, "type": kind})
    with refused(400, "in a list or map"):
        new_table(schema=schema, partition_spec={"fields": [spec_field("x", 2)]})
    with refused(400, "no plain value"):
        new_table(schema=schema, partition_spec={"fields": [spec_field("x", 1)]})


@pytest.mark.parametrize(
    ("order", "why"),
    [
        ({"order-id": 0, "fields": [sort_field(1)]}, "cannot have fields"),
        ({"order-id": 1, "fields": []}, "has id 0"),
        ({"order-id": 1, "fields": [sort_field(9)]}, "no column 9"),
        ({"order-id": 1, "fields": [sort_field(2, "hour")]}, "does not apply to type"),
    ],
)
def test_a_sort_order_that_does_not_fit_is_refused(new_table, order, why, refused):
    with refused(400, why):
        new_table(write_order=order)


def test_a_nested_column_is_no_sort_source(new_table, schema_of, refused):
    kind = {"type": "struct", "fields": []}
    schema = schema_of({"id": 1, "name": "a", "required": False, "type": kind})
    with refused(400, "Sort source a is no plain value"):
        new_table(schema=schema, write_order={"fields": [sort_field(1)]})
