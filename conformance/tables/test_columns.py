"""Checks of columns: nested ones, defaults of every type, and a thousand columns."""

from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_table, reloaded, shared_namespace
from icecheck.conformance.kit.demanding_values import large_property, wide_schema
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.judging.check import check
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import (
    commit,
    expect_effect,
    expect_loaded,
    expect_unchanged,
)
from icecheck.objects.evolving import (
    column_id,
    last_column_id,
    number,
    schema_addition,
    wider_schema,
)
from icecheck.objects.reading import not_applicable, refused
from icecheck.replies.expect import Reply
from icecheck.replies.matching import containing, show

STRUCT = bodies.struct_field
LAST_ADDED = {"action": "set-current-schema", "schema-id": -1}

# A value of each type in the document's form.
DEFAULTS: dict[str, Any] = {
    "boolean": True,
    "int": 42,
    "long": 2**53 + 1,
    "float": 3.5,
    "double": 123.456,
    "decimal(9, 4)": "123.4500",
    "string": " hello ",
    "uuid": "eb26bdb1-a1d8-4aa6-990e-da940875492c",
    "date": "2007-12-03",
    "time": "22:31:08.123456",
    "timestamp": "2007-12-03T10:15:30.123456",
    "timestamptz": "2007-12-03T10:15:30.123456+00:00",
    "timestamp_ns": "2007-12-03T10:15:30.123456789",
    "timestamptz_ns": "2007-12-03T10:15:30.123456789+00:00",
    "fixed[3]": "78797A",
    "binary": "78797A",
}

# Defaults that servers easily take for a missing default.
EMPTY_DEFAULTS: dict[str, Any] = {"boolean": False, "int": 0, "string": ""}

Json = dict[str, Any]


# ---- nested columns


def nested_schema(table: Table) -> Json:
    """Return the current schema with a struct, a list and a map added, under unused ids."""
    last = last_column_id(table.metadata)
    schema_id = number(table, "current-schema-id") + 1
    ids = iter(range(last + 5, last + 15))
    place = {"type": "struct", "fields": [
        STRUCT(next(ids), "lat", "double", required=True, doc="degrees"),
        STRUCT(next(ids), "lon", "double"),
    ]}  # fmt: skip
    tags = {
        "type": "list", "element-id": next(ids), "element": "string", "element-required": True,
    }  # fmt: skip
    scores = {
        "type": "map", "key-id": next(ids), "key": "string", "value-id": next(ids),
        "value": {"type": "struct", "fields": [STRUCT(next(ids), "points", "int")]},
        "value-required": False,
    }  # fmt: skip
    rates = {
        "type": "list", "element-id": next(ids), "element-required": True, "element": {
            "type": "map", "key-id": next(ids), "key": "string", "value-id": next(ids),
            "value": "double", "value-required": True,
        },
    }  # fmt: skip
    return bodies.schema(
        *view.current_schema(table.metadata).get("fields", []),
        STRUCT(last + 1, "place", place),
        STRUCT(last + 2, "tags", tags),
        STRUCT(last + 3, "scores", scores, doc="by name"),
        STRUCT(last + 4, "rates", rates),
        schema_id=schema_id,
        identifier_field_ids=[column_id(table, "id")],
    )


@check(
    "update.add-schema.nested-types",
    proves=("update.add-schema.nested-types", "update.add-schema.last-column-id"),
)
def test_nested_columns(catalog: Catalog) -> None:
    """Structs, lists and maps of an added schema keep the ids of every field in them."""
    table = given_table(catalog)
    schema = nested_schema(table)
    kept = {member: schema[member] for member in ("fields", "identifier-field-ids")}
    expect_effect(
        catalog,
        table,
        [schema_addition(table.metadata, schema), LAST_ADDED],
        {"schemas": containing(kept), "last-column-id": max(view.field_ids(schema))},
        what="nested-schema",
    )


@check("update.add-schema.deprecated-member")
def test_deprecated_last_column_id(catalog: Catalog) -> None:
    """A schema may be added with the deprecated last-column-id."""
    table = given_table(catalog)
    schema = wider_schema(table)
    last = last_column_id(table.metadata) + 1
    expect_effect(
        catalog,
        table,
        [{"action": "add-schema", "schema": schema, "last-column-id": last}],
        {"schemas": containing({"fields": schema["fields"]}), "last-column-id": last},
        what="schema",
    )


@check(
    "update.add-schema.stale-last-column-id",
    proves="update.add-schema.last-column-id-never-falls",
)
def test_last_column_id_of_a_client_that_is_behind(catalog: Catalog) -> None:
    """A last-column-id below the schema's highest id is refused or ignored, never stored."""
    table = given_table(catalog)
    last = last_column_id(table.metadata)
    behind = {"action": "add-schema", "schema": wider_schema(table), "last-column-id": last - 1}
    before = reloaded(catalog, table)
    reply = commit(catalog, table, [behind])
    if reply.ok:
        expect_loaded(catalog, table, {"last-column-id": last + 1}, what="last-column-id")
    else:
        reply.expect_refused()
        expect_unchanged(catalog, before)


# ---- defaults


def with_defaults(first_id: int) -> list[Json]:
    """Return columns of each type with both defaults, with values and with empty values.

    Where a type has an empty value, one of the two defaults is empty and the other is not.
    """
    named = [
        (f"a {type_}", type_, value, EMPTY_DEFAULTS.get(type_, value))
        for type_, value in DEFAULTS.items()
    ]
    named += [
        (f"an empty {type_}", type_, value, DEFAULTS[type_])
        for type_, value in EMPTY_DEFAULTS.items()
    ]
    return [
        STRUCT(first_id + at, name, type_, initial_default=initial, write_default=write)
        for at, (name, type_, initial, write) in enumerate(named)
    ]


def _taken(reply: Reply) -> Reply:
    if refused(reply, "default values of columns"):
        raise not_applicable(f"the catalog refuses defaults of columns with {reply.status}")
    return reply.expect(200)


def _expect_defaults(reply: Reply, schema: Any, due: list[Json]) -> None:
    """Judge the defaults of columns, found by name, because a new table assigns its own ids."""
    found = {field.get("name"): field for field in schema.get("fields", [])}
    for field in due:
        column = found.get(field["name"], {})
        for member in ("initial-default", "write-default"):
            if show(column.get(member)) != show(field[member]):
                raise reply.violation(
                    EFFECT_MISSING.of(member),
                    "the default that was sent",
                    "another one, or none",
                    detail=f"{field['type']}: due is {show(field[member])}",
                )


@check(
    "createTable.keeps-defaults", proves="createTable.defaults-kept", needs=("format-version-3",)
)
def test_defaults_of_a_new_table(catalog: Catalog) -> None:
    """Columns of every type keep the defaults that they are created with."""
    namespace = shared_namespace(catalog)
    name = catalog.new_name()
    columns = with_defaults(1)
    body = bodies.create_table_body(
        name, table_schema=bodies.schema(*columns), properties={"format-version": "3"}
    )
    _taken(catalog.create_table(namespace, body))
    reply = catalog.load_table(namespace, name).expect(200)
    _expect_defaults(reply, view.current_schema(view.metadata_in(reply)), columns)


@check(
    "update.add-schema.keeps-defaults",
    proves="update.add-schema.defaults-kept",
    needs=("format-version-3",),
)
def test_defaults_of_added_columns(catalog: Catalog) -> None:
    """Columns that a commit adds keep their defaults."""
    table = given_table(catalog, properties={"format-version": "3"})
    columns = with_defaults(last_column_id(table.metadata) + 1)
    fields = [*view.current_schema(table.metadata).get("fields", []), *columns]
    added = bodies.schema(*fields, schema_id=number(table, "current-schema-id") + 1)
    addition = schema_addition(table.metadata, added)
    _taken(commit(catalog, table, [addition, LAST_ADDED]))
    reply = catalog.load_table(table.namespace, table.name).expect(200)
    _expect_defaults(reply, view.current_schema(view.metadata_in(reply)), columns)


# ---- large tables and commits


@check("createTable.thousand-columns", proves="createTable.wide-schema")
def test_a_thousand_columns(catalog: Catalog) -> None:
    """A table with a thousand columns is created."""
    body = bodies.create_table_body(catalog.new_name(), table_schema=wide_schema())
    catalog.create_table(shared_namespace(catalog), body).expect(200)


@check("update.set-properties.large-value", proves="update.set-properties.large")
def test_a_large_property(catalog: Catalog) -> None:
    """A commit of a property with a value of 100 KiB is accepted."""
    commit(catalog, given_table(catalog), [large_property()]).expect(200)
