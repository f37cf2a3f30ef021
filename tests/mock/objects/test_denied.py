"""What is denied to a caller by the catalog is not had by way of the object store."""

from collections.abc import Iterator

import httpx
import pytest

from icecheck.mock_server import (
    Client,
    MockCatalog,
    OAuth2Settings,
    Permissions,
    WarehouseDeclaration,
)
from tests.mock.objects.conftest import SCHEMA, create, key_of
from tests.mock.objects.test_signing import SIGNING

PERMISSIONS = {
    "all": Permissions(),
    "nothing": Permissions.nothing(),
    "no-load": Permissions(denied_operations=("loadTable",)),
    "no-credentials": Permissions(denied_operations=("loadCredentials",)),
    "no-signing": Permissions(denied_operations=("signRequest",)),
    "outsider": Permissions(denied_namespaces=("ns",)),
}
WAREHOUSE = WarehouseDeclaration("wh", location="s3://lake/wh")


@pytest.fixture(scope="module")
def mock() -> Iterator[MockCatalog]:
    clients = tuple(Client(each, "s", permissions=PERMISSIONS[each]) for each in PERMISSIONS)
    with MockCatalog(oauth2=OAuth2Settings(clients=clients), warehouses=[WAREHOUSE]) as started:
        with as_(started, "all") as http:
            for namespace in ("ns", "open"):
                http.post("/namespaces", json={"namespace": [namespace]}).raise_for_status()
            create(http, "t").raise_for_status()
        yield started


def as_(mock: MockCatalog, client: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {mock.access_token(client)}"}
    return httpx.Client(base_url=f"{mock.uri}/v1/wh", headers=headers)


def asked(mock: MockCatalog, client: str) -> httpx.Response:
    assert mock.objects is not None
    with as_(mock, "all") as http:
        location = http.get("/namespaces/ns/tables/t").json()["metadata"]["location"]
    uri = f"{mock.objects.endpoint}/lake/{key_of(location)}/data/x"
    body = {"method": "GET", "uri": uri, "region": "us-east-1", "headers": {}}
    with as_(mock, client) as http:
        return http.post("/namespaces/ns/tables/t/sign", json=body)


@pytest.mark.parametrize("client", [each for each in PERMISSIONS if each != "all"])
def test_nothing_is_signed_for_whoever_may_not_load_the_table(
    mock: MockCatalog, client: str
) -> None:
    assert asked(mock, "all").status_code == 200
    assert asked(mock, client).status_code == 403


@pytest.mark.parametrize("scheme", ["s3", "S3", "s3a", "s3n", "S3A"])
def test_another_spelling_of_a_denied_tables_file_is_denied(mock: MockCatalog, scheme: str) -> None:
    with as_(mock, "all") as http:
        location = http.get("/namespaces/ns/tables/t").json()["metadata-location"]
    stolen = {"name": "stolen", "metadata-location": location.replace("s3", scheme, 1)}
    with as_(mock, "outsider") as http:
        refused = http.post("/namespaces/open/register", json=stolen)
        assert refused.status_code == 403
        made = http.post("/namespaces/open/tables", json={"name": f"of-{scheme}", "schema": SCHEMA})
        again = {"name": f"r-{scheme}", "metadata-location": made.json()["metadata-location"]}
        assert http.post("/namespaces/open/register", json=again).status_code == 200


def test_signing_can_be_hidden() -> None:
    with MockCatalog(hidden=("signRequest",), warehouses=[WAREHOUSE]) as mock:
        with httpx.Client(base_url=f"{mock.uri}/v1/wh") as http:
            http.post("/namespaces", json={"namespace": ["ns"]}).raise_for_status()
            create(http, "t").raise_for_status()
            answer = http.get("/namespaces/ns/tables/t", headers=SIGNING).json()
            assert "s3.remote-signing-enabled" not in answer.get("config", {})
            signed = http.post("/namespaces/ns/tables/t/sign", json={})
        assert (signed.status_code, signed.json()["error"]["type"]) == (404, "NotFoundException")
