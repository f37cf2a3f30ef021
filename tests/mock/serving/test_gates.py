"""Who is let in, what is remembered, and what happens to our own bugs."""

import httpx
import pytest

from icecheck.mock_server import MockCatalog, WarehouseDeclaration
from icecheck.mock_server.core.context import Call, Context, Outcome
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.serving.app import BODY_BYTES_MAX


def client(mock: MockCatalog, **headers: str) -> httpx.Client:
    return httpx.Client(
        transport=mock.httpx_transport(), base_url="http://mock", headers=headers or None
    )


@pytest.mark.parametrize("path", ["/v1/config", "/v1/namespaces", "/v1/namespaces/a", "/nowhere"])
@pytest.mark.parametrize(
    "given", [None, "Bearer wrong", "Bearer", "bearer wrong", "Basic secret", "secret"]
)
def test_every_route_needs_the_token(path: str, given: str | None) -> None:
    mock = MockCatalog(token="secret", root="memory://root")
    headers = {} if given is None else {"authorization": given}
    response = client(mock).get(path, headers=headers)
    assert response.status_code == 401
    assert response.json()["error"] == {
        "message": "Not authorized to make this request",
        "type": "NotAuthorizedException",
        "code": 401,
    }
    # RFC 6750, section 3: only who sent a token is told that it was wrong.
    false_token = given is not None and given.endswith("wrong")
    challenge = 'Bearer error="invalid_token"' if false_token else "Bearer"
    assert response.headers["www-authenticate"] == challenge


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_right_token_opens_every_route(scheme: str) -> None:
    """The name of the scheme has no case (RFC 9110, section 11.1)."""
    mock = MockCatalog(token="secret", root="memory://root")
    with client(mock, authorization=f"{scheme} secret") as http:
        assert http.get("/v1/config").status_code == 200
        assert http.get("/v1/namespaces").status_code == 200


def test_without_a_token_any_authorization_is_fine() -> None:
    mock = MockCatalog(root="memory://root")
    assert client(mock, authorization="Bearer None").get("/v1/namespaces").status_code == 200


def test_a_body_above_the_limit_is_413() -> None:
    mock = MockCatalog(root="memory://root")
    response = client(mock).post("/v1/namespaces", content=b" " * (BODY_BYTES_MAX + 1))
    assert (response.status_code, response.json()["error"]["code"]) == (413, 413)


def test_an_operation_taken_away_is_neither_served_nor_announced(
    mock: MockCatalog, http: httpx.Client
) -> None:
    mock.registries.operations.pop("dropNamespace")
    mock.registries.operations.pop("renameTable")
    endpoints = http.get("http://mock/v1/config").json()["endpoints"]
    assert "DELETE /v1/{prefix}/namespaces/{namespace}" not in endpoints
    refused = http.delete("/namespaces/a")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
    assert http.post("/tables/rename").status_code == 406
    assert "dropNamespace" in MockCatalog().registries.operations


def test_declared_warehouses_are_the_only_ones() -> None:
    declared: list[str | WarehouseDeclaration] = [
        "plain",
        WarehouseDeclaration("deep", prefix="my/pre.fix", defaults={"d": "1"}),
        WarehouseDeclaration("s3://bucket/with space", overrides={"o": "2"}),
    ]
    mock = MockCatalog(warehouses=declared, root="memory://root")
    with client(mock) as http:
        prefixes = {}
        for name in ("plain", "deep", "s3://bucket/with space"):
            config = http.get("/v1/config", params={"warehouse": name}).json()
            prefix = prefixes[name] = config["overrides"]["prefix"]
            body = {"namespace": [f"in-{prefix}"]}
            assert http.post(f"/v1/{prefix}/namespaces", json=body).status_code == 200
            listed = http.get(f"/v1/{prefix}/namespaces").json()["namespaces"]
            assert listed == [[f"in-{prefix}"]]
        assert prefixes["plain"] == "plain"
        assert prefixes["deep"] == "my/pre.fix"
        assert config["overrides"]["o"] == "2"
        assert http.get("/v1/config").json()["overrides"] == {"prefix": "plain"}
        unknown = http.get("/v1/config?warehouse=other")
        assert (unknown.status_code, unknown.json()["error"]["type"]) == (
            400,
            "BadRequestException",
        )
        assert http.get("/v1/namespaces").status_code == 404
        assert http.get("/v1/my/namespaces").status_code == 404


def test_the_longest_declared_prefix_wins() -> None:
    declared = [WarehouseDeclaration("a", prefix="x"), WarehouseDeclaration("b", prefix="x/y")]
    mock = MockCatalog(warehouses=declared, root="memory://root")
    with client(mock) as http:
        http.post("/v1/x/y/namespaces", json={"namespace": ["in-b"]})
        assert http.get("/v1/x/namespaces").json()["namespaces"] == []
        assert http.get("/v1/x/y/namespaces").json()["namespaces"] == [["in-b"]]


def test_a_server_without_prefixes_has_one_warehouse() -> None:
    mock = MockCatalog(prefix=False, root="memory://root")
    with client(mock) as http:
        config = http.get("/v1/config?warehouse=anything").json()
        assert config["overrides"] == {}
        http.post("/v1/namespaces", json={"namespace": ["a"]})
        assert http.get("/v1/namespaces").json()["namespaces"] == [["a"]]
        assert http.get("/v1/anything/namespaces").status_code == 404


@pytest.mark.parametrize("prefix", ["namespaces", "config/x", "a//b", "/a", "a/", "a b", "..", "é"])
def test_a_prefix_that_could_not_work_is_refused(prefix: str) -> None:
    with pytest.raises(ValueError, match="prefix"):
        MockCatalog(warehouses=[WarehouseDeclaration("w", prefix=prefix)], root="memory://root")


@pytest.mark.parametrize("name", ["namespaces", "s3://b/w", "a b", "ü", "..", "x/../y", "%2F"])
def test_any_warehouse_name_gets_a_working_prefix(name: str) -> None:
    mock = MockCatalog(root="memory://root")
    with client(mock) as http:
        config = http.get("/v1/config", params={"warehouse": name}).json()
        prefix = config["overrides"]["prefix"]
        body = {"namespace": ["a"]}
        assert http.post(f"/v1/{prefix}/namespaces", json=body).status_code == 200
        assert mock.state(name).namespace(("a",)) is not None


def test_the_journal_remembers_names_and_statuses(
    mock: MockCatalog, http: httpx.Client, table: str
) -> None:
    mock.journal.clear()
    http.get(table)
    http.get("/namespaces/ns/tables/no")
    http.get("/nowhere")
    (loaded, missing, lost) = mock.journal.find()
    assert (loaded.operation, loaded.warehouse, loaded.namespace, loaded.name, loaded.status) == (
        "loadTable",
        "wh",
        ("ns",),
        "t",
        200,
    )
    assert (missing.operation, missing.name, missing.status) == ("loadTable", "no", 404)
    assert (lost.operation, lost.status, lost.path) == ("", 404, "/v1/wh/nowhere")
    assert loaded.sequence < missing.sequence < lost.sequence
    assert mock.journal.count("loadTable", name="t") == 1
    assert mock.journal.count(status=404) == 2


def test_the_journal_forgets_the_oldest() -> None:
    mock = MockCatalog(root="memory://root", journal_entries_max=2)
    with client(mock) as http:
        for path in ("/one", "/two", "/three"):
            http.get(path)
    assert [entry.path for entry in mock.journal.find()] == ["/two", "/three"]


def test_a_bug_of_ours_is_a_500_with_an_error_body_and_changes_nothing(
    mock: MockCatalog, http: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_context: Context, _state: WarehouseState, _call: Call) -> Outcome:
        raise KeyError("bug")

    mock.registries.operations["createNamespace"] = broken
    response = http.post("/namespaces", json={"namespace": ["a"]})
    assert response.status_code == 500
    assert response.json()["error"]["type"] == "InternalServerError"
    assert "KeyError" in caplog.text
    assert http.get("/namespaces").json()["namespaces"] == []
