"""A running mock with a table, and clients for its catalog and for its administration."""

from collections.abc import Iterator

import httpx
import pytest

from icecheck.mock_server import MockCatalog

SCHEMA = {
    "type": "struct",
    "fields": [{"id": 1, "name": "id", "type": "long", "required": True}],
}
TABLE = "/v1/wh/namespaces/db/tables/t"
COMMIT = {
    "requirements": [],
    "updates": [{"action": "set-properties", "updates": {"turn": "1"}}],
}


@pytest.fixture
def mock() -> Iterator[MockCatalog]:
    with MockCatalog() as running:
        with httpx.Client(base_url=running.uri, trust_env=False) as http:
            http.get("/v1/config?warehouse=wh").raise_for_status()
            http.post("/v1/wh/namespaces", json={"namespace": ["db"]}).raise_for_status()
            body = {"name": "t", "schema": SCHEMA}
            http.post("/v1/wh/namespaces/db/tables", json=body).raise_for_status()
        running.journal.clear()
        yield running


@pytest.fixture
def http(mock: MockCatalog) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=mock.uri, trust_env=False) as client:
        yield client


@pytest.fixture
def admin(mock: MockCatalog) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{mock.uri}/_mock/v1", trust_env=False, timeout=30) as client:
        yield client
