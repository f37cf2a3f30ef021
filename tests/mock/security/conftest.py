"""A server with OAuth2 clients, its clock at rest, reached in this process."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from icecheck.mock_server import MockCatalog, OAuth2Settings
from icecheck.mock_server.core.clock import VirtualClock
from tests.mock.security.serving import CLIENTS, NOW_MS, client_of


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(NOW_MS)


@pytest.fixture
def new_mock(clock: VirtualClock) -> Callable[..., MockCatalog]:
    """A server with these clients, its files in memory; takes what OAuth2Settings takes."""

    def made(**settings: Any) -> MockCatalog:
        oauth2 = OAuth2Settings(**{"clients": CLIENTS, **settings})
        return MockCatalog(seed=7, clock=clock, root="memory://root", oauth2=oauth2)

    return made


@pytest.fixture
def mock(new_mock: Callable[..., MockCatalog]) -> MockCatalog:
    return new_mock()


@pytest.fixture
def http(mock: MockCatalog) -> Iterator[httpx.Client]:
    """A client without any credentials."""
    with client_of(mock) as client:
        yield client
