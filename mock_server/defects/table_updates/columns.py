"""Defects of columns: their ids, their defaults, and their number."""

from collections.abc import Callable
from typing import Any

from icecheck.mock_server.core.context import Call, Registries
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect, through
from icecheck.mock_server.defects.kit.json_values import objects
from icecheck.mock_server.defects.kit.requests import Json, sent_json
from icecheck.mock_server.defects.kit.rewriting import alter_created_columns
from icecheck.mock_server.defects.kit.updating import (
    alter_sent_updates,
    change_also,
    refuse_updates_where,
)

_COLUMNS_MAX = 500
_PROPERTY_MAX = 65_535
_DEFAULTS = ("initial-default", "write-default")


def _alter_added_schema(registries: Registries, alter: Callable[[Json], Json]) -> None:
    """Let updateTable see altered schemas."""
    alter_sent_updates(registries, "add-schema", lambda u: {**u, "schema": alter(u["schema"])})


def _alter_added_columns(registries: Registries, alter: Callable[[Json], Json]) -> None:
    """Let updateTable see schemas with altered top-level columns."""
    _alter_added_schema(
        registries, lambda schema: {**schema, "fields": [*map(alter, schema["fields"])]}
    )


# ---- nested columns


@defect(
    "update-nested-docs-lost",
    on=through(_alter_added_columns),
    breaks="update.add-schema.nested-types",
    suffering="Comments on fields of structs are gone.",
)
def _nested_docs_lost(column: Json) -> Json:
    """What is inside a column is stored without documentation."""
    bare: Json = objects(column, lambda each: {k: v for k, v in each.items() if k != "doc"})
    return bare | ({"doc": column["doc"]} if "doc" in column else {})


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


declare_each(
    ("column-defaults-lost", "createTable.defaults-kept",
     "A new table's columns have no defaults.", "Rows without a value read back as null.",
     by(alter_created_columns,
        lambda field: {k: v for k, v in field.items() if k not in _DEFAULTS})),
    ("update-defaults-lost", "update.add-schema.defaults-kept",
     "Of two defaults only the one for writing is kept.",
     "Rows written before a column was added read back as null.",
     by(_alter_added_columns,
        lambda field: {k: v for k, v in field.items() if k != _DEFAULTS[0]})),
)  # fmt: skip


@defect(
    "update-defaults-through-doubles",
    on=through(_alter_added_columns),
    breaks="update.add-schema.defaults-kept",
    suffering="Rows written before a column was added read back with a rounded number.",
)
def _defaults_through_doubles(field: Json) -> Json:
    """Numbers in the defaults of a column are rounded to what a double holds."""
    return field | {
        member: int(float(field[member]))
        for member in _DEFAULTS
        if isinstance(field.get(member), int) and field.get("type") == "long"
    }


def _alter_columns(registries: Registries, alter: Callable[[Json], Json]) -> None:
    alter_created_columns(registries, alter)
    _alter_added_columns(registries, alter)


@defect(
    "column-one-default",
    on=through(_alter_columns),
    breaks="createTable.defaults-kept",
    suffering="Rows written without the column get the value that is meant for old rows.",
)
def _one_default(field: Json) -> Json:
    """A column has one default: that for writing becomes what old rows read."""
    both = all(field.get(member) is not None for member in _DEFAULTS)
    return field | {_DEFAULTS[1]: field[_DEFAULTS[0]]} if both else field


# ---- large ones


def _sent_columns(call: Call) -> list[Json]:
    schema = sent_json(call).get("schema")
    columns = schema.get("fields") if isinstance(schema, dict) else None
    return columns if isinstance(columns, list) else []


declare_each(
    ("columns-at-most-500", "createTable.wide-schema",
     "A table has as many columns as the database behind allows.",
     "Wide tables of sensors and features cannot be created.",
     by(refuse_where, "createTable", lambda _, call: len(_sent_columns(call)) > _COLUMNS_MAX, 413)),
)  # fmt: skip


def _cut(value: Any) -> Any:
    return value[:_PROPERTY_MAX] if isinstance(value, str) else value


@defect(
    "update-property-cut",
    on=through(alter_sent_updates, "set-properties"),
    breaks="update.set-properties.effect",
    suffering="The name mapping of a wide table is cut off, and is no JSON any more.",
)
def _property_cut(update: Json) -> Json:
    """A property is cut to the length that the column of a database has."""
    sent = update.get("updates")
    if not isinstance(sent, dict):
        return update
    return {**update, "updates": {key: _cut(value) for key, value in sent.items()}}
