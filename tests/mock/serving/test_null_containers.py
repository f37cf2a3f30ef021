"""Lists and maps that a client writes as null: read as empty wherever an empty one is lawful."""

from typing import Any

import httpx
import pytest

from tests.kit.ordinary_requests import SCHEMA, VIEW_VERSION
from tests.mock.asking import create_view, error_of

Json = dict[str, Any]

TABLE = "/namespaces/ns/tables/t"
VIEW = "/namespaces/ns/views/v"
SET = {"action": "set-properties", "updates": {"k": "v"}}
VERSION = VIEW_VERSION | {"default-namespace": []}
STATISTICS = {
    "snapshot-id": 1,
    "statistics-path": "memory://root/s.puffin",
    "file-size-in-bytes": 1,
    "file-footer-size-in-bytes": 1,
    "blob-metadata": [],
}
BLOB = {"type": "x", "snapshot-id": 1, "sequence-number": 1, "fields": []}


@pytest.fixture
def objects(http: httpx.Client, table: str) -> httpx.Client:
    """The client, on a namespace with a table `t` and a view `v`."""
    assert create_view(http, "ns", "v", **{"view-version": VERSION}).status_code == 200
    return http


def set_statistics(**members: Any) -> Json:
    return {"action": "set-statistics", "statistics": STATISTICS | members}


COMMITS: dict[str, Json] = {
    "no requirements": {"requirements": None, "updates": [SET]},
    "no updates": {"requirements": [], "updates": None},
    "neither": {"requirements": None, "updates": None},
}
UPDATES: dict[str, Json] = {
    "set-properties": {"action": "set-properties", "updates": None},
    "remove-properties": {"action": "remove-properties", "removals": None},
}
TABLE_UPDATES: dict[str, Json] = UPDATES | {
    "remove-snapshots": {"action": "remove-snapshots", "snapshot-ids": None},
    "remove-partition-specs": {"action": "remove-partition-specs", "spec-ids": None},
    "remove-schemas": {"action": "remove-schemas", "schema-ids": None},
    "blob-metadata": set_statistics(**{"blob-metadata": None}),
    "fields of a blob": set_statistics(**{"blob-metadata": [BLOB | {"fields": None}]}),
    "properties of a blob": set_statistics(**{"blob-metadata": [BLOB | {"properties": None}]}),
}
VIEW_UPDATES: dict[str, Json] = UPDATES | {
    "default-namespace": {
        "action": "add-view-version",
        "view-version": VERSION | {"version-id": 2, "default-namespace": None},
    },
}


def emptied(body: Any) -> Any:
    """The body with an empty list or map in the place of each null."""
    maps = ("properties",)
    match body:
        case dict():
            return {
                name: ({} if name in maps or is_set(body, name) else [])
                if value is None
                else emptied(value)
                for name, value in body.items()
            }
        case list():
            return [emptied(each) for each in body]
    return body


def is_set(body: Json, name: str) -> bool:
    return name == "updates" and body.get("action") == "set-properties"


def bodies(updates: dict[str, Json]) -> dict[str, Json]:
    return COMMITS | {
        name: {"requirements": [], "updates": [SET, update]} for name, update in updates.items()
    }


def outcome(client: httpx.Client, path: str, body: Json, looked_at: str) -> tuple[int, Json]:
    """The status of a commit, and what the metadata is afterwards but for its times and place."""
    status = client.post(path, json=body).status_code
    metadata = client.get(looked_at).json()["metadata"]
    return status, {k: v for k, v in metadata.items() if k not in {"metadata-log", "version-log"}}


@pytest.mark.parametrize("path", [TABLE, "/transactions/commit"])
@pytest.mark.parametrize("name", bodies(TABLE_UPDATES))
def test_a_null_list_or_map_in_a_commit_to_a_table_is_an_empty_one(
    objects: httpx.Client, mock: Any, path: str, name: str
) -> None:
    body = bodies(TABLE_UPDATES)[name]

    def sent(commit: Json) -> tuple[int, Json]:
        if path == TABLE:
            return outcome(objects, path, commit, TABLE)
        change = {"identifier": {"namespace": ["ns"], "name": "t"}, **commit}
        return outcome(objects, path, {"table-changes": [change]}, TABLE)

    with mock.checkpoint():
        expected = sent(emptied(body))
    assert expected[0] in {200, 204}
    assert sent(body) == expected


@pytest.mark.parametrize("name", bodies(VIEW_UPDATES))
def test_a_null_list_or_map_in_a_commit_to_a_view_is_an_empty_one(
    objects: httpx.Client, mock: Any, name: str
) -> None:
    body = bodies(VIEW_UPDATES)[name]
    with mock.checkpoint():
        expected = outcome(objects, VIEW, emptied(body), VIEW)
    assert expected[0] == 200
    assert outcome(objects, VIEW, body, VIEW) == expected


def test_a_view_is_created_with_a_null_default_namespace(objects: httpx.Client) -> None:
    body = {
        "name": "w",
        "schema": SCHEMA,
        "properties": None,
        "view-version": VERSION | {"default-namespace": None},
    }
    created = objects.post("/namespaces/ns/views", json=body)
    assert created.status_code == 200
    assert created.json()["metadata"]["versions"][0]["default-namespace"] == []


def test_a_commit_of_nulls_creates_no_table(objects: httpx.Client) -> None:
    path = "/namespaces/ns/tables/other"
    body = {"requirements": None, "updates": None}
    assert error_of(objects.post(path, json=body)) == (404, "NoSuchTableException")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (TABLE, {}),
        (TABLE, {"requirements": None}),
        (TABLE, {"updates": None}),
        (VIEW, {}),
        (VIEW, {"requirements": None}),
        (TABLE, {"requirements": [], "updates": [{"action": "remove-schemas"}]}),
        (TABLE, {"requirements": None, "updates": [None]}),
        (TABLE, {"requirements": [None], "updates": None}),
        (TABLE, {"requirements": None, "updates": {}}),
        (TABLE, {"requirements": None, "updates": [{"action": None}]}),
        ("/transactions/commit", {"table-changes": None}),
        ("/transactions/commit", {"table-changes": [{"requirements": None, "updates": None}]}),
        ("/namespaces", {"namespace": None}),
        (
            "/tables/rename",
            {
                "source": {"namespace": None, "name": "t"},
                "destination": {"namespace": ["ns"], "name": "u"},
            },
        ),
        (
            VIEW,
            {
                "requirements": None,
                "updates": [
                    {
                        "action": "add-view-version",
                        "view-version": VERSION | {"representations": None},
                    }
                ],
            },
        ),
    ],
)
def test_what_must_be_there_or_not_be_empty_is_refused_as_before(
    objects: httpx.Client, path: str, body: Json
) -> None:
    assert error_of(objects.post(path, json=body)) == (400, "BadRequestException")
