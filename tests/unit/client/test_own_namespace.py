"""Tests of users on a real catalog: a namespace each, removed at the end, and nothing else."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from icecheck.client.opening import open_session
from icecheck.mock_server import Client, MockCatalog, OAuth2Settings
from icecheck.mock_server.protocol.problem import Problem
from icecheck.ownership.ledger_file import read_ledger
from icecheck.pytest.own_namespace import ForeignObject, OwnNamespace
from icecheck.targets.target import Target
from tests.kit.shares import some

LEDGER = "icecheck-report/tests.ledger.jsonl"

HEADER = """\
import pathlib
import pytest
import pyarrow
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField
from icecheck.pytest.own_namespace import ForeignObject

SCHEMA = Schema(NestedField(1, "id", LongType()))
ROWS = pyarrow.table({"id": [1, 2, 3]})
"""


def run_pytest(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def mock(tmp_path):
    """A catalog that somebody uses: `sales.orders` and `sales.seen` are theirs."""
    oauth2 = OAuth2Settings(clients=(Client("me", "my-secret"),))
    with MockCatalog(warehouses=["wh"], oauth2=oauth2) as running:
        theirs = running.pyiceberg("wh")
        theirs.create_namespace("sales")
        schema = {"type": "struct", "schema-id": 0, "fields": [
            {"id": 1, "name": "id", "required": False, "type": "long"}]}  # fmt: skip
        from pyiceberg.schema import Schema

        theirs.create_table("sales.orders", Schema.model_validate(schema))
        yield running


def target(mock, *more):
    return ("--catalog-url", mock.uri, "--catalog-warehouse", "wh",
            "--catalog-credential", "me:my-secret", *more)  # fmt: skip


def objects(mock):
    return {
        path: ([n for n, _ in entry.tables.after()], [n for n, _ in entry.views.after()])
        for path, entry in mock.state("wh").namespaces.after()
    }


THEIRS = {("sales",): (["orders"], [])}

USES = """
@pytest.mark.parametrize("turn", range(4))
def test_mine(iceberg_catalog, iceberg_namespace, turn):
    (pathlib.Path(__file__).parent / f"{turn}.name").write_text(iceberg_namespace)
    assert iceberg_catalog.list_tables(iceberg_namespace) == []
    table = iceberg_catalog.create_table(f"{iceberg_namespace}.orders", SCHEMA)
    table.append(ROWS)
    assert iceberg_catalog.load_table(f"{iceberg_namespace}.orders").scan().to_arrow().num_rows == 3
    iceberg_catalog.create_namespace(f"{iceberg_namespace}.inner")
    staged = iceberg_catalog.create_table_transaction(f"{iceberg_namespace}.inner.staged", SCHEMA)
    staged.commit_transaction()
    iceberg_catalog.rename_table(
        f"{iceberg_namespace}.orders", f"{iceberg_namespace}.inner.renamed"
    )
    iceberg_catalog.update_namespace_properties(iceberg_namespace, updates={"a": "b"})
    metadata = iceberg_catalog.load_table(f"{iceberg_namespace}.inner.renamed").metadata_location
    iceberg_catalog.register_table(f"{iceberg_namespace}.again", metadata)
    iceberg_catalog.drop_table(f"{iceberg_namespace}.again")
"""


@pytest.mark.parametrize(
    "workers",
    [
        pytest.param((), marks=pytest.mark.complete("the usual command has two workers")),
        ("-n", "2"),
    ],
    ids=["one process", "two workers"],
)
@pytest.mark.parametrize(
    "place",
    some([((),), (("--catalog-isolation", "nested"),), (("--catalog-namespace", "sales"),)], 3),
)
def test_each_test_has_a_namespace_which_is_gone_afterwards(tmp_path, mock, workers, place):
    (tmp_path / "test_mine.py").write_text(HEADER + USES)
    done = run_pytest(tmp_path, *target(mock, *place), *workers)
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout
    assert objects(mock) == THEIRS
    assert mock.journal.count("createTable") >= 8  # here, and not on a mock of the tests' own
    assert not list(tmp_path.glob("icecheck-report/*"))
    names = [each.read_text() for each in tmp_path.glob("*.name")]
    assert len(set(names)) == 4
    assert len({re.search("icecheck_[a-z0-9]+", name)[0] for name in names}) == 1  # one run


@pytest.mark.complete("test_embedding has a foreign project on the mock")
def test_the_same_test_runs_on_the_mock_without_an_option(tmp_path):
    (tmp_path / "test_mine.py").write_text(HEADER + USES)
    done = run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout


REFUSED = """
@pytest.fixture
def theirs(iceberg_catalog):
    return iceberg_catalog.load_table("sales.orders")

@pytest.mark.parametrize("harm", [
    lambda c, own: c.create_namespace("sales2"),
    lambda c, own: c.create_namespace("sales.inner"),
    lambda c, own: c.create_table("sales.mine", SCHEMA),
    lambda c, own: c.create_table_transaction("sales.mine", SCHEMA).commit_transaction(),
    lambda c, own: c.drop_table("sales.orders"),
    lambda c, own: c.purge_table("sales.orders"),
    lambda c, own: c.drop_namespace("sales"),
    lambda c, own: c.drop_view("sales.seen"),
    lambda c, own: c.rename_table("sales.orders", f"{own}.orders"),
    lambda c, own: c.rename_table(f"{own}.made", "sales.made"),
    lambda c, own: c.update_namespace_properties("sales", updates={"a": "b"}),
    lambda c, own: c.register_table("sales.again", c.load_table("sales.orders").metadata_location),
    lambda c, own: c.load_table("sales.orders").append(ROWS),
    lambda c, own: c.purge_table(f"{own}.made"),
    lambda c, own: c.drop_table((own, "../../../sales/tables/orders")),
    lambda c, own: c.drop_table(("..", "orders")),
    lambda c, own: c.drop_table((own, "..")),
])
def test_harm(iceberg_catalog, iceberg_namespace, harm):
    iceberg_catalog.create_table(f"{iceberg_namespace}.made", SCHEMA)
    with pytest.raises(ForeignObject):
        harm(iceberg_catalog, iceberg_namespace)
    iceberg_catalog.load_table(f"{iceberg_namespace}.made")
    assert iceberg_catalog.load_table("sales.orders").metadata.snapshots == []
"""


def test_what_was_there_before_a_test_cannot_be_changed_by_it(tmp_path, mock):
    (tmp_path / "test_mine.py").write_text(HEADER + REFUSED)
    before = mock.state("wh").table(("sales",), "orders")
    done = run_pytest(tmp_path, *target(mock))
    assert done.returncode == 0, done.stdout
    assert objects(mock) == THEIRS
    assert mock.state("wh").table(("sales",), "orders") == before
    assert mock.state("wh").namespace(("sales",)).properties.get("a") is None


def test_a_test_that_creates_at_the_top_is_told_of_iceberg_namespace(tmp_path, mock):
    (tmp_path / "test_mine.py").write_text(
        "def test_mine(iceberg_catalog):\n    iceberg_catalog.create_namespace('mine')\n"
    )
    done = run_pytest(tmp_path, *target(mock))
    assert done.returncode == 1
    assert "iceberg_namespace" in done.stdout
    section = done.stdout.partition("iceberg requests")[2]
    assert "GET" in section
    assert "my-secret" not in done.stdout
    assert objects(mock) == THEIRS


KILLED = """
import os, signal

def test_mine(iceberg_catalog, iceberg_namespace):
    iceberg_catalog.create_table(f"{iceberg_namespace}.orders", SCHEMA)
    iceberg_catalog.create_namespace(f"{iceberg_namespace}.inner")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_after_a_kill_clean_removes_what_the_test_had_made_and_nothing_else(tmp_path, mock):
    (tmp_path / "test_mine.py").write_text(HEADER + KILLED)
    done = run_pytest(tmp_path, *target(mock))
    assert done.returncode == -signal.SIGKILL
    (left,) = [path for path in objects(mock) if len(path) == 2]
    written = read_ledger(tmp_path / LEDGER)
    assert [str(entry) for entry in written.entries] == [
        f"namespace {left[0]}", f"table {left[0]}.orders", f"namespace {left[0]}.inner",
    ]  # fmt: skip
    command = [sys.executable, "-m", "icecheck", "clean", mock.uri, "--warehouse", "wh"]
    command += ["--credential", "me:my-secret", "--ledger", str(tmp_path / LEDGER)]
    cleaned = subprocess.run(command, capture_output=True, text=True, check=False)
    assert cleaned.returncode == 0, cleaned.stdout + cleaned.stderr
    assert objects(mock) == THEIRS


def forbidden(context, state, call):
    raise Problem(403, "ForbiddenException", "not you")


def test_what_cannot_be_removed_is_an_error_and_stays_in_the_ledger(tmp_path, mock):
    (tmp_path / "test_mine.py").write_text(
        HEADER + "\ndef test_mine(iceberg_catalog, iceberg_namespace):\n"
        "    iceberg_catalog.create_table(f'{iceberg_namespace}.kept', SCHEMA)\n"
    )
    mock.registries.operations["dropTable"] = forbidden
    done = run_pytest(tmp_path, *target(mock, "--catalog-accept-residue"))
    assert done.returncode == 1
    assert "icecheck clean" in done.stdout
    assert "1 passed, 1 error" in done.stdout
    assert "kept" in {entry.name for entry in read_ledger(tmp_path / LEDGER).entries}


@pytest.mark.complete("a pytest of its own; residue that stays is told by another one")
def test_a_run_creates_no_more_on_a_catalog_that_deletes_nothing(tmp_path, mock):
    (tmp_path / "test_mine.py").write_text(HEADER + USES)
    drop = mock.registries.operations.pop("dropTable")
    done = run_pytest(tmp_path, *target(mock))
    mock.registries.operations["dropTable"] = drop
    assert done.returncode == 1
    assert "4 errors" in done.stdout
    assert "dropTable" in done.stdout
    assert 1 <= mock.journal.count("createTable") <= 2


def test_where_a_run_may_only_read_nothing_is_created(tmp_path, mock):
    (tmp_path / "test_mine.py").write_text(
        HEADER + "\ndef test_reads(iceberg_catalog):\n"
        "    assert iceberg_catalog.load_table('sales.orders').scan().to_arrow().num_rows == 0\n"
        "    with pytest.raises(ForeignObject):\n"
        "        iceberg_catalog.create_namespace('mine')\n"
        "\ndef test_wants_to_write(iceberg_namespace):\n    pass\n"
    )
    before = mock.journal.count("createNamespace")
    done = run_pytest(tmp_path, *target(mock, "--catalog-read-only"))
    assert "1 passed, 1 error" in done.stdout
    assert "--catalog-read-only" in done.stdout
    assert mock.journal.count("createNamespace") == before
    assert not (tmp_path / "icecheck-report").exists()


@pytest.mark.parametrize(
    "fixture",
    some(["mock_catalog", "mock_catalog_server", "iceberg_spark_conf", "iceberg_spark"], 3),
)
def test_what_is_only_on_the_mock_says_so_under_a_catalog_url(tmp_path, mock, fixture):
    (tmp_path / "test_mine.py").write_text(f"def test_mine({fixture}):\n    pass\n")
    done = run_pytest(tmp_path, *target(mock))
    assert done.returncode == 1
    assert "1 error" in done.stdout
    assert "--catalog-url" in done.stdout
    assert "Traceback" not in done.stdout
    assert "passed" not in done.stdout


# ---- what may be sent, request by request

ADDRESS = "http://catalog.test"


@pytest.fixture
def own():
    mock = MockCatalog(seed=1, warehouses=["wh"])
    wanted = Target(ADDRESS, warehouse="wh", isolation="flat")
    session = open_session(wanted, run_id="r1", transport=mock.httpx_transport())
    made = OwnNamespace(session, "test")
    made.make()
    yield made
    made.remove()
    session.close()
    assert made.left == ()
    assert objects(mock) == {}


def place(own):
    return f"{ADDRESS}/v1/{own._session.offer.prefix}/namespaces"


def body(**members):
    return json.dumps(members).encode()


def test_changes_of_its_own_are_permitted_and_ledgered(own):
    name = own.path[0]
    made = own.permit("POST", f"{place(own)}/{name}/tables", body(name="t"))
    assert made.operation == "createTable"
    assert [str(entry) for entry in made.fresh] == [f"table {name}.t"]
    own.settle(made, 409)
    assert own.permit("DELETE", f"{place(own)}/{name}/tables/t?purgeRequested=False", None)
    assert own.permit("POST", f"{place(own)}/{name}%1Finner/properties", body(updates={}))


@pytest.mark.parametrize(
    ("method", "rest", "sent"),
    [
        ("DELETE", "/{own}/tables/t?purgeRequested=true", None),
        ("DELETE", "/{own}/tables/t?purgerequested=1", None),
        ("DELETE", "/{own}x", None),
        ("DELETE", "/{own}/../sales", None),
        ("DELETE", "/{own}/tables/%2E%2E", None),
        ("DELETE", "/{own}/tables/..%2F..%2Fsales", None),
        ("DELETE", "/sales%1F{own}", None),
        ("DELETE", "/", None),
        ("DELETE", "", None),
        ("POST", "/{own}/unknown", {}),
        ("PUT", "/{own}/tables/t", {}),
        ("POST", "", {}),
        ("POST", "", {"namespace": ["sales", "{own}"]}),
        ("POST", "/sales/register", {"name": "t", "metadata-location": "x"}),
        ("POST", "/{own}/tables/t", {"identifier": {"namespace": ["sales"], "name": "orders"}}),
        ("POST", "/{own}/tables/t", {"identifier": {"namespace": "sales", "name": "orders"}}),
        ("POST", "/../tables/rename", {"source": {"namespace": ["sales"], "name": "t"}}),
        ("POST", "/../transactions/commit", {"table-changes": []}),
        ("POST", "/../transactions/commit", {"table-changes": [{}]}),
    ],
)
def test_what_is_not_wholly_its_own_is_not_sent(own, method, rest, sent):
    from requests import Request

    name = own.path[0]
    filled = json.loads(json.dumps(sent).replace("{own}", name))
    # As PyIceberg's library sends it: dots in a path are resolved before that.
    url = Request(method, place(own) + rest.replace("{own}", name)).prepare().url
    with pytest.raises(ForeignObject):
        own.permit(method, url, None if sent is None else body(**filled))


def test_a_transaction_with_one_foreign_table_is_not_sent(own):
    changes = [
        {"identifier": {"namespace": [first], "name": "t"}, "requirements": [], "updates": []}
        for first in (own.path[0], "sales")
    ]
    url = f"{ADDRESS}/v1/{own._session.offer.prefix}/transactions/commit"
    assert own.permit("POST", url, body(**{"table-changes": changes[:1]}))
    with pytest.raises(ForeignObject):
        own.permit("POST", url, body(**{"table-changes": changes}))


@pytest.mark.parametrize("url", ["http://elsewhere.test/v1/config", f"{ADDRESS}.evil/v1/config",
                                 f"{ADDRESS}/other"])  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_nothing_is_sent_elsewhere(own, method, url):
    with pytest.raises(ForeignObject):
        own.permit(method, url, None)
