"""The modules that use the contract of the default version; a run uses its own version's."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRODUCT = ("src/icecheck", "conformance", "mock_server", "scenarios", "spark_tests", "reports")
# Module -> the reason for the default version. The list may only get shorter.
OF_NO_RUN = {
    "src/icecheck/cli/commands/explain.py": "tells of the newest version: there is no run",
    "src/icecheck/cli/commands/list.py": "tells of the newest version: there is no run",
    "src/icecheck/cli/commands/self_test.py": "opens the runs of which it asks",
    "src/icecheck/run/known_symptoms.py": "imports all checks: a symptom has no version",
}
WITHOUT_A_CONTRACT = {
    "conformance/transactions/contenders.py": "makes moves of a race before there is a catalog",
    "conformance/generated/test_generated.py": "declares a check for each listing",
    "conformance/names/name_resolution.py": "holds ways of asking as data",
    "scenarios/steps/step.py": "holds steps as data",
    "src/icecheck/findings/finding_card.py": "prints findings that carry no version",
    "src/icecheck/wire/credentials.py": "asks before the session has chosen a version",
    "src/icecheck/judging/error_types.py": "holds the types of the prose as data",
    "src/icecheck/findings/merging.py": "groups findings that carry no version",
    "src/icecheck/findings/client_impact.py": "tells of findings that carry no version",
}
SERVES_ONE = "mock_server/"  # the mock serves one version, the default one


def test_only_these_modules_ask_for_the_contract_of_no_version() -> None:
    asking = {
        str(path.relative_to(ROOT))
        for folder in PRODUCT
        for path in (ROOT / folder).rglob("*.py")
        if not any(parent.is_symlink() for parent in path.parents)
        and "src/icecheck/contract" not in str(path)
        and _asks(ast.parse(path.read_text(encoding="utf-8")))
    }
    found = {name for name in asking if not name.startswith(SERVES_ONE)}
    assert found == OF_NO_RUN.keys() | WITHOUT_A_CONTRACT.keys()


def _asks(module: ast.Module) -> bool:
    """Return whether a module calls the contract's `load` without a version, by any import."""
    names: set[str] = set()
    modules: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and node.module == "icecheck.contract":
            names |= {a.asname or a.name for a in node.names if a.name == "load"}
        if isinstance(node, ast.ImportFrom) and node.module == "icecheck":
            modules |= {a.asname or a.name for a in node.names if a.name == "contract"}
    for node in ast.walk(module):
        if not isinstance(node, ast.Call) or node.args or node.keywords:
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in names:
            return True
        if (
            isinstance(called, ast.Attribute)
            and called.attr == "load"
            and isinstance(called.value, ast.Name)
            and called.value.id in modules
        ):
            return True
    return False
