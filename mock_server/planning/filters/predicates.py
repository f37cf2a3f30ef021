"""Predicates bound to a schema: a column, a type, and literals that are values of that type."""

from bisect import bisect_left
from typing import TypeAlias

from msgspec import Struct

from icecheck.mock_server.metadata.column_types import FieldType, is_primitive
from icecheck.mock_server.metadata.schemas import Column
from icecheck.mock_server.planning.filters.columns import ColumnNames
from icecheck.mock_server.planning.filters.expressions import (
    ALWAYS_FALSE,
    ALWAYS_TRUE,
    SET_OPERATIONS,
    UNARY_OPERATIONS,
    Always,
    Expression,
    Operation,
    Predicate,
    Tree,
    mapped,
)
from icecheck.mock_server.planning.filters.partition_transforms import Transform, transform_of
from icecheck.mock_server.planning.filters.single_values import (
    OutOfRange,
    Value,
    is_nan,
    literal_of,
)
from icecheck.mock_server.protocol.problem import bad_request

_FLOATING = frozenset({"float", "double"})
_PREFIX_OPERATIONS = frozenset({"starts-with", "not-starts-with"})
_TRUE_BELOW_MAXIMUM = frozenset({"lt", "lt-eq", "not-eq"})
_TRUE_ABOVE_MINIMUM = frozenset({"gt", "gt-eq", "not-eq"})


class BoundPredicate(Struct, frozen=True):
    """A predicate with a known column and checked literals.

    `type` is the type of the tested term, None for a struct, list, map or variant (which only have
    the tests for null). `literals` are ordered and distinct. `original` is the client's predicate.
    """

    operation: Operation
    column: Column
    transform: Transform
    type: str | None
    literals: tuple[Value, ...]
    original: Predicate


BoundExpression: TypeAlias = Tree[BoundPredicate]


def bind(expression: Expression, names: ColumnNames) -> BoundExpression:
    """Bind every predicate to a schema, and resolve those that the schema alone decides.

    Problem 400 for unknown columns and transforms, and for literals that do not fit.
    """

    def leaf(of: Predicate | Always) -> BoundExpression:
        return of if isinstance(of, Always) else _bound(of, names)

    return mapped(expression, leaf)


def unbound(expression: BoundExpression) -> Expression:
    """Return the expression in the client's terms."""

    def leaf(of: BoundPredicate | Always) -> Expression:
        return of if isinstance(of, Always) else of.original

    return mapped(expression, leaf)


def _bound(predicate: Predicate, names: ColumnNames) -> BoundPredicate | Always:
    column = names.find(predicate.column)
    transform, term_type = _term_type(predicate, column)
    if predicate.operation in UNARY_OPERATIONS:
        return _unary(predicate, column, transform, term_type)
    if term_type is None or not is_primitive(term_type):
        raise bad_request(f"{predicate.operation} needs a primitive column: {column.name}")
    if predicate.operation in _PREFIX_OPERATIONS and term_type != "string":
        raise bad_request(f"{predicate.operation} needs a string column: {column.name}")
    literals: list[Value] = []
    for raw in predicate.literals:
        try:
            literals.append(literal_of(term_type, raw))
        except OutOfRange as beyond:
            if predicate.operation not in SET_OPERATIONS:
                above = beyond.above
                true = predicate.operation in (
                    _TRUE_BELOW_MAXIMUM if above else _TRUE_ABOVE_MINIMUM
                )
                return ALWAYS_TRUE if true else ALWAYS_FALSE
    operation = predicate.operation
    if not literals:
        return ALWAYS_FALSE if operation == "in" else ALWAYS_TRUE
    ordered = tuple(sorted(set(literals)))
    if len(ordered) == 1 and operation in SET_OPERATIONS:
        operation = "eq" if operation == "in" else "not-eq"
    return BoundPredicate(operation, column, transform, term_type, ordered, predicate)


def _term_type(predicate: Predicate, column: Column) -> tuple[Transform, str | None]:
    source: FieldType = column.type
    transform = transform_of(predicate.transform or "identity", source)
    if predicate.transform is not None:
        if transform.kind == "unknown":
            raise bad_request(f"Unknown transform: {predicate.transform[:100]}")
        if not transform.applies:
            raise bad_request(f"Cannot apply {predicate.transform[:100]} to {column.name}")
    if not isinstance(source, str):
        return transform, None
    return transform, transform.result_type


def _unary(
    predicate: Predicate, column: Column, transform: Transform, type_: str | None
) -> BoundPredicate | Always:
    operation = predicate.operation
    if operation in {"is-nan", "not-nan"} and type_ not in _FLOATING:
        raise bad_request(f"{operation} needs a float or double column: {column.name}")
    if operation in {"is-null", "not-null"}:
        never_null = column.required and column.reachable_as_required and not column.in_collection
        if transform.kind != "void" and never_null:
            return Always(operation == "not-null")
        if type_ == "unknown":
            return Always(operation == "is-null")
    return BoundPredicate(operation, column, transform, type_, (), predicate)


def holds(operation: Operation, value: Value | None, literals: tuple[Value, ...]) -> bool:
    """Return whether one value satisfies a test. Null and NaN equal nothing and have no order.

    So they satisfy `not-eq`, `not-in` and `not-starts-with`, as in all Iceberg libraries.
    """
    match operation:
        case "is-null":
            return value is None
        case "not-null":
            return value is not None
        case "is-nan":
            return is_nan(value)
        case "not-nan":
            return not is_nan(value)
        case "not-eq" | "not-in" | "not-starts-with":
            return not holds(_POSITIVE[operation], value, literals)
    if value is None or is_nan(value):
        return False
    if operation == "in":
        position = bisect_left(literals, value)
        return position < len(literals) and literals[position] == value
    return _compares(operation, value, literals[0])


_POSITIVE: dict[str, Operation] = {"not-eq": "eq", "not-in": "in", "not-starts-with": "starts-with"}


def _compares(operation: Operation, value: Value, literal: Value) -> bool:
    match operation:
        case "eq":
            return value == literal
        case "lt":
            return value < literal  # type: ignore[operator]
        case "lt-eq":
            return value <= literal  # type: ignore[operator]
        case "gt":
            return value > literal  # type: ignore[operator]
        case "gt-eq":
            return value >= literal  # type: ignore[operator]
        case _:
            return str(value).startswith(str(literal))
