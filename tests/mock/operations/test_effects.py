"""Effects: what an outcome asks of the door, over a socket and in process."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
import requests

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.context import (
    Call,
    Context,
    Delay,
    DoorEffect,
    Drop,
    Gate,
    Hold,
    Outcome,
    RemoveFile,
    Reply,
    Truncate,
    WriteFile,
)
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.operations.namespaces import create_namespace


@pytest.fixture
def mock(tmp_path: Path) -> Iterator[MockCatalog]:
    with MockCatalog(root="memory://root", allow_locations=[tmp_path]) as running:
        yield running


def with_effects(mock: MockCatalog, *effects: DoorEffect | WriteFile | RemoveFile) -> None:
    """Let createNamespace do what it does, and then have these effects."""

    def affected(context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = create_namespace(context, state, call)
        return Outcome(outcome.state, outcome.reply, effects)

    mock.registries.operations["createNamespace"] = affected


def wait_until(condition: Callable[[], bool]) -> None:
    """Until another thread has come so far; the limit is only there to fail instead of hanging."""
    limit = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < limit, "the other thread never came so far"


def create(client: httpx.Client, name: str = "a") -> httpx.Response:
    return client.post("/v1/namespaces", json={"namespace": [name]})


@pytest.fixture(params=["socket", "in-process"])
def client(mock: MockCatalog, request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    transport = mock.httpx_transport() if request.param == "in-process" else None
    with httpx.Client(transport=transport, base_url=mock.uri, timeout=20) as http:
        yield http


def test_a_delayed_answer_is_the_same_answer(mock: MockCatalog, client: httpx.Client) -> None:
    with_effects(mock, Delay(1))
    assert create(client).json()["namespace"] == ["a"]


def test_a_client_that_does_not_wait_for_its_answer_is_served_all_the_same(
    mock: MockCatalog, client: httpx.Client
) -> None:
    with_effects(mock, Delay(500))
    impatient = httpx.Timeout(20, read=0.05)
    with pytest.raises(httpx.ReadTimeout):
        client.post("/v1/namespaces", json={"namespace": ["a"]}, timeout=impatient)
    assert mock.state().namespace(("a",)) is not None


def test_a_dropped_answer_was_applied_all_the_same(
    mock: MockCatalog, client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    with_effects(mock, Drop())
    with pytest.raises(httpx.RemoteProtocolError):
        create(client)
    assert mock.state().namespace(("a",)) is not None
    assert client.head("/v1/namespaces/a").status_code == 204
    assert not [record for record in caplog.records if record.name.startswith("uvicorn")]


def test_a_truncated_answer_is_an_error_of_the_client(
    mock: MockCatalog, client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    with_effects(mock, Truncate(3))
    with pytest.raises(httpx.RemoteProtocolError):
        create(client)
    assert client.head("/v1/namespaces/a").status_code == 204
    assert not [record for record in caplog.records if record.name.startswith("uvicorn")]


def test_requests_sees_a_cut_connection_as_its_own_error(mock: MockCatalog) -> None:
    with_effects(mock, Drop())
    session = requests.Session()
    session.mount("http://mock", mock.requests_adapter())
    with pytest.raises(requests.exceptions.ConnectionError):
        session.post("http://mock/v1/namespaces", json={"namespace": ["a"]})


def test_a_held_request_does_not_block_the_one_that_releases_it(
    mock: MockCatalog, client: httpx.Client
) -> None:
    gate = Gate()
    with_effects(mock, Hold(gate))
    answers: list[int] = []
    held = threading.Thread(target=lambda: answers.append(create(client).status_code))
    held.start()
    with httpx.Client(base_url=mock.uri) as other:
        wait_until(lambda: other.head("/v1/namespaces/a").status_code == 204)
        assert answers == []
        gate.release()
    held.join(20)
    assert answers == [200]
    assert create(client, "b").status_code == 200  # released once, open for good


def test_stopping_does_not_wait_for_held_requests(caplog: pytest.LogCaptureFixture) -> None:
    mock = MockCatalog(root="memory://root").start()
    with_effects(mock, Hold(Gate()))
    failed = threading.Event()

    def ask() -> None:
        with httpx.Client(base_url=mock.uri, timeout=20) as http, pytest.raises(httpx.HTTPError):
            create(http)
        failed.set()

    asking = threading.Thread(target=ask)
    asking.start()
    wait_until(lambda: mock.state().namespace(("a",)) is not None)
    mock.stop()
    asking.join(20)
    assert failed.is_set()
    assert not [record for record in caplog.records if record.name.startswith("uvicorn")]


def test_a_file_that_cannot_be_written_takes_the_others_and_the_state_back(
    mock: MockCatalog, client: httpx.Client, tmp_path: Path
) -> None:
    directory = tmp_path / "root"
    directory.mkdir()
    (directory / "file").write_text("in the way")
    good = directory / "good.metadata.json"
    with_effects(
        mock,
        WriteFile(f"file://{good}", b"{}"),
        WriteFile(f"file://{directory}/file/x.metadata.json", b"{}"),
    )
    assert create(client).status_code == 400
    assert not good.exists()
    assert client.head("/v1/namespaces/a").status_code == 404


def test_removing_a_file_that_is_not_there_is_no_failure(
    mock: MockCatalog, client: httpx.Client
) -> None:
    with_effects(mock, RemoveFile("memory://none"), RemoveFile("file:///none/none"))
    assert create(client).status_code == 200


def test_two_servers_in_one_process_can_differ() -> None:
    faithful, broken = MockCatalog(root="memory://root"), MockCatalog(root="memory://root")

    def always(_context: Context, state: WarehouseState, _call: Call) -> Outcome:
        return Outcome(state, Reply(204))

    broken.registries.operations["namespaceExists"] = always
    statuses = []
    for mock in (faithful, broken):
        with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock") as http:
            statuses.append(http.head("/v1/namespaces/none").status_code)
    assert statuses == [404, 204]
