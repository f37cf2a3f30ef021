"""The pytest fixtures: a warehouse for each test, its requests on failure, Spark on top."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from icecheck.spark.java import choose_java
from tests.kit.shares import some

ORDERS = """\
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

SCHEMA = Schema(NestedField(1, "id", LongType()))
"""


def run_pytest(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.complete("starts workers; one process is usual")
def test_every_test_has_a_fresh_warehouse_also_with_two_workers(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "import json, os, pathlib, pytest\n"
        f"{ORDERS}\n"
        "@pytest.mark.parametrize('number', range(12))\n"
        "def test_mine(iceberg_catalog, mock_catalog, number):\n"
        "    assert iceberg_catalog.list_namespaces() == []\n"
        "    iceberg_catalog.create_namespace('db')\n"
        "    table = iceberg_catalog.create_table('db.t', SCHEMA)\n"
        "    location = pathlib.Path(table.location().removeprefix('file://'))\n"
        "    assert location.is_dir()\n"
        "    seen = [mock_catalog.uri, mock_catalog.warehouse, str(location)]\n"
        "    seen.append(os.environ['PYTEST_XDIST_WORKER'])\n"
        "    pathlib.Path(f'seen-{number}.json').write_text(json.dumps(seen))\n"
    )
    done = run_pytest(tmp_path, "-n", "2")
    assert done.returncode == 0, done.stdout
    seen = [json.loads(each.read_text()) for each in tmp_path.glob("seen-*.json")]
    uris, names, locations, workers = zip(*seen, strict=True)
    assert len(seen) == 12
    assert len(set(zip(uris, names, strict=True))) == 12
    assert len(set(locations)) == 12
    assert len(set(uris)) == len(set(workers)) > 1
    assert [each for each in locations if Path(each).exists()] == []


FAILING = """\
import pytest

def test_before(iceberg_catalog):
    iceberg_catalog.create_namespace('of_another_test')

def test_fails(iceberg_catalog):
    iceberg_catalog.create_namespace('db')
    iceberg_catalog.table_exists('db.missing')
    assert False

@pytest.fixture
def broken(iceberg_catalog):
    iceberg_catalog.create_namespace('in_setup')
    raise RuntimeError('broken')

def test_setup_fails(broken):
    pass

def test_without():
    assert False
"""


def requests_of(section: str) -> list[str]:
    """Status, method, last part of the path, and operation of every request told."""
    lines = [line.split() for line in section.splitlines() if line.endswith(" ms")]
    return [f"{line[0]} {line[1]} {line[2].rpartition('/')[2]} {line[3]}" for line in lines]


@pytest.mark.parametrize(
    "workers", some([((),), (("-n", "1"),)], 2), ids=["one process", "a worker"]
)
def test_a_failing_test_tells_its_requests(tmp_path: Path, workers: tuple[str, ...]) -> None:
    (tmp_path / "test_mine.py").write_text(FAILING)
    done = run_pytest(tmp_path, *workers)
    assert done.returncode == 1
    assert "2 failed, 1 passed, 1 error" in done.stdout
    of_setup, of_call = map(requests_of, done.stdout.split("iceberg requests")[1:])
    assert of_setup == ["200 GET config getConfig", "200 POST namespaces createNamespace"]
    assert of_call == [*of_setup, "404 HEAD missing tableExists"]


@pytest.mark.complete("many requests; a short list is shown in the usual command")
def test_a_long_list_of_requests_is_cut_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "def test_fails(iceberg_catalog):\n"
        "    for number in range(120):\n"
        "        iceberg_catalog.namespace_exists(f'n{number}')\n"
        "    assert False\n"
    )
    done = run_pytest(tmp_path)
    assert "(21 earlier requests are not shown)" in done.stdout
    assert "/namespaces/n20 " in done.stdout
    assert "/namespaces/n19 " not in done.stdout
    assert "iceberg requests" not in run_pytest(tmp_path, "--show-capture=no").stdout


LEAVING_A_FAULT = """\
import pytest

@pytest.fixture(scope='session', autouse=True)
def meant_for_all(mock_catalog_server):
    with mock_catalog_server.fault('throttled', operation='listViews', times=9) as rule:
        yield rule

@pytest.mark.parametrize('turn', [1, 2])
def test_mine(iceberg_catalog, mock_catalog, meant_for_all, turn):
    assert mock_catalog.mock.faults.rules == (meant_for_all,)
    iceberg_catalog.create_namespace('db')
    mock_catalog.mock.faults.add('throttled', operation='createNamespace', times=9)
"""


def test_a_fault_ends_with_the_test_that_asked_for_it(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(LEAVING_A_FAULT)
    done = run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout


FAULTS = """\
import pytest
from pyiceberg.exceptions import RESTError

def test_mine(iceberg_catalog, iceberg_namespace, mock_catalog):
    with mock_catalog.fault('throttled', operation='createNamespace') as rule:
        assert mock_catalog.faults.rules == (rule,)
        with pytest.raises(RESTError):
            iceberg_catalog.create_namespace('db')
    assert rule.fired == 1
    assert mock_catalog.faults.rules == ()
    assert iceberg_catalog.list_tables(iceberg_namespace) == []
    assert mock_catalog.state().namespace((iceberg_namespace,)) is not None
    mock_catalog.reset()
    assert iceberg_catalog.list_namespaces() == []
"""


LEAVING_MORE = """\
def test_first(mock_catalog):
    mock = mock_catalog.mock
    mock.faults.add('throttled', strict=True, warehouse=mock_catalog.warehouse)
    mock.gates.add('createNamespace')
    mock.defects.switch_on('namespace-drop-cascades')

def test_second(mock_catalog):
    mock = mock_catalog.mock
    assert (mock.faults.rules, mock.gates.all(), mock.defects.active) == ((), (), ())

def test_failing(mock_catalog):
    mock_catalog.faults.add('throttled', strict=True)
    raise KeyError('this is what went wrong')
"""


def test_what_a_test_leaves_ends_with_it_and_what_never_happened_is_an_error(
    tmp_path: Path,
) -> None:
    (tmp_path / "test_mine.py").write_text(LEAVING_MORE)
    done = run_pytest(tmp_path)
    assert "ERROR test_mine.py::test_first - Failed: these faults never happened" in done.stdout
    assert "2 passed, 1 error" in done.stdout.replace("1 failed, ", "")
    assert "FAILED test_mine.py::test_failing - KeyError" in done.stdout


CONF = """\
import sys

def test_conf(iceberg_spark_conf, mock_catalog):
    conf = iceberg_spark_conf
    assert conf['spark.sql.defaultCatalog'] == 'mock'
    assert conf['spark.sql.catalog.mock.warehouse'] == mock_catalog.warehouse
    assert conf['spark.sql.catalog.mock.uri'] == mock_catalog.uri
    assert all(isinstance(value, str) for value in conf.values())
    assert 'pyspark' not in sys.modules and 'icecheck.spark' not in sys.modules
"""


def test_faults_state_reset_and_spark_settings_are_those_of_the_tests_warehouse(
    tmp_path: Path,
) -> None:
    (tmp_path / "test_faults.py").write_text(FAULTS)
    (tmp_path / "test_conf.py").write_text(CONF)
    done = run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


OWN_SESSION = """\
import json
import sys

from pyspark.sql import SparkSession

conf = json.load(sys.stdin)
spark = SparkSession.builder.master("local[1]").config(map=conf).getOrCreate()
spark.sql("CREATE NAMESPACE db")
spark.sql("CREATE TABLE db.t (id BIGINT) USING iceberg")
spark.sql("INSERT INTO db.t VALUES (7)")
assert [row.id for row in spark.sql("SELECT * FROM db.t").collect()] == [7]
spark.stop()
"""

SPARK_CONF = """\
import json, subprocess, sys

def test_mine(iceberg_spark_conf, iceberg_catalog):
    sent = json.dumps(iceberg_spark_conf)
    ran = subprocess.run([sys.executable, "own_session.py"], input=sent, capture_output=True,
                         text=True)
    assert ran.returncode == 0, ran.stderr
    assert iceberg_catalog.table_exists("db.t")
"""


@pytest.mark.spark
@pytest.mark.complete("starts a JVM of its own; the session of the next test has these settings")
def test_the_settings_for_spark_are_all_that_a_session_of_ones_own_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_session.py").write_text(OWN_SESSION)
    (tmp_path / "test_mine.py").write_text(SPARK_CONF)
    # PySpark's own start looks for Java there and on PATH only.
    monkeypatch.setenv("JAVA_HOME", str(choose_java().home))
    done = run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout


SPARK_TESTS = """\
import pytest

applications = set()

@pytest.mark.parametrize('number', range(2))
def test_mine(iceberg_spark, iceberg_catalog, number):
    sql = iceberg_spark.sql
    applications.add(iceberg_spark.sparkContext.applicationId)
    assert len(applications) == 1
    assert iceberg_catalog.list_namespaces() == []
    sql('CREATE NAMESPACE db')
    assert sql('SHOW TABLES IN db').collect() == []
    sql('CREATE TABLE db.t (id BIGINT) USING iceberg')
    sql(f'INSERT INTO mock.db.t VALUES ({number})')
    iceberg_spark.range(1).createOrReplaceTempView('seen')
    assert iceberg_catalog.load_table('db.t').scan().to_arrow().to_pylist() == [{'id': number}]
    assert [tuple(row) for row in sql('SELECT * FROM db.t').collect()] == [(number,)]
    assert iceberg_spark.conf.get('spark.sql.shuffle.partitions') == '1'
    iceberg_spark.conf.set('spark.sql.shuffle.partitions', '7')
"""


@pytest.mark.complete("starts a JVM of its own, as other tests with iceberg_spark do")
@pytest.mark.spark
def test_every_test_has_a_spark_session_on_its_own_warehouse(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(SPARK_TESTS)
    done = run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


def test_a_test_without_spark_at_hand_fails_and_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import os\nos.environ['ICECHECK_ICEBERG_JAR'] = '/nowhere/iceberg.jar'\n"
    )
    (tmp_path / "test_mine.py").write_text("def test_mine(iceberg_spark):\n    pass\n")
    done = run_pytest(tmp_path)
    assert done.returncode == 1
    assert "ICECHECK_ICEBERG_JAR names /nowhere/iceberg.jar" in done.stdout
    assert "Traceback" not in done.stdout
    assert "skipped" not in done.stdout
