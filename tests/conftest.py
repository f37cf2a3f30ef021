"""Workers side by side get temporary directories of their own; what builds environments waits.

A seeded mock keeps its files in a directory that is named after its seed, so that its answers are
the same in every run; of two processes only one can have it.
"""

import atexit
import os
import shutil
import tempfile

import pytest

if os.environ.get("PYTEST_XDIST_WORKER"):
    _own = tempfile.mkdtemp(prefix="icecheck-worker-")
    atexit.register(shutil.rmtree, _own, ignore_errors=True)
    os.environ["TMPDIR"] = tempfile.tempdir = _own

ENVIRONMENT_TESTS = "ICECHECK_HOSTILE"
"""Set by `tox -e hostile`: also the tests that build environments are run, for minutes."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what builds environments, unless it was asked for; deselected, and not skipped."""
    if os.environ.get(ENVIRONMENT_TESTS):
        return
    left_out = [item for item in items if item.get_closest_marker("hostile")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: "pytest.TerminalReporter") -> None:
    """Say what a run of the tests left out: workers' counts of it are not shown."""
    if not os.environ.get(ENVIRONMENT_TESTS):
        terminalreporter.write_line(
            "left out: tests that build environments (marker hostile); run `tox -e hostile`"
        )
