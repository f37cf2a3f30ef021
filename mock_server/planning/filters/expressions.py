"""Filter expressions as the protocol writes them (L2180-L2300): parsed, simplified, written."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_args

from msgspec import Struct

from icecheck.mock_server.protocol.problem import bad_request

Operation: TypeAlias = Literal[
    "is-null", "not-null", "is-nan", "not-nan",
    "lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq", "starts-with", "not-starts-with",
    "in", "not-in",
]  # fmt: skip

Connective: TypeAlias = Literal["and", "or"]

UNARY_OPERATIONS = frozenset({"is-null", "not-null", "is-nan", "not-nan"})
SET_OPERATIONS = frozenset({"in", "not-in"})
HEIGHT_MAX = 50
"""How often `and` and `or` may alternate on the path to a predicate."""

_OPERATIONS: dict[str, Operation] = {name: name for name in get_args(Operation)}
_NEGATED: dict[Operation, Operation] = {
    "is-null": "not-null", "not-null": "is-null", "is-nan": "not-nan", "not-nan": "is-nan",
    "lt": "gt-eq", "gt-eq": "lt", "lt-eq": "gt", "gt": "lt-eq", "eq": "not-eq", "not-eq": "eq",
    "starts-with": "not-starts-with", "not-starts-with": "starts-with",
    "in": "not-in", "not-in": "in",
}  # fmt: skip
_OTHER_CONNECTIVE: dict[Connective, Connective] = {"and": "or", "or": "and"}

T = TypeVar("T")
L = TypeVar("L")
M = TypeVar("M")


class Always(Struct, frozen=True, gc=False):
    """The constant true or false."""

    value: bool


class Predicate(Struct, frozen=True):
    """A test of one column, not yet bound to a schema.

    `transform` is None where the column itself is meant. `literals` are JSON values as sent: none
    for the unary operations, one for the comparisons, any number for `in` and `not-in`.
    """

    operation: Operation
    column: str
    transform: str | None
    literals: tuple[Any, ...]


class Combined(Struct, Generic[L], frozen=True):
    """All (`and`) or one (`or`) of at least two trees, none of them of the same connective.

    `height` counts the connectives on the longest path down.
    """

    connective: Connective
    children: "tuple[Tree[L], ...]"
    height: int


Tree: TypeAlias = Always | L | Combined[L]
"""An expression whose leaves are tests of some kind; it has no negations."""

Expression: TypeAlias = Tree[Predicate]

ALWAYS_TRUE = Always(True)
ALWAYS_FALSE = Always(False)


class _Join(Struct, frozen=True):
    connective: Connective


class _Visit(Struct, frozen=True):
    json: Any
    negated: bool


def parse_expression(json: Any) -> Expression:
    """Parse an expression and push negations down to the predicates; Problem 400 if it is none.

    Every form of the document is accepted, and Java's further forms: bare booleans, and literals
    and references as objects. Members that the document does not have are ignored.
    """
    pending: list[_Join | _Visit] = [_Visit(json, negated=False)]
    done: list[Expression] = []
    while pending:
        step = pending.pop()
        if isinstance(step, _Join):
            right, left = done.pop(), done.pop()
            joined = combined(step.connective, (left, right))
            if isinstance(joined, Combined) and joined.height > HEIGHT_MAX:
                raise bad_request("Invalid expression: nested too deeply")
            done.append(joined)
            continue
        match step.json:
            case bool():
                done.append(Always(step.json != step.negated))
            case {"type": str() as kind}:
                _expand(kind, step.json, step.negated, pending, done)
            case _:
                raise bad_request(f"Cannot parse expression: {_shown(step.json)}")
    return done[0]


def _expand(
    kind: str,
    members: dict[str, Any],
    negated: bool,
    pending: list[_Join | _Visit],
    done: list[Expression],
) -> None:
    match kind:
        case "true" | "false":
            done.append(Always((kind == "true") != negated))
        case "literal":
            value = _member(kind, members, "value")
            if not isinstance(value, bool):
                raise bad_request("Cannot parse expression: a literal must be a boolean here")
            done.append(Always(value != negated))
        case "and" | "or":
            given: Connective = "and" if kind == "and" else "or"
            connective = _OTHER_CONNECTIVE[given] if negated else given
            left, right = _member(kind, members, "left"), _member(kind, members, "right")
            pending += (_Join(connective), _Visit(right, negated), _Visit(left, negated))
        case "not":
            pending.append(_Visit(_member(kind, members, "child"), not negated))
        case _:
            operation = _OPERATIONS.get(kind)
            if operation is None:
                raise bad_request(f"Unknown expression type: {kind[:100]}")
            predicate = _predicate(operation, members)
            if negated:
                operation = _NEGATED[operation]
            done.append(
                Predicate(operation, predicate.column, predicate.transform, predicate.literals)
            )


def _predicate(operation: Operation, members: dict[str, Any]) -> Predicate:
    column, transform = _term(_member(operation, members, "term"))
    if operation in UNARY_OPERATIONS:
        # The document's schema demands a `value` here, but no client sends one.
        return Predicate(operation, column, transform, ())
    if operation in SET_OPERATIONS:
        values = _member(operation, members, "values")
        if not isinstance(values, list):
            raise bad_request(f"The values of {operation} must be an array")
        literals = tuple(_literal(operation, value) for value in values)
        return Predicate(operation, column, transform, literals)
    literal = _literal(operation, _member(operation, members, "value"))
    return Predicate(operation, column, transform, (literal,))


def _term(term: Any) -> tuple[str, str | None]:
    match term:
        case str():
            return term, None
        case {"type": "reference", "term": str() as column}:
            return column, None
        case {"type": "transform", "transform": str() as transform, "term": str() as column}:
            return column, transform
        case {
            "type": "transform",
            "transform": str() as transform,
            "term": {"type": "reference", "term": str() as column},
        }:
            return column, transform
    raise bad_request(f"Cannot parse term: {_shown(term)}")


def _literal(operation: str, value: Any) -> bool | int | float | str:
    if isinstance(value, dict) and value.get("type") == "literal":
        value = value.get("value")
    if not isinstance(value, bool | int | float | str):
        raise bad_request(f"Invalid value for {operation}: {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    # The text of an object or array is left out: making it could take long, or too much stack.
    match value:
        case dict():
            return "an object"
        case list():
            return "an array"
        case _:
            return str(value)[:100]


def _member(kind: str, members: dict[str, Any], name: str) -> Any:
    if name not in members:
        raise bad_request(f"Cannot parse {kind}: missing {name}")
    return members[name]


def combined(connective: Connective, children: Iterable[Tree[L]]) -> Tree[L]:
    """Return all (`and`) or one (`or`) of some trees; constants and nesting are simplified away."""
    absorbing = connective == "or"
    kept: list[Tree[L]] = []
    for child in children:
        if isinstance(child, Always):
            if child.value == absorbing:
                return child
        elif isinstance(child, Combined) and child.connective == connective:
            kept += child.children
        else:
            kept.append(child)
    if not kept:
        return Always(not absorbing)
    if len(kept) == 1:
        return kept[0]
    height = 1 + max(child.height if isinstance(child, Combined) else 0 for child in kept)
    return Combined(connective, tuple(kept), height)


def fold(
    tree: Tree[L],
    leaf: Callable[[L | Always], T],
    join: Callable[[Connective, Iterator[T]], T],
) -> T:
    """Compute a value from the leaves up; `join` may stop before the last child is computed.

    `HEIGHT_MAX` bounds the depth of this recursion.
    """
    if isinstance(tree, Combined):
        return join(tree.connective, (fold(child, leaf, join) for child in tree.children))
    return leaf(tree)


def mapped(tree: Tree[L], leaf: Callable[[L | Always], Tree[M]]) -> Tree[M]:
    """Replace every leaf, and simplify."""
    if isinstance(tree, Combined):
        return combined(tree.connective, [mapped(child, leaf) for child in tree.children])
    return leaf(tree)


def expression_json(expression: Expression) -> Any:
    """Return an expression in the document's form; constants are bare booleans.

    All clients read bare booleans. Long conjunctions become balanced trees, so that they overflow
    no client's stack.
    """
    return fold(expression, _leaf_json, _joined_json)


def _leaf_json(leaf: Predicate | Always) -> Any:
    if isinstance(leaf, Always):
        return leaf.value
    term: Any = leaf.column
    if leaf.transform is not None:
        term = {"type": "transform", "transform": leaf.transform, "term": leaf.column}
    written = {"type": leaf.operation, "term": term}
    if leaf.operation in SET_OPERATIONS:
        return {**written, "values": list(leaf.literals)}
    if leaf.literals:
        return {**written, "value": leaf.literals[0]}
    return written


def _joined_json(connective: Connective, of: Iterator[Any]) -> Any:
    children = list(of)
    while len(children) > 1:
        paired = [
            {"type": connective, "left": left, "right": right}
            for left, right in zip(children[::2], children[1::2], strict=False)
        ]
        children = paired + children[len(paired) * 2 :]
    return children[0]
