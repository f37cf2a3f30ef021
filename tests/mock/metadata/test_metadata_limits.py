"""What the comparison with Iceberg's own handlers does not draw: limits, odd texts, odd histories.

What it draws, `tests/interop/oracle`, is not said here again.
"""

import pytest
from msgspec import structs

EXTRA = {"id": 4, "name": "extra", "required": False, "type": "int"}


def add_schema(*fields):
    return {"action": "add-schema", "schema": {"type": "struct", "fields": list(fields)}}


def add_spec(name, source_id, **members):
    field = {"name": name, "source-id": source_id, "transform": "identity", **members}
    return {"action": "add-spec", "spec": {"fields": [field]}}


def test_no_schema_id_is_left_after_the_highest(new_table, commit, refused):
    table = new_table()
    nearly_full = structs.replace(
        table,
        current_schema_id=2**31 - 2,
        schemas=(structs.replace(table.schemas[0], schema_id=2**31 - 2),),
    )
    full = commit(nearly_full, add_schema({**EXTRA, "id": 9}))
    assert full.schemas[1].schema_id == 2**31 - 1
    with refused(400, "no id is left"):
        commit(full, add_schema(EXTRA))


def test_no_partition_field_id_is_left_after_the_highest(new_table, commit, refused):
    table = commit(new_table(), add_spec("w", 1, **{"field-id": 2**31 - 2}))
    table = commit(table, add_spec("x", 2))
    assert table.last_partition_id == 2**31 - 1
    with refused(400, "no id is left"):
        commit(table, add_spec("y", 3))


@pytest.mark.parametrize("transform", ["identity", "void"])
def test_a_current_schema_must_serve_the_default_sort_order(new_table, commit, transform, refused):
    order = {"source-id": 2, "direction": "asc", "null-order": "nulls-first"}
    table = new_table(write_order={"fields": [{**order, "transform": transform}]})
    set_current = {"action": "set-current-schema", "schema-id": -1}
    with refused(400, "A sort field has no source"):
        commit(table, add_schema({**EXTRA, "id": 1}), set_current)


@pytest.mark.parametrize("version", ["0", "4", "-1", "two", "", "2.0", " 2", "9" * 5000])
def test_another_format_version_is_refused(new_table, version, refused):
    with refused(400, "ormat version"):
        new_table(version)


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


def test_a_log_that_ends_elsewhere_cannot_be_rewritten(
    table_with_history, commit, snapshot, refused
):
    table = structs.replace(table_with_history, snapshot_log=table_with_history.snapshot_log[:1])
    tagged = commit(table, {"action": "set-properties", "updates": {"a": "b"}})
    with refused(400, "would not end with the current snapshot"):
        commit(
            tagged,
            {"action": "add-snapshot", "snapshot": snapshot(4, sequence_number=3)},
            {"action": "remove-snapshots", "snapshot-ids": [4]},
        )


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({}, "first-row-id is missing"),
        ({"first_row_id": 10}, "added-rows is missing"),
        ({"first_row_id": 9, "added_rows": 1}, "first-row-id 9 is behind next-row-id 10"),
        ({"first_row_id": 10, "added_rows": -1}, "added-rows is negative"),
        ({"first_row_id": 2**63 - 2, "added_rows": 2}, "added-rows is out of range"),
    ],
)
def test_a_version_3_snapshot_says_which_rows_it_adds(
    new_table, commit, add_main, refused, members, why
):
    table = commit(new_table(3), *add_main(1, sequence_number=1, first_row_id=0, added_rows=10))
    with refused(400, why):
        commit(table, *add_main(2, sequence_number=2, **members))


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"first_row_id": -1, "added_rows": 1}, "first-row-id is negative"),
        ({"first_row_id": 0, "added_rows": -1}, "added-rows is negative"),
        ({"added_rows": -1}, "added-rows is negative"),
        ({"first_row_id": 0}, "added-rows is missing"),
    ],
)
def test_rows_that_java_clients_could_not_read_are_refused_on_every_version(
    new_table, commit, add_main, refused, members, why
):
    with refused(400, why):
        commit(new_table(2), *add_main(1, sequence_number=1, **members))


@pytest.mark.parametrize("data", ["*", "abc", "c2Vj cmV0", "é"])
def test_a_key_that_is_not_base64_is_refused(new_table, commit, refused, data):
    with refused(400, "encrypted-key-metadata"):
        key = {"key-id": "k", "encrypted-key-metadata": data}
        commit(new_table(), {"action": "add-encryption-key", "encryption-key": key})
