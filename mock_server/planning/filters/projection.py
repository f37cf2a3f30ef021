"""Turns tests of columns into tests of partition values (table format, Scan Planning).

An inclusive projection passes every partition that could hold a matching row; a strict one passes
only partitions whose rows all match.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from icecheck.mock_server.metadata.column_types import FieldType
from icecheck.mock_server.metadata.model import PartitionSpec
from icecheck.mock_server.planning.filters.expressions import Always, Operation, Tree, mapped
from icecheck.mock_server.planning.filters.partition_transforms import (
    Transform,
    neighbour,
    transform_of,
    transformed,
)
from icecheck.mock_server.planning.filters.predicates import BoundExpression, BoundPredicate, holds
from icecheck.mock_server.planning.filters.single_values import Value

_ORDER_OPERATIONS = frozenset({"lt", "lt-eq", "gt", "gt-eq"})
_CALENDAR = frozenset({"year", "month", "day", "hour"})


class PartitionColumn(Struct, frozen=True):
    """One field of a partition spec, at its position in partition tuples."""

    position: int
    field_id: int
    source_id: int
    transform: Transform


class BoundPartitionSpec(Struct, frozen=True):
    """A partition spec whose transforms have types."""

    spec_id: int
    columns: tuple[PartitionColumn, ...]

    @property
    def is_unpartitioned(self) -> bool:
        """Whether no field is left that makes partitions."""
        return all(column.transform.kind == "void" for column in self.columns)


class PartitionTest(Struct, frozen=True):
    """A test of the partition value at a position, after the transform `through` if any."""

    position: int
    operation: Operation
    literals: tuple[Value, ...]
    through: Transform | None = None


class ProjectedLeaf(Struct, frozen=True):
    """A predicate with its projections to all partition fields of its column in one spec."""

    predicate: BoundPredicate
    inclusive: tuple[PartitionTest, ...]
    strict: tuple[PartitionTest, ...]


def bound_partition_spec(
    spec: PartitionSpec, column_types: Mapping[int, FieldType]
) -> BoundPartitionSpec:
    """Return a spec whose transforms have the types of their sources; types by column id."""
    return BoundPartitionSpec(
        spec.spec_id,
        tuple(
            PartitionColumn(
                position,
                field.field_id,
                field.source_id,
                transform_of(field.transform, column_types.get(field.source_id)),
            )
            for position, field in enumerate(spec.fields)
        ),
    )


def projected(expression: BoundExpression, spec: BoundPartitionSpec) -> Tree[ProjectedLeaf]:
    """Project every predicate to the partition values of a spec, both ways."""

    def leaf(of: BoundPredicate | Always) -> Tree[ProjectedLeaf]:
        if isinstance(of, Always):
            return of
        columns = [column for column in spec.columns if column.source_id == of.column.id]
        inclusive = (_projection(column, of, strict=False) for column in columns)
        strict = (_projection(column, of, strict=True) for column in columns)
        return ProjectedLeaf(
            of,
            tuple(test for test in inclusive if test is not None),
            tuple(test for test in strict if test is not None),
        )

    return mapped(expression, leaf)


def passes(test: PartitionTest, partition: tuple[Value | None, ...]) -> bool:
    """Return whether a partition tuple satisfies a test."""
    value = partition[test.position]
    if test.through is not None:
        value = transformed(test.through, value)
    return holds(test.operation, value, test.literals)


def _projection(
    column: PartitionColumn, predicate: BoundPredicate, *, strict: bool
) -> PartitionTest | None:
    transform, asked = column.transform, predicate.transform
    if not transform.applies or transform.kind == "void":
        return None
    if predicate.type == "uuid" and predicate.operation in _ORDER_OPERATIONS:
        return None  # engines do not agree on the order of UUIDs
    if transform.same_as(asked):
        return PartitionTest(column.position, predicate.operation, predicate.literals)
    if transform.kind == "identity":
        return PartitionTest(column.position, predicate.operation, predicate.literals, asked)
    if asked.kind != "identity":
        return None
    try:
        found = _of_transformed(transform, predicate, strict=strict)
    except ValueError:
        return None
    if found is None:
        return None
    operation, literals = found
    return PartitionTest(column.position, operation, tuple(sorted(set(literals))))


Projection = tuple[Operation, tuple[Value, ...]]


def _of_transformed(
    transform: Transform, predicate: BoundPredicate, *, strict: bool
) -> Projection | None:
    operation, literals = predicate.operation, predicate.literals
    if operation in {"is-null", "not-null"}:
        return operation, ()
    if operation in ({"not-eq", "not-in"} if strict else {"eq", "in"}):
        results = tuple(_result(transform, literal) for literal in literals)
        return _with_old_results(transform, operation, results)
    if transform.kind == "bucket" or operation in {"eq", "in", "not-eq", "not-in"}:
        return None
    if operation in _ORDER_OPERATIONS:
        ordered = _of_order(transform, operation, literals[0], strict=strict)
        return _with_old_results(transform, *ordered)
    if isinstance(literals[0], str):
        return _of_prefix(transform, operation, literals[0], strict=strict)
    return None


def _of_order(
    transform: Transform, operation: Operation, literal: Value, *, strict: bool
) -> Projection:
    """Project a comparison through a transform that keeps order but merges values."""
    source = transform.source or ""
    below = operation in {"lt", "lt-eq"}
    # For countable values, `< x` is `<= x - 1`. The inclusive test needs the closed form, the
    # strict one the open form.
    closed = operation in {"lt-eq", "gt-eq"}
    step: Literal[1, -1] = 1 if below == strict else -1
    if closed == strict:
        literal = _counted(source, literal, step)
    result = _result(transform, literal)
    if strict:
        return ("lt" if below else "gt"), (result,)
    return ("lt-eq" if below else "gt-eq"), (result,)


def _counted(source: str, literal: Value, step: Literal[1, -1]) -> Value:
    following = neighbour(source, literal, step)
    return literal if following is None else following


def _of_prefix(
    transform: Transform, operation: Operation, prefix: str, *, strict: bool
) -> Projection | None:
    if len(prefix) < transform.width:
        return operation, (prefix,)
    starts = operation == "starts-with"
    if len(prefix) == transform.width:
        return ("eq" if starts else "not-eq"), (prefix,)
    if starts == strict:
        return None
    return ("eq" if starts else "not-eq"), (prefix[: transform.width],)


def _with_old_results(
    transform: Transform, operation: Operation, results: tuple[Value, ...]
) -> Projection:
    """Allow for results that are one too high before 1970, as Iceberg 0.10 and older wrote them.

    They rounded towards zero; days of dates were always right.
    """
    if transform.kind not in _CALENDAR or (transform.kind, transform.source) == ("day", "date"):
        return operation, results
    match operation:
        case "lt-eq" if int(results[0]) < 0:
            return operation, (int(results[0]) + 1,)
        case "gt" if int(results[0]) <= 0:
            return operation, (int(results[0]) + 1,)
        case "eq" | "in" | "not-eq" | "not-in" if any(int(result) < 0 for result in results):
            wider = {int(result) + 1 for result in results if int(result) < 0} | set(results)
            return ("in" if operation in {"eq", "in"} else "not-in"), tuple(wider)
        case _:
            return operation, results


def _result(transform: Transform, literal: Value) -> Value:
    result = transformed(transform, literal)
    if result is None:
        raise ValueError("no result")
    return result
