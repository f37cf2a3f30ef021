"""What a server of 1.11.0 does otherwise than one of 1.10.0, apart from idempotency keys."""

import httpx
import pytest

from icecheck.contract import SPEC_VERSIONS, load
from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, Permissions, VendingSettings
from icecheck.mock_server.protocol.served_contract import KNOWN, operations_of
from tests.mock.asking import create, create_view, error_of, set_property
from tests.mock.later.conftest import Make

VIEWS = "/namespaces/ns/views"
VENDED = {"X-Iceberg-Access-Delegation": "vended-credentials"}


def config(mock: MockCatalog, query: str = "") -> httpx.Response:
    with httpx.Client(transport=mock.httpx_transport()) as http:
        return http.get(f"http://mock/v1/config{query}")


@pytest.mark.parametrize("version", SPEC_VERSIONS)
def test_the_newest_contract_says_of_each_operation_what_its_own_says(version: str) -> None:
    """The mock reads the facts of operations in the newest one alone."""
    for id_, operation in load(version).operations.items():
        newest = operations_of(version)[id_]
        assert (newest.method, newest.path, newest.facts, newest.request_media_type) == (
            operation.method,
            operation.path,
            operation.facts,
            operation.request_media_type,
        )


@pytest.mark.parametrize("version", SPEC_VERSIONS)
def test_a_server_lists_the_operations_of_its_document(make: Make, version: str) -> None:
    mock, _ = make(spec=version)
    listed = set(config(mock).json()["endpoints"])
    unsigned = {KNOWN.operations["signRequest"].endpoint}
    assert listed == {each.endpoint for each in load(version).operations.values()} - unsigned


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(ValueError, match=r"1\.10\.0"):
        MockCatalog(spec="0.9.0")


@pytest.mark.parametrize(("version", "status"), [("1.10.0", 400), ("1.11.0", 404)])
def test_a_warehouse_that_is_not_there(make: Make, version: str, status: int) -> None:
    mock, _ = make(spec=version, warehouses=["wh"])
    found, _type = error_of(config(mock, "?warehouse=nowhere"))
    assert found == status


def test_a_warehouse_that_is_not_there_has_a_type_of_its_own(make: Make) -> None:
    mock, _ = make(warehouses=["wh"])
    assert error_of(config(mock, "?warehouse=x"))[1] == "NoSuchWarehouseException"


@pytest.mark.parametrize(("version", "status"), [("1.10.0", 204), ("1.11.0", 404)])
def test_a_plan_that_never_was_is_cancelled(make: Make, version: str, status: int) -> None:
    _, http = make(spec=version)
    http.post("/namespaces", json={"namespace": ["ns"]})
    create(http, "t")
    assert http.delete("/namespaces/ns/tables/t/plan/nothing").status_code == status


def test_a_finished_plan_is_cancelled_twice(http: httpx.Client) -> None:
    create(http, "t")
    plan = http.post("/namespaces/ns/tables/t/plan", json={}).json()["plan-id"]
    for _ in range(2):
        assert http.delete(f"/namespaces/ns/tables/t/plan/{plan}").status_code == 204


def test_a_commit_has_the_tag_of_what_it_answers(http: httpx.Client) -> None:
    create(http, "t")
    committed = set_property(http, "/namespaces/ns/tables/t", owner="me")
    tag = {"If-None-Match": committed.headers["etag"]}
    assert http.get("/namespaces/ns/tables/t", headers=tag).status_code == 304


def test_an_older_commit_has_no_tag(make: Make) -> None:
    _, http = make(spec="1.10.0")
    http.post("/namespaces", json={"namespace": ["ns"]})
    create(http, "t")
    assert "etag" not in set_property(http, "/namespaces/ns/tables/t", owner="me").headers


def test_a_view_is_registered_as_it_was(http: httpx.Client) -> None:
    made = create_view(http, "ns", "v").json()
    assert http.delete(f"{VIEWS}/v").status_code == 204
    body = {"name": "w", "metadata-location": made["metadata-location"]}
    answer = http.post("/namespaces/ns/register-view", json=body)
    assert answer.status_code == 200
    assert answer.json() == made
    assert http.get(f"{VIEWS}/w").json() == made
    change = {"action": "set-properties", "updates": {"a": "b"}}
    replaced = http.post(f"{VIEWS}/w", json={"updates": [change]}).json()
    assert replaced["metadata"]["view-uuid"] == made["metadata"]["view-uuid"]
    assert replaced["metadata-location"] != made["metadata-location"]


@pytest.mark.parametrize("kind", ["table", "view"])
def test_a_view_is_not_registered_in_the_place_of_another(http: httpx.Client, kind: str) -> None:
    made = create_view(http, "ns", "v").json()
    (create(http, "w") if kind == "table" else create_view(http, "ns", "w")).raise_for_status()
    body = {"name": "w", "metadata-location": made["metadata-location"]}
    refused = http.post("/namespaces/ns/register-view", json=body)
    assert error_of(refused) == (409, "AlreadyExistsException")


def test_a_view_is_registered_in_a_namespace_that_exists(http: httpx.Client) -> None:
    body = {"name": "w", "metadata-location": "memory://root/x/v1.metadata.json"}
    refused = http.post("/namespaces/none/register-view", json=body)
    assert error_of(refused) == (404, "NoSuchNamespaceException")


def test_a_file_that_is_no_views_is_not_registered(http: httpx.Client) -> None:
    table = create(http, "t").json()["metadata-location"]
    for location in (table, "", "memory://root/wh/none.metadata.json", "memory://root/wh/x"):
        body = {"name": "w", "metadata-location": location}
        assert error_of(http.post("/namespaces/ns/register-view", json=body))[0] == 400
    assert http.get(f"{VIEWS}/w").status_code == 404


def test_who_may_not_read_a_view_may_not_register_its_file() -> None:
    denied = Permissions(denied_namespaces=("secret",))
    oauth2 = OAuth2Settings(clients=(Client("all", "x"), Client("some", "x", permissions=denied)))
    mock = MockCatalog(spec="1.11.0", root="memory://root", oauth2=oauth2)
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1/wh") as http:
        http.headers["Authorization"] = f"Bearer {mock.access_token('all')}"
        http.get("http://mock/v1/config?warehouse=wh")
        for name in ("secret", "open"):
            http.post("/namespaces", json={"namespace": [name]})
        made = create_view(http, "secret", "v").json()
        http.headers["Authorization"] = f"Bearer {mock.access_token('some')}"
        body = {"name": "w", "metadata-location": made["metadata-location"]}
        assert http.post("/namespaces/open/register-view", json=body).status_code == 403
    mock.stop()


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ("ns%1Fv", 200), ("a%1Fb%1Fv,ns%1Fw", 200), ("ns%1Fwith%2Ccomma", 200),
        ("", 400), ("v", 400), ("ns%1Fv,", 400), (",ns%1Fv", 400), ("ns%1F", 400),
        ("ns%1Fv%2", 400),
    ],
)  # fmt: skip
def test_the_views_through_which_one_reads_are_taken_apart_as_sent(
    http: httpx.Client, value: str, status: int
) -> None:
    create(http, "t")
    create_view(http, "ns", "v")
    places = ("tables/t", "views/v", "tables/t/credentials")
    found = {
        http.get(f"/namespaces/ns/{each}?referenced-by={value}").status_code for each in places
    }
    assert found == {status}


def test_an_older_server_does_not_read_them(make: Make) -> None:
    _, http = make(spec="1.10.0")
    http.post("/namespaces", json={"namespace": ["ns"]})
    create(http, "t")
    assert http.get("/namespaces/ns/tables/t?referenced-by=").status_code == 200


def test_a_plan_has_credentials_for_its_files_if_they_are_asked_for(make: Make) -> None:
    _, http = make(vending=VendingSettings(storage="s3"))
    http.post("/namespaces", json={"namespace": ["ns"]})
    create(http, "t")
    path = "/namespaces/ns/tables/t/plan"
    asked = http.post(path, json={}, headers=VENDED).json()
    assert asked["storage-credentials"][0]["config"]["s3.access-key-id"]
    assert "storage-credentials" not in http.post(path, json={}).json()
    fetched = http.get(f"{path}/{asked['plan-id']}", headers=VENDED).json()
    assert fetched["storage-credentials"]


class TestSeparator:
    """The announced one, and the unit separator, both mean the border of two levels."""

    @pytest.fixture
    def nested(self, make: Make) -> httpx.Client:
        mock, http = make(namespace_separator="%2E")
        assert config(mock).json()["overrides"]["namespace-separator"] == "%2E"
        for levels in (["a"], ["a", "b"], ["a", "b", "c"]):
            http.post("/namespaces", json={"namespace": levels}).raise_for_status()
        return http

    @pytest.mark.parametrize("path", ["a%2Eb", "a%2eb", "a%1Fb", "a%1fb", "%61%2E%62"])
    def test_in_a_path(self, nested: httpx.Client, path: str) -> None:
        assert nested.get(f"/namespaces/{path}").json()["namespace"] == ["a", "b"]

    @pytest.mark.parametrize("parent", ["a.b", "a%2Eb", "a%1Fb", "a%1fb"])
    def test_in_a_parent(self, nested: httpx.Client, parent: str) -> None:
        found = nested.get(f"/namespaces?parent={parent}").json()["namespaces"]
        assert found == [["a", "b", "c"]]

    def test_a_level_with_a_dot_is_reached_where_the_dot_is_none(
        self, nested: httpx.Client
    ) -> None:
        nested.post("/namespaces", json={"namespace": ["a.b"]}).raise_for_status()
        assert nested.get("/namespaces/a.b").json()["namespace"] == ["a.b"]

    def test_none_is_announced_and_dots_are_letters_by_default(self, make: Make) -> None:
        mock, http = make()
        assert "namespace-separator" not in config(mock).json()["overrides"]
        http.post("/namespaces", json={"namespace": ["a.b"]}).raise_for_status()
        assert http.get("/namespaces/a%2Eb").json()["namespace"] == ["a.b"]

    @pytest.mark.parametrize("separator", ["", ".", "%", "%2", "%41", "%5F", "%00", "%C3%A9", "x"])
    def test_one_that_could_be_in_a_name_is_refused(self, separator: str) -> None:
        with pytest.raises(ValueError, match="separate"):
            MockCatalog(namespace_separator=separator)

    def test_permissions_know_it_too(self) -> None:
        denied = Permissions(denied_namespaces=(("a", "b"),))
        oauth2 = OAuth2Settings(
            clients=(Client("all", "x"), Client("some", "x", permissions=denied))
        )
        mock = MockCatalog(
            spec="1.11.0", root="memory://root", oauth2=oauth2, namespace_separator="%2E"
        )
        with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1/wh") as http:
            http.headers["Authorization"] = f"Bearer {mock.access_token('all')}"
            http.get("http://mock/v1/config?warehouse=wh")
            http.post("/namespaces", json={"namespace": ["a", "b"]}).raise_for_status()
            http.headers["Authorization"] = f"Bearer {mock.access_token('some')}"
            for asked in ("/namespaces?parent=a.b", "/namespaces/a%2Eb"):
                assert http.get(asked).status_code == 403
            assert http.get("/namespaces?parent=a").status_code == 200
        mock.stop()


@pytest.mark.parametrize(("version", "status"), [("1.10.0", 200), ("1.11.0", 400)])
def test_rows_that_are_no_number_are_refused_where_the_document_has_them(
    make: Make, version: str, status: int
) -> None:
    _, http = make(spec=version)
    http.post("/namespaces", json={"namespace": ["ns"]})
    create(http, "t")
    path = "/namespaces/ns/tables/t/plan"
    assert http.post(path, json={"min-rows-requested": "many"}).status_code == status
    assert http.post(path, json={"min-rows-requested": 7}).status_code == 200
