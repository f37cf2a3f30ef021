"""A server that plans: planning operations added to a seeded server, and clients of it."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from tests.mock.planning.serving import planning_server


@pytest.fixture
def mock(tmp_path: Path) -> MockCatalog:
    return planning_server(tmp_path)


@pytest.fixture
def http(mock: MockCatalog) -> Iterator[httpx.Client]:
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1/wh") as client:
        assert client.get("http://mock/v1/config?warehouse=wh").status_code == 200
        assert client.post("/namespaces", json={"namespace": ["ns"]}).status_code == 200
        yield client
