"""Versions of a table: commits, their files, entity tags and representations."""

import json
from typing import Any

import httpx
import pytest
from tests.mock_server.asking import TABLES, create, error_of, set_property

from icecheck.mock_server import MockCatalog

# Commits


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


def test_a_commit_that_changes_nothing_answers_the_present_version(
    http: httpx.Client, table: str
) -> None:
    before = http.get(table).json()
    response = http.post(table, json={"requirements": [], "updates": []})
    assert (response.status_code, response.json()) == (200, before)


def test_a_refused_commit_leaves_no_trace(
    mock: MockCatalog, http: httpx.Client, table: str
) -> None:
    before = mock.state("wh")
    unmet = [{"type": "assert-current-schema-id", "current-schema-id": 9}]
    update = {"action": "set-properties", "updates": {"k": "v"}}
    conflict = http.post(table, json={"requirements": unmet, "updates": [update]})
    assert error_of(conflict) == (409, "CommitFailedException")
    bad = {"action": "set-current-schema", "schema-id": 9}
    invalid = http.post(table, json={"requirements": [], "updates": [update, bad]})
    assert invalid.status_code == 400
    unknown = http.post(table, json={"requirements": [], "updates": [{"action": "no-such"}]})
    assert unknown.status_code == 400
    assert mock.state("wh") is before


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


# Entity tags and representations


def test_an_unchanged_table_is_304_without_a_body(http: httpx.Client, table: str) -> None:
    tag = http.get(table).headers["etag"]
    for header in (tag, f'"other", {tag}', f"W/{tag}", "*"):
        response = http.get(table, headers={"If-None-Match": header})
        assert (response.status_code, response.content) == (304, b"")
        assert response.headers["etag"] == tag


def test_a_changed_table_has_another_tag(http: httpx.Client, table: str) -> None:
    tag = http.get(table).headers["etag"]
    set_property(http, table, k="v")
    response = http.get(table, headers={"If-None-Match": tag})
    assert response.status_code == 200
    assert response.headers["etag"] != tag


def test_each_representation_has_its_own_tag(http: httpx.Client, table: str) -> None:
    everything = http.get(table, params={"snapshots": "all"}).headers["etag"]
    assert everything == http.get(table).headers["etag"]
    assert http.get(table, params={"snapshots": "refs"}).headers["etag"] != everything
    asked = http.get(table, params={"snapshots": "refs"}, headers={"If-None-Match": everything})
    assert asked.status_code == 200


def test_creating_and_registering_answer_the_tag_of_loading(
    http: httpx.Client, namespace: str
) -> None:
    created = create(http, "t")
    assert created.headers["etag"] == http.get(f"{TABLES}/t").headers["etag"]
    body = {"name": "r", "metadata-location": created.json()["metadata-location"]}
    registered = http.post("/namespaces/ns/register", json=body)
    assert registered.headers["etag"] == http.get(f"{TABLES}/r").headers["etag"]


def snapshot_updates(snapshot_id: int, number: int, ref: str | None) -> list[dict[str, Any]]:
    snapshot = {
        "snapshot-id": snapshot_id,
        "sequence-number": number,
        "timestamp-ms": 1_700_000_000_000,
        "manifest-list": f"memory://root/{snapshot_id}.avro",
        "summary": {"operation": "append"},
        "schema-id": 0,
    }
    added = [{"action": "add-snapshot", "snapshot": snapshot}]
    if ref is None:
        return added
    named = {"action": "set-snapshot-ref", "ref-name": ref, "type": "branch"}
    return [*added, {**named, "snapshot-id": snapshot_id}]


def test_only_referenced_snapshots_are_loaded_on_request(http: httpx.Client, table: str) -> None:
    updates = [*snapshot_updates(1, 1, "main"), *snapshot_updates(2, 2, None)]
    assert http.post(table, json={"requirements": [], "updates": updates}).status_code == 200
    everything = http.get(table).json()["metadata"]
    referenced = http.get(table, params={"snapshots": "refs"}).json()["metadata"]
    assert [each["snapshot-id"] for each in everything["snapshots"]] == [1, 2]
    assert [each["snapshot-id"] for each in referenced["snapshots"]] == [1]
    everything.pop("snapshots")
    referenced.pop("snapshots")
    assert referenced == everything


@pytest.mark.parametrize("value", ["none", "", "ALL"])
def test_an_unknown_snapshots_mode_is_400(http: httpx.Client, table: str, value: str) -> None:
    assert http.get(table, params={"snapshots": value}).status_code == 400
