"""Views and the files of their metadata; creations that are refused."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from icecheck.mock_server import MockCatalog

VIEWS = "/namespaces/ns/views"

Respond = Callable[..., httpx.Response]
Refusal = Callable[[httpx.Response], tuple[int, str, str]]
Body = Callable[..., dict[str, Any]]


def test_dropping_a_view_leaves_its_files_alone(
    mock: MockCatalog, http: httpx.Client, view: str
) -> None:
    loaded = http.get(view).json()
    http.delete(view)
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


@pytest.mark.parametrize(
    "members",
    [
        {"name": ""},
        {"name": "a\0b"},
        {"schema": {"type": "struct", "fields": [
            {"id": 1, "name": "a", "required": False, "type": "long"},
            {"id": 1, "name": "b", "required": False, "type": "long"},
        ]}},
        {"schema": {"type": "struct", "fields": [
            {"id": 1, "name": "a", "required": False, "type": "banana"},
        ]}},
        {"location": ""},
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
