"""Other projects, in an environment that has icecheck: their options, keys and fixtures are theirs.

Each is a small project of its own, run by a pytest in a process of its own.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from icecheck.mock_server import MockCatalog
from tests.kit.shares import some

ENVIRONMENT = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
PATHS = tuple(filter(None, [os.environ.get("PYTHONPATH")]))
OURS = ("-p", "icecheck.pytest.plugin")

ADDS_OPTION = """\
def pytest_addoption(parser):
    parser.addoption("--catalog-url", default="nothing", help="theirs")
    parser.addini("catalog_warehouse", "theirs", default="their default")
"""

USES_OPTION = """\
def test_theirs(request):
    assert request.config.getoption("--catalog-url") == "{expected}"
    assert request.config.getini("catalog_warehouse") == "{warehouse}"
"""

ON_A_CATALOG = """\
def test_ours(iceberg_catalog):
    assert ("there",) in iceberg_catalog.list_namespaces()
"""


def run_pytest(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=cwd,
        env={**ENVIRONMENT, "PYTHONPATH": os.pathsep.join((str(cwd), *PATHS))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def mock():
    with MockCatalog(warehouses=["wh"]) as running:
        running.pyiceberg("wh").create_namespace("there")
        yield running


def project(place: Path, adds: str, *, expected: str, warehouse: str = "their default") -> Path:
    """A project whose plugin or conftest (``adds``) has an option that is called like ours."""
    (place / f"{adds}.py").write_text(ADDS_OPTION)
    test = USES_OPTION.format(expected=expected, warehouse=warehouse)
    (place / "test_theirs.py").write_text(test)
    (place / "pytest.ini").write_text("[pytest]\n")
    return place


ORDERS = {
    "conftest": ("conftest", OURS),
    "plugin after ours": ("theirs", (*OURS, "-p", "theirs")),
    "plugin before ours": ("theirs", ("-p", "theirs", *OURS)),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("spelling", [("--catalog-url", "abc"), ("--catalog-url=abc",)])
def test_an_option_of_the_same_name_is_theirs(tmp_path, order, spelling):
    adds, plugins = ORDERS[order]
    project(tmp_path, adds, expected="abc")
    done = run_pytest(tmp_path, *plugins, *spelling)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.parametrize("order", some(ORDERS, 3))
def test_icechecks_own_spelling_works_beside_theirs_and_a_warning_names_it(tmp_path, order, mock):
    adds, plugins = ORDERS[order]
    project(tmp_path, adds, expected="abc")
    (tmp_path / "test_ours.py").write_text(ON_A_CATALOG)
    ours = ("--icecheck-catalog-url", mock.uri, "--icecheck-catalog-warehouse=wh")
    done = run_pytest(tmp_path, *plugins, "--catalog-url", "abc", *ours)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
    assert "--icecheck-catalog-url" in done.stdout.partition("warnings summary")[2]


@pytest.mark.parametrize("order", some(ORDERS, 3))
def test_a_project_where_warnings_are_errors_is_not_ended(tmp_path, order):
    adds, plugins = ORDERS[order]
    project(tmp_path, adds, expected="nothing")
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nfilterwarnings = error\naddopts = --strict-markers --strict-config\n"
    )
    done = run_pytest(tmp_path, *plugins, "-W", "error")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("order", some(ORDERS, 3))
def test_keys_of_the_ini_file_are_theirs(tmp_path, order):
    adds, plugins = ORDERS[order]
    project(tmp_path, adds, expected="nothing", warehouse="of theirs")
    (tmp_path / "pytest.ini").write_text("[pytest]\ncatalog_warehouse = of theirs\n")
    done = run_pytest(tmp_path, *plugins, "--strict-config")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_key_of_theirs_does_not_name_a_catalog_for_ours(tmp_path):
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addini('catalog_url', 'theirs', type='paths')\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\ncatalog_url = http://127.0.0.1:9\n")
    (tmp_path / "test_theirs.py").write_text(
        "def test_theirs(request, iceberg_catalog):\n"
        "    assert len(request.config.getini('catalog_url')) == 1\n"
        "    assert iceberg_catalog.list_namespaces() == []\n"
    )
    done = run_pytest(tmp_path, *OURS)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.complete("another spelling of one key is usual")
def test_our_key_works_beside_theirs_in_its_own_spelling(tmp_path, mock):
    project(tmp_path, "conftest", expected="nothing", warehouse="of theirs")
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\ncatalog_warehouse = of theirs\n"
        f"icecheck_catalog_url = {mock.uri}\nicecheck_catalog_warehouse = wh\n"
    )
    (tmp_path / "test_ours.py").write_text(ON_A_CATALOG)
    done = run_pytest(tmp_path, *OURS, "--strict-config")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_flag_of_theirs_does_not_swallow_the_file_after_it(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "conftest.py").write_text(
        "def pytest_addoption(parser):\n"
        "    parser.addoption('--catalog-timeout', action='store_true')\n"
    )
    (inner / "test_theirs.py").write_text(
        "def test_theirs(request):\n    assert request.config.getoption('--catalog-timeout')\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = run_pytest(tmp_path, *OURS, "--catalog-timeout", "inner/test_theirs.py")
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_ours_would_refuse_is_no_error_where_it_is_theirs(tmp_path):
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser):\n"
        "    for name in ('timeout', 'isolation', 'race-rounds'):\n"
        "        parser.addoption(f'--catalog-{name}')\n"
    )
    (tmp_path / "test_theirs.py").write_text(
        "def test_theirs(request):\n    assert request.config.getoption('catalog_timeout') == 'x'\n"
    )
    given = ("--catalog-timeout=x", "--catalog-isolation=y", "--catalog-race-rounds=z")
    done = run_pytest(tmp_path, *OURS, *given)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_option_has_a_spelling_of_its_own_and_the_help_names_both(tmp_path):
    shown = run_pytest(tmp_path, *OURS, "--help").stdout
    long = {word.partition("=")[0] for word in shown.split() if word.startswith("--icecheck-")}
    assert {"--icecheck-catalog-url", "--icecheck-conformance-report"} <= long
    assert [name for name in long if f"or --{name.removeprefix('--icecheck-')}:" not in shown] == []


@pytest.mark.complete("one spelling is usual")
def test_a_short_spelling_still_finds_the_conftest_of_the_test_paths(tmp_path, mock):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = inner\n")
    (inner / "conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--theirs', action='store_true')\n"
    )
    (inner / "test_ours.py").write_text(ON_A_CATALOG)
    short = ("--catalog-url", mock.uri, "--catalog-warehouse", "wh")
    done = run_pytest(tmp_path, *OURS, *short, "--theirs")
    assert done.returncode == 0, done.stdout + done.stderr


ANSWERS_TO_ANYTHING = """\
import pytest

class Anything:
    def __getattr__(self, name):
        if name == "__isabstractmethod__":
            raise AttributeError(name)
        return Anything()

class Item(pytest.Item):
    obj = Anything()

    def runtest(self):
        pass

class Broken(Item):
    @property
    def obj(self):
        raise RuntimeError("not to be asked")

class File(pytest.File):
    def collect(self):
        yield Item.from_parent(self, name="one")
        yield Broken.from_parent(self, name="two")

def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".any":
        return File.from_parent(parent, path=file_path)
"""


def test_items_that_answer_to_any_attribute_are_not_taken_for_checks(tmp_path):
    (tmp_path / "conftest.py").write_text(ANSWERS_TO_ANYTHING)
    (tmp_path / "one.any").write_text("")
    done = run_pytest(tmp_path, *OURS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


OWN_FIXTURES = """\
import pytest

NAMES = ("catalog", "spark", "iceberg_catalog", "iceberg_namespace", "mock_catalog",
         "mock_catalog_server", "iceberg_spark", "iceberg_spark_conf")

for name in NAMES:
    globals()[name] = pytest.fixture(name=name)(lambda: "theirs")
"""


@pytest.mark.parametrize(
    ("adds", "redirected"),
    some([("conftest", False), ("theirs", False), ("conftest", True), ("theirs", True)], 3),
)
def test_fixtures_of_theirs_win_over_ours(tmp_path, adds, redirected, mock):
    (tmp_path / f"{adds}.py").write_text(OWN_FIXTURES)
    (tmp_path / "test_theirs.py").write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('name', ['catalog', 'spark', 'iceberg_catalog',\n"
        "    'iceberg_namespace', 'mock_catalog', 'iceberg_spark', 'iceberg_spark_conf'])\n"
        "def test_theirs(request, name):\n"
        "    assert request.getfixturevalue(name) == 'theirs'\n"
    )
    plugins = (*OURS, "-p", "theirs") if adds == "theirs" else OURS
    target = ("--catalog-url", mock.uri, "--catalog-warehouse", "wh") if redirected else ()
    done = run_pytest(tmp_path, *plugins, *target)
    assert done.returncode == 0, done.stdout + done.stderr


CHECKS = ("--pyargs", "icecheck.conformance.metrics.test_metrics")


def test_fixtures_of_theirs_do_not_reach_the_checks(tmp_path, mock):
    (tmp_path / "conftest.py").write_text(
        "import pytest\n\n"
        "@pytest.fixture(name='catalog')\n"
        "def theirs():\n"
        "    raise RuntimeError('not for checks')\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers --strict-config\n")
    target = ("--catalog-url", mock.uri, "--catalog-warehouse", "wh")
    done = run_pytest(tmp_path, *OURS, *CHECKS, *target)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_foreign_project_runs_with_the_plugin_as_it_is_installed(tmp_path):
    project(tmp_path, "conftest", expected="abc")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:randomly\n")
    environment = {k: v for k, v in ENVIRONMENT.items() if k != "PYTEST_DISABLE_PLUGIN_AUTOLOAD"}
    command = [sys.executable, "-m", "pytest", "--catalog-url", "abc", "-n", "2"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "--icecheck-catalog-url" in done.stdout
