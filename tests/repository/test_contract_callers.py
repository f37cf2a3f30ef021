"""Every place is told the contract that it is about; only where there is no run is one chosen."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from icecheck.conformance.generated.test_generated import LISTINGS
from icecheck.contract import (
    DEFAULT_SPEC_VERSION,
    JUDGED_VERSIONS,
    SPEC_VERSIONS,
    Action,
    load,
)
from icecheck.contract.document import FOLDERS, line_index, version_text
from icecheck.contract.releases import newest
from icecheck.mock_server.protocol.served_contract import SERVED
from icecheck.objects import moves
from icecheck.scenarios.steps import step
from tests.kit.contracts import CONTRACT

CITED = re.compile(r"\bL(\d+)(?:-L?(\d+))?\b")
ROOT = Path(__file__).parents[2]
PRODUCT = ("src/icecheck", "conformance", "mock_server", "scenarios", "spark_tests", "reports")
# Module -> the reason for the default version.
CHOOSING = {
    "src/icecheck/run/releases/choosing.py": "the default of --spec and --conformance-spec",
    "src/icecheck/run/options.py": "the default of a run's options",
    "src/icecheck/client/opening.py": "the default of a session's options",
    "src/icecheck/client/doctor.py": "the default of the doctor's session",
    "src/icecheck/cli/commands/explain.py": "tells of the default version: there is no run",
    "src/icecheck/cli/commands/list.py": "tells of the default version: there is no run",
    "src/icecheck/cli/commands/serve.py": "the default of what is served",
    "src/icecheck/findings/release.py": "what a config has to show more than, to be later",
    "src/icecheck/proof/defective.py": "the default of a session with defects",
    "src/icecheck/proof/kill_matrix.py": "where a defect breaks nothing later",
    "mock_server/mock.py": "the default of what is served",
    "mock_server/protocol/served_contract.py": "the default of what is served",
}
IMPORTS_ALL = """
import importlib, json, pkgutil, sys
import icecheck, icecheck.contract as contract
asking = set()
def watched(ask):
    def told(version):
        asking.add(sys._getframe(1).f_globals["__name__"])
        return ask(version)
    return told
contract.load, contract.contract_for = watched(contract.load), watched(contract.contract_for)
for found in pkgutil.walk_packages(icecheck.__path__, "icecheck."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
print(json.dumps(sorted(asking)))
"""


@pytest.mark.parametrize("version", FOLDERS)
def test_what_is_written_by_hand_for_a_version_names_it(version: str) -> None:
    """Its tag is in every link to a line of the document."""
    assert version_text(version, "release.tag").strip() == f"apache-iceberg-{version}"
    for name in ("prose.json", "overlay.json", "later.json"):
        told = json.loads(version_text(version, name))["info"]
        assert version in f"{told['title']} {told.get('version', '')}", f"the title in {name}"


def test_the_readme_names_the_default_version() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"Specification: Iceberg REST Catalog {DEFAULT_SPEC_VERSION}." in text


def test_the_documents_name_the_last_version_that_is_judged_by_and_that_is_served() -> None:
    judged, served = newest(JUDGED_VERSIONS), newest(SPEC_VERSIONS)
    for name, due in (("README.md", f"to {judged}; "), ("docs/mock.md", f'spec="{served}"')):
        assert due in " ".join((ROOT / name).read_text(encoding="utf-8").split()), name


def test_only_where_there_is_no_run_is_a_version_chosen() -> None:
    choosing = {
        str(path.relative_to(ROOT))
        for folder in PRODUCT
        for path in (ROOT / folder).rglob("*.py")
        if not any(parent.is_symlink() for parent in path.parents)
        and "src/icecheck/contract" not in str(path)
        and "DEFAULT_SPEC_VERSION" in _names(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert choosing == CHOOSING.keys()


def _names(module: ast.Module) -> set[str]:
    return {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}


def test_no_module_binds_a_contract_when_it_is_imported_but_the_mocks_one() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS_ALL], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout.splitlines()[-1]) == [
        "icecheck.mock_server.protocol.served_contract"
    ]


def test_the_mock_serves_the_version_that_the_tests_are_about() -> None:
    words = (
        "SERVED of mock_server/protocol/served_contract.py and DEFAULT_SPEC_VERSION of"
        " src/icecheck/contract/document.py change together"
    )
    assert SERVED == CONTRACT, f"{SERVED.version} and {CONTRACT.version}: {words}"


def test_operations_that_are_named_per_object_are_those_of_every_version() -> None:
    for contract in map(load, SPEC_VERSIONS):
        assert {*contract.by_object(Action.LIST).values()} >= {*LISTINGS}
        assert contract.by_object(Action.LOAD).items() >= moves._LOADS.items()
        assert contract.by_object(Action.DROP).items() >= step._DROPS.items()
        assert contract.by_object(Action.RENAME).items() >= step._RENAMES.items()


def test_the_lines_that_code_cites_are_those_of_the_first_version() -> None:
    end = max(last for _, last in line_index(SPEC_VERSIONS[0]).values())
    wrong = [
        f"{module.relative_to(ROOT)}:{number}: {cited[0]}"
        for folder in PRODUCT
        for module in sorted((ROOT / folder).rglob("*.py"))
        for number, line in enumerate(module.read_text(encoding="utf-8").splitlines(), 1)
        for cited in CITED.finditer(line)
        if not 1 <= int(cited[1]) <= int(cited[2] or cited[1]) <= end
    ]
    rule = (
        f"comments and docstrings cite lines of the {SPEC_VERSIONS[0]} document, which has {end}: "
        "name what only a newer document says by its requirement instead"
    )
    assert not wrong, "\n".join([f"{rule}:", *wrong])
