"""Each process of a test run has a temporary directory of its own; slow tiers are asked for.

A seeded mock keeps its files in a directory that is named after its seed, so that its answers are
the same in every run; of two processes only one can have it. The directory is in memory where the
machine has room there: the mock writes a file for each commit, and a disk takes a millisecond.

Tests marked ``hostile`` build environments or attack for minutes: `tox -e hostile` runs them. Those
marked ``complete("reason")`` repeat with more data, or in more settings, what others show:
`tox -e complete` runs them before a release. Without ``ICECHECK_HOSTILE=1`` or
``ICECHECK_COMPLETE=1``, or ``-m`` with that word, they are deselected; the summary says how many.
"""

import atexit
import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from tests.kit.once import SHARED
from tests.kit.shares import EVERYTHING, JUDGES, SHARE

_MEMORY = Path("/dev/shm")  # noqa: S108 - a directory of our own is made in it
_BYTES_FREE = 8 << 30
_ALLOCATIONS_BEFORE_A_LOOK = 10_000  # for garbage: what JSON is read into has no cycles

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

if "PYTEST_XDIST_WORKER" in os.environ or "TMPDIR" not in os.environ:
    _in_memory = (
        os.environ.get("ICECHECK_HOSTILE") != "1"  # they install whole environments
        and _MEMORY.is_dir()
        and shutil.disk_usage(_MEMORY).free > _BYTES_FREE
    )
    _own = tempfile.mkdtemp(prefix="icecheck-tests-", dir=_MEMORY if _in_memory else None)
    atexit.register(shutil.rmtree, _own, ignore_errors=True)
    os.environ["TMPDIR"] = tempfile.tempdir = _own

if "PYTEST_XDIST_WORKER" in os.environ:
    # Each worker would write the class archive of its Spark when it ends, which takes longer than
    # a start without one.
    os.environ.setdefault("ICECHECK_SPARK_CDS", "0")

if SHARED not in os.environ:
    _shared = tempfile.mkdtemp(prefix="icecheck-shared-")
    atexit.register(shutil.rmtree, _shared, ignore_errors=True)
    os.environ[SHARED] = _shared

TIERS = ("hostile", "complete")
_DESELECTED: pytest.StashKey[dict[str, int]] = pytest.StashKey()
_NAME = "icecheck-deselected"


@pytest.fixture(scope="session")
def one_spark():
    """The Spark of this process, for tests that start one of their own: they have to stop it."""
    from tests.kit.one_spark import OneSpark

    spark = OneSpark()
    yield spark
    spark.stop()


@pytest.fixture(scope="module")
def workbench(one_spark):
    """The JVM that all tests of a process share; each has its own session and catalog."""
    return one_spark.running()


@pytest.fixture(scope="module")
def iceberg_spark_workbench(workbench):
    """Let `iceberg_spark` use it too."""
    return workbench


@pytest.fixture
def other_plugins(monkeypatch):
    """Let the pytest processes of a test load every plugin that is installed, by its entry point.

    Without it they load only ours and xdist's: the others import for two seconds, each time.
    """
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", raising=False)
    monkeypatch.delenv("PYTEST_PLUGINS", raising=False)


@pytest.fixture(autouse=True)
def extent(request):
    """Let a test judge everything if it is marked ``complete``, and shares otherwise."""
    complete = request.node.get_closest_marker("complete") is not None
    before = JUDGES.set(EVERYTHING if complete else SHARE)
    yield
    JUDGES.reset(before)


@pytest.fixture(autouse=True)
def _only_our_plugins(request, monkeypatch):
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)  # it is meant for this pytest
    if request.node.get_closest_marker("hostile") is None:
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        monkeypatch.setenv("PYTEST_PLUGINS", "icecheck.pytest.plugin,xdist.plugin")


@pytest.hookimpl(hookwrapper=True)
def pytest_collection():
    """Look for no garbage among what is collected: all of it stays, and looking takes as long."""
    gc.disable()
    yield
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS_BEFORE_A_LOOK)
    gc.enable()


def pytest_collection_modifyitems(config, items):
    """Deselect the tiers that nobody asks for, and shares where their twins judge everything.

    Tests with Spark come first, so that one worker of xdist has them all, and one JVM is started.
    """
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)
    counts = {}
    if os.environ.get("ICECHECK_COMPLETE") == "1":
        shares = [item for item in items if _judges_a_share(item)]
        items[:] = [item for item in items if not _judges_a_share(item)]
        config.hook.pytest_deselected(items=shares)
    for tier in TIERS:
        asked = os.environ.get(f"ICECHECK_{tier.upper()}") == "1"
        if asked or tier in config.option.markexpr:
            continue
        left_out = [item for item in items if item.get_closest_marker(tier)]
        if left_out:
            items[:] = [item for item in items if not item.get_closest_marker(tier)]
            config.hook.pytest_deselected(items=left_out)
        counts[tier] = len(left_out)
    config.stash[_DESELECTED] = counts


def _judges_a_share(item):
    return hasattr(item, "callspec") and item.callspec.params.get("extent") == SHARE


def pytest_sessionfinish(session):
    """Tell the controlling process of xdist, which collects nothing itself."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput[_NAME] = session.config.stash.get(_DESELECTED, {})


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Take over what a worker has deselected: each of them deselects the same."""
    told = getattr(node, "workeroutput", {}).get(_NAME, {})
    known = node.config.stash.get(_DESELECTED, {})
    node.config.stash[_DESELECTED] = {**known, **told}


def pytest_terminal_summary(terminalreporter, config):
    """Say what was not run, and what runs it."""
    for tier, many in config.stash.get(_DESELECTED, {}).items():
        if many:
            terminalreporter.write_line(
                f"{many} {tier} tests were not run: tox -e {tier} runs them"
            )
