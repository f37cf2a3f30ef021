"""A client cannot fill the mock's memory with warehouses that nobody declared."""

from collections.abc import Iterator

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.serving import warehouses
from icecheck.mock_server.serving.warehouses import DEFAULT_WAREHOUSE, WAREHOUSE_NAME_BYTES_MAX

MOST = 5


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warehouses, "ON_DEMAND_WAREHOUSES_MAX", MOST)


@pytest.fixture
def mock() -> MockCatalog:
    return MockCatalog(root="memory://root")


@pytest.fixture
def http(mock: MockCatalog) -> Iterator[httpx.Client]:
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1") as client:
        yield client


def config(http: httpx.Client, name: str) -> httpx.Response:
    return http.get("/config", params={"warehouse": name})


def assert_refused(answer: httpx.Response) -> None:
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["type"]) == (400, 400, "BadRequestException")


@pytest.mark.parametrize("letter", ["a", "ä", "/", "🙂", "\x01"])
def test_the_name_of_a_warehouse_on_demand_is_bounded(
    mock: MockCatalog, http: httpx.Client, letter: str
) -> None:
    longest = letter * (WAREHOUSE_NAME_BYTES_MAX // len(letter.encode()))
    assert config(http, longest).status_code == 200
    for name in (f"{longest}{letter}", letter * 1_000):
        assert_refused(config(http, name))
    assert {each.name for each in mock.warehouses.all()} == {DEFAULT_WAREHOUSE, longest}


@pytest.mark.usefixtures("few")
def test_the_number_of_warehouses_on_demand_is_bounded(
    mock: MockCatalog, http: httpx.Client
) -> None:
    others = MOST - 1  # the default one is there from the first request on
    for number in range(others):
        assert config(http, f"w{number}").status_code == 200
    for number in range(others, others + 100):
        assert_refused(config(http, f"w{number}"))
    assert len(mock.warehouses.all()) == MOST
    assert config(http, "w0").status_code == 200
    assert http.get("/w0/namespaces").status_code == 200
    mock.remove("w0")
    assert config(http, "again").status_code == 200


@pytest.mark.usefixtures("few")
def test_the_default_warehouse_is_there_however_many_others_are(
    mock: MockCatalog, http: httpx.Client
) -> None:
    for number in range(MOST + 1):
        config(http, f"w{number}")
    assert config(http, "").status_code == 200
    assert http.get("/namespaces").status_code == 200
    assert len(mock.warehouses.all()) == MOST


@pytest.mark.usefixtures("few")
def test_what_the_starter_names_is_not_bounded(http: httpx.Client, mock: MockCatalog) -> None:
    names = [*(f"w{number}" for number in range(MOST * 3)), "n" * 5000]
    declared = MockCatalog(root="memory://root", warehouses=names)
    with httpx.Client(transport=declared.httpx_transport(), base_url="http://mock/v1") as client:
        assert {config(client, name).status_code for name in names} == {200}
    for name in names:
        mock.state(name)  # the starter of a server asks for it by name
    assert config(http, "w14").status_code == 200
