"""Where tables are that are created without a location: by their names, or unique."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from icecheck.mock_server import MockCatalog, VendingSettings, WarehouseDeclaration
from tests.mock.product.test_kept_state import SCHEMA, client, done, view_body


@pytest.fixture(params=["on disk", "in memory"])
def mock(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MockCatalog]:
    root = tmp_path if request.param == "on disk" else "s3://bucket"
    mock = MockCatalog(root=root, table_locations="by-name")
    yield mock
    mock.stop()


@pytest.fixture
def http(mock: MockCatalog) -> httpx.Client:
    http = client(mock)
    for namespace in (["a"], ["a", "b"]):
        done(http.post("namespaces", json={"namespace": namespace}))
    return http


def home(mock: MockCatalog) -> str:
    return mock.warehouses.open("wh").context.location


def made(http: httpx.Client, name: str, namespace: str = "a", **more: Any) -> str:
    body = {"name": name, "schema": SCHEMA, **more}
    return done(http.post(f"namespaces/{namespace}/tables", json=body)).json()["metadata"][
        "location"
    ]


def staged_at(http: httpx.Client, name: str, namespace: str = "a") -> str:
    is_staged: dict[str, Any] = {"stage-create": True}
    return made(http, name, namespace, **is_staged)


def made_view(http: httpx.Client, name: str) -> str:
    return done(http.post("namespaces/a/views", json=view_body(name))).json()["metadata"][
        "location"
    ]


def uuid_of(http: httpx.Client, name: str, namespace: str = "a") -> str:
    found = done(http.get(f"namespaces/{namespace}/tables/{name}")).json()["metadata"]["table-uuid"]
    return found[:8]


def test_a_table_and_a_view_are_where_their_names_say(
    mock: MockCatalog, http: httpx.Client
) -> None:
    assert made(http, "t") == f"{home(mock)}/a/t"
    assert made(http, "t", "a%1Fb") == f"{home(mock)}/a/b/t"
    assert made_view(http, "v") == f"{home(mock)}/a/v"


def test_a_location_in_the_request_and_that_of_a_namespace_hold(
    mock: MockCatalog, http: httpx.Client
) -> None:
    place = f"{home(mock)}/elsewhere"
    done(http.post("namespaces", json={"namespace": ["c"], "properties": {"location": place}}))
    assert made(http, "t", "c") == f"{place}/t"
    assert made(http, "given", location=f"{place}/given") == f"{place}/given"


def test_a_table_that_was_renamed_keeps_its_place_for_itself(
    mock: MockCatalog, http: httpx.Client
) -> None:
    made(http, "t")
    ends = {
        "source": {"namespace": ["a"], "name": "t"},
        "destination": {"namespace": ["a"], "name": "u"},
    }
    done(http.post("tables/rename", json=ends))
    assert made(http, "t") == f"{home(mock)}/a/t-{uuid_of(http, 't')}"
    assert made(http, "u2") == f"{home(mock)}/a/u2"


def test_a_name_that_is_used_again_meets_no_files_of_the_table_before(
    mock: MockCatalog, http: httpx.Client
) -> None:
    made(http, "t")
    done(http.delete("namespaces/a/tables/t"))
    assert made(http, "t") == f"{home(mock)}/a/t-{uuid_of(http, 't')}"


def test_a_name_whose_files_were_purged_has_its_place_again(
    mock: MockCatalog, http: httpx.Client
) -> None:
    for _ in range(2):
        assert made(http, "t") == f"{home(mock)}/a/t"
        done(http.delete("namespaces/a/tables/t", params={"purgeRequested": "true"}))


def test_a_place_without_files_that_a_table_names_is_taken(
    mock: MockCatalog, http: httpx.Client
) -> None:
    place = f"{home(mock)}/a/t"
    other = {"write.metadata.path": f"{home(mock)}/metadata"}
    made(http, "first", location=place, properties=other)
    assert made(http, "t") == f"{place}-{uuid_of(http, 't')}"


def test_a_table_is_not_above_those_of_a_namespace_of_its_name(
    mock: MockCatalog, http: httpx.Client
) -> None:
    below = made(http, "data", "a%1Fb")
    place = made(http, "b")
    assert below == f"{home(mock)}/a/b/data"
    assert place == f"{home(mock)}/a/b-{uuid_of(http, 'b')}"


def test_a_table_is_not_above_one_that_has_no_files_there(
    mock: MockCatalog, http: httpx.Client
) -> None:
    other = {"write.metadata.path": f"{home(mock)}/metadata"}
    made(http, "first", location=f"{home(mock)}/a/t/first", properties=other)
    assert made(http, "t") == f"{home(mock)}/a/t-{uuid_of(http, 't')}"


def test_a_table_is_not_in_the_directory_of_another_one(
    mock: MockCatalog, http: httpx.Client
) -> None:
    above = made(http, "b")
    below = made(http, "data", "a%1Fb")
    assert above == f"{home(mock)}/a/b"
    assert below == f"{above}-{uuid_of(http, 'data', 'a%1Fb')}/data"


@pytest.mark.parametrize(
    "key", ["write.data.path", "write.metadata.path", "write.object-storage.path"]
)
def test_a_place_where_another_table_writes_is_taken(
    mock: MockCatalog, http: httpx.Client, key: str
) -> None:
    for name, place in (("first", "a/t"), ("second", "a/u/below"), ("third", "a/b")):
        made(http, name, properties={key: f"{home(mock)}/{place}"})
    for name in ("t", "u"):
        assert made(http, name) == f"{home(mock)}/a/{name}-{uuid_of(http, name)}"
    below = made(http, "t", "a%1Fb")
    assert below == f"{home(mock)}/a/b-{uuid_of(http, 't', 'a%1Fb')}/t"


def test_a_table_of_the_whole_warehouse_moves_no_other_out_of_it(
    mock: MockCatalog, http: httpx.Client
) -> None:
    made(http, "whole", location=home(mock))
    assert made(http, "t") == f"{home(mock)}/a/t"


def named(http: httpx.Client, namespace: list[str], location: str) -> None:
    body = {"namespace": namespace, "properties": {"location": location}}
    done(http.post("namespaces", json=body))


@pytest.mark.parametrize("is_on_disk", [True, False], ids=["on disk", "in memory"])
def test_a_namespace_elsewhere_has_no_table_in_another_one_either(
    tmp_path: Path, is_on_disk: bool
) -> None:
    mock = MockCatalog(allow_locations=[tmp_path], table_locations="by-name")
    http = client(mock)
    place = f"file://{tmp_path}/x" if is_on_disk else "s3://bucket/x"
    named(http, ["a"], place)
    done(http.post("namespaces", json={"namespace": ["a", "b"]}))
    above = made(http, "b")
    below = made(http, "data", "a%1Fb")
    assert above == f"{place}/b"
    assert below == f"{above}-{uuid_of(http, 'data', 'a%1Fb')}/data"


def test_a_table_of_a_whole_allowed_directory_moves_no_other_out_of_it(tmp_path: Path) -> None:
    mock = MockCatalog(allow_locations=[tmp_path], table_locations="by-name")
    http = client(mock)
    named(http, ["a"], f"file://{tmp_path}")
    made(http, "whole", location=f"file://{tmp_path}")
    assert made(http, "t") == f"file://{tmp_path}/t"


def test_a_table_of_a_whole_bucket_moves_no_other_into_another_one() -> None:
    http = client(MockCatalog(table_locations="by-name"))
    named(http, ["a"], "s3://bucket")
    made(http, "whole", location="s3://bucket")
    assert made(http, "t") == "s3://bucket/t"


def test_a_place_in_nested_tables_is_moved_out_of_all_of_them(
    mock: MockCatalog, http: httpx.Client
) -> None:
    for inner in ("x/y", "x"):
        made(http, inner.replace("/", ""), location=f"{home(mock)}/{inner}")
    named(http, ["c"], f"{home(mock)}/x/y")
    assert made(http, "t", "c") == f"{home(mock)}/x-{uuid_of(http, 't', 'c')}/y/t"


RESPELLED = {
    "one slash after the scheme": ("file:///", "file:/"),
    "no scheme": ("file:///", "/"),
    "a host": ("file:///", "file://localhost/"),
    "another case": ("file:", "FILE:"),
    "a dot": ("/a/", "/./a/"),
    "two dots": ("/a/", "/c/../a/"),
    "two slashes": ("/a/", "//a/"),
    "another scheme of S3": ("s3:", "s3a:"),
    "another case of S3": ("s3:", "S3:"),
}


@pytest.mark.parametrize("spelling", RESPELLED.values(), ids=RESPELLED)
def test_no_spelling_of_a_place_lets_a_table_into_another_one(
    tmp_path: Path, spelling: tuple[str, str]
) -> None:
    root = "s3://bucket" if spelling[0] == "s3:" else tmp_path
    mock = MockCatalog(root=root, table_locations="by-name")
    http = client(mock)
    done(http.post("namespaces", json={"namespace": ["a"]}))
    above = made(http, "t")
    assert above.replace(*spelling) != above
    named(http, ["b"], above.replace(*spelling))
    assert made(http, "x", "b") == f"{above}-{uuid_of(http, 'x', 'b')}/x"


@pytest.mark.parametrize("spelling", RESPELLED.values(), ids=RESPELLED)
def test_no_spelling_of_a_place_gives_it_to_two_tables(
    tmp_path: Path, spelling: tuple[str, str]
) -> None:
    root = "s3://bucket" if spelling[0] == "s3:" else tmp_path
    mock = MockCatalog(root=root, table_locations="by-name")
    http = client(mock)
    for namespace in ("a", "b"):
        done(http.post("namespaces", json={"namespace": [namespace]}))
    elsewhere = {"write.metadata.path": f"{home(mock)}/metadata"}
    given = f"{home(mock)}/a/t".replace(*spelling)
    made(http, "first", "b", location=given, properties=elsewhere)
    assert made(http, "t") == f"{home(mock)}/a/t-{uuid_of(http, 't')}"


def test_a_view_whose_location_ends_with_a_slash_has_its_place_for_itself(
    mock: MockCatalog, http: httpx.Client
) -> None:
    place = f"{home(mock)}/a/b"
    done(http.post("namespaces/a/views", json={**view_body("v"), "location": f"{place}/"}))
    assert made(http, "t", "a%1Fb") == f"{place}-{uuid_of(http, 't', 'a%1Fb')}/t"


def created_by_commit(http: httpx.Client, name: str, *more: dict[str, Any]) -> str:
    schema = {"action": "add-schema", "schema": {**SCHEMA, "schema-id": 0}}
    updates = [
        schema,
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": {"spec-id": 0, "fields": []}},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        *more,
    ]
    body = {"requirements": [{"type": "assert-create"}], "updates": updates}
    found = done(http.post(f"namespaces/a/tables/{name}", json=body)).json()["metadata"]
    return str(found["location"])


def outside(tmp_path: Path, **more: Any) -> MockCatalog:
    """A mock whose warehouse is in a store of somebody else."""
    vending = VendingSettings(storage="s3", config={"s3.endpoint": "http://elsewhere"})
    there = WarehouseDeclaration("wh", location="s3://bucket/wh", vending=vending)
    return MockCatalog(root=tmp_path, warehouses=[there], table_locations="by-name", **more)


def test_a_place_in_a_store_elsewhere_is_never_given_again(tmp_path: Path) -> None:
    found = []
    for _ in range(2):
        with outside(tmp_path, keep=True) as mock:
            http = client(mock)
            http.post("namespaces", json={"namespace": ["a"]})
            for purge in ("false", "true"):
                found.append(made(http, "t"))
                assert found[-1] == f"s3://bucket/wh/a/t-{uuid_of(http, 't')}"
                params = {"purgeRequested": purge}
                done(http.delete("namespaces/a/tables/t", params=params))
    assert len(set(found)) == 4


def test_a_purge_that_cannot_reach_data_makes_no_place_free(tmp_path: Path) -> None:
    http = client(outside(tmp_path))
    done(http.post("namespaces", json={"namespace": ["a"]}))
    found = []
    for _ in range(2):
        found.append(made(http, "t"))
        done(http.delete("namespaces/a/tables/t", params={"purgeRequested": "true"}))
    assert len(set(found)) == 2


def test_a_kept_table_whose_files_are_in_memory_leaves_its_place_to_no_other(
    tmp_path: Path,
) -> None:
    found = []
    for _ in range(2):
        with MockCatalog(root=tmp_path, keep=True, table_locations="by-name") as mock:
            http = client(mock)
            if not found:
                named(http, ["a"], "gs://bucket/x")
            found.append(made(http, "t"))
            done(http.delete("namespaces/a/tables/t"))
    assert len(set(found)) == 2


def test_a_kept_table_on_disk_is_where_its_name_says(tmp_path: Path) -> None:
    for name in ("t", "u"):
        with MockCatalog(root=tmp_path, keep=True, table_locations="by-name") as mock:
            http = client(mock)
            http.post("namespaces", json={"namespace": ["a"]})
            assert made(http, name) == f"{home(mock)}/a/{name}"


@pytest.mark.parametrize("keep", [True, False], ids=["kept", "not kept"])
def test_a_table_in_the_object_store_is_where_its_name_says(tmp_path: Path, keep: bool) -> None:
    there = WarehouseDeclaration("wh", location="s3://lake/wh", table_locations="by-name")
    with MockCatalog(root=tmp_path, keep=keep, warehouses=[there]) as mock:
        http = client(mock)
        done(http.post("namespaces", json={"namespace": ["a"]}))
        assert made(http, "t") == "s3://lake/wh/a/t"
        done(http.delete("namespaces/a/tables/t"))
        assert made(http, "t") == f"s3://lake/wh/a/t-{uuid_of(http, 't')}"


def test_a_transaction_that_creates_tables_has_them_there_too(
    mock: MockCatalog, http: httpx.Client
) -> None:
    assert created_by_commit(http, "t") == f"{home(mock)}/a/t"


def test_a_staged_table_shares_its_place_with_no_other(
    mock: MockCatalog, http: httpx.Client
) -> None:
    staged = staged_at(http, "t")
    again = staged_at(http, "t")
    created = made(http, "t")
    ends = {
        "source": {"namespace": ["a"], "name": "t"},
        "destination": {"namespace": ["a"], "name": "u"},
    }
    done(http.post("tables/rename", json=ends))
    committed = created_by_commit(http, "t", {"action": "set-location", "location": staged})
    assert created == f"{home(mock)}/a/t"
    assert committed == staged
    assert staged.startswith(f"{created}-")
    assert len({staged, again, created}) == 3


def test_no_table_is_in_the_directory_of_a_staged_one(
    mock: MockCatalog, http: httpx.Client
) -> None:
    staged = staged_at(http, "b")
    assert not made(http, "data", "a%1Fb").startswith(f"{staged}/")


def test_a_staged_table_is_not_in_the_directory_of_another_one(
    mock: MockCatalog, http: httpx.Client
) -> None:
    above = made(http, "b")
    assert not staged_at(http, "data", "a%1Fb").startswith(f"{above}/")


def test_without_the_option_every_location_is_unique(tmp_path: Path) -> None:
    mock = MockCatalog(root=tmp_path)
    http = client(mock)
    done(http.post("namespaces", json={"namespace": ["a"]}))
    assert made(http, "t") == f"{home(mock)}/a/t-{uuid_of(http, 't')}"


def test_a_warehouse_can_have_a_setting_of_its_own(tmp_path: Path) -> None:
    named = WarehouseDeclaration("wh", table_locations="by-name")
    mock = MockCatalog(root=tmp_path, warehouses=["other", named])
    for warehouse, is_named in (("wh", True), ("other", False)):
        http = client(mock, warehouse)
        done(http.post("namespaces", json={"namespace": ["a"]}))
        assert made(http, "t").endswith("/a/t") is is_named


@pytest.mark.parametrize(
    "settings",
    [
        {"table_locations": "plain"},
        {"warehouses": [WarehouseDeclaration("wh", table_locations="plain")]},
    ],
    ids=["for all", "for one"],
)
def test_another_kind_of_locations_is_refused_at_once(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="table_locations is 'unique' or 'by-name', not 'plain'"):
        MockCatalog(**settings)
