"""A server whose warehouses are in its object store, with two tables of which one is attacked."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import pytest

from icecheck.mock_server import (
    Client,
    MockCatalog,
    OAuth2Settings,
    Permissions,
    VendingSettings,
    WarehouseDeclaration,
)
from icecheck.mock_server.core.clock import VirtualClock
from tests.mock.objects.asking import Sender

NOW_MS = 1_700_000_000_000
SECONDS = 600
SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "x", "type": "long", "required": False}]}
DELEGATED = {"X-Iceberg-Access-Delegation": "vended-credentials"}


class Stage(NamedTuple):
    """The server, the keys of two tables (`own` and `other`, without a slash), and who may what."""

    mock: MockCatalog
    clock: VirtualClock
    own: str
    other: str
    holder: Sender
    root: Sender

    def http(self, client: str = "all") -> httpx.Client:
        token = self.mock.access_token(client)
        return httpx.Client(
            base_url=f"{self.mock.uri}/v1/wh", headers={"Authorization": f"Bearer {token}"}
        )

    def vended(self, table: str, client: str = "all") -> dict[str, str]:
        with self.http(client) as http:
            answer = http.get(f"/namespaces/ns/tables/{table}", headers=DELEGATED)
        assert answer.status_code == 200, answer.text
        (credential,) = answer.json()["storage-credentials"]
        return dict(credential["config"])


def sender(config: dict[str, str]) -> Sender:
    return Sender(
        config["s3.endpoint"],
        config["s3.access-key-id"],
        config["s3.secret-access-key"],
        config.get("s3.session-token"),
    )


def key_of(location: str) -> str:
    assert location.startswith("s3://lake/")
    return location.removeprefix("s3://lake/")


def create(http: httpx.Client, name: str, **more: Any) -> httpx.Response:
    body = {"name": name, "schema": SCHEMA, **more}
    return http.post("/namespaces/ns/tables", json=body)


@pytest.fixture(scope="session")
def stocked() -> Iterator[Stage]:
    clock = VirtualClock(NOW_MS)
    everything = Client("all", "secret")
    reading = Client("reader", "secret", permissions=Permissions(read_only=True))
    mock = MockCatalog(
        clock=clock,
        oauth2=OAuth2Settings(clients=(everything, reading), token_seconds=10**8),
        vending=VendingSettings(storage="s3", embedded=True, seconds=SECONDS),
        warehouses=[
            WarehouseDeclaration("wh", location="s3://lake/wh"),
            WarehouseDeclaration("second", location="s3://lake2/second"),
        ],
    )
    with mock:
        assert mock.objects is not None
        root = sender(mock.objects.properties())
        stage = Stage(mock, clock, "", "", root, root)
        with stage.http() as http:
            http.post("/namespaces", json={"namespace": ["ns"]}).raise_for_status()
            keys = []
            for name in ("own", "other"):
                answer = create(http, name)
                answer.raise_for_status()
                keys.append(key_of(answer.json()["metadata"]["location"]))
        holder = sender(stage.vended("own"))
        yield Stage(mock, clock, *keys, holder, root)


@pytest.fixture
def stage(stocked: Stage) -> Stage:
    """The same server for every test, at the same time of its clock."""
    stocked.clock.time_ms = NOW_MS
    return stocked
