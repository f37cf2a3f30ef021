"""Paths, methods, queries and headers that mean nothing, at every route of the contract."""

import json
import tracemalloc

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.clients.in_process import exchange
from icecheck.mock_server.core.context import Reply
from icecheck.mock_server.operations.served import default_registries
from tests.kit.contracts import CONTRACT

OPERATIONS = {
    id_: operation
    for id_, operation in CONTRACT.operations.items()
    if id_ in default_registries(CONTRACT.version).operations
}
PATHS = sorted({operation.path for operation in OPERATIONS.values()})
METHODS = (
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "QUERY",
    "PROPFIND", "LINK", "get", "Post", "X", "",
)  # fmt: skip
BAD_NAMES = (
    "%",
    "%2",
    "%zz",
    "%FF",
    "%C0%AF",
    "%ED%A0%80",
    "%F4%90%80%80",
    "%E2%82",
    "\xff",
    "%00",
)


@pytest.fixture(scope="module")
def mock() -> MockCatalog:
    mock = MockCatalog(seed=7, clock=1_700_000_000_000, root="memory://root")
    assert send(mock, "GET", "/v1/config?warehouse=wh").status == 200
    return mock


def send(
    mock: MockCatalog, method: str, target: str, headers: dict[str, str] | None = None
) -> Reply:
    return exchange(mock.app, method, target, (headers or {}).items(), b"")


def filled(path: str, value: str = "x") -> str:
    """A path with a value for each parameter; operations on it may find nothing."""
    path = path.replace("{prefix}", "wh")
    for name in ("namespace", "table", "view", "plan-id"):
        path = path.replace(f"{{{name}}}", value)
    return path


def expect_error(reply: Reply, *statuses: int, method: str = "GET") -> None:
    assert reply.status in statuses
    if method == "HEAD":
        assert reply.body == b""
        return
    assert dict(reply.headers)["content-type"] == "application/json"
    body = json.loads(reply.body)
    # The token endpoint speaks OAuth: its errors are texts.
    if isinstance(body["error"], dict):
        assert body["error"]["code"] == reply.status
        assert body["error"]["message"]
        assert body["error"]["type"]
    assert len(reply.body) < 2000


@pytest.mark.parametrize("path", PATHS)
def test_every_path_says_which_methods_it_takes(mock: MockCatalog, path: str) -> None:
    taken = sorted(each.method for each in OPERATIONS.values() if each.path == path)
    for method in METHODS:
        if method in taken:
            continue
        reply = send(mock, method, filled(path))
        expect_error(reply, 405, method=method)
        assert dict(reply.headers)["allow"] == ", ".join(taken)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE"])
def test_near_every_path_there_is_nothing(mock: MockCatalog, path: str, method: str) -> None:
    beside = filled(path)
    unknown = (
        f"{beside}/", f"{beside}/more", f"/{beside}", beside.replace("/v1/", "/v2/"), f"x{beside}",
        beside.replace("/v1/", "/V1/"), beside.replace("/v1/", "/v1//"), beside[1:], f"{beside};x",
        beside.replace("/wh/", "/other/") if "/wh/" in beside else "/v1/wh/config",
    )  # fmt: skip
    for target in unknown:
        # A semicolon is part of a name, if the path ends in one.
        expect_error(send(mock, method, target), 400, 404, 405, method=method)


@pytest.mark.parametrize("operation_id", [id_ for id_ in OPERATIONS if id_ != "getConfig"])
@pytest.mark.parametrize("bad", BAD_NAMES)
def test_a_bad_escape_in_any_name_of_a_path_is_refused(
    mock: MockCatalog, operation_id: str, bad: str
) -> None:
    operation = OPERATIONS[operation_id]
    names = [p.name for p in operation.parameters if p.location == "path"]
    for name in names:
        path = operation.path.replace(f"{{{name}}}", bad)
        method = operation.method
        # A prefix is compared undecoded, and a plan's id may be anything.
        unknown = name == "prefix" or (name == "plan-id" and bad == "%00")
        reply = send(mock, method, filled(path))
        expect_error(reply, 404 if unknown else 400, method=method)


@pytest.mark.parametrize("operation_id", OPERATIONS)
@pytest.mark.parametrize(
    "query", ["%", "a=%2", "%zz=1", "a=%FF", "\xff=%C0%AF", "a=%ED%A0%80", "&" * 2000]
)
def test_a_bad_query_is_refused_even_where_none_is_read(
    mock: MockCatalog, operation_id: str, query: str
) -> None:
    operation = OPERATIONS[operation_id]
    reply = send(mock, operation.method, f"{filled(operation.path)}?{query}")
    # An empty query in many parts is no less empty: there may be nothing wrong with the request.
    if not query.startswith("&"):
        expect_error(reply, 400, method=operation.method)
    assert reply.status < 500


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_an_odd_but_decodable_query_is_nothing_that_anybody_reads(
    mock: MockCatalog, operation_id: str
) -> None:
    operation = OPERATIONS[operation_id]
    plain = send(mock, operation.method, filled(operation.path)).status
    for query in ("", "=", "?", "&&", "a", "a=1&a=2", "a[]=1", "%00=%00", "+=+", "a=%F0%9F%98%80"):
        reply = send(mock, operation.method, f"{filled(operation.path)}?{query}")
        assert reply.status == plain


@pytest.mark.parametrize("path", PATHS)
def test_a_name_of_a_megabyte_is_looked_for_like_any_other(mock: MockCatalog, path: str) -> None:
    plain = send(mock, "GET", filled(path)).status
    for long in ("x" * 1_000_000, "%41" * 300_000, "a%1F" * 200_000 + "a"):
        reply = send(mock, "GET", filled(path, long))
        assert reply.status == plain
        if reply.status != 200:
            expect_error(reply, 404, 405)


HEADERS = (
    "if-none-match", "x-iceberg-access-delegation", "authorization", "content-type", "accept",
    "content-encoding", "x-client-version", "expect", "range", "te", "host",
)  # fmt: skip


@pytest.mark.parametrize("name", HEADERS)
@pytest.mark.parametrize("value", ["", ",", '"', "W/", '"\xff', "*", ",,,,", "x" * 100_000, ";=;"])
def test_no_header_breaks_any_operation(mock: MockCatalog, name: str, value: str) -> None:
    for operation in OPERATIONS.values():
        assert send(mock, operation.method, filled(operation.path), {name: value}).status < 500


def test_long_paths_do_not_fill_the_memory(mock: MockCatalog) -> None:
    def ask(number: int) -> None:
        name = f"{number}-{'x' * 60_000}"
        for path in (f"/v1/wh/namespaces/{name}", f"/v1/{name}/namespaces", f"/{name}"):
            reply = send(mock, "GET", path)
            assert (reply.status, len(reply.body) < 2000) == (404, True)

    ask(0)
    tracemalloc.start()
    try:
        for number in range(1, 500):
            ask(number)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # 90 MB were asked for; what remains is the beginning of each path in the journal.
    assert held < 15_000_000
    entry = mock.journal.find("loadNamespaceMetadata")[-1]
    assert (entry.status, entry.namespace) == (404, ())
    assert entry.path.startswith("/v1/wh/namespaces/499-xxx")
