"""Environments as users have them: only what one extra brings, the oldest pytest, another Spark.

Each is built with pip from this tree, which takes minutes and a package index: `tox -e hostile`.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from icecheck.mock_server import MockCatalog

pytestmark = pytest.mark.hostile

ROOT = Path(__file__).parents[2]

ON_ITS_OWN_NAMESPACE = """\
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

def test_mine(iceberg_catalog, iceberg_namespace):
    schema = Schema(NestedField(1, "id", LongType()))
    iceberg_catalog.create_table(f"{iceberg_namespace}.t", schema)
    assert iceberg_catalog.table_exists(f"{iceberg_namespace}.t")
"""

Build = Callable[..., Path]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Makes an environment with icecheck and an extra, and what else is named; kept for all."""
    made: dict[tuple[str, ...], Path] = {}

    def environment(extra: str, *more: str) -> Path:
        key = (extra, *more)
        if key not in made:
            place = tmp_path_factory.mktemp("env")
            subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
            wanted = f"{ROOT}[{extra}]" if extra else str(ROOT)
            pip = [place / "bin" / "python", "-m", "pip", "install", "-q", wanted, *more]
            subprocess.run(pip, check=True, cwd=place)
            made[key] = place / "bin" / "python"
        return made[key]

    return environment


def run(python: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "-m", *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("more", [(), ("--collect-only",)], ids=["run", "collect"])
@pytest.mark.parametrize("folder", ["conformance", "scenarios", "spark_tests"])
def test_checks_on_a_core_install_are_one_line_that_names_the_extra(build, tmp_path, folder, more):
    python = build("", "pytest")
    done = run(python, tmp_path, "pytest", "-q", "--pyargs", f"icecheck.{folder}", *more)
    assert done.returncode == 4
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    assert f"pip install '{ROOT}[suite]'" in said[-1]
    assert len(said) <= 2


def test_a_core_install_does_not_disturb_a_project_of_its_own(build, tmp_path):
    (tmp_path / "test_own.py").write_text("def test_own():\n    pass\n")
    done = run(build("", "pytest"), tmp_path, "pytest", "-q", "-W", "error", "--strict-markers")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "icecheck" not in done.stdout


@pytest.mark.parametrize("release", ["pytest>=8", "pytest==8.0.0"])
def test_fixtures_work_with_pyiceberg_alone_on_the_mock_and_on_a_catalog(build, tmp_path, release):
    python = build("", release, "pyiceberg>=0.10,<0.13")
    (tmp_path / "test_mine.py").write_text(ON_ITS_OWN_NAMESPACE)
    assert run(python, tmp_path, "pytest").returncode == 0
    with MockCatalog(warehouses=["wh"]) as mock:
        target = ("--catalog-url", mock.uri, "--catalog-warehouse", "wh")
        done = run(python, tmp_path, "pytest", *target)
        assert done.returncode == 0, done.stdout + done.stderr
        assert mock.journal.count("createTable") > 0
        assert list(mock.state("wh").namespaces.after()) == []


def test_options_yield_with_the_oldest_pytest_too(build):
    python = build("", "pytest==8.0.0", "pytest-xdist", "pyiceberg>=0.10,<0.13")
    tests = ROOT / "tests" / "hostile" / "test_foreign_projects.py"
    chosen = ("-k", "not do_not_reach_the_checks")  # the checks are in an extra
    done = run(python, ROOT, "pytest", "-q", "-c", "/dev/null", str(tests), *chosen)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_suite_brings_what_the_command_of_the_readme_uses(build, tmp_path):
    with MockCatalog(warehouses=["wh"]) as mock:
        target = ("--catalog-url", mock.uri, "--catalog-warehouse", "wh", "-n", "2")
        few = ("--pyargs", "icecheck.conformance.metrics.test_metrics")
        done = run(build("suite"), tmp_path, "pytest", "-q", *few, *target)
    assert done.returncode == 0, done.stdout + done.stderr


def test_another_patch_release_of_spark_starts_and_writes(build):
    python = build("spark", "pyspark==3.5.6")
    smoke = ROOT / "tests" / "spark" / "test_spark_smoke.py"
    done = run(python, ROOT, "pytest", "-q", "-p", "no:cacheprovider", str(smoke))
    assert done.returncode == 0, done.stdout + done.stderr
