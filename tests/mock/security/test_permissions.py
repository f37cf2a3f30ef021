"""Who may do what: a refusal is a 403 as a whole, and never a smaller answer."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, Permissions
from icecheck.mock_server.serving.permissions import WRITING
from tests.kit.contracts import CONTRACT
from tests.kit.ordinary_requests import SCHEMA, ordinary_requests
from tests.mock.security.serving import client_of

As = Callable[[str], httpx.Client]
OPEN, CLOSED, INSIDE, BESIDE = ("x",), ("a", "b"), ("a", "b", "c"), ("a", "bc")


def path(namespace: tuple[str, ...], *more: str) -> str:
    return "/".join(("/v1/namespaces", "%1F".join(namespace), *more))


def expect_forbidden(response: httpx.Response) -> None:
    assert response.status_code == 403, response.text
    if response.request.method == "HEAD":
        assert response.content == b""
    else:
        error = response.json()["error"]
        assert (error["type"], error["code"]) == ("ForbiddenException", 403)


@pytest.fixture
def as_(mock: MockCatalog) -> As:
    """A client of one of the server's clients; namespaces, tables and views are there."""
    with client_of(mock, mock.access_token("root")) as root:
        for namespace in (OPEN, CLOSED, INSIDE, BESIDE):
            created = root.post("/v1/namespaces", json={"namespace": namespace})
            assert created.status_code == 200
            made = root.post(path(namespace, "tables"), json={"name": "t", "schema": SCHEMA})
            assert made.status_code == 200
            view = ordinary_requests(*namespace)["createView"].body | {"name": "v"}
            assert root.post(path(namespace, "views"), json=view).status_code == 200
    return lambda client_id: client_of(mock, mock.access_token(client_id))


def identifier(namespace: tuple[str, ...], name: str) -> dict[str, Any]:
    return {"namespace": list(namespace), "name": name}


NAMING = tuple(sorted({*CONTRACT.operations} - {"getConfig", "getToken"}))


def ask(http: httpx.Client, namespace: tuple[str, ...], operation: str) -> httpx.Response:
    """Send the ordinary request about a namespace and what is in it."""
    sent = ordinary_requests(*namespace)[operation]
    return http.request(sent.method, sent.target(), json=sent.body)


@pytest.mark.parametrize("operation", NAMING)
@pytest.mark.parametrize("namespace", [CLOSED, INSIDE])
def test_a_denied_namespace_is_closed_with_all_that_is_below(
    mock: MockCatalog, as_: As, operation: str, namespace: tuple[str, ...]
) -> None:
    before = mock.state()
    with as_("outsider") as outsider:
        expect_forbidden(ask(outsider, namespace, operation))
    assert mock.state() is before


@pytest.mark.parametrize("operation", NAMING)
@pytest.mark.parametrize("namespace", [OPEN, BESIDE])
def test_what_is_beside_a_denied_namespace_is_open(
    as_: As, operation: str, namespace: tuple[str, ...]
) -> None:
    with as_("outsider") as outsider, as_("root") as root:
        answers = [ask(client, namespace, operation) for client in (outsider, root)]
        assert answers[0].status_code not in {401, 403}
        if operation not in WRITING and operation != "fetchPlanningResult":
            assert answers[0].status_code == answers[1].status_code


@pytest.mark.parametrize("operation", NAMING)
def test_a_reader_may_read_and_nothing_else(mock: MockCatalog, as_: As, operation: str) -> None:
    before = mock.state()
    with as_("reader") as reader:
        response = ask(reader, OPEN, operation)
    if operation in WRITING:
        expect_forbidden(response)
    else:
        assert response.status_code in {200, 204, 404}
    assert mock.state() is before


def test_writing_is_what_changes_something() -> None:
    assert {
        "createNamespace", "dropNamespace", "updateProperties", "createTable", "updateTable",
        "dropTable", "renameTable", "registerTable", "commitTransaction", "createView",
        "replaceView", "dropView", "renameView", "registerView",
    } == WRITING  # fmt: skip


def test_a_listing_names_what_is_denied_and_is_never_shortened(as_: As) -> None:
    with as_("outsider") as outsider, as_("root") as root:
        for url in ("/v1/namespaces", "/v1/namespaces?parent=a"):
            seen = outsider.get(url)
            assert seen.status_code == 200
            assert seen.content == root.get(url).content
        assert ["a", "b"] in seen.json()["namespaces"]


@pytest.mark.parametrize("kind", ["table", "view"])
@pytest.mark.parametrize("ends", [(OPEN, INSIDE), (INSIDE, OPEN)])
def test_a_rename_into_or_out_of_a_denied_namespace_is_refused(
    mock: MockCatalog, as_: As, kind: str, ends: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    source, destination = ends
    body = {
        "source": identifier(source, kind[0]),
        "destination": identifier(destination, "new"),
    }
    before = mock.state()
    with as_("outsider") as outsider:
        expect_forbidden(outsider.post(f"/v1/{kind}s/rename", json=body))
    assert mock.state() is before


def test_a_transaction_that_touches_a_denied_namespace_is_refused_as_a_whole(
    mock: MockCatalog, as_: As
) -> None:
    update = {"action": "set-properties", "updates": {"k": "v"}}
    changes = [
        {"identifier": identifier(namespace, "t"), "requirements": [], "updates": [update]}
        for namespace in (OPEN, CLOSED)
    ]
    before = mock.state()
    with as_("outsider") as outsider:
        expect_forbidden(outsider.post("/v1/transactions/commit", json={"table-changes": changes}))
        assert mock.state() is before
        allowed = outsider.post("/v1/transactions/commit", json={"table-changes": changes[:1]})
        assert allowed.status_code == 204


@pytest.mark.parametrize("version", [0, 1])
def test_a_denied_table_cannot_be_registered_elsewhere(as_: As, version: int) -> None:
    """To register a table's metadata file, an old one too, is to read the table."""
    update = {"action": "set-properties", "updates": {"k": "v"}}
    body = {"requirements": [], "updates": [update]}
    with as_("root") as root:
        table = path(CLOSED, "tables", "t")
        locations = [root.get(table).json()["metadata-location"]]
        locations.append(root.post(table, json=body).json()["metadata-location"])
    stolen = {"name": "stolen", "metadata-location": locations[version]}
    with as_("outsider") as outsider, as_("root") as root:
        expect_forbidden(outsider.post(path(OPEN, "register"), json=stolen))
        assert root.post(path(OPEN, "register"), json=stolen).status_code == 200


@pytest.mark.parametrize(
    ("url", "body"),
    [
        ("/v1/namespaces", b'{"namespace": ["a", "b", "x"]'),
        ("/v1/tables/rename", b'{"source": {"namespace": ["a", "b"], "name": "t"}}'),
        ("/v1/transactions/commit", b'{"table-changes": []}'),
    ],
)
def test_a_malformed_body_is_400_for_everybody(as_: As, url: str, body: bytes) -> None:
    with as_("outsider") as outsider, as_("root") as root:
        answers = [client.post(url, content=body) for client in (outsider, root)]
    assert [answer.status_code for answer in answers] == [400, 400]
    assert answers[0].content == answers[1].content


@pytest.mark.parametrize(
    "written", ["/v1/namespaces/a%1fb", "/v1/namespaces/%61%1Fb", "/v1/namespaces/a%1Fb%1Fnone"]
)
def test_another_spelling_of_a_denied_name_is_denied(as_: As, written: str) -> None:
    with as_("outsider") as outsider:
        expect_forbidden(outsider.get(written))


def test_a_plus_sign_is_judged_as_the_name_that_is_meant() -> None:
    denied = Permissions(denied_namespaces=("my secret",))
    oauth2 = OAuth2Settings(clients=(Client("root", "r"), Client("other", "o", permissions=denied)))
    mock = MockCatalog(oauth2=oauth2, root="memory://root")
    with client_of(mock, mock.access_token("root")) as root:
        root.post("/v1/namespaces", json={"namespace": ["my secret"]})
    with client_of(mock, mock.access_token("other")) as other:
        expect_forbidden(other.get("/v1/namespaces/my+secret"))


def test_an_operation_can_be_denied() -> None:
    denied = Permissions(denied_operations=("dropTable", "getConfig"))
    oauth2 = OAuth2Settings(clients=(Client("c", "s", permissions=denied),))
    mock = MockCatalog(oauth2=oauth2, root="memory://root")
    with client_of(mock, mock.access_token("c")) as http:
        expect_forbidden(http.get("/v1/config"))
        assert http.get("/v1/namespaces").status_code == 200
        # Whether or not it is there: nobody learns by asking.
        expect_forbidden(http.delete("/v1/namespaces/a/tables/t"))


def test_a_route_that_does_not_exist_is_404_for_everybody(as_: As) -> None:
    with as_("reader") as reader:
        assert reader.post("/v1/nowhere").status_code == 404


def test_a_static_token_may_do_everything() -> None:
    oauth2 = OAuth2Settings(clients=(Client("c", "s", permissions=Permissions(read_only=True)),))
    mock = MockCatalog(token="static", oauth2=oauth2, root="memory://root")
    for token, status in (("static", 200), (mock.access_token("c"), 403)):
        with client_of(mock, token) as http:
            assert http.post("/v1/namespaces", json={"namespace": ["a"]}).status_code == status


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"denied_operations": ("loadtable",)}, "loadtable"),
        ({"denied_operations": ("getToken",)}, "getToken"),
        ({"denied_namespaces": ("a..b",)}, "level"),
        ({"denied_namespaces": ((),)}, "level"),
    ],
)
def test_permissions_that_mean_nothing_are_refused(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Permissions(**settings)
