"""The mock's rooms: small, without circles, and sharing nothing with the suite but the contract."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import icecheck.mock_server

HOME = Path(icecheck.mock_server.__path__[0])
NAME = "icecheck.mock_server"
SHARED = ("icecheck.contract", NAME)
FOLDER_MAX = 15
ONE_FILE_EACH = {"operations", "updates"}


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


def test_no_modules_import_each_other_in_a_circle() -> None:
    known = modules()
    edges: dict[str, set[str]] = {}
    for module, path in known.items():
        names = imported(ast.parse(path.read_text()).body)
        homes = (name if name in known else name.rpartition(".")[0] for name in names)
        edges[module] = {home for home in homes if home in known and home != module}
    assert edges[f"{NAME}.mock"]
    TopologicalSorter(edges).prepare()  # CycleError names the modules


def test_a_folder_has_few_modules() -> None:
    folders = {path.parent for path in modules().values()}
    counts = {
        folder.relative_to(HOME).as_posix(): len([*folder.glob("[!_]*.py")]) for folder in folders
    }
    large = {folder for folder, count in counts.items() if count > FOLDER_MAX}
    assert large <= ONE_FILE_EACH
