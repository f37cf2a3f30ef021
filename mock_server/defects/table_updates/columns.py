"""Defects of columns: their ids, their defaults, and their number."""

from collections.abc import Callable
from typing import Any

from icecheck.mock_server.core.context import Call, Registries
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect
from icecheck.mock_server.defects.kit.places import request_of
from icecheck.mock_server.defects.kit.requests import Json, sent_json
from icecheck.mock_server.defects.kit.rewriting import alter_request_body
from icecheck.mock_server.defects.kit.updating import (
    change_also,
    refuse_updates_where,
)

_COLUMNS_MAX = 500
_PROPERTY_MAX = 65_535
_DEFAULTS = ("initial-default", "write-default")


def _alter_added_schema(registries: Registries, alter: Callable[[Json], Json]) -> None:
    """Let updateTable see altered schemas."""

    def altered(body: Json) -> Json:
        updates = [
            {**u, "schema": alter(u["schema"])} if u.get("action") == "add-schema" else u
            for u in body.get("updates", [])
        ]
        return {**body, "updates": updates}

    alter_request_body(registries, "updateTable", altered)


def _fields_as(alter: Callable[[Json], Json]) -> Callable[[Json], Json]:
    """Return a function that changes every top-level column of a schema."""
    return lambda schema: {**schema, "fields": [alter(field) for field in schema["fields"]]}


# ---- nested columns


@defect(
    "update-nested-docs-lost",
    breaks="update.add-schema.nested-types",
    suffering="Comments on fields of structs are gone.",
)
def _nested_docs_lost(registries: Registries) -> None:
    """What is inside a column is stored without documentation."""

    def bare(value: Any, depth: int = 0) -> Any:
        match value:
            case dict():
                return {k: bare(v, depth + 1) for k, v in value.items() if k != "doc" or not depth}
            case list():
                return [bare(v, depth) for v in value]
        return value

    _alter_added_schema(registries, _fields_as(bare))


declare_each(
    ("update-last-column-id-counts-columns", "update.add-schema.last-column-id",
     "last-column-id follows the ids of columns, and not those inside them.",
     "The id of a field in a struct is given again, and its data shows under a new name.",
     by(
         change_also,
         "add-schema",
         lambda before, _, update: {
             "last_column_id": max(
                 before.last_column_id, *(each.id for each in update.schema.fields)
             )
         },
     )),
    ("update-identifier-fields-lost", "update.add-schema.nested-types",
     "A schema that a commit adds has no identifier fields.",
     "Flink's upsert writes have no key after a change of columns.",
     by(_alter_added_schema,
        lambda schema: {k: v for k, v in schema.items() if k != "identifier-field-ids"})),
    ("update-deprecated-member-refused", "update.add-schema.deprecated-member",
     "add-schema with last-column-id is refused as unknown.", "Older clients cannot add a column.",
     by(refuse_updates_where, "add-schema",
        lambda update, draft: update.last_column_id is not None and not draft.is_new_table)),
)  # fmt: skip


# ---- defaults


@defect(
    "column-defaults-lost",
    on=request_of("createTable"),
    breaks="createTable.defaults-kept",
    suffering="Rows without a value read back as null.",
)
def _defaults_lost(body: Json) -> Json:
    """A new table's columns have no defaults."""
    schema = body.get("schema")
    if not isinstance(schema, dict):
        return body
    without = _fields_as(lambda field: {k: v for k, v in field.items() if k not in _DEFAULTS})
    return {**body, "schema": without(schema)}


@defect(
    "update-defaults-through-doubles",
    breaks="update.add-schema.defaults-kept",
    suffering="Rows written before a column was added read back with a rounded number.",
)
def _defaults_through_doubles(registries: Registries) -> None:
    """Numbers in the defaults of a column are rounded to what a double holds."""

    def rounded(field: Json) -> Json:
        numbers = {
            member: int(float(field[member]))
            for member in _DEFAULTS
            if isinstance(field.get(member), int) and field.get("type") == "long"
        }
        return field | numbers

    _alter_added_schema(registries, _fields_as(rounded))


declare(
    "update-defaults-lost",
    "Of two defaults only the one for writing is kept.",
    by(
        _alter_added_schema,
        _fields_as(lambda field: {k: v for k, v in field.items() if k != _DEFAULTS[0]}),
    ),
    breaks="update.add-schema.defaults-kept",
    suffering="Rows written before a column was added read back as null.",
)


@defect(
    "column-one-default",
    breaks="createTable.defaults-kept",
    suffering="Rows written without the column get the value that is meant for old rows.",
)
def _one_default(registries: Registries) -> None:
    """A column has one default: that for writing becomes what old rows read."""

    def same(field: Json) -> Json:
        both = all(field.get(member) is not None for member in _DEFAULTS)
        return field | {_DEFAULTS[1]: field[_DEFAULTS[0]]} if both else field

    def altered(body: Json) -> Json:
        schema = body.get("schema")
        return {**body, "schema": _fields_as(same)(schema)} if isinstance(schema, dict) else body

    alter_request_body(registries, "createTable", altered)
    _alter_added_schema(registries, _fields_as(same))


# ---- large ones


def _sent_columns(call: Call) -> list[Json]:
    schema = sent_json(call).get("schema")
    columns = schema.get("fields") if isinstance(schema, dict) else None
    return columns if isinstance(columns, list) else []


declare(
    "columns-at-most-500",
    "A table has as many columns as the database behind allows.",
    by(
        refuse_where,
        "createTable",
        lambda _, call: len(_sent_columns(call)) > _COLUMNS_MAX,
        413,
    ),
    breaks="createTable.wide-schema",
    suffering="Wide tables of sensors and features cannot be created.",
)


def _cut(value: Any) -> Any:
    return value[:_PROPERTY_MAX] if isinstance(value, str) else value


@defect(
    "update-property-cut",
    breaks="update.set-properties.effect",
    suffering="The name mapping of a wide table is cut off, and is no JSON any more.",
)
def _property_cut(registries: Registries) -> None:
    """A property is cut to the length that the column of a database has."""

    def altered(body: Json) -> Json:
        updates = [
            {**u, "updates": {k: _cut(v) for k, v in u["updates"].items()}} if sets(u) else u
            for u in body.get("updates", [])
        ]
        return {**body, "updates": updates}

    def sets(update: Any) -> bool:
        is_set = isinstance(update, dict) and update.get("action") == "set-properties"
        return is_set and isinstance(update.get("updates"), dict)

    alter_request_body(registries, "updateTable", altered)
