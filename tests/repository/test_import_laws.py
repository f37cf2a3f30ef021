"""The laws of the structure hold for modules that nobody has written yet."""

import shutil
import subprocess
import sys
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
MODULES_MAX = 15
# One file for each operation and kind of update, by design.
ONE_FILE_EACH = {"icecheck.mock_server.operations", "icecheck.mock_server.updates"}
# What stands in a new module, and the law that refuses it.
OFFENCES = {
    "mock_server/offence.py": "from icecheck.judging import envelopes",
    "contract/offence.py": "from icecheck.targets import offer",
    "targets/offence.py": "from icecheck import cli",
    "findings/offence.py": "from icecheck.wire import exchange",
    "judging/offence.py": "from icecheck.mock_server import MockCatalog",
    "conformance/offence.py": "from icecheck.scenarios import model",
    "reports/offence.py": "from icecheck.client import catalog",
    "run/offence.py": "import pytest",
    "another/offence.py": "",
}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("icecheck", cache_dir=None)


def test_no_module_imports_itself_through_others(graph: grimp.ImportGraph) -> None:
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    TopologicalSorter(imports).prepare()


def test_no_package_imports_itself_through_its_neighbours() -> None:
    """Annotations aside: the mock's context holds what stands on it."""
    graph = grimp.build_graph("icecheck", cache_dir=None, exclude_type_checking_imports=True)
    for package in sorted({name.rpartition(".")[0] for name in graph.modules} - {""}):
        inner: dict[str, set[str]] = {}
        for importer in graph.modules:
            for imported in graph.find_modules_directly_imported_by(importer):
                ends = [_child(package, importer), _child(package, imported)]
                if all(ends) and ends[0] != ends[1]:
                    inner.setdefault(ends[0], set()).add(ends[1])
        # A door that pytest finds by name, and what it opens, are no layer of either side.
        inner = {name: found for name, found in inner.items() if not name.endswith("conftest")}
        TopologicalSorter(inner).prepare()


def _child(package: str, module: str) -> str:
    """Return the module or package directly in a package that a module is, or is in."""
    if module.endswith(".conftest") or not module.startswith(f"{package}."):
        return ""
    return f"{package}.{module.removeprefix(f'{package}.').partition('.')[0]}"


def test_no_folder_has_more_modules_than_a_reader_can_hold(graph: grimp.ImportGraph) -> None:
    sizes = Counter(
        name.rpartition(".")[0]
        for name in graph.modules
        if not graph.find_children(name) and not name.endswith(".conftest")
    )
    full = {name: size for name, size in sizes.items() if size > MODULES_MAX}
    assert full.keys() <= ONE_FILE_EACH, full


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What is told of a copy of the package that has one offending module in each place."""
    copy = tmp_path_factory.mktemp("offences")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "icecheck", copy / "icecheck", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", copy)
    for place, line in OFFENCES.items():
        module = copy / "icecheck" / place
        if not module.parent.exists():
            module.parent.mkdir()
            (module.parent / "__init__.py").touch()
        module.write_text(f"{line}\n")
    checked = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()",
         "--no-cache"],
        cwd=copy, env={"PYTHONPATH": str(copy), "COLUMNS": "200"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert checked.returncode == 1, checked.stdout + checked.stderr
    return checked.stdout


@pytest.mark.parametrize("place", sorted(set(OFFENCES) - {"another/offence.py"}))
def test_an_offending_import_in_a_new_module_is_refused(told: str, place: str) -> None:
    assert f"icecheck.{place.removesuffix('.py').replace('/', '.')} ->" in told


def test_a_package_that_no_layer_names_is_refused(told: str) -> None:

    assert "another" in told
