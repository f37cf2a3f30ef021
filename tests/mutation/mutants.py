"""Small changes of functions: which there are, and how one is put into a process that runs."""

import ast
import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType

_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.Lt: ast.LtE, ast.Gt: ast.GtE, ast.In: ast.NotIn, ast.Is: ast.IsNot,
}  # fmt: skip
_FLIPPED |= {changed: kept for kept, changed in _FLIPPED.items()}
_RECKONED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Mult: ast.FloorDiv, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift,
}  # fmt: skip
_RECKONED |= {changed: kept for kept, changed in _RECKONED.items()}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: of the ``index``-th node of a module, as its ``kind`` says."""

    path: Path
    line: int
    kind: str
    index: int

    def __str__(self) -> str:
        """Return where it is: `updates/schemas.py:42 dropped statement`."""
        return f"{'/'.join(self.path.parts[-2:])}:{self.line} {self.kind}"

    def put_into(self, functions: list[FunctionType]) -> set[FunctionType]:
        """Give the functions of the module the changed code; return those that it changes."""
        tree = ast.parse(self.path.read_bytes())
        _Changed(list(ast.walk(tree))[self.index], _CHANGES[self.kind]).visit(tree)
        code = compile(ast.fix_missing_locations(tree), str(self.path), "exec")
        new = {(c.co_qualname, c.co_firstlineno): c for c in _codes_in(code)}
        changed = set()
        for function in functions:
            old = function.__code__
            found = new.get((old.co_qualname, old.co_firstlineno))
            if found is None:
                continue
            found = found.replace(co_filename=old.co_filename)
            if found != old:
                function.__code__ = found
                changed.add(function)
        return changed


class _Changed(ast.NodeTransformer):
    def __init__(self, node: ast.AST, change: Callable[..., ast.AST]) -> None:
        self._node, self._change = node, change

    def visit(self, node: ast.AST) -> ast.AST:
        return self._change(node) if node is self._node else self.generic_visit(node)


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield the changes of what stands in the functions of a module, texts for people apart."""
    tree = ast.parse(path.read_bytes())
    index = {node: number for number, node in enumerate(ast.walk(tree))}
    for function in (node for node in index if isinstance(node, _FUNCTIONS)):
        for statement in function.body:
            for node in _outside_texts(statement):
                for kind in _kinds(node):
                    yield Mutant(path, getattr(node, "lineno", 0), kind, index[node])


def functions_below(folder: Path) -> dict[Path, list[FunctionType]]:
    """Return the functions that are in memory, methods and decorated ones too, by their file."""
    found: dict[Path, list[FunctionType]] = {}
    for each in gc.get_objects():
        if isinstance(each, FunctionType):
            path = Path(each.__code__.co_filename).resolve()
            if path.is_relative_to(folder):
                found.setdefault(path, []).append(each)
    return found


def _outside_texts(node: ast.AST) -> Iterator[ast.AST]:
    """Walk below a node, but not into inner functions, errors that are raised, and annotations."""
    yield node
    if isinstance(node, (*_FUNCTIONS, ast.Raise, ast.JoinedStr, ast.MatchValue)):
        return
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name != "annotation":
                yield from _outside_texts(child)


def _kinds(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Compare() if type(node.ops[0]) in _FLIPPED:
            yield "other comparison"
        case ast.BoolOp():
            yield "and for or"
        case ast.BinOp() if type(node.op) in _RECKONED:
            yield "other operator"
        case ast.If() | ast.IfExp() | ast.While():
            yield "negated test"
        case ast.Constant(value=bool() | int()):
            yield "other constant"
        case ast.Constant(value=str(text)) if " " not in text and "\n" not in text:
            yield "other constant"
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
            yield "dropped statement"
        case ast.Return(value=ast.AST()):
            yield "returned nothing"
        case ast.Call(args=[_, _, *_]) if not any(isinstance(a, ast.Starred) for a in node.args):
            yield "swapped arguments"


def _flipped(node: ast.Compare) -> ast.AST:
    return ast.Compare(node.left, [_FLIPPED[type(node.ops[0])](), *node.ops[1:]], node.comparators)


def _and_for_or(node: ast.BoolOp) -> ast.AST:
    return ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)


def _negated(node: ast.If | ast.IfExp | ast.While) -> ast.AST:
    node.test = ast.UnaryOp(ast.Not(), node.test)
    return node


def _other(node: ast.Constant) -> ast.AST:
    value = node.value
    match value:
        case bool():
            return ast.Constant(not value)
        case int():
            return ast.Constant(value + 1)
    return ast.Constant(f"{value}x")


def _swapped(node: ast.Call) -> ast.AST:
    first, second, *rest = node.args
    return ast.Call(node.func, [second, first, *rest], node.keywords)


_CHANGES: dict[str, Callable[..., ast.AST]] = {
    "other comparison": _flipped,
    "and for or": _and_for_or,
    "other operator": lambda n: ast.BinOp(n.left, _RECKONED[type(n.op)](), n.right),
    "negated test": _negated,
    "other constant": _other,
    "dropped statement": lambda _: ast.Pass(),
    "returned nothing": lambda _: ast.Return(ast.Constant(None)),
    "swapped arguments": _swapped,
}


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes_in(constant)
