"""Path prefixes that no config has announced: 404, also where warehouses come on demand."""

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from tests.kit.contracts import CONTRACT
from tests.mock.asking import error_of

NAMES = {"{namespace}": "ns", "{table}": "t", "{view}": "v", "{plan-id}": "p"}
PREFIXED = sorted(
    (operation.method, operation.path)
    for operation in CONTRACT.operations.values()
    if "{prefix}" in operation.path
)


def path_under(prefix: str, template: str) -> str:
    for name, value in NAMES.items():
        template = template.replace(name, value)
    return template.replace("{prefix}", prefix)


@pytest.fixture
def client(mock: MockCatalog) -> httpx.Client:
    return httpx.Client(transport=mock.httpx_transport(), base_url="http://mock")


@pytest.mark.parametrize("prefix", ["warehouse", "other", "ns", "a/b"])
@pytest.mark.parametrize(("method", "template"), PREFIXED)
def test_no_operation_is_served_under_a_prefix_that_nobody_asked_for(
    mock: MockCatalog, client: httpx.Client, method: str, template: str, prefix: str
) -> None:
    path = path_under(prefix, template)
    for _ in range(2):  # the first refusal must not open what the second one asks for
        refused = client.request(method, path, json={} if method == "POST" else None)
        if method == "HEAD":
            assert (refused.status_code, refused.content) == (404, b"")
        else:
            assert error_of(refused) == (404, "NotFoundException")
    assert [each.name for each in mock.warehouses.all() if len(each.state.namespaces)] == []


def test_routes_without_a_prefix_announce_none(client: httpx.Client) -> None:
    assert client.post("/v1/namespaces", json={"namespace": ["a"]}).status_code == 200
    assert error_of(client.get("/v1/warehouse/namespaces")) == (404, "NotFoundException")
    announced = client.get("/v1/config").json()["overrides"]["prefix"]
    listed = client.get(f"/v1/{announced}/namespaces")
    assert (announced, listed.json()["namespaces"]) == ("warehouse", [["a"]])
    assert client.get("/v1/namespaces").json()["namespaces"] == [["a"]]


def test_a_config_announces_the_prefix_of_its_own_warehouse_only(client: httpx.Client) -> None:
    assert client.get("/v1/config?warehouse=one").status_code == 200
    assert client.get("/v1/one/namespaces").status_code == 200
    for prefix in ("two", "warehouse"):
        assert error_of(client.get(f"/v1/{prefix}/namespaces")) == (404, "NotFoundException")


def test_a_refused_config_announces_nothing() -> None:
    mock = MockCatalog(root="memory://root", token="secret")
    client = httpx.Client(transport=mock.httpx_transport(), base_url="http://mock")
    assert client.get("/v1/config?warehouse=one").status_code == 401
    client.headers["authorization"] = "Bearer secret"
    assert error_of(client.get("/v1/one/namespaces")) == (404, "NotFoundException")


def test_a_warehouse_that_is_named_in_process_is_served(
    mock: MockCatalog, client: httpx.Client
) -> None:
    mock.state("named")
    assert client.get("/v1/named/namespaces").status_code == 200
    mock.state()
    assert client.get("/v1/warehouse/namespaces").status_code == 200


def test_a_declared_warehouse_is_served_before_anybody_asks() -> None:
    mock = MockCatalog(root="memory://root", warehouses=["one"])
    client = httpx.Client(transport=mock.httpx_transport(), base_url="http://mock")
    assert client.get("/v1/one/namespaces").status_code == 200


def test_a_warehouse_whose_name_is_the_prefix_of_another_is_refused(client: httpx.Client) -> None:
    asked = client.get("/v1/config", params={"warehouse": "a b"}).json()
    prefix = asked["overrides"]["prefix"]
    refused = client.get("/v1/config", params={"warehouse": prefix})
    assert error_of(refused) == (400, "BadRequestException")
    assert client.get(f"/v1/{prefix}/namespaces").status_code == 200
