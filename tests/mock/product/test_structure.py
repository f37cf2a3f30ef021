"""The mock shares nothing with the suite but the contract; `tests/repository` has other laws."""

import ast
from collections.abc import Iterator
from pathlib import Path

import icecheck.mock_server

HOME = Path(icecheck.mock_server.__path__[0])
NAME = "icecheck.mock_server"
SHARED = ("icecheck.contract", NAME)


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(HOME.rglob("*.py")):
        steps = path.relative_to(HOME).with_suffix("").parts
        found[".".join([NAME, *steps]).removesuffix(".__init__")] = path
    return found


def imported(body: list[ast.stmt]) -> Iterator[str]:
    """Names of ours that a module imports, in functions too, but for annotations alone."""
    for statement in body:
        match statement:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield from imported(statement.orelse)
            case ast.Import(names=names):
                yield from (each.name for each in names if each.name.startswith("icecheck"))
            case ast.ImportFrom(module=str(source), names=names) if source.startswith("icecheck"):
                yield from (f"{source}.{each.name}" for each in names)
            case _:
                inner = ast.iter_child_nodes(statement)
                yield from imported([node for node in inner if isinstance(node, ast.stmt)])


def test_the_mock_imports_nothing_of_the_suite_but_the_contract() -> None:
    foreign = {
        (module, name)
        for module, path in modules().items()
        for name in imported(ast.parse(path.read_text()).body)
        if not name.startswith(tuple(f"{each}." for each in SHARED))
    }
    assert foreign == set()
