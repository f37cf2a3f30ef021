"""Workers side by side get temporary directories of their own; what is hostile is asked for.

A seeded mock keeps its files in a directory that is named after its seed, so that its answers are
the same in every run; of two processes only one can have it.

Tests marked ``hostile`` build environments or attack for minutes: `tox -e hostile` runs them.
Without ``ICECHECK_HOSTILE=1``, or ``-m`` with that word, they are deselected, and the summary says
how many.
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

_DESELECTED: pytest.StashKey[int] = pytest.StashKey()
_NAME = "icecheck-hostile-deselected"


def pytest_collection_modifyitems(config, items):
    """Deselect what is hostile unless it is asked for."""
    if os.environ.get("ICECHECK_HOSTILE") == "1" or "hostile" in config.option.markexpr:
        return
    hostile = [item for item in items if item.get_closest_marker("hostile")]
    if hostile:
        items[:] = [item for item in items if item not in hostile]
        config.hook.pytest_deselected(items=hostile)
    config.stash[_DESELECTED] = len(hostile)


def pytest_sessionfinish(session):
    """Tell the controlling process of xdist, which collects nothing itself."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput[_NAME] = session.config.stash.get(_DESELECTED, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Take over what a worker has deselected: each of them deselects the same."""
    told = getattr(node, "workeroutput", {}).get(_NAME, 0)
    node.config.stash[_DESELECTED] = max(told, node.config.stash.get(_DESELECTED, 0))


def pytest_terminal_summary(terminalreporter, config):
    """Say what was not run, and what runs it."""
    if many := config.stash.get(_DESELECTED, 0):
        terminalreporter.write_line(f"{many} hostile tests were not run: tox -e hostile runs them")
