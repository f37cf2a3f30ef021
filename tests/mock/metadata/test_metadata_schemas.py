"""Whole schemas: field ids, names, identifier fields, what a format version allows."""

import pytest

from icecheck.mock_server.metadata.column_types import ListType, MapType, StructField, StructType
from icecheck.mock_server.metadata.requested import RequestedSchema
from icecheck.mock_server.metadata.schemas import (
    assign_fresh_ids,
    columns_by_id,
    highest_field_id,
    new_schema,
    valid_schema,
)
from icecheck.mock_server.protocol.json_input import DEPTH_MAX


def field(field_id, name, kind, *, required=False, **members):
    return StructField(id=field_id, name=name, type=kind, required=required, **members)


def struct(*fields):
    return StructType(fields=fields)


def list_of(field_id, element, *, required=False):
    return ListType(element_id=field_id, element=element, element_required=required)


def map_of(key_id, key, value_id, value):
    return MapType(key_id=key_id, key=key, value_id=value_id, value=value, value_required=False)


def schema(*fields, identifiers=None, version=3):
    sent = RequestedSchema(type="struct", fields=fields, identifier_field_ids=identifiers)
    return valid_schema(sent, 0, version)


def test_fresh_ids_number_a_struct_before_what_is_in_it():
    sent = schema(
        field(70, "a", struct(field(61, "p", "int"), field(60, "q", list_of(59, "int")))),
        field(0, "b", map_of(9, "string", 8, struct(field(7, "z", "int")))),
        field(5, "c", "long"),
    )
    fresh, renumbered = assign_fresh_ids(sent)
    names = {column.name: number for number, column in columns_by_id(fresh).items()}
    assert names == {
        "a": 1,
        "b": 2,
        "c": 3,
        "a.p": 4,
        "a.q": 5,
        "a.q.element": 6,
        "b.key": 7,
        "b.value": 8,
        "b.value.z": 9,
    }
    assert renumbered == {70: 1, 0: 2, 5: 3, 61: 4, 60: 5, 59: 6, 9: 7, 8: 8, 7: 9}
    assert highest_field_id(fresh) == 9


def test_fresh_ids_carry_the_identifier_fields_along():
    sent = schema(
        field(4, "a", "int"), field(0, "b", "long", required=True), identifiers=(0,), version=2
    )
    assert assign_fresh_ids(sent)[0].identifier_field_ids == (2,)


def test_a_new_schema_is_checked_by_the_ids_that_were_sent(refused):
    def new(*fields, identifiers=None):
        sent = RequestedSchema(type="struct", fields=fields, identifier_field_ids=identifiers)
        return new_schema(sent, 3)

    a, b = field(7, "a", "int", required=True), field(3, "b", list_of(9, "int"))
    made, columns, renumbered = new(a, b, identifiers=(7,))
    assert made.identifier_field_ids == (1,)
    assert {number: column.name for number, column in columns.items()} == {
        1: "a", 2: "b", 3: "b.element"
    }  # fmt: skip
    assert renumbered == {7: 1, 3: 2, 9: 3}
    for second in (field(7, "b", "int"), field(8, "b", list_of(7, "int"))):
        with refused(400, "two fields have the id 7"):
            new(a, second)
    with refused(400, "two fields are named a"):
        new(a, field(8, "a", "int"))
    # The new id of the column, which is not the one that was sent.
    with refused(400, "Invalid identifier field 1: there is no such field"):
        new(a, identifiers=(1,))
    with refused(400, "Invalid identifier field b: it is no plain value"):
        new(a, b, identifiers=(3,))


WRAPPERS = {
    "list": list_of,
    "struct": lambda number, kind: struct(field(number, "x", kind)),
    "map value": lambda number, kind: map_of(number + 1000, "int", number, kind),
    "map key": lambda number, kind: map_of(number, kind, number + 1000, "int"),
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_types_are_nested_to_a_limit(wrapper, refused):
    kind = "int"
    for number in range(DEPTH_MAX):
        kind = WRAPPERS[wrapper](number + 10, kind)
    assert schema(field(1, "a", kind)).fields[0].type == kind
    with refused(400, "nested more than"):
        schema(field(1, "a", WRAPPERS[wrapper](5, kind)))


def test_columns_have_a_short_name_that_leaves_out_struct_wrappers():
    made = schema(
        field(1, "a", list_of(2, struct(field(3, "x", "int")))),
        field(4, "b", map_of(5, struct(field(6, "k", "int")), 7, struct(field(8, "v", "int")))),
        field(9, "c", list_of(10, "int")),
    )
    shorts = {column.name: column.short_name for column in columns_by_id(made).values()}
    assert shorts["a.element.x"] == "a.x"
    assert shorts["b.key.k"] == "b.key.k"
    assert shorts["b.value.v"] == "b.v"
    assert shorts["c.element"] == "c.element"
