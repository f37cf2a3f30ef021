"""Schemas, specs and sort orders that a client derives from a table's metadata to evolve it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Table
from icecheck.findings.verdict import SkipKind
from icecheck.objects import metadata_view as view
from icecheck.replies.expect import Blocked, NotOffered

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Added:
    """Members of metadata that a commit adds to: their id, and the requirement that they show."""

    members: str
    id_member: str
    effect: str


_SCHEMAS = _Added("schemas", "schema-id", "update.add-schema.effect")
_SPECS = _Added("partition-specs", "spec-id", "update.add-spec.effect")
_ORDERS = _Added("sort-orders", "order-id", "update.add-sort-order.effect")


def number(table: Table, member: str) -> int:
    """Return an integer of the table's metadata that a client needs."""
    return _told(table.metadata, member)


def last_column_id(metadata: Mapping[str, Any]) -> int:
    """Return the highest column id that was ever assigned, as far as the metadata tell or show.

    A catalog whose last-column-id lags behind its schemas may refuse what is counted on from it.
    """
    shown = [i for schema in metadata.get("schemas") or () for i in view.field_ids(schema)]
    return max(_told(metadata, "last-column-id"), *shown, 0)


def last_partition_id(metadata: Mapping[str, Any]) -> int:
    """Return the highest partition field id that was ever assigned, as ``last_column_id`` does."""
    specs = metadata.get("partition-specs") or ()
    shown = [each.get("field-id") for spec in specs for each in spec.get("fields") or ()]
    told = _told(metadata, "last-partition-id")
    return max(told, *(each for each in shown if isinstance(each, int)), 0)


def _told(metadata: Mapping[str, Any], member: str) -> int:
    value = metadata.get(member)
    if not isinstance(value, int):
        raise Blocked("schema.loadTable.200", f"the table's metadata has no {member}")
    return value


def next_row_id(table: Table) -> int:
    """Return where the rows of the next snapshot start; end the check where that is not shown.

    The document requires two members of a table's metadata, of which this is none (erratum E40).
    """
    if table.metadata.get("next-row-id") is None:
        raise NotOffered("the catalog shows no next-row-id", SkipKind.NOT_APPLICABLE)
    return number(table, "next-row-id")


def column_id(table: Table, name: str) -> int:
    """Return the id of a top-level column of the current schema."""
    for found, column in view.column_names(table.metadata).items():
        if column == name:
            return found
    raise Blocked("createTable.schema-kept", f"the table's current schema has no column {name}")


def added_column(table: Table, name: str = "extra") -> Json:
    """Return a column that the table does not have, with the next free id."""
    return bodies.struct_field(last_column_id(table.metadata) + 1, name, "string")


def wider_schema(table: Table, name: str = "extra", ordinal: int = 1) -> Json:
    """Return the current schema with one more column, as ALTER TABLE ADD COLUMN sends it.

    Schemas of one commit have each another ``ordinal``, and so another id. It is none that the
    table has for another schema, current or not: every client counts on from the highest.
    """
    fields = view.current_schema(table.metadata).get("fields", [])
    highest = view.next_id(table.metadata, "schemas", "schema-id") - 1
    schema_id = max(number(table, "current-schema-id"), highest) + ordinal
    return bodies.schema(*fields, added_column(table, name), schema_id=schema_id)


def schema_addition(metadata: Mapping[str, Any], schema: Json, *before: Json) -> Json:
    """Return the update that adds a schema, in the form that Spark's Java client sends.

    It has the deprecated last-column-id, the highest id that was ever assigned. ``before`` are the
    schemas that the same commit adds before this one.
    """
    last = metadata.get("last-column-id")
    assigned = [each for one in (*before, schema) for each in view.field_ids(one)]
    if isinstance(last, int):
        assigned.append(last)
    return {"action": "add-schema", "schema": schema, "last-column-id": max(assigned, default=0)}


def schema_id_of(table: Table, column: str) -> int:
    """Return the id of the schema that has a column of this name."""
    return _id_of(table, _SCHEMAS, lambda s: column in map(_name, s["fields"]))


def spec_id_of(table: Table, field: str) -> int:
    """Return the id of the partition spec that has a field of this name."""
    return _id_of(table, _SPECS, lambda s: field in map(_name, s["fields"]))


def sort_order_id_of(table: Table, column: str) -> int:
    """Return the id of the sort order that sorts by a column of this name."""
    source = column_id(table, column)
    return _id_of(
        table, _ORDERS, lambda order: source in [f.get("source-id") for f in order["fields"]]
    )


def _name(field: Mapping[str, Any]) -> Any:
    return field.get("name")


def _id_of(table: Table, kind: _Added, holds: Callable[[Json], bool]) -> int:
    for item in table.metadata.get(kind.members) or []:
        if holds(item):
            if item.get(kind.id_member) is None:
                why = f"one of the table's {kind.members} has no {kind.id_member}"
                raise Blocked("loadTable.full-metadata", why)
            return int(item[kind.id_member])
    raise Blocked(kind.effect, f"what was added is not among the table's {kind.members}")
