"""The wheel, run by uvx without being installed, and the action that installs it itself."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from icecheck.mock_server import MockCatalog
from tests.pipeline.action import run_action

pytestmark = pytest.mark.hostile

ROOT = Path(__file__).parents[2]
FEW = ("--only", "checks", "--check", "dropNamespace.*")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel that `python -m build --wheel` makes, in a directory whose name has a space."""
    place = tmp_path_factory.mktemp("a wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(place), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (made,) = place.glob("icecheck-*.whl")
    return made


@pytest.fixture(scope="module")
def uvx(tmp_path_factory):
    """Run uvx, from an environment of its own and with a cache of its own: ``uvx(cwd, *words)``."""
    place = tmp_path_factory.mktemp("uv")
    subprocess.run([sys.executable, "-m", "venv", str(place / "env")], check=True)
    subprocess.run([place / "env" / "bin" / "pip", "install", "-q", "uv"], check=True)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "CATALOG_"))}
    kept |= {"UV_CACHE_DIR": str(place / "cache"), "UV_PYTHON": sys.executable}
    kept |= {"PATH": f"{place / 'env' / 'bin'}{os.pathsep}{os.environ['PATH']}"}

    def run(cwd, *words):
        return subprocess.run(
            words, cwd=cwd, env=kept, capture_output=True, text=True, timeout=600, check=False
        )

    return run


@pytest.fixture
def mock():
    with MockCatalog(warehouses=["wh"]) as catalog:
        yield catalog


def spellings(wheel):
    """The ways to name the wheel and the extra, as (directory, name)."""
    return [
        (None, f"{wheel}[suite]"),
        (wheel.parent, f"{wheel.name}[suite]"),
        (wheel.parent, f"./{wheel.name}[suite]"),
        (None, f"icecheck[suite] @ {wheel.as_uri()}"),
    ]


def test_a_wheel_verifies_a_catalog_without_being_installed(uvx, wheel, mock, tmp_path):
    for number, (directory, name) in enumerate(spellings(wheel)):
        output = tmp_path / str(number)
        command = ("uvx", "--from", name, "icecheck", "run", mock.uri, "--warehouse", "wh", *FEW)
        done = uvx(directory or tmp_path, *command, "--output", str(output))
        assert done.returncode == 0, done.stdout + done.stderr
        assert (output / "run.json").is_file()


def test_without_the_extra_it_goes_on_with_it(uvx, wheel, mock, tmp_path):
    command = ("uvx", "-q", "--from", wheel, "icecheck", "run", mock.uri, "--warehouse", "wh", *FEW)
    done = uvx(tmp_path, *command)
    assert done.returncode == 0, done.stderr
    assert "CONFORMANT" in done.stdout or "PARTIAL" in done.stdout
    (line, *_) = done.stderr.splitlines()
    typed = line.partition(" goes on with ")[2]
    assert shlex.split(typed) == ["uvx", "--from", f"{wheel}[suite]"]


def test_where_uvx_cannot_go_on_one_line_says_what_to_type(uvx, wheel, mock, tmp_path):
    command = ("uvx", "-q", "--from", wheel, "icecheck", "run", mock.uri, *FEW)
    done = uvx(tmp_path, "env", "ICECHECK_GOES_ON_WITH=suite", *command)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    typed = line.partition(" run ")[2]
    expected = ["uvx", "--from", f"{wheel}[suite]", "icecheck", "run", mock.uri, *FEW]
    assert sorted(shlex.split(typed)) == sorted(expected)
    again = uvx(tmp_path, "bash", "-c", typed)
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("source", ["clone", "wheel"])
def test_the_action_installs_icecheck_by_itself(source, wheel, mock, tmp_path):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    inputs = {"catalog-url": mock.uri, "warehouse": "wh", "options": "--check dropNamespace.*"}
    inputs |= {"install-from": str(wheel)} if source == "wheel" else {}
    done = run_action(workspace, inputs, programs=None, timeout=1200)
    assert done.code == 0, done.log
    assert done.outputs["exit-reason"] == "gate-satisfied"
