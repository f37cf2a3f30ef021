"""Bodies that say they are something other than plain JSON."""

import gzip

import httpx
import pytest

BODY = b'{"namespace": ["a"]}'


def namespaces(http: httpx.Client) -> object:
    return http.get("/namespaces").json()["namespaces"]


@pytest.mark.parametrize(
    "media",
    [
        "text/plain",
        "text/plain; charset=utf-8",
        "multipart/form-data",
        "application/x-www-form-urlencoded",
        "application/octet-stream",
        "application/jsonl",
        "application/+json",
        "json",
        "+json",
        "/",
        "",
        ";",
        "\xff",
    ],
)
def test_a_body_of_another_media_type_is_400_and_changes_nothing(
    http: httpx.Client, media: str
) -> None:
    headers = [(b"content-type", media.encode("latin-1"))]
    refused = http.post("/namespaces", content=BODY, headers=headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, 400)
    assert "application/json" in refused.json()["error"]["message"]
    assert namespaces(http) == []


@pytest.mark.parametrize(
    "media",
    [
        "application/json",
        "application/json; charset=utf-8",
        " APPLICATION/JSON ;charset=UTF-8",
        "application/vnd.iceberg+json",
    ],
)
def test_json_is_json_however_it_is_written(http: httpx.Client, media: str) -> None:
    headers = {"content-type": media}
    assert http.post("/namespaces", content=BODY, headers=headers).status_code == 200


def test_a_body_that_says_nothing_of_itself_is_taken_for_json(http: httpx.Client) -> None:
    request = http.build_request("POST", "/namespaces", content=BODY)
    assert "content-type" not in request.headers
    assert http.send(request).status_code == 200


def test_where_no_body_is_read_its_media_type_does_not_matter(
    http: httpx.Client, table: str
) -> None:
    # Java sends application/json with every GET; others send what they like.
    for media in ("application/json", "text/plain"):
        assert http.get(table, headers={"content-type": media}).status_code == 200
    assert http.delete(table, headers={"content-type": "text/plain"}).status_code == 204


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "gzip, gzip", "identity, gzip"])
def test_a_compressed_body_is_400_and_says_why(http: httpx.Client, coding: str) -> None:
    headers = {"content-type": "application/json", "content-encoding": coding}
    for body in (gzip.compress(BODY), BODY):
        refused = http.post("/namespaces", content=body, headers=headers)
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, 400)
        assert "Content-Encoding" in refused.json()["error"]["message"]
    assert namespaces(http) == []


def test_the_identity_coding_is_no_coding(http: httpx.Client) -> None:
    headers = {"content-encoding": "identity"}
    assert http.post("/namespaces", content=BODY, headers=headers).status_code == 200
