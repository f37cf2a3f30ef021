"""Icecheck installed without an extra: every command works, or says in a line what it needs."""

import subprocess

import httpx
import pytest

from icecheck.installing import install_command
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects import defects
from icecheck.ownership.ledger import Entry
from icecheck.ownership.ledger_file import LEDGER_FILE, LedgerFile
from icecheck.targets.target import Target
from tests.kit.contracts import CONTRACT
from tests.kit.extras import command_line, hidden_without
from tests.kit.shares import some

RECORDS = "docs/catalogs/iceberg-rest-fixture-1.10.1", "docs/catalogs/iceberg-rest-fixture-1.11.0"


@pytest.fixture
def on_core(tmp_path):
    """Run the command line where no extra is installed: ``on_core(*arguments)``."""

    def run(*arguments):
        argv = command_line(arguments)
        return subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def mock():
    with MockCatalog() as catalog:
        yield catalog


def test_what_is_hidden_is_what_extras_bring():
    assert {"hypothesis", "pyiceberg", "pytest", "schemathesis"} <= set(hidden_without())
    assert not {"click", "httpx", "jsonschema_rs", "rich"} & set(hidden_without())
    assert "pyiceberg" not in hidden_without("suite")


@pytest.mark.parametrize(
    ("arguments", "lines"),
    some(
        [
            (("list", "operations"), len(CONTRACT.operations)),
            (("list", "defects"), len(defects())),
            (("list", "checks", "--group", "scenarios"), 10),
            (("explain", "createNamespace.already-exists"), 10),
            (("list", "requirements"), len(CONTRACT.requirements)),
            (("list", "requirements", "--format", "markdown"), 1000),
            (("explain", "createTable"), 10),
            (("explain", "namespace-drop-cascades"), 10),
            (("--version",), 1),
        ],
        3,
    ),
)
def test_what_needs_no_catalog_works(on_core, arguments, lines):
    done = on_core(*arguments)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    assert len(done.stdout.splitlines()) >= lines


@pytest.mark.parametrize(
    "arguments", some([(("run", "--mock"),), (("run",),), (("plan",),), (("self-test",),)], 2)
)
def test_what_needs_the_suite_says_in_one_line_how_to_install_it(on_core, mock, arguments):
    url = [mock.uri] * (arguments in {("run",), ("plan",)})
    done = on_core(*arguments, *url)
    assert done.returncode == 2
    assert install_command("suite") in done.stderr
    assert (len(done.stderr.splitlines()), done.stdout) == (1, "")


def test_an_object_store_says_in_one_line_how_to_install_it(on_core):
    done = on_core("serve", "--port", "0", "--warehouse", "wh=s3://lake/wh")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert install_command("s3") in done.stderr


def test_doctor_works_and_says_what_settings_of_others_need(on_core, mock):
    assert on_core("doctor", mock.uri, "--warehouse", "wh").returncode == 0
    for extra, *needs in (
        ("suite", "--pyiceberg-catalog", "mine"),
        ("sigv4", "--sigv4", "eu-west-1/execute-api"),
    ):
        done = on_core("doctor", mock.uri, *needs)
        assert done.returncode == 2, done.stderr
        assert install_command(extra) in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_clean_works(on_core, mock, tmp_path):
    httpx.post(f"{mock.uri}/v1/wh/namespaces", json={"namespace": ["icecheck_core1"]})
    ledger = LedgerFile(tmp_path / LEDGER_FILE, "icecheck_core1", Target(mock.uri, warehouse="wh"))
    ledger.made(Entry("namespace", ("icecheck_core1",)))
    ledger.close(keep=True)
    done = on_core("clean", mock.uri, "--ledger", LEDGER_FILE)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(mock.state("wh").namespaces) == 0
    missing = on_core("clean", mock.uri, "--ledger", LEDGER_FILE)
    assert missing.returncode == 2
    assert len(missing.stderr.splitlines()) == 1


def test_compare_works(on_core, request):
    done = on_core("compare", *(request.config.rootpath / record for record in RECORDS))
    assert done.returncode == 1
    assert "REGRESSION" in done.stdout


@pytest.mark.parametrize(
    "name",
    some(["run", "doctor", "plan", "clean", "compare", "serve", "list", "explain", "self-test"], 4),
)
def test_every_command_says_what_it_is_for(on_core, name):
    done = on_core(name, "--help")
    assert (done.returncode, done.stderr) == (0, "")
