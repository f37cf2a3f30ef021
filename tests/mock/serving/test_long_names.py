"""What has a name can be asked for: a longer name than URLs can hold is given to nothing."""

import http.client
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.protocol.names import NAME_BYTES_MAX
from tests.kit.ordinary_requests import VIEW_VERSION

LONGEST = "€" * (NAME_BYTES_MAX // 3) + "~"
TOO_LONG = LONGEST + "~"
SCHEMA = {"type": "struct", "fields": []}
CREATING = {
    "requirements": [{"type": "assert-create"}],
    "updates": [
        {"action": "add-schema", "schema": SCHEMA},
        {"action": "add-spec", "spec": {"fields": []}},
        {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
    ],
}


def rename(source: str, name: str) -> Any:
    return {
        "source": {"namespace": ["ns"], "name": source},
        "destination": {"namespace": ["ns"], "name": name},
    }


WAYS: dict[str, Any] = {
    "a namespace": ("namespaces", lambda name: {"namespace": [name]}),
    "a namespace of two levels": (
        "namespaces", lambda name: {"namespace": [name[:700], name[700:]]},
    ),
    "a table": ("namespaces/ns/tables", lambda name: {"name": name, "schema": SCHEMA}),
    "a staged table": (
        "namespaces/ns/tables",
        lambda name: {"name": name, "schema": SCHEMA, "stage-create": True},
    ),
    "a registered table": (
        "namespaces/ns/register",
        lambda name: {"name": name, "metadata-location": "memory://x/1.metadata.json"},
    ),
    "a table created by a transaction": (
        "transactions/commit",
        lambda name: {
            "table-changes": [{"identifier": {"namespace": ["ns"], "name": name}, **CREATING}]
        },
    ),
    "a renamed table": ("tables/rename", lambda name: rename("t", name)),
    "a view": (
        "namespaces/ns/views",
        lambda name: {
            "name": name, "schema": {**SCHEMA, "schema-id": 0}, "view-version": VIEW_VERSION,
            "properties": {},
        },
    ),
    "a renamed view": ("views/rename", lambda name: rename("v", name)),
}  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[MockCatalog]:
    with MockCatalog(root="memory://root") as mock:
        yield mock


@pytest.fixture
def client(server: MockCatalog) -> Iterator[httpx.Client]:
    with (
        server.checkpoint(),
        httpx.Client(transport=server.httpx_transport(), base_url="http://mock/v1/") as client,
    ):
        assert client.post("namespaces", json={"namespace": ["ns"]}).status_code == 200
        for name, way in (("t", "a table"), ("v", "a view")):
            path, body = WAYS[way]
            assert client.post(path, json=body(name)).status_code == 200
        yield client


@pytest.mark.parametrize("way", WAYS)
def test_a_name_that_no_url_may_hold_is_refused_and_nothing_gets_it(
    client: httpx.Client, server: MockCatalog, way: str
) -> None:
    path, body = WAYS[way]
    before = server.state()
    refused = client.post(path, json=body(TOO_LONG))
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, 400)
    assert "longer than 4096 bytes" in refused.json()["error"]["message"]
    assert server.state() is before


def test_a_table_committed_under_such_a_name_is_refused_too(client: httpx.Client) -> None:
    path = f"namespaces/ns/tables/{'x' * (NAME_BYTES_MAX + 1)}"
    assert client.post(path, json=CREATING).status_code == 400
    assert client.head(path).status_code == 404


def test_the_longest_names_can_be_asked_for_with_every_byte_escaped(
    client: httpx.Client, server: MockCatalog
) -> None:
    escaped = "".join(f"%{byte:02X}" for byte in LONGEST.encode())
    namespace = {"namespace": [LONGEST]}
    assert client.post("namespaces", json=namespace).status_code == 200
    table = {"name": LONGEST, "schema": SCHEMA}
    assert client.post(f"namespaces/{escaped}/tables", json=table).status_code == 200
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    for method, path in (
        ("GET", f"/v1/namespaces/{escaped}"),
        ("GET", f"/v1/namespaces/{escaped}/tables/{escaped}"),
        ("GET", f"/v1/namespaces?parent={escaped}&pageToken="),
        ("DELETE", f"/v1/namespaces/{escaped}/tables/{escaped}"),
    ):
        connection.request(method, path)
        answer = connection.getresponse()
        answer.read()
        assert answer.status in {200, 204}
    connection.close()
