"""MockCatalog as an object: real clients on it, snapshots, determinism, and the foreign project."""

import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import httpx
import pyarrow as pa
import pytest
import requests
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.types import LongType

from icecheck.mock_server import MockCatalog, WarehouseDeclaration
from icecheck.mock_server.core.clock import SystemClock, VirtualClock, clock_from
from icecheck.mock_server.mock_warehouse import fresh_warehouse
from icecheck.mock_server.storage.files import Files, HeldFiles
from icecheck.mock_server.storage.places import local_path

SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "id", "required": True, "type": "long"}]}
ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "s": ["a", "b", "c"]})


@pytest.mark.parametrize("in_process", [True, False])
@pytest.mark.parametrize("token", [None, "secret"])
def test_pyiceberg_creates_writes_evolves_renames_and_drops(
    in_process: bool, token: str | None
) -> None:
    with MockCatalog(token=token) as mock:
        catalog = mock.pyiceberg("wh", in_process=in_process)
        catalog.create_namespace("db", {"owner": "me"})
        table = catalog.create_table("db.t", schema=ROWS.schema)
        table.append(ROWS)
        table.append(ROWS)
        table.delete("id = 2")
        assert table.scan().to_arrow().num_rows == 4
        table.overwrite(ROWS)
        with table.update_schema() as update:
            update.add_column("n", LongType())
            update.rename_column("s", "text")
        assert table.scan().to_arrow().column_names == ["id", "text", "n"]
        catalog.rename_table("db.t", "db.u")
        assert catalog.list_tables("db") == [("db", "u")]
        renamed = catalog.load_table("db.u")
        assert renamed.scan().to_arrow().num_rows == 3
        catalog.drop_table("db.u")
        with pytest.raises(NoSuchTableError):
            catalog.load_table("db.u")
        registered = catalog.register_table("db.r", renamed.metadata_location)
        assert registered.scan().to_arrow().num_rows == 3
        catalog.purge_table("db.r")
        catalog.drop_namespace("db")
        assert catalog.list_namespaces() == []


def test_metadata_and_data_lie_under_one_temporary_root_that_stop_removes() -> None:
    with MockCatalog() as mock:
        catalog = mock.pyiceberg("wh")
        catalog.create_namespace("db")
        table = catalog.create_table("db.t", schema=ROWS.schema)
        table.append(ROWS)
        location = local_path(table.metadata_location)
        assert location is not None
        assert location.is_file()
        root = location.parents[4]
        assert {part.name for part in location.parents[1].iterdir()} == {"data", "metadata"}
    assert not root.exists()


def test_a_given_root_stays(tmp_path: Path) -> None:
    with MockCatalog(root=tmp_path) as mock:
        catalog = mock.pyiceberg("wh")
        catalog.create_namespace("db")
        catalog.create_table("db.t", schema=ROWS.schema)
    assert len(list(tmp_path.glob("wh/db/t-*/metadata/00000-*.metadata.json"))) == 1


def test_a_location_that_cannot_be_written_refuses_the_table(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    mock = MockCatalog(root=tmp_path)
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1") as http:
        http.post("/namespaces", json={"namespace": ["a"]})
        body = {"name": "t", "schema": SCHEMA, "location": f"file://{tmp_path}/file/t"}
        response = http.post("/namespaces/a/tables", json=body)
        assert response.status_code == 400
        assert http.head("/namespaces/a/tables/t").status_code == 404


def test_requests_and_httpx_see_the_same_catalog_without_a_socket() -> None:
    mock = MockCatalog(root="memory://root")
    session = requests.Session()
    session.mount("http://mock", mock.requests_adapter())
    created = session.post("http://mock/v1/namespaces", json={"namespace": ["a b"]})
    assert created.json()["namespace"] == ["a b"]
    assert session.head("http://mock/v1/namespaces/a%20b").status_code == 204
    missing = session.get("http://mock/v1/namespaces/none")
    assert (missing.status_code, missing.reason, missing.encoding) == (404, "Not Found", "utf-8")
    with httpx.Client(transport=mock.httpx_transport()) as http:
        assert http.get("http://any/v1/namespaces").json()["namespaces"] == [["a b"]]


def in_process(mock: MockCatalog) -> httpx.Client:
    return httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1/wh")


def conversation(mock: MockCatalog) -> list[tuple[int, list[tuple[str, str]], bytes]]:
    answers = []
    with in_process(mock) as http:
        update = {"action": "set-properties", "updates": {"k": "v"}}
        tables = "/namespaces/a/tables"
        for method, path, body in [
            ("GET", "http://mock/v1/config?warehouse=wh", None),
            ("POST", "/namespaces", {"namespace": ["a"]}),
            ("POST", tables, {"name": "t", "schema": SCHEMA}),
            ("POST", tables, {"name": "u", "schema": SCHEMA, "stage-create": True}),
            ("POST", f"{tables}/t", {"requirements": [], "updates": [update]}),
            ("GET", f"{tables}/t", None),
            ("POST", tables, {"name": "v", "schema": SCHEMA}),
            ("GET", f"{tables}?pageToken=&pageSize=1", None),
            ("GET", f"{tables}/none", None),
            ("HEAD", f"{tables}/t", None),
            ("DELETE", f"{tables}/t?purgeRequested=true", None),
        ]:
            response = http.request(method, path, json=body)
            answers.append((response.status_code, response.headers.multi_items(), response.content))
    return answers


def test_seed_and_clock_make_the_answers_identical_to_the_byte() -> None:
    def server(seed: int) -> MockCatalog:
        return MockCatalog(seed=seed, clock="2026-01-01T00:00:00Z", root="memory://root")

    first = conversation(server(42))
    assert [status for status, _, _ in first[:6]] == [200] * 6
    assert conversation(server(42)) == first
    assert conversation(server(43)) != first


def test_a_seeded_server_gets_the_same_temporary_root_again() -> None:
    locations = []
    for _ in range(2):
        with MockCatalog(seed=987_654_321) as mock:
            catalog = mock.pyiceberg("wh")
            catalog.create_namespace("db")
            locations.append(catalog.create_table("db.t", schema=ROWS.schema).metadata_location)
    assert locations[0] == locations[1]


def test_two_seeded_servers_at_once_share_no_root() -> None:
    seed = 987_654_322
    with MockCatalog(seed=seed) as first, MockCatalog(seed=seed) as second:
        opened = [mock.warehouses.open("wh") for mock in (first, second)]
        locations = {warehouse.context.location for warehouse in opened if warehouse is not None}
        assert len(locations) == 2


def test_a_stopped_seeded_server_that_is_forgotten_leaves_the_next_one_its_root() -> None:
    first = MockCatalog(seed=987_654_324)
    assert first.warehouses.open("wh") is not None
    first.stop()
    with MockCatalog(seed=987_654_324) as second:
        opened = second.warehouses.open("wh")
        assert opened is not None
        second.files.write(f"{opened.context.location}/file", b"content")
        del first
        gc.collect()
        assert second.files.read(f"{opened.context.location}/file") == b"content"


def test_what_a_killed_seeded_server_left_is_taken_over() -> None:
    left = Path(tempfile.gettempdir()) / "icecheck-seed-987654323"
    (left / "wh" / "db").mkdir(parents=True)
    with MockCatalog(seed=987_654_323) as mock:
        opened = mock.warehouses.open("wh")
        assert opened is not None
        assert opened.context.location == f"file://{left}/wh"
        assert not (left / "wh").exists()
    assert not left.exists()


def test_the_clock_stands_in_the_metadata() -> None:
    clock = VirtualClock(1_000, step_ms=10)
    mock = MockCatalog(clock=clock, root="memory://root")
    with in_process(mock) as http:
        http.get("http://mock/v1/config?warehouse=wh")
        http.post("/namespaces", json={"namespace": ["a"]})
        created = http.post("/namespaces/a/tables", json={"name": "t", "schema": SCHEMA}).json()
        assert created["metadata"]["last-updated-ms"] == 1_000
        clock.advance(500)
        update = {"action": "set-properties", "updates": {"k": "v"}}
        body = {"requirements": [], "updates": [update]}
        changed = http.post("/namespaces/a/tables/t", json=body).json()
        assert changed["metadata"]["last-updated-ms"] == 1_510


def test_a_clock_is_made_from_what_a_user_writes() -> None:
    assert clock_from("2026-01-01T00:00:00Z") == VirtualClock(1_767_225_600_000)
    assert clock_from("2026-01-01") == VirtualClock(1_767_225_600_000)
    assert clock_from(5) == VirtualClock(5)
    assert isinstance(clock_from(None), SystemClock)


def test_a_snapshot_can_be_restored_and_tags_do_not_come_back(mock: MockCatalog) -> None:
    with in_process(mock) as http:
        http.get("http://mock/v1/config?warehouse=wh")
        http.post("/namespaces", json={"namespace": ["a"]})
        before = mock.snapshot()
        tags = []
        for _ in range(2):
            created = http.post("/namespaces/a/tables", json={"name": "t", "schema": SCHEMA})
            tags.append(created.headers["etag"])
            http.get("http://mock/v1/config?warehouse=later")
            http.post("http://mock/v1/later/namespaces", json={"namespace": ["x"]})
            mock.restore(before)
            assert http.head("/namespaces/a/tables/t").status_code == 404
            assert http.head("/namespaces/a").status_code == 204
            assert http.get("http://mock/v1/later/namespaces").json()["namespaces"] == []
        assert tags[0] != tags[1]


def test_a_checkpoint_undoes_its_block(mock: MockCatalog, http: httpx.Client) -> None:
    with mock.checkpoint():
        http.post("/namespaces", json={"namespace": ["a"]})
        assert http.head("/namespaces/a").status_code == 204
    assert http.head("/namespaces/a").status_code == 404


def test_a_reset_empties_one_warehouse_and_its_files() -> None:
    with MockCatalog() as mock:
        locations = []
        for name in ("one", "two"):
            catalog = mock.pyiceberg(name)
            catalog.create_namespace("db")
            table = catalog.create_table("db.t", schema=ROWS.schema)
            locations.append(local_path(table.metadata_location))
        mock.reset("one")
        assert mock.pyiceberg("one").list_namespaces() == []
        assert mock.pyiceberg("two").table_exists("db.t")
        assert [path is not None and path.exists() for path in locations] == [False, True]


def test_a_reset_without_a_name_empties_every_warehouse() -> None:
    with MockCatalog() as mock:
        for name in ("one", "two", "wh"):
            mock.pyiceberg(name).create_namespace("db")
        mock.reset()
        assert [mock.pyiceberg(name).list_namespaces() for name in ("one", "two", "wh")] == [[]] * 3
    with MockCatalog(warehouses=["only"]) as mock:
        mock.pyiceberg("only").create_namespace("db")
        mock.reset()
        assert mock.pyiceberg("only").list_namespaces() == []
        with pytest.raises(KeyError):
            mock.reset("other")


def test_a_removed_warehouse_comes_back_empty(mock: MockCatalog, http: httpx.Client) -> None:
    http.post("/namespaces", json={"namespace": ["a"]})
    assert http.head("/namespaces/a").status_code == 204
    mock.remove("wh")
    assert http.head("/namespaces/a").status_code == 404  # also: no such prefix any more
    assert http.get("http://mock/v1/config?warehouse=wh").status_code == 200
    assert http.get("/namespaces").json()["namespaces"] == []
    http.post("/namespaces", json={"namespace": ["b"]})
    assert list(mock.state("wh").children(())) == [("b",)]


def test_warehouses_of_similar_names_share_no_directory(mock: MockCatalog) -> None:
    names = ["a b", "a_b", "a/b", "..", "", "A b", "x" * 300, "x" * 301]
    found = [mock.warehouses.open(name) for name in names]
    locations = {warehouse.context.location for warehouse in found if warehouse is not None}
    assert len(locations) == len(names)
    assert len({warehouse.prefix for warehouse in found if warehouse is not None}) == len(names)


def test_files_in_memory_are_bounded() -> None:
    files = Files(held=HeldFiles(bytes_max=10))
    for name in ("a", "b", "c"):
        files.write(f"memory://{name}", b"1234")
    with pytest.raises(FileNotFoundError):
        files.read("memory://a")
    files.write("memory://c", b"12345")
    assert files.read("memory://b") == b"1234"
    files.remove("memory://b")
    files.write("memory://d", b"12345")
    assert files.read("memory://c") + files.read("memory://d") == b"1234512345"


@pytest.mark.parametrize("value", [True, 1, None, ["x"]])
@pytest.mark.parametrize("kind", ["defaults", "overrides"])
def test_a_setting_of_a_warehouse_that_is_no_text_is_refused(kind: str, value: object) -> None:
    with pytest.raises(TypeError, match=f"the {kind} of warehouse 'w' are texts"):
        WarehouseDeclaration("w", **{kind: {"a": value}})


def test_a_declared_warehouse_may_lie_anywhere(tmp_path: Path) -> None:
    declared = WarehouseDeclaration("w", location=f"file://{tmp_path}/here/")
    mock = MockCatalog(warehouses=[declared], root="memory://root")
    catalog = mock.pyiceberg("w", in_process=True)
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", schema=ROWS.schema)
    assert table.location().startswith(f"file://{tmp_path}/here/db/t-")
    with pytest.raises(RuntimeError, match="declared"):
        fresh_warehouse(mock)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serving_forever_ends_cleanly_on_a_signal(number: signal.Signals) -> None:
    seen = []

    def when_ready(mock: MockCatalog) -> None:
        seen.append(httpx.get(f"{mock.uri}/v1/config").status_code)
        os.kill(os.getpid(), number)

    before = signal.getsignal(number)
    threads = threading.active_count()
    MockCatalog().serve_forever(when_ready)
    assert seen == [200]
    assert signal.getsignal(number) is before
    assert threading.active_count() <= threads  # threads of others may have ended meanwhile


def test_importing_the_mock_loads_nothing_heavy() -> None:
    program = (
        "import sys; from icecheck.mock_server import MockCatalog; MockCatalog(); "
        "import icecheck.mock_server.fixtures; "
        "heavy = {'asyncio', 'uvicorn', 'httpx', 'requests', 'pyiceberg', 'yaml', 'uvloop'}; "
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


FOREIGN_TEST = """
def test_a_table_can_be_created(iceberg_catalog, mock_catalog):
    iceberg_catalog.create_namespace("db")
    assert iceberg_catalog.list_namespaces() == [("db",)]
    assert list(mock_catalog.state().children(())) == [("db",)]

def test_the_next_test_finds_nothing(iceberg_catalog):
    assert iceberg_catalog.list_namespaces() == []
"""


@pytest.mark.usefixtures("other_plugins")
def test_a_foreign_project_needs_five_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "test_foreign.py").write_text(FOREIGN_TEST)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


@pytest.mark.parametrize(
    "misuse",
    [
        lambda: MockCatalog(page_size_max=0),
        lambda: MockCatalog(warehouses=[]),
        lambda: MockCatalog(warehouses=["a", "a"]),
        lambda: MockCatalog(warehouses=["a", "b"], prefix=False),
        lambda: MockCatalog(clock="yesterday"),
    ],
)
def test_misuse_is_a_value_error(misuse: Callable[[], MockCatalog]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        misuse()
