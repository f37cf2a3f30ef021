"""Gives every check file one module name: ``pytest conformance/…`` becomes the package path."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent
LINKED = ("conformance", "mock_server", "scenarios", "spark_tests", "reports")


def pytest_configure(config: pytest.Config) -> None:
    """Rewrite ``conformance/test_x.py`` to ``src/icecheck/conformance/test_x.py``."""
    config.args[:] = [_rewritten(argument) for argument in config.args]


def _rewritten(argument: str) -> str:
    path, separator, node = argument.partition("::")
    try:
        relative = Path(path).absolute().relative_to(ROOT)
    except ValueError:
        return argument
    if relative.parts and relative.parts[0] in LINKED:
        return str(ROOT / "src" / "icecheck" / relative) + separator + node
    return argument
