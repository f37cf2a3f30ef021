"""A seeded server in this process, its files in memory, and an httpx client on one warehouse."""

from collections.abc import Iterator

import httpx
import pytest

from icecheck.mock_server import MockCatalog

SCHEMA = {
    "type": "struct",
    "fields": [
        {"id": 1, "name": "id", "required": True, "type": "long"},
        {"id": 2, "name": "data", "required": False, "type": "string"},
    ],
}


@pytest.fixture
def mock() -> MockCatalog:
    return MockCatalog(seed=7, clock=1_700_000_000_000, root="memory://root")


@pytest.fixture
def http(mock: MockCatalog) -> Iterator[httpx.Client]:
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock") as client:
        assert client.get("/v1/config?warehouse=wh").status_code == 200
        client.base_url = httpx.URL("http://mock/v1/wh")
        yield client


@pytest.fixture
def namespace(http: httpx.Client) -> str:
    assert http.post("/namespaces", json={"namespace": ["ns"]}).status_code == 200
    return "ns"


@pytest.fixture
def table(http: httpx.Client, namespace: str) -> str:
    """The path of a table `t` with two columns."""
    body = {"name": "t", "schema": SCHEMA}
    assert http.post(f"/namespaces/{namespace}/tables", json=body).status_code == 200
    return f"/namespaces/{namespace}/tables/t"
