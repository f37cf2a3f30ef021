"""Tests of columns as tests of partition values: never wrong, and as sharp as pyiceberg's."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from pyiceberg.catalog.rest.scan_planning import PlanTableScanRequest
from pyiceberg.expressions import BooleanExpression, BoundPredicate, UnboundPredicate
from pyiceberg.expressions.visitors import expression_evaluator
from pyiceberg.schema import Schema
from pyiceberg.transforms import Transform, parse_transform
from pyiceberg.typedef import Record
from pyiceberg.types import NestedField

from icecheck.mock_server.metadata.model import PartitionField, PartitionSpec
from icecheck.mock_server.planning.filters.expressions import parse_expression
from icecheck.mock_server.planning.filters.predicates import bind
from icecheck.mock_server.planning.filters.projection import (
    ProjectedLeaf,
    bound_partition_spec,
    passes,
    projected,
)
from tests.mock.planning.test_planning_expressions import names
from tests.mock.planning.wide_table import BY_NAME, DAY, Column, compares, literal_json

HOUR = 3_600_000_000
# Values on both sides of every edge of a transform, none before 1970 (see the test of those).
EDGES: dict[str, tuple[Any, ...]] = {
    "number": tuple(range(25)),
    "id": tuple(range(-9, 9)),
    "word": ("", "a", "ab", "abb", "abc", "abcd", "abd", "ac", "b", "é", "éé"),
    "day": (31, 32, 58, 59, 89, 90, 364, 365, 366, 730),
    "at": tuple(base + step for base in (HOUR, DAY, 31 * DAY, 365 * DAY) for step in (-1, 0, 1)),
    "price": tuple(Decimal(cents).scaleb(-2) for cents in (-51, -50, -49, -1, 0, 1, 49, 50, 51)),
    "blob": (b"", b"a", b"ab", b"abc", b"b"),
}
TRANSFORMS = {
    "number": ("identity", "truncate[5]", "bucket[3]"),
    "id": ("identity", "truncate[4]"),
    "word": ("identity", "truncate[1]", "truncate[2]", "bucket[3]"),
    "day": ("identity", "month", "year", "day", "bucket[2]"),
    "at": ("identity", "hour", "day", "month", "year"),
    "price": ("identity", "truncate[50]", "bucket[4]"),
    "blob": ("truncate[1]", "truncate[2]"),
}
OPERATIONS = ("lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq", "in", "not-in")
CASES = [(name, transform) for name, known in TRANSFORMS.items() for transform in known]


def questions(column: Column) -> Iterator[tuple[str, list[Any]]]:
    for value in EDGES[column.name]:
        for operation in OPERATIONS[:6]:
            yield operation, [value]
        if column.type == "string":
            yield "starts-with", [value]
            yield "not-starts-with", [value]
    for operation in OPERATIONS[6:]:
        yield operation, list(EDGES[column.name][:3])
        yield operation, list(EDGES[column.name][2:5])


def written(column: Column, operation: str, values: list[Any]) -> dict[str, Any]:
    literals = [literal_json(column, value) for value in values]
    json: dict[str, Any] = {"type": operation, "term": column.name}
    if operation in {"in", "not-in"}:
        return {**json, "values": literals}
    return {**json, "value": literals[0]}


def leaf(column: Column, transform: str, json: Any) -> ProjectedLeaf:
    field = PartitionField(name="p", transform=transform, source_id=column.id, field_id=1000)
    spec = bound_partition_spec(PartitionSpec(spec_id=0, fields=(field,)), {column.id: column.type})
    found = projected(bind(parse_expression(json), names()), spec)
    assert isinstance(found, ProjectedLeaf)
    return found


@pytest.mark.parametrize(("name", "transform"), CASES)
def test_projections_never_say_what_is_not_so(name: str, transform: str) -> None:
    column = BY_NAME[name]
    partition = parse_transform(transform).transform(column.iceberg_type)
    for operation, literals in questions(column):
        found = leaf(column, transform, written(column, operation, literals))
        for value in (*EDGES[name], None):
            if value is None and operation in {"lt", "lt-eq", "gt", "gt-eq"}:
                matches = False
            else:
                matches = compares(operation, value, literals)
            row = (partition(value),)
            if matches:
                assert all(passes(test, row) for test in found.inclusive)
            else:
                assert not any(passes(test, row) for test in found.strict)


@pytest.mark.parametrize(("name", "transform"), [case for case in CASES if case[0] != "blob"])
def test_projections_say_as_much_as_those_of_pyiceberg(name: str, transform: str) -> None:
    column = BY_NAME[name]
    theirs: Transform[Any, Any] = parse_transform(transform)
    partition = theirs.transform(column.iceberg_type)
    rows = sorted({partition(value) for value in EDGES[name]})
    for operation, literals in questions(column):
        json = written(column, operation, literals)
        found = leaf(column, transform, json)
        read = PlanTableScanRequest.model_validate({"filter": json}).filter
        assert isinstance(read, BooleanExpression)
        bound = read.bind(Schema(NestedField(column.id, name, column.iceberg_type, required=False)))
        assert isinstance(bound, BoundPredicate)
        for tests, projection in (
            (found.inclusive, theirs.project("p", bound)),
            (found.strict, theirs.strict_project("p", bound)),
        ):
            if projection is None:
                continue  # then ours may say more: it is held to the truth above
            assert tests, f"{operation} {literals} is not projected"
            evaluate = evaluator(theirs, column, projection)
            for row in rows:
                said = all(passes(test, (row,)) for test in tests)
                expected = evaluate(Record(row))
                inclusive = tests is found.inclusive
                # Days before 1970 may have been written one too high; ours allows for that.
                at_epoch = not inclusive and column.name in {"at", "day"} and row <= 1
                assert said == expected or (at_epoch and expected), (operation, literals, row)


def evaluator(transform: Any, column: Column, projection: UnboundPredicate) -> Any:
    result = transform.result_type(column.iceberg_type)
    schema = Schema(NestedField(1000, "p", result, required=False))
    assert isinstance(projection, BooleanExpression)
    return expression_evaluator(schema, projection, case_sensitive=True)


@pytest.mark.parametrize("transform", ["hour", "day", "month", "year"])
def test_projections_hold_for_values_rounded_towards_zero_before_1970(transform: str) -> None:
    """As Iceberg 0.10 and older wrote them: one too high, unless they were exact."""
    column = BY_NAME["at"]
    right = parse_transform(transform).transform(column.iceberg_type)
    values = [step * HOUR * 12 + edge for step in range(-800, 800, 7) for edge in (-1, 0, 1)]
    for literal in (-31 * DAY, -DAY - 1, -DAY, -1, 0, 1, DAY, 31 * DAY):
        for operation in ("lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq"):
            found = leaf(column, transform, written(column, operation, [literal]))
            for value in values:
                matches = compares(operation, value, [literal])
                exact = right(value)
                for partition in {exact, exact + 1} if exact < 0 else {exact}:
                    row = (partition,)
                    if matches:
                        assert all(passes(test, row) for test in found.inclusive)
                    else:
                        assert not any(passes(test, row) for test in found.strict)
