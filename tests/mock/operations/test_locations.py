"""Where namespaces, tables and views are: an absolute place each, below that of what holds it."""

import json

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.protocol.names import is_absolute
from tests.kit.ordinary_requests import SCHEMA
from tests.mock.asking import create, create_view, error_of

BASE = "memory://root/wh"


def namespace_of(http: httpx.Client, levels: list[str], **properties: str) -> dict[str, str]:
    """The properties of a new namespace, the same in both answers about it."""
    created = http.post("/namespaces", json={"namespace": levels, "properties": properties})
    loaded = http.get(f"/namespaces/{'%1F'.join(levels)}")
    assert created.json() == loaded.json()
    return dict(loaded.json()["properties"])


def locations_in(http: httpx.Client, namespace: str) -> list[str]:
    """Where a table, a staged one, one that a commit creates, and a view go."""
    path = f"/namespaces/{namespace}"
    body = {"name": "t", "schema": SCHEMA, "location": None}
    made = http.post(f"{path}/tables", json=body)
    staged = http.post(f"{path}/tables", json={**body, "name": "s", "stage-create": True})
    updates = [
        {"action": "add-schema", "schema": SCHEMA},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": {"fields": []}},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
        {"action": "set-default-sort-order", "sort-order-id": -1},
    ]
    commit = {"requirements": [{"type": "assert-create"}], "updates": updates}
    committed = http.post(f"{path}/tables/c", json=commit)
    view = create_view(http, namespace, "v")
    return [str(each.json()["metadata"]["location"]) for each in (made, staged, committed, view)]


def test_a_namespace_without_a_location_gets_one(http: httpx.Client) -> None:
    assert namespace_of(http, ["a"]) == {"location": f"{BASE}/a"}
    assert namespace_of(http, ["b"], k="v") == {"k": "v", "location": f"{BASE}/b"}
    assert namespace_of(http, ["a", "c"]) == {"location": f"{BASE}/a/c"}
    assert namespace_of(http, ["d"], location="s3://b/d") == {"location": "s3://b/d"}
    assert namespace_of(http, ["d", "e"]) == {"location": "s3://b/d/e"}
    assert namespace_of(http, ["f"], location="f") == {"location": "f"}


def test_ancestors_that_come_with_a_namespace_have_locations_too(http: httpx.Client) -> None:
    namespace_of(http, ["a", "b c", "d"])
    properties = http.get("/namespaces/a%1Fb%20c").json()["properties"]
    assert http.get("/namespaces/a").json()["properties"] == {"location": f"{BASE}/a"}
    assert properties["location"].startswith(f"{BASE}/a/b_c-")


@pytest.mark.parametrize("location", [None, "s3://bucket/x", "s3://bucket/x/"])
def test_what_is_created_without_a_location_goes_below_its_namespaces(
    http: httpx.Client, location: str | None
) -> None:
    properties = namespace_of(http, ["ns"], **({"location": location} if location else {}))
    home = properties["location"].rstrip("/")
    for found, name in zip(locations_in(http, "ns"), "tscv", strict=True):
        assert found.startswith(f"{home}/{name}-")
        assert "//" not in found.removeprefix(home)


def test_a_location_that_is_no_place_is_kept_and_not_used(http: httpx.Client) -> None:
    assert namespace_of(http, ["ns"], location="spark-warehouse")["location"] == "spark-warehouse"
    assert all(each.startswith(f"{BASE}/ns/") for each in locations_in(http, "ns"))


def test_the_location_of_a_namespace_is_a_property_like_others(http: httpx.Client) -> None:
    namespace_of(http, ["ns"])
    path = "/namespaces/ns/properties"
    answer = http.post(path, json={"updates": {"location": "s3://new"}}).json()
    assert answer == {"updated": ["location"], "removed": [], "missing": []}
    assert locations_in(http, "ns")[0].startswith("s3://new/t-")
    answer = http.post(path, json={"removals": ["location"]}).json()
    assert answer == {"updated": [], "removed": ["location"], "missing": []}
    assert http.get("/namespaces/ns").json()["properties"] == {}
    assert create(http, "u").json()["metadata"]["location"].startswith(f"{BASE}/ns/u-")


RELATIVE = ["spark-warehouse/t", "t", "./t", "../t", " /t", "file:t", "s3:b/t", ":/t", "1:/t", "?"]
ABSOLUTE = ["s3://b/t", "memory://root/t", "abfss://c@a.net/t", "gs://b/a b/ü", "S3A://b/t"]


@pytest.mark.parametrize("location", RELATIVE)
@pytest.mark.parametrize("staged", [False, True])
def test_a_table_with_a_relative_location_is_refused(
    http: httpx.Client, namespace: str, location: str, staged: bool
) -> None:
    refused = create(http, "t", location=location, **({"stage-create": True} if staged else {}))
    assert error_of(refused) == (400, "BadRequestException")
    assert http.get(f"/namespaces/{namespace}/tables").json()["identifiers"] == []


@pytest.mark.parametrize("location", RELATIVE)
def test_a_view_with_a_relative_location_is_refused_also_in_missing_namespaces(
    http: httpx.Client, namespace: str, location: str
) -> None:
    for each in (namespace, "missing"):
        refused = create_view(http, each, "v", location=location)
        assert error_of(refused) == (400, "BadRequestException")


@pytest.mark.parametrize("location", RELATIVE)
def test_nothing_is_moved_to_a_relative_location(
    http: httpx.Client, table: str, location: str
) -> None:
    assert create_view(http, "ns", "v").status_code == 200
    update = {"action": "set-location", "location": location}
    commit = {"requirements": [], "updates": [update]}
    identifier = {"namespace": ["ns"], "name": "t"}
    creation = {"requirements": [{"type": "assert-create"}], "updates": [update]}
    for path, body in (
        (table, commit),
        ("/transactions/commit", {"table-changes": [{"identifier": identifier, **commit}]}),
        ("/namespaces/ns/tables/new", creation),
        ("/namespaces/ns/views/v", commit),
    ):
        assert error_of(http.post(path, json=body)) == (400, "BadRequestException")


def test_a_registered_table_with_a_relative_location_is_refused(
    mock: MockCatalog, http: httpx.Client, table: str
) -> None:
    loaded = http.get(table).json()
    metadata = loaded["metadata"] | {"location": "spark-warehouse/t"}
    there = "memory://root/wh/other/00000-a.metadata.json"
    mock.files.write(there, json.dumps(metadata).encode())
    body = {"name": "other", "metadata-location": there}
    assert error_of(http.post("/namespaces/ns/register", json=body)) == (400, "BadRequestException")


@pytest.mark.parametrize("location", [*ABSOLUTE, "file:/t", "file:///t", "/t"])
def test_a_uri_with_a_path_and_a_path_from_the_root_are_absolute(location: str) -> None:
    assert is_absolute(location)


@pytest.mark.parametrize("location", ABSOLUTE)
def test_absolute_locations_are_taken(http: httpx.Client, namespace: str, location: str) -> None:
    staged = create(http, "t", location=location, **{"stage-create": True})
    assert staged.json()["metadata"]["location"] == location
