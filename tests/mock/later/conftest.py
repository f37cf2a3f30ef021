"""A server of 1.11.0 in this process, and what tests of it send."""

from collections.abc import Callable, Iterator

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.clock import VirtualClock

Make = Callable[..., tuple[MockCatalog, httpx.Client]]


@pytest.fixture
def make() -> Iterator[Make]:
    """Make a server, with a client of the warehouse `wh`."""
    made: list[tuple[MockCatalog, httpx.Client]] = []

    def make(**settings: object) -> tuple[MockCatalog, httpx.Client]:
        given = {"seed": 7, "spec": "1.11.0", "root": "memory://root", **settings}
        mock = MockCatalog(**given)  # type: ignore[arg-type]
        http = httpx.Client(transport=mock.httpx_transport(), base_url="http://mock")
        made.append((mock, http))
        assert http.get("/v1/config?warehouse=wh").status_code == 200
        http.base_url = httpx.URL("http://mock/v1/wh")
        return mock, http

    yield make
    for mock, http in made:
        http.close()
        mock.stop()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(1_700_000_000_000)


@pytest.fixture
def http(make: Make, clock: VirtualClock) -> httpx.Client:
    _, http = make(clock=clock)
    assert http.post("/namespaces", json={"namespace": ["ns"]}).status_code == 200
    return http
