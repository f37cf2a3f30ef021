"""Operations that a server is told not to serve are not there, and not announced."""

import httpx
import pytest

from icecheck.mock_server import MockCatalog, WarehouseDeclaration
from tests.kit.contracts import CONTRACT
from tests.mock.security.serving import client_of

OPERATIONS = CONTRACT.operations


def endpoints(mock: MockCatalog) -> list[str]:
    with client_of(mock) as http:
        announced: list[str] = http.get("/v1/config").json()["endpoints"]
        return announced


def concrete(path: str) -> str:
    """A path that an operation's template fits, on a server that serves everything anywhere."""
    for name in ("namespace", "table", "view", "plan-id"):
        path = path.replace(f"{{{name}}}", "a")
    return path.replace("/{prefix}", "")


def ask(http: httpx.Client, operation_id: str) -> httpx.Response:
    operation = OPERATIONS[operation_id]
    return http.request(operation.method, concrete(operation.path))


def refusal_of(operation_id: str, siblings: set[str]) -> int:
    """The status that the document has for it, or what HTTP says of a path without the method."""
    if "406" in OPERATIONS[operation_id].responses:
        return 406
    return 405 if siblings else 404


def test_all_is_announced_as_the_document_writes_it() -> None:
    documented = [f"{each.method} {each.path}" for each in OPERATIONS.values()]
    paths = CONTRACT.raw["paths"].items()
    written = [f"{m.upper()} {path}" for path, item in paths for m in item if m != "parameters"]
    assert sorted(documented) == sorted(written)
    for declared in (["wh"], [WarehouseDeclaration("wh", prefix="a/b/c")], None):
        assert endpoints(MockCatalog(warehouses=declared, root="memory://root")) == documented
    assert endpoints(MockCatalog(prefix=False, root="memory://root")) == documented


@pytest.mark.parametrize("hidden", [each for each in OPERATIONS if each != "getConfig"])
def test_a_hidden_operation_is_not_served_and_not_announced(hidden: str) -> None:
    mock = MockCatalog(hidden=(hidden,), root="memory://root")
    documented = [each.endpoint for each in OPERATIONS.values() if each.id != hidden]
    assert endpoints(mock) == documented
    siblings = {
        each.method
        for each in OPERATIONS.values()
        if each.path == OPERATIONS[hidden].path and each.id != hidden
    }
    with client_of(mock) as http:
        response = ask(http, hidden)
        assert response.status_code == refusal_of(hidden, siblings)
        if response.status_code == 405:
            assert response.headers["allow"] == ", ".join(sorted(siblings))
        if OPERATIONS[hidden].method != "HEAD":
            assert response.json()["error"]["code"] == response.status_code
        for other in (each for each in OPERATIONS if each != hidden):
            answer = ask(http, other)
            assert answer.status_code != 405, other
            assert "No such path" not in answer.text, other
    assert mock.journal.count(hidden) == 0


def test_several_operations_can_be_hidden() -> None:
    views = [each for each in OPERATIONS if "view" in each.lower()]
    mock = MockCatalog(hidden=views, root="memory://root")
    assert not any("view" in endpoint for endpoint in endpoints(mock))
    with client_of(mock) as http:
        answered = [ask(http, each).status_code for each in views]
    assert answered == [refusal_of(each, set()) for each in views]


def test_a_hidden_token_endpoint_is_404_and_asks_for_no_token() -> None:
    mock = MockCatalog(token="static", hidden=("getToken",), root="memory://root")
    with client_of(mock) as http:
        response = ask(http, "getToken")
        assert (response.status_code, response.json()["error"]["code"]) == (404, 404)


@pytest.mark.parametrize(
    ("hidden", "said"), [(("listviews",), "listviews"), ("x", "'x'"), (("getConfig",), "getConfig")]
)
def test_what_cannot_be_hidden_is_refused_by_name(hidden: tuple[str, ...], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        MockCatalog(hidden=hidden, root="memory://root")


def test_one_server_hides_nothing_of_another() -> None:
    MockCatalog(hidden=("listViews",), root="memory://root")
    assert "GET /v1/{prefix}/namespaces/{namespace}/views" in endpoints(
        MockCatalog(root="memory://root")
    )
