"""A server of 1.11.0 signs for tables in a store that is not its own, with the keys it vends."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from icecheck.mock_server import (
    Client,
    MockCatalog,
    OAuth2Settings,
    Permissions,
    VendingSettings,
    WarehouseDeclaration,
)
from icecheck.mock_server.core.clock import VirtualClock
from icecheck.mock_server.protocol.served_contract import KNOWN
from tests.mock.asking import create, error_of
from tests.mock.later.conftest import Make

ASKING = {"X-Iceberg-Access-Delegation": "remote-signing"}
VENDED = {"X-Iceberg-Access-Delegation": "vended-credentials"}
TABLE = "/namespaces/ns/tables/t"
SIGN = f"{TABLE}/sign"
ENDPOINT = KNOWN.operations["signRequest"].endpoint
AMAZON = "https://lake.s3.us-east-1.amazonaws.com"


@pytest.fixture
def serve(make: Make) -> Callable[..., httpx.Client]:
    """A client of a server whose table `t` is in the bucket `lake`."""

    def serve(**settings: Any) -> httpx.Client:
        given = {"vending": VendingSettings(storage="s3"), "root": "s3://lake/root", **settings}
        _, http = make(**given)
        http.post("/namespaces", json={"namespace": ["ns"]}).raise_for_status()
        create(http, "t")
        return http

    return serve


def key_of(http: httpx.Client) -> str:
    location: str = http.get(TABLE).json()["metadata"]["location"]
    return location.removeprefix("s3://lake/")


def asked(http: httpx.Client, uri: str, method: str = "GET", **more: Any) -> httpx.Response:
    body = {"method": method, "uri": uri, "region": "us-east-1", "headers": {}, **more}
    return http.post(SIGN, json=body)


def listed(http: httpx.Client, warehouse: str = "wh") -> list[str]:
    told = http.get(f"http://mock/v1/config?warehouse={warehouse}").json()["endpoints"]
    return list(told)


def test_the_config_names_the_signer_for_clients_of_every_age(
    serve: Callable[..., httpx.Client],
) -> None:
    http = serve()
    config = http.get(TABLE, headers=ASKING).json()["config"]
    assert config == {
        "client.region": "us-east-1",
        "s3.remote-signing-enabled": "true",
        "s3.signer.uri": "http://mock",
        "s3.signer.endpoint": "v1/wh/namespaces/ns/tables/t/sign",
        "signer.uri": "http://mock",
        "signer.endpoint": "v1/wh/namespaces/ns/tables/t/sign",
    }
    assert ENDPOINT in listed(http)


def test_another_signer_is_named_for_clients_of_every_age(
    serve: Callable[..., httpx.Client],
) -> None:
    http = serve(vending=VendingSettings(storage="s3", signer_uri="http://signer"))
    config = http.get(TABLE, headers=ASKING).json()["config"]
    for name in ("s3.signer", "signer"):
        assert config[f"{name}.uri"] == "http://signer"
        assert config[f"{name}.endpoint"] == "v1/aws/s3/sign"
    assert ENDPOINT not in listed(http)


@pytest.mark.parametrize("region", ["us-east-1", "eu-west-1"])
@pytest.mark.parametrize("in_path", [False, True])
def test_the_signature_is_that_of_the_keys_that_are_vended(
    make: Make, region: str, in_path: bool
) -> None:
    """botocore signs the same request with the same keys at the same time."""
    _, http = make(vending=VendingSettings(storage="s3"), root="s3://lake/root")
    http.post("/namespaces", json={"namespace": ["ns"]}).raise_for_status()
    create(http, "t")
    vended = http.get(TABLE, headers=VENDED).json()["storage-credentials"][0]["config"]
    host = f"s3.{region}.amazonaws.com"
    start = f"https://{host}/lake" if in_path else f"https://lake.{host}"
    uri = f"{start}/{key_of(http)}/a%20b?partNumber=1&uploadId=x"
    told = asked(http, uri, "PUT", region=region).json()
    assert told["uri"] == uri
    signed = {name.lower(): values[0] for name, values in told["headers"].items()}
    keys = Credentials(
        vended["s3.access-key-id"], vended["s3.secret-access-key"], vended["s3.session-token"]
    )
    request = AWSRequest("PUT", uri, headers={"x-amz-content-sha256": "UNSIGNED-PAYLOAD"})
    signer = S3SigV4Auth(keys, "s3", region)
    request.context["timestamp"] = signed["x-amz-date"]
    request.headers["X-Amz-Date"] = signed["x-amz-date"]
    request.headers["X-Amz-Security-Token"] = vended["s3.session-token"]
    canonical = signer.canonical_request(request)
    text = signer.string_to_sign(request, canonical)
    assert signed["authorization"].endswith(f"Signature={signer.signature(text, request)}")
    assert f"Credential={keys.access_key}/" in signed["authorization"]


def test_only_requests_to_the_tables_own_places_are_signed(
    serve: Callable[..., httpx.Client],
) -> None:
    http = serve()
    key = key_of(http)
    good = [
        f"{AMAZON}/{key}/x",
        f"https://s3.eu-west-1.amazonaws.com/lake/{key}/x",
        f"https://s3.amazonaws.com/lake/{key}/x",
        f"https://lake.s3.dualstack.eu-west-1.amazonaws.com/{key}/x",
        f"https://lake.s3.cn-north-1.amazonaws.com.cn/{key}/x",
        f"{AMAZON}?list-type=2&prefix={key}/",
    ]
    bad = [
        f"{AMAZON}/{key}-beside/x",
        f"{AMAZON}/{key}",
        f"{AMAZON}/",
        f"{AMAZON}?list-type=2&prefix=",
        f"https://other.s3.us-east-1.amazonaws.com/{key}/x",
        f"https://s3.us-east-1.amazonaws.com/other/{key}/x",
        f"http://lake.s3.us-east-1.amazonaws.com/{key}/x",
        f"https://lake.s3.us-east-1.amazonaws.com.example.org/{key}/x",
        f"https://example.org/lake/{key}/x",
        f"https://lake.s3.us-east-1.amazonaws.com:8443/{key}/x",
        f"s3://lake/{key}/x",
        "",
    ]
    assert {asked(http, uri).status_code for uri in good} == {200}
    for uri in bad:
        assert error_of(asked(http, uri)) == (403, "ForbiddenException"), uri
    assert asked(http, f"{AMAZON}/{key}/../x").status_code == 400


@pytest.mark.parametrize(
    "settings",
    [
        {"config": {"s3.endpoint": "http://minio:9000", "s3.path-style-access": "true"}},
        {"table_config": {"s3.endpoint": "http://minio:9000"}},
    ],
)
def test_a_store_with_an_address_of_its_own_is_the_only_one(
    serve: Callable[..., httpx.Client], settings: Any
) -> None:
    http = serve(vending=VendingSettings(storage="s3", **settings))
    key = key_of(http)
    config = http.get(TABLE, headers=ASKING).json()["config"]
    assert config["s3.endpoint"] == "http://minio:9000"
    for uri in (f"http://minio:9000/lake/{key}/x", f"http://lake.minio:9000/{key}/x"):
        assert asked(http, uri).status_code == 200
    for uri in (f"{AMAZON}/{key}/x", f"http://other.minio:9000/{key}/x", "http://minio/lake/x"):
        assert asked(http, uri).status_code == 403


def test_secrets_of_a_store_are_not_told_to_whom_requests_are_signed_for(
    serve: Callable[..., httpx.Client],
) -> None:
    given = {"s3.access-key-id": "minio", "s3.secret-access-key": "minio-secret"}
    http = serve(vending=VendingSettings(storage="s3", config=given))
    assert "minio" not in http.get(TABLE, headers=ASKING).text
    told = asked(http, f"{AMAZON}/{key_of(http)}/x").json()
    assert "Credential=minio/" in told["headers"]["authorization"][0]


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"provider": "s3", "properties": {"a": "b"}}, 200),
        ({"provider": None, "properties": None, "body": None, "later": 1}, 200),
        ({"provider": "gcs"}, 400),
        ({"provider": 3}, 400),
        ({"method": "get"}, 400),
        ({"method": "TRACE"}, 400),
        ({"properties": {"a": 1}}, 400),
        ({"headers": {"a": "b"}}, 400),
        ({"body": 1}, 400),
    ],
)
def test_members_are_those_of_the_document(
    serve: Callable[..., httpx.Client], more: Any, status: int
) -> None:
    http = serve()
    assert asked(http, f"{AMAZON}/{key_of(http)}/x", **more).status_code == status


@pytest.mark.parametrize(
    ("method", "kept"),
    [("GET", "private"), ("HEAD", "private"), ("PUT", "no-cache"), ("DELETE", "no-cache")],
)
def test_an_answer_says_whether_it_may_be_kept(
    serve: Callable[..., httpx.Client], method: str, kept: str
) -> None:
    http = serve()
    answer = asked(http, f"{AMAZON}/{key_of(http)}/x", method)
    assert answer.headers["cache-control"] == kept


def test_a_table_that_is_not_there_or_elsewhere(serve: Callable[..., httpx.Client]) -> None:
    http = serve(root="memory://root")
    assert "config" not in http.get(TABLE, headers=ASKING).json()
    assert asked(http, f"{AMAZON}/x").status_code == 403
    http.delete(TABLE).raise_for_status()
    assert error_of(asked(http, f"{AMAZON}/x")) == (404, "NoSuchTableException")


def test_a_reader_has_reading_signed(clock: VirtualClock) -> None:
    reading = Client("reader", "x", permissions=Permissions(read_only=True))
    mock = MockCatalog(
        spec="1.11.0",
        clock=clock,
        root="s3://lake/root",
        vending=VendingSettings(storage="s3"),
        oauth2=OAuth2Settings(clients=(Client("all", "x"), reading)),
    )
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1/wh") as http:
        http.headers["Authorization"] = f"Bearer {mock.access_token('all')}"
        http.get("http://mock/v1/config?warehouse=wh")
        http.post("/namespaces", json={"namespace": ["ns"]}).raise_for_status()
        create(http, "t")
        uri = f"{AMAZON}/{key_of(http)}/x"
        assert asked(http, uri, "PUT").status_code == 200
        http.headers["Authorization"] = f"Bearer {mock.access_token('reader')}"
        assert asked(http, uri).status_code == 200
        assert {asked(http, uri, m).status_code for m in ("PUT", "DELETE")} == {403}
        del http.headers["Authorization"]
        assert asked(http, uri).status_code == 401
    mock.stop()


def test_each_warehouse_lists_what_it_serves(make: Make) -> None:
    gcs = WarehouseDeclaration("gcs", vending=VendingSettings(storage="gcs"), location="gs://lake")
    s3 = WarehouseDeclaration("wh", vending=VendingSettings(storage="s3"))
    _, http = make(warehouses=[s3, gcs])
    assert ENDPOINT in listed(http)
    assert ENDPOINT not in listed(http, "gcs")
    _, http = make(vending=VendingSettings(storage="s3"), hidden=("signRequest",))
    assert ENDPOINT not in listed(http)


class TestPlace:
    """A server whose tables are elsewhere has a place for those whose requests are signed."""

    @pytest.fixture
    def http(self, make: Make) -> httpx.Client:
        vending = VendingSettings(storage="s3", signed_below="s3://made-up/signed")
        _, http = make(vending=vending)
        http.post("/namespaces", json={"namespace": ["ns"]}).raise_for_status()
        return http

    def made(self, http: httpx.Client, asked: str | None, **more: Any) -> Any:
        body = {"name": "t", "schema": {"type": "struct", "fields": []}, **more}
        headers = {} if asked is None else {"X-Iceberg-Access-Delegation": asked}
        answer = http.post("/namespaces/ns/tables", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def test_it_is_for_whom_asks_for_signing_alone(self, http: httpx.Client) -> None:
        made = self.made(http, "remote-signing")
        location = made["metadata"]["location"]
        assert location.startswith("s3://made-up/signed/wh/ns/t-")
        assert made["config"]["signer.endpoint"] == "v1/wh/namespaces/ns/tables/t/sign"
        uri = f"https://s3.us-east-1.amazonaws.com/{location[5:]}/x"
        assert asked(http, uri, "PUT").status_code == 200
        assert http.get(TABLE).json()["metadata"]["location"] == location

    @pytest.mark.parametrize(
        "asking", [None, "vended-credentials", "remote-signing,vended-credentials"]
    )
    def test_others_are_where_they_always_were(
        self, http: httpx.Client, asking: str | None
    ) -> None:
        assert self.made(http, asking)["metadata"]["location"].startswith("memory://root/wh/ns/t")

    def test_a_location_of_the_clients_own_wins(self, http: httpx.Client) -> None:
        made = self.made(http, "remote-signing", location="memory://root/wh/mine")
        assert made["metadata"]["location"] == "memory://root/wh/mine"
        assert "config" not in made

    def test_an_older_server_has_none(self, make: Make) -> None:
        vending = VendingSettings(storage="s3", signed_below="s3://made-up/signed")
        mock, http = make(vending=vending, spec="1.10.0")
        http.post("/namespaces", json={"namespace": ["ns"]}).raise_for_status()
        made = self.made(http, "remote-signing")
        assert made["metadata"]["location"].startswith("memory://root/wh/ns/t")
        assert "config" not in made
        assert http.post(SIGN, json={}).status_code == 404
        assert "signRequest" not in mock.registries.operations

    @pytest.mark.parametrize(
        "settings",
        [
            {"storage": "gcs", "signed_below": "s3://made-up"},
            {"storage": "s3", "signed_below": "gs://made-up"},
            {"storage": "s3", "embedded": True, "signed_below": "s3://made-up"},
        ],
    )
    def test_it_is_in_s3(self, settings: Any) -> None:
        with pytest.raises(ValueError, match="s3"):
            VendingSettings(**settings)


def test_moto_is_not_loaded_for_it() -> None:
    script = """
import sys
import httpx
from icecheck.mock_server import MockCatalog, VendingSettings
mock = MockCatalog(spec="1.11.0", vending=VendingSettings(storage="s3"), root="s3://lake/r")
with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1") as http:
    http.post("/namespaces", json={"namespace": ["ns"]}).raise_for_status()
    table = {"name": "t", "schema": {"type": "struct", "fields": []}}
    made = http.post("/namespaces/ns/tables", json=table).json()["metadata"]["location"]
    uri = f"https://s3.us-east-1.amazonaws.com/{made[5:]}/x"
    body = {"method": "GET", "uri": uri, "region": "us-east-1", "headers": {}}
    http.post("/namespaces/ns/tables/t/sign", json=body).raise_for_status()
print(sorted({name.partition(".")[0] for name in sys.modules} & {"moto", "boto3", "botocore"}))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "[]"
