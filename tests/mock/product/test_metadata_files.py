"""The files of tables: one for each version, where properties say, registered again."""

import gzip
import json

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from tests.mock.asking import TABLES, create, create_view, error_of, set_property


def test_each_effective_commit_has_a_file_of_its_own(
    mock: MockCatalog, http: httpx.Client, table: str
) -> None:
    before = http.get(table).json()
    committed = set_property(http, table, k="v")
    assert committed.status_code == 200
    after = committed.json()
    assert after == http.get(table).json()
    assert "/00001-" in after["metadata-location"]
    assert json.loads(mock.files.read(after["metadata-location"])) == after["metadata"]
    logged = after["metadata"]["metadata-log"]
    assert [entry["metadata-file"] for entry in logged] == [before["metadata-location"]]


def test_metadata_goes_where_the_properties_say(
    mock: MockCatalog, http: httpx.Client, table: str
) -> None:
    response = set_property(
        http,
        table,
        **{"write.metadata.path": "memory://aside/", "write.metadata.compression-codec": "gzip"},
    )
    location = response.json()["metadata-location"]
    assert location.startswith("memory://aside/00001-")
    assert location.endswith(".gz.metadata.json")
    assert json.loads(mock.files.read(location)) == response.json()["metadata"]


def test_an_unknown_metadata_codec_is_400(http: httpx.Client, table: str) -> None:
    before = http.get(table).content
    response = set_property(http, table, **{"write.metadata.compression-codec": "lzw"})
    assert response.status_code == 400
    assert http.get(table).content == before


def test_trimmed_metadata_files_are_removed_on_request(
    mock: MockCatalog, http: httpx.Client, table: str
) -> None:
    first = http.get(table).json()["metadata-location"]
    set_property(
        http,
        table,
        **{
            "write.metadata.previous-versions-max": "1",
            "write.metadata.delete-after-commit.enabled": "true",
        },
    )
    assert mock.files.read(first)
    set_property(http, table, k="v")
    with pytest.raises(FileNotFoundError):
        mock.files.read(first)


def test_a_table_created_again_has_another_location(http: httpx.Client, table: str) -> None:
    first = http.get(table).json()["metadata"]["location"]
    http.delete(table)
    assert create(http, "t").json()["metadata"]["location"] != first


def register(http: httpx.Client, name: str, location: str, **more: object) -> httpx.Response:
    body = {"name": name, "metadata-location": location, **more}
    return http.post("/namespaces/ns/register", json=body)


def test_a_registered_table_is_what_its_file_says(http: httpx.Client, table: str) -> None:
    before = http.get(table).json()
    http.delete(table)
    registered = register(http, "again", before["metadata-location"])
    assert (registered.status_code, registered.json()) == (200, before)
    committed = set_property(http, "/namespaces/ns/tables/again", k="v").json()
    assert "/00001-" in committed["metadata-location"]


@pytest.mark.parametrize("overwrite", [False, True, None])
def test_a_table_is_not_registered_over_a_view(
    http: httpx.Client, table: str, overwrite: bool | None
) -> None:
    create_view(http, "ns", "v")
    location = http.get(table).json()["metadata-location"]
    refused = register(http, "v", location, overwrite=overwrite)
    assert error_of(refused) == (409, "AlreadyExistsException")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("00000-a.metadata.json", None),
        ("00000-a.metadata.json", b"{}"),
        ("00000-a.metadata.json", b"not json"),
        ("00000-a.metadata.json", b"\xff\xfe"),
        ("00000-a.gz.metadata.json", b"not gzip"),
        ("00000-a.gz.metadata.json", gzip.compress(b"{}", mtime=0)[:-4]),
        ("table.json", b"{}"),
    ],
)
def test_what_is_no_metadata_file_cannot_be_registered(
    mock: MockCatalog, http: httpx.Client, namespace: str, name: str, content: bytes | None
) -> None:
    location = f"memory://elsewhere/{name}"
    if content is not None:
        mock.files.write(location, content)
    assert register(http, "r", location).status_code == 400
    assert http.head(f"{TABLES}/r").status_code == 404


def test_a_compressed_metadata_file_can_be_registered(
    mock: MockCatalog, http: httpx.Client, table: str
) -> None:
    loaded = http.get(table).json()
    location = "memory://elsewhere/v7.gz.metadata.json"
    mock.files.write(location, gzip.compress(json.dumps(loaded["metadata"]).encode()))
    assert register(http, "r", location).json()["metadata"] == loaded["metadata"]


def test_an_unchanged_table_is_304_without_a_body(http: httpx.Client, table: str) -> None:
    tag = http.get(table).headers["etag"]
    for header in (tag, f'"other", {tag}', f"W/{tag}", "*"):
        response = http.get(table, headers={"If-None-Match": header})
        assert (response.status_code, response.content) == (304, b"")
        assert response.headers["etag"] == tag
