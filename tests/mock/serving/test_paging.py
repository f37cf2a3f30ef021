"""Pagination: everything unless pages are asked for, tokens that mean one listing only."""

import httpx
import pytest

from icecheck.mock_server import MockCatalog

SCHEMA = {"type": "struct", "fields": []}
TABLES = "/namespaces/ns/tables"


@pytest.fixture
def tables(http: httpx.Client, namespace: str) -> list[str]:
    names = [f"t{number}" for number in range(7)]
    for name in names:
        assert http.post(TABLES, json={"name": name, "schema": SCHEMA}).status_code == 200
    return names


def page(http: httpx.Client, token: str, size: int | None = 3) -> tuple[list[str], str | None]:
    params = {"pageToken": token}
    if size is not None:
        params["pageSize"] = str(size)
    response = http.get(TABLES, params=params)
    assert response.status_code == 200
    body = response.json()
    return [each["name"] for each in body["identifiers"]], body["next-page-token"]


def test_the_server_bounds_the_page_size() -> None:
    mock = MockCatalog(root="memory://root", page_size_max=2)
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1") as client:
        for name in "abc":
            client.post("/namespaces", json={"namespace": [name]})
        for size in (None, "3", "002", "9" * 5000):
            params = {"pageToken": ""} if size is None else {"pageToken": "", "pageSize": size}
            response = client.get("/namespaces", params=params)
            assert response.json()["namespaces"] == [["a"], ["b"]]


@pytest.mark.parametrize("size", ["0", "-1", "x", "", "1.0", "٣", "1e2", " 1"])
@pytest.mark.parametrize("with_token", [True, False])
def test_a_page_size_that_is_no_positive_integer_is_400(
    http: httpx.Client, namespace: str, size: str, with_token: bool
) -> None:
    params = {"pageSize": size} | ({"pageToken": ""} if with_token else {})
    assert http.get(TABLES, params=params).status_code == 400
    assert http.get("/namespaces", params=params).status_code == 400


def test_tokens_survive_concurrent_creates_and_drops(http: httpx.Client, tables: list[str]) -> None:
    first, token = page(http, "")
    assert token is not None
    http.delete(f"{TABLES}/t2")  # the one the token continues after
    http.delete(f"{TABLES}/t0")
    http.post(TABLES, json={"name": "t1b", "schema": SCHEMA})
    http.post(TABLES, json={"name": "t3b", "schema": SCHEMA})
    names, _ = page(http, token, 10)
    assert first == ["t0", "t1", "t2"]
    assert names == ["t3", "t3b", "t4", "t5", "t6"]


def test_a_token_is_good_for_its_own_listing_only(http: httpx.Client, tables: list[str]) -> None:
    _, token = page(http, "")
    assert token is not None
    http.post("/namespaces", json={"namespace": ["other"]})
    for path in ("/namespaces/other/tables", "/namespaces", "/namespaces?parent=ns"):
        joiner = "&" if "?" in path else "?"
        assert http.get(f"{path}{joiner}pageToken={token}").status_code == 400


@pytest.mark.parametrize("change", ["reverse", "cut", "append", "garbage", "pad"])
def test_an_altered_token_is_400(http: httpx.Client, tables: list[str], change: str) -> None:
    _, token = page(http, "")
    assert token is not None
    altered = {
        "reverse": token[::-1],
        "cut": token[:-1],
        "append": token + "A",
        "garbage": "ü",
        "pad": token + "=",
    }[change]
    response = http.get(TABLES, params={"pageToken": altered})
    assert (response.status_code, response.json()["error"]["code"]) == (400, 400)
