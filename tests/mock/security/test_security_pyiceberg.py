"""PyIceberg with a credential: it gets tokens, renews them, and reads vended credentials."""

from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest

from icecheck.mock_server import (
    MockCatalog,
    OAuth2Settings,
    VendingSettings,
    WarehouseDeclaration,
)
from icecheck.mock_server.core.clock import VirtualClock
from tests.mock.security.serving import CLIENTS, NOW_MS

ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64())})
HOUR_MS = 3_600_000
HALF_HOUR_MS = HOUR_MS // 2


@pytest.mark.parametrize("in_process", [True, False])
@pytest.mark.parametrize("credential", [None, "narrow:narrow-secret"])
def test_a_credential_is_all_it_needs(
    clock: VirtualClock, in_process: bool, credential: str | None
) -> None:
    with MockCatalog(clock=clock, oauth2=OAuth2Settings(clients=CLIENTS)) as mock:
        catalog = mock.pyiceberg("wh", in_process=in_process, credential=credential)
        catalog.create_namespace("db")
        table = catalog.create_table("db.t", schema=ROWS.schema)
        table.append(ROWS)
        assert table.scan().to_arrow().num_rows == 3
        assert mock.journal.count("getToken", status=200) >= 1
        assert mock.journal.count(status=401) == 0


@pytest.mark.parametrize("status", [401, 419])
def test_it_asks_for_a_new_token_when_the_old_one_is_over(
    new_mock: Callable[..., MockCatalog], clock: VirtualClock, status: int
) -> None:
    mock = new_mock(token_seconds=60, expired_status=status)
    catalog = mock.pyiceberg("wh", in_process=True)
    catalog.create_namespace("db")
    clock.advance(60_000)
    mock.journal.clear()
    assert catalog.list_namespaces() == [("db",)]
    asked = [(entry.operation, entry.status) for entry in mock.journal.find()]
    assert asked == [("listNamespaces", status), ("getToken", 200), ("listNamespaces", 200)]


# --------------------------------------------------------------------- storage credentials


@pytest.fixture
def vending(clock: VirtualClock) -> Iterator[MockCatalog]:
    mock = MockCatalog(
        clock=clock,
        vending=VendingSettings(storage="s3", seconds=3600),
        warehouses=[WarehouseDeclaration("wh", location="s3://bucket/wh")],
    )
    yield mock
    mock.stop()


def test_its_files_are_read_with_the_vended_credentials(vending: MockCatalog) -> None:
    """PyIceberg asks for vended credentials in every request."""
    catalog = vending.pyiceberg("wh", in_process=True)
    catalog.create_namespace("db")
    created = catalog.create_table("db.t", schema=ROWS.schema)
    loaded = catalog.load_table("db.t")
    for table in (created, loaded):
        properties = table.io.properties
        assert properties["s3.session-token"]
        assert properties["s3.access-key-id"].startswith("ICECHECK")
        ends = int(properties["s3.session-token-expires-at-ms"])
        assert HALF_HOUR_MS <= ends - NOW_MS <= HOUR_MS
    assert created.io.properties["s3.session-token"] == loaded.io.properties["s3.session-token"]
