"""Rules for whole schemas: validity, the position of each column, and fresh field ids."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import count

from msgspec import Struct, structs

from icecheck.mock_server.metadata.column_types import (
    OF_EVERY_VERSION,
    FieldType,
    ListType,
    MapType,
    StructField,
    StructType,
    canonical_primitive,
    is_primitive,
    minimum_format_version,
)
from icecheck.mock_server.metadata.defaults import canonical_default
from icecheck.mock_server.metadata.model import Schema
from icecheck.mock_server.metadata.requested import RequestedSchema
from icecheck.mock_server.protocol.json_input import DEPTH_MAX
from icecheck.mock_server.protocol.problem import Problem, bad_request

_DEFAULT_VALUES_SINCE = 3


class Column(Struct, frozen=True, gc=False, kw_only=True):
    """One field of a schema at any depth.

    `name` is the dotted path; `short_name` leaves out the element and value steps above structs;
    `in_collection`: the field is inside of a list or map; `reachable_as_required`: it is inside of
    no optional struct.
    """

    id: int
    name: str
    short_name: str
    type: FieldType
    required: bool
    in_collection: bool = False
    reachable_as_required: bool = True


def valid_schema(requested: RequestedSchema, schema_id: int, format_version: int) -> Schema:
    """Check a schema for a format version and give it its id; every fault in it is a 400 Problem.

    Types and numbers come out in one spelling, so that equal schemas compare equal.
    """
    schema = _canonical_schema(requested, schema_id, format_version)
    _check_identifier_fields(schema, columns_by_id(schema))
    return schema


def new_schema(
    requested: RequestedSchema, format_version: int
) -> tuple[Schema, dict[int, Column], dict[int, int]]:
    """Check the schema of a new table as `valid_schema`, and number its fields anew from 1.

    Returns it with its fields by their new ids, and the map from the ids sent to the new ones.
    """
    schema, renumbered = assign_fresh_ids(_canonical_schema(requested, 0, format_version))
    columns = columns_by_id(schema)
    _check_identifier_fields(schema, columns)
    return schema, columns, renumbered


def _canonical_schema(requested: RequestedSchema, schema_id: int, format_version: int) -> Schema:
    return Schema(
        schema_id=schema_id,
        identifier_field_ids=tuple(sorted(set(requested.identifier_field_ids or ()))),
        fields=_canonical_fields(requested.fields, format_version, 0),
    )


def same_schema(one: Schema, other: Schema) -> bool:
    """Return whether two schemas are equal but for their schema ids."""
    return one.fields == other.fields and one.identifier_field_ids == other.identifier_field_ids


def columns_by_id(schema: Schema) -> dict[int, Column]:
    """Return every field of the schema by id; duplicate ids or names are a 400 Problem."""
    columns: dict[int, Column] = {}
    names: set[str] = set()
    for column in _columns(schema.fields, "", "", in_collection=False, required_above=True):
        if column.id in columns:
            raise _id_twice(column.id)
        if column.name in names:
            raise bad_request(f"Invalid schema: two fields are named {column.name}")
        columns[column.id] = column
        names.add(column.name)
    return columns


def highest_field_id(schema: Schema) -> int:
    """Return the highest field id at any depth, 0 for a schema without fields."""
    return max(columns_by_id(schema), default=0)


def _canonical_fields(
    fields: Iterable[StructField], format_version: int, depth: int
) -> tuple[StructField, ...]:
    may_be_plain = depth <= DEPTH_MAX
    return tuple(
        [
            field
            if may_be_plain and _is_plain(field)
            else _canonical_field(field, format_version, depth)
            for field in fields
        ]
    )


def _canonical_field(field: StructField, format_version: int, depth: int) -> StructField:
    field_type = _canonical_type(field.type, format_version, depth)
    _check_unknown_is_optional(field_type, field.name, required=field.required)
    if field.initial_default is not None and format_version < _DEFAULT_VALUES_SINCE:
        raise bad_request(
            f"Invalid initial default for {field.name}: default values need format version "
            f"{_DEFAULT_VALUES_SINCE}, not {format_version}"
        )
    defaults = {
        name: None if value is None else canonical_default(field_type, value)
        for name, value in (
            ("initial_default", field.initial_default),
            ("write_default", field.write_default),
        )
    }
    return structs.replace(field, type=field_type, **defaults)


def _is_plain(field: StructField) -> bool:
    """Return whether a field is as nearly all are, with nothing to check and one spelling only."""
    plain_type = isinstance(field.type, str) and field.type in OF_EVERY_VERSION
    return plain_type and field.initial_default is None and field.write_default is None


def _canonical_type(field_type: FieldType, format_version: int, depth: int) -> FieldType:
    if depth > DEPTH_MAX:
        raise bad_request(f"Invalid schema: types are nested more than {DEPTH_MAX} deep")
    match field_type:
        case str():
            primitive = canonical_primitive(field_type)
            since = minimum_format_version(primitive)
            if format_version < since:
                raise bad_request(
                    f"Invalid type {primitive}: needs format version {since}, not {format_version}"
                )
            return primitive
        case StructType():
            fields = _canonical_fields(field_type.fields, format_version, depth + 1)
            return StructType(fields=fields)
        case ListType():
            element = _canonical_type(field_type.element, format_version, depth + 1)
            _check_unknown_is_optional(element, "element", required=field_type.element_required)
            return structs.replace(field_type, element=element)
        case MapType():
            key = _canonical_type(field_type.key, format_version, depth + 1)
            value = _canonical_type(field_type.value, format_version, depth + 1)
            _check_unknown_is_optional(key, "key", required=True)
            _check_unknown_is_optional(value, "value", required=field_type.value_required)
            return structs.replace(field_type, key=key, value=value)


def _check_unknown_is_optional(field_type: FieldType, name: str, *, required: bool) -> None:
    if field_type == "unknown" and required:
        raise bad_request(f"A field of type unknown cannot be required: {name}")


def _check_identifier_fields(schema: Schema, columns: Mapping[int, Column]) -> None:
    for field_id in schema.identifier_field_ids:
        column = columns.get(field_id)
        if column is None:
            raise _no_identifier_field(field_id)
        refusal = f"Invalid identifier field {column.name}: "
        if not is_primitive(column.type):
            raise bad_request(refusal + "it is no plain value")
        if not column.required:
            raise bad_request(refusal + "it is not required")
        if column.type in {"float", "double"}:
            raise bad_request(refusal + "it is a floating point number")
        if column.in_collection:
            raise bad_request(refusal + "it is in a list or map")
        if not column.reachable_as_required:
            raise bad_request(refusal + "it is in an optional struct")


def _id_twice(field_id: int) -> Problem:
    return bad_request(f"Invalid schema: two fields have the id {field_id}")


def _no_identifier_field(field_id: int) -> Problem:
    return bad_request(f"Invalid identifier field {field_id}: there is no such field")


def _columns(
    fields: Iterable[StructField],
    prefix: str,
    short_prefix: str,
    *,
    in_collection: bool,
    required_above: bool,
) -> Iterator[Column]:
    for field in fields:
        column = Column(
            id=field.id,
            name=prefix + field.name,
            short_name=short_prefix + field.name,
            type=field.type,
            required=field.required,
            in_collection=in_collection,
            reachable_as_required=required_above,
        )
        yield column
        if not isinstance(field.type, str):
            yield from _columns_within(column)


def _columns_within(parent: Column) -> Iterator[Column]:
    match parent.type:
        case str():
            return
        case StructType(fields=fields):
            yield from _columns(
                fields,
                f"{parent.name}.",
                f"{parent.short_name}.",
                in_collection=parent.in_collection,
                required_above=parent.reachable_as_required and parent.required,
            )
        case ListType() as list_type:
            yield from _entry(
                parent,
                list_type.element_id,
                "element",
                list_type.element,
                required=list_type.element_required,
            )
        case MapType() as map_type:
            yield from _entry(parent, map_type.key_id, "key", map_type.key, required=True)
            yield from _entry(
                parent,
                map_type.value_id,
                "value",
                map_type.value,
                required=map_type.value_required,
            )


def _entry(
    parent: Column, field_id: int, name: str, field_type: FieldType, *, required: bool
) -> Iterator[Column]:
    skipped = name != "key" and isinstance(field_type, StructType)
    column = Column(
        id=field_id,
        name=f"{parent.name}.{name}",
        short_name=parent.short_name if skipped else f"{parent.short_name}.{name}",
        type=field_type,
        required=required,
        in_collection=True,
        reachable_as_required=parent.reachable_as_required and parent.required,
    )
    yield column
    yield from _columns_within(column)


def assign_fresh_ids(schema: Schema) -> tuple[Schema, dict[int, int]]:
    """Number all fields anew from 1; also return the map from the ids sent to the new ones.

    All fields of a struct come first, in order; then the types of the fields are numbered. An id
    that is sent twice, or that no field has, is a 400 Problem.
    """
    renumbered: dict[int, int] = {}
    numbers = count(1)

    def fresh(sent: int) -> int:
        if sent in renumbered:
            raise _id_twice(sent)
        renumbered[sent] = new = next(numbers)
        return new

    def fresh_fields(fields: tuple[StructField, ...]) -> tuple[StructField, ...]:
        ids = [fresh(field.id) for field in fields]
        return tuple(
            [
                field
                if field.id == field_id and isinstance(field.type, str)
                else structs.replace(field, id=field_id, type=fresh_type(field.type))
                for field, field_id in zip(fields, ids, strict=True)
            ]
        )

    def fresh_type(field_type: FieldType) -> FieldType:
        match field_type:
            case str():
                return field_type
            case StructType():
                return StructType(fields=fresh_fields(field_type.fields))
            case ListType():
                element_id = fresh(field_type.element_id)
                return structs.replace(
                    field_type, element_id=element_id, element=fresh_type(field_type.element)
                )
            case MapType():
                key_id, value_id = fresh(field_type.key_id), fresh(field_type.value_id)
                return structs.replace(
                    field_type,
                    key_id=key_id,
                    key=fresh_type(field_type.key),
                    value_id=value_id,
                    value=fresh_type(field_type.value),
                )

    fields = fresh_fields(schema.fields)
    identifiers = _new_identifiers(schema.identifier_field_ids, renumbered)
    return structs.replace(schema, fields=fields, identifier_field_ids=identifiers), renumbered


def _new_identifiers(identifiers: Iterable[int], renumbered: Mapping[int, int]) -> tuple[int, ...]:
    for sent in identifiers:
        if sent not in renumbered:
            raise _no_identifier_field(sent)
    return tuple(sorted(renumbered[sent] for sent in identifiers))
