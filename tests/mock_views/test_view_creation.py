"""Views created: what is kept of the request, what is refused, and which file is written."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from icecheck.mock_server import MockCatalog

VIEWS = "/namespaces/ns/views"
NO_NAMESPACE = (404, "NoSuchNamespaceException", "Namespace does not exist: no")

Respond = Callable[..., httpx.Response]
Refusal = Callable[[httpx.Response], tuple[int, str, str]]
Body = Callable[..., dict[str, Any]]


def test_a_created_view_is_what_was_asked_for(create: Respond, version: Body) -> None:
    response = create(properties={"comment": "c"}, view_version=version("spark", "trino"))
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    loaded = response.json()
    assert loaded["metadata-location"].endswith(".metadata.json")
    metadata = loaded["metadata"]
    uuid, location = metadata.pop("view-uuid"), metadata.pop("location")
    assert loaded["metadata-location"].startswith(f"{location}/metadata/00000-")
    assert len(uuid) == 36
    assert metadata == {
        "format-version": 1,
        "properties": {"comment": "c"},
        "schemas": [
            {
                "type": "struct",
                "schema-id": 0,
                "fields": [
                    {"id": 10, "name": "id", "required": False, "type": "long"},
                    {"id": 4, "name": "data", "required": False, "type": "string",
                     "doc": "what it says"},
                ],
            }
        ],
        "current-version-id": 1,
        "versions": [{**version("spark", "trino"), "schema-id": 0}],
        "version-log": [{"timestamp-ms": 1_699_999_995_000, "version-id": 1}],
    }  # fmt: skip


def test_the_sent_version_is_kept_but_for_its_schema_id(create: Respond, version: Body) -> None:
    sent = version(
        version_id=5, timestamp_ms=12, schema_id=-1, summary={"k": "v"}, default_namespace=[],
        default_catalog=None,
    )  # fmt: skip
    metadata = create(view_version=sent).json()["metadata"]
    del sent["default-catalog"]
    assert metadata["versions"] == [{**sent, "schema-id": 0}]
    assert metadata["current-version-id"] == 5
    assert metadata["version-log"] == [{"timestamp-ms": 12, "version-id": 5}]


@pytest.mark.parametrize("sent", [0, -1, -(2**31)])
def test_a_version_id_that_no_version_can_have_becomes_1(
    create: Respond, version: Body, sent: int
) -> None:
    metadata = create(view_version=version(version_id=sent)).json()["metadata"]
    assert [each["version-id"] for each in metadata["versions"]] == [1]
    assert metadata["current-version-id"] == 1


def test_optional_members_may_be_absent_or_null(
    http: httpx.Client, create: Respond, view_body: Body
) -> None:
    assert create("a", properties=None, location=None).status_code == 200
    body = view_body("b")
    del body["properties"]
    created = http.post(VIEWS, json={**body, "future-member": 1})
    assert created.status_code == 200
    assert "properties" not in created.json()["metadata"]


def test_types_of_every_table_format_may_occur_in_a_view(create: Respond) -> None:
    field = {"id": 1, "name": "at", "required": False, "type": "timestamp_ns"}
    assert create(schema={"type": "struct", "fields": [field]}).status_code == 200


def test_a_location_is_used_as_asked_for(create: Respond) -> None:
    loaded = create(location="s3://bucket/views/v/").json()
    assert loaded["metadata"]["location"] == "s3://bucket/views/v/"
    assert loaded["metadata-location"].startswith("s3://bucket/views/v/metadata/00000-")


def test_the_metadata_file_is_what_was_answered(mock: MockCatalog, create: Respond) -> None:
    loaded = create().json()
    assert json.loads(mock.files.read(loaded["metadata-location"])) == loaded["metadata"]


def test_properties_say_where_the_metadata_file_is_and_whether_it_is_compressed(
    create: Respond, tmp_path: Path
) -> None:
    properties = {
        "write.metadata.path": f"file://{tmp_path}/elsewhere",
        "write.metadata.compression-codec": "gzip",
    }
    loaded = create(properties=properties).json()
    (file,) = (tmp_path / "elsewhere").iterdir()
    assert loaded["metadata-location"] == f"file://{file}"
    assert file.name.endswith(".gz.metadata.json")
    assert json.loads(gzip.decompress(file.read_bytes())) == loaded["metadata"]


def test_a_file_that_cannot_be_written_creates_nothing(
    http: httpx.Client, create: Respond, refusal: Refusal, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no directory")
    refused = create(location=f"file://{tmp_path}/file/v")
    assert refusal(refused)[:2] == (400, "BadRequestException")
    assert http.head(f"{VIEWS}/v").status_code == 404


def test_two_queries_in_one_dialect_are_refused(
    create: Respond, version: Body, refusal: Refusal
) -> None:
    assert refusal(create(view_version=version("Trino", "spark", "trino"))) == (
        400,
        "IllegalArgumentException",
        "Invalid view version: Cannot add multiple queries for dialect trino",
    )


@pytest.mark.parametrize(
    "members",
    [
        {"name": ""},
        {"name": None},
        {"name": "a\0b"},
        {"schema": None},
        {"schema": {"type": "struct"}},
        {"schema": {"type": "struct", "fields": [
            {"id": 1, "name": "a", "required": False, "type": "long"},
            {"id": 1, "name": "b", "required": False, "type": "long"},
        ]}},
        {"schema": {"type": "struct", "fields": [
            {"id": 1, "name": "a", "required": False, "type": "banana"},
        ]}},
        {"location": ""},
        {"location": 7},
        {"view_version": None},
        {"view_version": {}},
        {"properties": {"k": 1}},
        {"properties": []},
        {"properties": {"version.history.num-entries": "0"}},
        {"properties": {"version.history.num-entries": "-3"}},
        {"properties": {"version.history.num-entries": "many"}},
        {"properties": {"write.metadata.compression-codec": "banana"}},
    ],
)  # fmt: skip
def test_an_invalid_creation_is_refused_also_in_missing_namespaces(
    http: httpx.Client, view_body: Body, refusal: Refusal, members: dict[str, Any]
) -> None:
    body = {**view_body(), **{key.replace("_", "-"): each for key, each in members.items()}}
    assert refusal(http.post(VIEWS, json=body))[:2] == (400, "BadRequestException")
    if "write.metadata.compression-codec" not in (members.get("properties") or {}):
        assert http.post("/namespaces/no/views", json=body).status_code == 400
    assert http.get(VIEWS).json()["identifiers"] == []


@pytest.mark.parametrize(
    "members",
    [
        {"version_id": None},
        {"version_id": "1"},
        {"version_id": 2**31},
        {"timestamp_ms": 1.5},
        {"timestamp_ms": 2**63},
        {"schema_id": None},
        {"summary": None},
        {"summary": {"k": 1}},
        {"default_namespace": "ns"},
        {"default_namespace": [1]},
        {"default_catalog": 1},
        {"representations": None},
        {"representations": []},
        {"representations": [{"sql": "SELECT 1", "dialect": "spark"}]},
        {"representations": [{"type": "python", "sql": "SELECT 1", "dialect": "spark"}]},
        {"representations": [{"type": "sql", "dialect": "spark"}]},
        {"representations": [{"type": "sql", "sql": "SELECT 1"}]},
    ],
)
def test_an_invalid_version_is_refused(
    create: Respond, version: Body, refusal: Refusal, members: dict[str, Any]
) -> None:
    refused = refusal(create(view_version=version(**members)))
    assert refused[:2] == (400, "BadRequestException")


@pytest.mark.parametrize("member", ["version-id", "timestamp-ms", "schema-id", "summary",
                                    "representations", "default-namespace"])  # fmt: skip
def test_a_version_lacks_nothing_that_is_required(
    create: Respond, version: Body, refusal: Refusal, member: str
) -> None:
    sent = version()
    del sent[member]
    assert refusal(create(view_version=sent))[:2] == (400, "BadRequestException")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b"NaN"])
@pytest.mark.parametrize("path", [VIEWS, f"{VIEWS}/v", "/views/rename"])
def test_a_body_that_is_no_json_object_is_refused(
    http: httpx.Client, view: str, refusal: Refusal, path: str, body: bytes
) -> None:
    assert refusal(http.post(path, content=body))[:2] == (400, "BadRequestException")


def test_a_view_needs_a_namespace(http: httpx.Client, view_body: Body, refusal: Refusal) -> None:
    assert refusal(http.post("/namespaces/no/views", json=view_body())) == NO_NAMESPACE


def test_a_view_is_created_once(
    create: Respond, view: str, http: httpx.Client, refusal: Refusal
) -> None:
    before = http.get(view).json()
    taken = (409, "AlreadyExistsException", "View already exists: ns.v")
    assert refusal(create(properties={"other": "1"})) == taken
    assert http.get(view).json() == before
