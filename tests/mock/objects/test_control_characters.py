"""Keys with characters that XML cannot have, or that its readers change."""

import threading
from collections.abc import Iterator
from typing import NamedTuple

import httpx
import pytest

from icecheck.mock_server import MockCatalog, WarehouseDeclaration
from icecheck.mock_server.objects.calls import S3Call
from icecheck.mock_server.objects.store import BucketFiles
from icecheck.mock_server.protocol.wire import Reply
from icecheck.mock_server.storage.files import HeldFiles
from tests.mock.objects.asking import Sender
from tests.mock.objects.conftest import DELEGATED, create, key_of, sender

ESCAPED = ["%0D", "%01", "%0A", "%0D%0A", "%1F", "%25", "%2B", "%EF%BF%BE"]


class Served(NamedTuple):
    mock: MockCatalog
    http: httpx.Client

    def holder(self, table: str) -> Sender:
        answer = self.http.get(f"/namespaces/ns/tables/{table}", headers=DELEGATED)
        return sender(answer.json()["storage-credentials"][0]["config"])


@pytest.fixture
def served() -> Iterator[Served]:
    place = WarehouseDeclaration("wh", location="s3://lake/wh", table_locations="by-name")
    with (
        MockCatalog(warehouses=[place]) as mock,
        httpx.Client(base_url=f"{mock.uri}/v1/wh") as http,
    ):
        http.post("/namespaces", json={"namespace": ["ns"]}).raise_for_status()
        yield Served(mock, http)


@pytest.mark.parametrize("escaped", ESCAPED)
def test_the_catalog_removes_an_object_of_any_key(served: Served, escaped: str) -> None:
    location = create(served.http, "t").json()["metadata"]["location"]
    target = f"/lake/{key_of(location)}/a{escaped}b"
    assert served.holder("t").ask("PUT", target, b"x").status == 200
    # What is left below its location keeps a new table from having the same one.
    served.http.delete("/namespaces/ns/tables/t").raise_for_status()
    again = create(served.http, "t")
    assert again.status_code == 200
    assert again.json()["metadata"]["location"] != location
    emptying = threading.Thread(target=served.mock.reset, daemon=True)
    emptying.start()
    emptying.join(20)
    assert not emptying.is_alive()
    assert served.mock.objects is not None
    root = sender(served.mock.objects.properties())
    assert root.ask("GET", target).code == "NoSuchKey"
    assert b"<Key>" not in root.ask("GET", "/lake").body


class _Unmoved:
    """Buckets in which every deletion is said to be done, and none is."""

    def __init__(self) -> None:
        self.calls = 0

    def perform(self, call: S3Call) -> Reply:
        self.calls += 1
        assert self.calls < 10
        name = "{http://s3.amazonaws.com/doc/2006-03-01/}"
        listing = f'<List xmlns="{name[1:-1]}"><Contents><Key>wh/a</Key></Contents></List>'
        return Reply(204) if call.method == "DELETE" else Reply(200, (), listing.encode())


def test_what_stays_there_is_not_deleted_for_ever() -> None:
    buckets = _Unmoved()
    files = BucketFiles(buckets, "s3://lake/wh", HeldFiles())  # type: ignore[arg-type]
    files.forget_below("s3://lake/wh")
    assert buckets.calls == 3


def test_a_deletion_takes_no_carriage_return_for_a_line_feed(served: Served) -> None:
    for name, between in (("mine", "\r"), ("victim", "\n")):
        made = create(served.http, name, location=f"s3://lake/wh/x{between}y")
        assert made.status_code == 200
    mine, victim = served.holder("mine"), served.holder("victim")
    assert victim.ask("PUT", "/lake/wh/x%0Ay/f", b"kept").status == 200
    assert mine.ask("PUT", "/lake/wh/x%0Dy/f", b"mine").status == 200
    body = b"<Delete><Object><Key>wh/x&#13;y/f</Key></Object></Delete>"
    assert mine.ask("POST", "/lake?delete=", body).status == 200
    assert victim.ask("GET", "/lake/wh/x%0Ay/f").body == b"kept"
    assert mine.ask("GET", "/lake/wh/x%0Dy/f").code == "NoSuchKey"
