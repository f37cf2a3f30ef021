"""Filter expressions: every form is understood, nothing else is, and only with a 400."""

from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import given, settings

from icecheck.mock_server.metadata.model import Schema
from icecheck.mock_server.planning.filters.columns import ColumnNames
from icecheck.mock_server.planning.filters.expressions import (
    ALWAYS_FALSE,
    ALWAYS_TRUE,
    Always,
    Combined,
    expression_json,
    parse_expression,
)
from icecheck.mock_server.planning.filters.predicates import bind
from icecheck.mock_server.protocol.json_input import decode_json
from icecheck.mock_server.protocol.problem import Problem
from tests.mock.planning.serving import normal
from tests.mock.planning.wide_table import SCHEMA, filters

EQ = {"type": "eq", "term": "id", "value": 1}
IS_NULL = {"type": "is-null", "term": "word"}


def names(*, case_sensitive: bool = True) -> ColumnNames:
    schema = decode_json(Schema, msgspec.json.encode({**SCHEMA, "schema-id": 0}))
    return ColumnNames(schema, case_sensitive=case_sensitive)


def said(json: Any) -> Any:
    return expression_json(parse_expression(json))


@pytest.mark.parametrize("json", [True, {"type": "true"}, {"type": "literal", "value": True}])
def test_true_has_three_forms_and_false_too(json: Any) -> None:
    assert parse_expression(json) == ALWAYS_TRUE
    assert parse_expression({"type": "not", "child": json}) == ALWAYS_FALSE
    assert parse_expression({"type": "or", "left": EQ, "right": json}) == ALWAYS_TRUE
    assert said({"type": "and", "left": EQ, "right": json}) == EQ


@pytest.mark.parametrize(
    "json",
    [
        EQ,
        IS_NULL,
        {"type": "in", "term": "id", "values": [1, 2]},
        {"type": "starts-with", "term": "word", "value": ""},
        {"type": "or", "left": EQ, "right": {"type": "and", "left": IS_NULL, "right": EQ}},
        {
            "type": "lt",
            "term": {"type": "transform", "transform": "day", "term": "at"},
            "value": "2024-01-01",
        },
    ],
)
def test_an_expression_is_written_as_it_was_read(json: Any) -> None:
    assert said(json) == json


def test_references_and_literals_may_be_objects_as_java_writes_them() -> None:
    reference = {"type": "reference", "term": "id"}
    literal = {"type": "literal", "value": 1}
    assert said({"type": "eq", "term": reference, "value": literal}) == EQ
    term = {"type": "transform", "transform": "bucket[2]", "term": reference}
    assert said({"type": "in", "term": term, "values": [literal]}) == {
        "type": "in",
        "term": {**term, "term": "id"},
        "values": [1],
    }


def test_the_value_that_the_document_wants_of_null_tests_is_ignored() -> None:
    assert said({**IS_NULL, "value": {}}) == IS_NULL


@pytest.mark.parametrize(
    ("operation", "negated"),
    [("lt", "gt-eq"), ("gt", "lt-eq"), ("eq", "not-eq"), ("starts-with", "not-starts-with")],
)
def test_a_negation_turns_a_test_around(operation: str, negated: str) -> None:
    for one, other in ((operation, negated), (negated, operation)):
        json = {"type": "not", "child": {**EQ, "type": one}}
        assert said(json) == {**EQ, "type": other}


def test_a_negation_turns_and_and_or_around() -> None:
    json = {"type": "not", "child": {"type": "and", "left": EQ, "right": IS_NULL}}
    expected = {
        "type": "or",
        "left": {**EQ, "type": "not-eq"},
        "right": {**IS_NULL, "type": "not-null"},
    }
    assert said(json) == expected


@settings(deadline=None)
@given(filters(max_leaves=12))
def test_what_is_written_means_what_was_read(json: Any) -> None:
    assert normal(said(json)) == normal(json)


def test_long_chains_are_written_as_flat_trees() -> None:
    json: Any = {**EQ, "value": 0}
    for number in range(1, 400):
        json = {"type": "or", "left": json, "right": {**EQ, "value": number}}
    parsed = parse_expression(json)
    assert isinstance(parsed, Combined)
    assert len(parsed.children) == 400
    assert parsed.height == 1
    assert depth(expression_json(parsed)) < 12
    assert parse_expression(expression_json(parsed)) == parsed


def depth(json: Any) -> int:
    return 1 + max(depth(json["left"]), depth(json["right"])) if "left" in json else 1


def test_deep_alternation_is_refused() -> None:
    json: Any = EQ
    for number in range(120):
        json = {"type": ("and", "or")[number % 2], "left": {**EQ, "value": number}, "right": json}
    with pytest.raises(Problem, match="too deeply"):
        parse_expression(json)


@pytest.mark.parametrize(
    "json",
    [
        None,
        1,
        "true",
        [],
        {},
        {"type": 1},
        {"type": "like", "term": "id", "value": 1},
        {"type": "EQ", "term": "id", "value": 1},
        {"type": "eq", "term": "id"},
        {"type": "eq", "value": 1},
        {"type": "eq", "term": "id", "value": None},
        {"type": "eq", "term": "id", "value": {}},
        {"type": "eq", "term": "id", "value": [1]},
        {"type": "eq", "term": 1, "value": 1},
        {"type": "eq", "term": {"type": "transform", "transform": "day"}, "value": 1},
        {"type": "eq", "term": {"type": "extract", "term": "id"}, "value": 1},
        {"type": "in", "term": "id", "values": 1},
        {"type": "in", "term": "id", "values": [None]},
        {"type": "in", "term": "id"},
        {"type": "not"},
        {"type": "and", "left": EQ},
        {"type": "literal", "value": 1},
    ],
)
def test_what_is_no_expression_is_refused(json: Any) -> None:
    with pytest.raises(Problem) as caught:
        parse_expression(json)
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("term", "value"),
    [
        ("absent", 1),
        ("ID", 1),
        ("id", "1"),
        ("id", 1.0),
        ("id", True),
        ("number", "x"),
        ("word", 1),
        ("day", "2024-02-30"),
        ("day", "2024-1-1"),
        ("at", "2024-01-01T00:00:00+00:00"),
        ("at", "2024-01-01T00:00:00.1234567"),
        ("at", "2024-01-01"),
        ("at_zone", "2024-01-01T24:00:00+00:00"),
        ("clock", "25:00:00"),
        ("price", "1,5"),
        ("price", "NaN"),
        ("weight", "1.5"),
        ("flag", 1),
        ("flag", "true"),
        ("key", "1234"),
        ("blob", "0"),
        ("blob", "0g"),
        ("code", "00"),
        ({"type": "transform", "transform": "day", "term": "id"}, 1),
        ({"type": "transform", "transform": "zorder", "term": "id"}, 1),
        ({"type": "transform", "transform": "bucket[0]", "term": "id"}, 1),
        ({"type": "transform", "transform": "bucket[x]", "term": "id"}, 1),
        ({"type": "transform", "transform": "truncate[2]", "term": "word"}, 1),
    ],
)
def test_a_literal_that_is_no_value_of_its_column_is_refused(term: Any, value: Any) -> None:
    with pytest.raises(Problem) as caught:
        bind(parse_expression({"type": "eq", "term": term, "value": value}), names())
    assert caught.value.status == 400


def test_tests_that_a_type_does_not_have_are_refused() -> None:
    for json in (
        {"type": "is-nan", "term": "id"},
        {"type": "starts-with", "term": "id", "value": 1},
        {"type": "starts-with", "term": "blob", "value": "00"},
    ):
        with pytest.raises(Problem):
            bind(parse_expression(json), names())


@pytest.mark.parametrize(
    ("operation", "above", "below"),
    [
        ("lt", True, False),
        ("lt-eq", True, False),
        ("gt", False, True),
        ("gt-eq", False, True),
        ("eq", False, False),
        ("not-eq", True, True),
    ],
)
def test_numbers_beyond_a_type_are_answered_by_the_type(
    operation: str, above: bool, below: bool
) -> None:
    for value, expected in ((2**31, above), (-(2**31) - 1, below)):
        json = {"type": operation, "term": "number", "value": value}
        assert bind(parse_expression(json), names()) == Always(expected)


def test_sets_lose_what_no_value_can_be() -> None:
    values = [2**40, 3, 3]
    found = bind(parse_expression({"type": "in", "term": "number", "values": values}), names())
    assert (found.operation, found.literals) == ("eq", (3,))  # type: ignore[union-attr]
    for operation in ("in", "not-in"):
        json = {"type": operation, "term": "number", "values": [2**40]}
        assert bind(parse_expression(json), names()) == Always(operation == "not-in")


def test_a_required_column_is_never_null() -> None:
    assert bind(parse_expression({"type": "is-null", "term": "id"}), names()) == ALWAYS_FALSE
    assert bind(parse_expression({"type": "not-null", "term": "id"}), names()) == ALWAYS_TRUE


def test_what_clients_send_for_a_literal_is_understood() -> None:
    """Spark's integers, PyIceberg's times without a zone and small hexadecimal digits."""
    for term, one, other in (
        ("day", "1970-01-11", 10),
        ("at", "1970-01-01T00:00:01", 1_000_000),
        ("at_zone", "1970-01-01T01:00:00+01:00", "1970-01-01T00:00:00"),
        ("at_zone", "1970-01-01T00:00:00.5Z", 500_000),
        ("clock", "00:00:00.000010", 10),
        ("price", "1.50", 1.5),
        ("price", "2", "2E+0"),
        ("blob", "AB", "ab"),
        ("weight", 2, 2.0),
    ):
        bound = [
            bind(parse_expression({"type": "eq", "term": term, "value": value}), names())
            for value in (one, other)
        ]
        assert bound[0].literals == bound[1].literals  # type: ignore[union-attr]


def test_columns_are_found_without_case_unless_two_are_meant() -> None:
    schema = {
        "schema-id": 0,
        "type": "struct",
        "fields": [
            {"id": 1, "name": "a", "required": False, "type": "int"},
            {"id": 2, "name": "A", "required": False, "type": "int"},
            {"id": 3, "name": "B", "required": False, "type": "int"},
        ],
    }
    found = decode_json(Schema, msgspec.json.encode(schema))
    exact = ColumnNames(found, case_sensitive=True)
    assert [exact.find(name).id for name in ("a", "A", "B")] == [1, 2, 3]
    loose = ColumnNames(found, case_sensitive=False)
    assert loose.find("b").id == 3
    with pytest.raises(Problem, match="ambiguous"):
        loose.find("a")


def test_nested_columns_have_the_names_of_the_document_and_the_short_ones() -> None:
    inner = {"type": "struct", "fields": [field(3, "x", "int")]}
    schema = {
        "schema-id": 0,
        "type": "struct",
        "fields": [
            field(
                1,
                "list",
                {"type": "list", "element-id": 2, "element": inner, "element-required": True},
            ),
            field(
                4,
                "map",
                {
                    "type": "map", "key-id": 5, "key": "string",
                    "value-id": 6, "value": "int", "value-required": True,
                },
            ),
        ],
    }  # fmt: skip
    found = decode_json(Schema, msgspec.json.encode(schema))
    by_name = ColumnNames(found, case_sensitive=True)
    for name, id_ in (
        ("list.element.x", 3), ("list.x", 3), ("list.element", 2), ("map.key", 5),
        ("map.value", 6), ("list", 1),
    ):  # fmt: skip
        assert by_name.find(name).id == id_


def field(id_: int, name: str, type_: Any) -> dict[str, Any]:
    return {"id": id_, "name": name, "required": False, "type": type_}


@pytest.mark.parametrize(
    "text",
    [
        b'{"filter":' + b'{"type":"not","child":' * 100_000,
        b'{"filter":' + b'{"type":"not","child":' * 400 + b"true" + b"}" * 401,
        b'{"filter":{"type":"eq","term":' + b"[" * 900 + b"]" * 900 + b',"value":1}}',
        b'{"filter":{"type":"eq","term":"id","value":1' + b"0" * 5000 + b"}}",
        b'{"filter":{"type":"eq","term":"price","value":"1E+99999999999"}}',
        b'{"filter":{"type":"eq","term":"id","value":NaN}}',
        b'{"filter":"\xff"}',
    ],
)
def test_hostile_filters_never_break_the_server(http: httpx.Client, text: bytes) -> None:
    body = {"name": "t", "schema": SCHEMA}
    assert http.post("/namespaces/ns/tables", json=body).status_code == 200
    answer = http.post("/namespaces/ns/tables/t/plan", content=text)
    assert answer.status_code == (200 if text.count(b"true") else 400)
