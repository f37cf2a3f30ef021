"""Who may ask the administration, and what becomes of requests that are wrong."""

import socket

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.admin.declared import PREFIX
from icecheck.mock_server.admin.door import AdminDoor
from icecheck.mock_server.admin.routes import routes
from icecheck.mock_server.core.context import Request

EVERY_ROUTE = sorted({(each.method, f"{PREFIX}{each.path}") for each in routes()})


def every(mock: MockCatalog, **headers: str) -> set[int]:
    """Return the statuses of all routes with these headers."""
    with httpx.Client(base_url=mock.uri, trust_env=False, headers=headers) as http:
        return {http.request(method, path).status_code for method, path in EVERY_ROUTE}


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:8181"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_no_route_answers_a_foreign_page(mock: MockCatalog, headers: dict[str, str]) -> None:
    assert every(mock, **headers) == {403}


def test_no_route_answers_without_the_token_if_there_is_one() -> None:
    with MockCatalog(admin_token="boss", token="of the catalog") as mock:
        assert every(mock) == {401}
        assert every(mock, authorization="Bearer of the catalog") == {401}
        assert every(mock, authorization="Bearer bos") == {401}
        assert every(mock, authorization="boss") == {401}
        assert 401 not in every(mock, authorization="Bearer boss")
        catalog = httpx.get(
            f"{mock.uri}/v1/config", headers={"authorization": "Bearer boss"}, trust_env=False
        )
        assert catalog.status_code == 401


def test_an_empty_token_is_none() -> None:
    with pytest.raises(ValueError, match="is empty"):
        MockCatalog(admin_token="")
    door = AdminDoor(MockCatalog(root="memory://root"), "")
    for authorization in ("", "Bearer ", "Bearer", "Basic Og=="):
        request = Request("GET", f"{PREFIX}/health", "", {"authorization": authorization})
        assert door.handle(request, "127.0.0.1").status == 401


@pytest.mark.parametrize(
    ("client", "answered"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("::ffff:127.0.0.1", True),
     ("10.0.0.7", False), ("::ffff:10.0.0.7", False), ("", False), ("localhost", False)],
)  # fmt: skip
def test_without_a_token_only_this_machine_is_answered(
    mock: MockCatalog, client: str, answered: bool
) -> None:
    door = AdminDoor(mock)
    status = door.handle(Request("GET", f"{PREFIX}/health"), client).status
    assert status == (200 if answered else 403)
    with_token = AdminDoor(mock, "boss")
    headers = {"authorization": "Bearer boss"}
    assert with_token.handle(Request("GET", f"{PREFIX}/health", "", headers), client).status == 200


def test_it_can_be_left_out_and_is_no_part_of_the_catalog() -> None:
    with MockCatalog(admin=False) as mock:
        assert httpx.get(f"{mock.uri}{PREFIX}/health", trust_env=False).status_code == 404
    mock = MockCatalog(root="memory://root")
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock") as http:
        for path in (f"{PREFIX}/health", f"/v1{PREFIX}/health", "/v1/..%2F_mock/v1/health"):
            assert http.get(path).status_code == 404


@pytest.mark.parametrize(
    "path",
    ["/v1/../_mock/v1/health", "/v1/%2e%2e/_mock/v1/health", "/%5Fmock/v1/health",
     "//_mock/v1/health", "/_MOCK/v1/health", "/_mock", "/_mock/", "/_mock/v2/health",
     "/_mock/v1/../v1/health", "/_mock/v1/health/", "/_mock/v1/nothing"],
)  # fmt: skip
def test_it_is_reached_by_its_own_paths_only(mock: MockCatalog, path: str) -> None:
    with socket.create_connection(("127.0.0.1", mock.port)) as raw:
        raw.sendall(f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode())
        answer = b""
        while part := raw.recv(65536):
            answer += part
    assert answer.startswith(b"HTTP/1.1 404"), answer


def test_what_is_wrong_is_named_and_nothing_is_done(mock: MockCatalog, admin: httpx.Client) -> None:
    def refused(path: str, status: int = 400, **sent: object) -> str:
        answer = admin.post(path, **sent)  # type: ignore[arg-type]
        assert answer.status_code == status, answer.text
        error = answer.json()["error"]
        assert error["code"] == status
        return str(error["message"])

    assert "line 2 column 9" in refused("/faults", **as_json('{"fault":\n "slow" oops}'))
    assert "`int`, got `str` - at `$.times`" in refused(
        "/faults", json={"fault": "slow", "times": "3"}
    )
    assert "takes no 'tabel'" in refused("/faults", json={"fault": "slow", "tabel": "t"})
    assert "there is no fault 'slwo'" in refused("/faults", json={"fault": "slwo"})
    assert "fault: name one of" in refused("/faults", json={})
    assert "there is no operation" in refused("/gates", json={"operation": "loadTabel"})
    assert "$.phase" in refused("/gates", json={"operation": "loadTable", "phase": "now"})
    assert "`operation`" in refused("/gates", json={})
    assert "application/json" in refused("/reset", 415, content=b"{}")
    assert "`oops`" in refused("/reset", json={"oops": 1})
    assert "takes no query" in refused("/reset?x=1")
    assert "'limit' twice" in admin.get("/requests?limit=1&limit=2").text
    assert "This path takes DELETE, GET, POST" in admin.put("/faults").text
    assert admin.put("/faults").status_code == 405
    assert refused("/warehouses", json={"name": "x" * 600})
    assert (mock.faults.rules, mock.gates.all()) == ((), ())
    assert [each.name for each in mock.warehouses.all()] == ["warehouse", "wh"]


def as_json(text: str) -> dict[str, object]:
    return {"content": text, "headers": {"content-type": "application/json"}}


@pytest.mark.parametrize(
    "body",
    [b"\xff", b"[" * 100_000, b"null", b"[]", b'"x"', b"1e999", b"\x00", b'{"a":1,"a":2}',
     b'{"milliseconds":1e400}', b'{"milliseconds":9223372036854775808}'],
)  # fmt: skip
def test_no_body_makes_a_5xx(admin: httpx.Client, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    for method, path in EVERY_ROUTE:
        answer = admin.request(method, path.removeprefix(PREFIX), content=body, headers=headers)
        assert answer.status_code < 500, (method, path, answer.text)
