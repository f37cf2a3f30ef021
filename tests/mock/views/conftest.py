"""A seeded server, its files in memory, and an httpx client on one warehouse."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.replies.schema import schema_judge
from tests.kit.contracts import CONTRACT

NOW_MS = 1_700_000_000_000
SCHEMA = {
    "type": "struct",
    "schema-id": 7,
    "fields": [
        {"id": 10, "name": "id", "required": False, "type": "long"},
        {"id": 4, "name": "data", "required": False, "type": "string", "doc": "what it says"},
    ],
}
VERSION = {
    "version-id": 1,
    "timestamp-ms": NOW_MS - 5000,
    "schema-id": 7,
    "summary": {"engine-name": "spark", "engine-version": "3.5"},
    "default-catalog": "prod",
    "default-namespace": ["ns"],
}
VIEWS = "/namespaces/ns/views"

Json = dict[str, Any]


@pytest.fixture
def mock(tmp_path: Path) -> MockCatalog:
    return MockCatalog(seed=7, clock=NOW_MS, root="memory://root", allow_locations=[tmp_path])


@pytest.fixture
def http(mock: MockCatalog) -> Iterator[httpx.Client]:
    """A client on a warehouse with an empty namespace `ns`; every answer is judged."""

    def judge(response: httpx.Response) -> None:
        """Demand a documented status, and a body that both readings of the document allow."""
        response.read()
        operation = mock.journal.find()[-1].operation
        assert CONTRACT.response(operation, response.status_code) is not None
        if response.content and response.status_code != 400:
            status = str(response.status_code)
            problems = schema_judge(CONTRACT).response_problems(operation, status, response.json())
            assert problems == ()

    hooks = {"response": [judge]}
    transport = mock.httpx_transport()
    with httpx.Client(transport=transport, base_url="http://mock", event_hooks=hooks) as client:
        assert client.get("/v1/config?warehouse=wh").status_code == 200
        client.base_url = httpx.URL("http://mock/v1/wh")
        assert client.post("/namespaces", json={"namespace": ["ns"]}).status_code == 200
        yield client


@pytest.fixture(scope="session")
def version() -> Callable[..., Json]:
    """A view version with one query for each dialect (`spark`), members by name."""

    def version(*dialects: str, **members: Any) -> Json:
        queries = [
            {"type": "sql", "sql": f"SELECT 1 -- {dialect}", "dialect": dialect}
            for dialect in dialects or ("spark",)
        ]
        changed = {key.replace("_", "-"): value for key, value in members.items()}
        return {**VERSION, "representations": queries, **changed}

    return version


@pytest.fixture(scope="session")
def view_body(version: Callable[..., Json]) -> Callable[..., Json]:
    """The body of a createView; members by name."""

    def view_body(name: str = "v", **members: Any) -> Json:
        changed = {key.replace("_", "-"): value for key, value in members.items()}
        body = {"name": name, "schema": SCHEMA, "view-version": version(), "properties": {}}
        return {**body, **changed}

    return view_body


@pytest.fixture
def create(http: httpx.Client, view_body: Callable[..., Json]) -> Callable[..., httpx.Response]:
    """Send a createView in `ns`, with a body made by `view_body`."""

    def create(name: str = "v", **members: Any) -> httpx.Response:
        return http.post(VIEWS, json=view_body(name, **members))

    return create


@pytest.fixture
def view(create: Callable[..., httpx.Response]) -> str:
    """The path of a view `v` with one version in the dialect `spark`."""
    assert create().status_code == 200
    return f"{VIEWS}/v"


@pytest.fixture
def commit(http: httpx.Client) -> Callable[..., httpx.Response]:
    """Send a replaceView to a path, with updates and at will with the view's uuid asserted."""

    def commit(path: str, *updates: Json, uuid: str | None = None) -> httpx.Response:
        body: Json = {"updates": updates}
        if uuid is not None:
            body["requirements"] = [{"type": "assert-view-uuid", "uuid": uuid}]
        return http.post(path, json=body)

    return commit


@pytest.fixture
def table(http: httpx.Client) -> str:
    """The path of a table `t`."""
    body = {"name": "t", "schema": SCHEMA}
    assert http.post("/namespaces/ns/tables", json=body).status_code == 200
    return "/namespaces/ns/tables/t"


@pytest.fixture(scope="session")
def refusal() -> Callable[[httpx.Response], tuple[int, str, str]]:
    """Status, type and message of an error reply, whose code has to be the status."""

    def refusal(response: httpx.Response) -> tuple[int, str, str]:
        error = response.json()["error"]
        assert error["code"] == response.status_code
        return response.status_code, error["type"], error["message"]

    return refusal
