"""Tables: created, staged, listed, loaded, dropped, renamed, registered, reported about."""

import gzip
import json
from typing import Any

import httpx
import pytest

from icecheck.mock_server import MockCatalog

SCHEMA = {
    "type": "struct",
    "fields": [{"id": 1, "name": "id", "required": True, "type": "long"}],
}
TABLES = "/namespaces/ns/tables"


def error_of(response: httpx.Response) -> tuple[int, str]:
    error = response.json()["error"]
    assert error["code"] == response.status_code
    return response.status_code, error["type"]


def create(http: httpx.Client, name: str, **members: Any) -> httpx.Response:
    return http.post(TABLES, json={"name": name, "schema": SCHEMA, **members})


def set_property(http: httpx.Client, path: str, **properties: str) -> httpx.Response:
    updates = [{"action": "set-properties", "updates": properties}]
    return http.post(path, json={"requirements": [], "updates": updates})


def test_a_created_table_can_be_loaded(http: httpx.Client, namespace: str) -> None:
    created = create(http, "t", properties={"k": "v"})
    assert created.status_code == 200
    body = created.json()
    assert body["metadata"]["properties"]["k"] == "v"
    assert body["metadata-location"].startswith(body["metadata"]["location"] + "/metadata/00000-")
    assert http.get(f"{TABLES}/t").json() == body
    assert http.head(f"{TABLES}/t").status_code == 204


def test_a_java_client_may_send_every_optional_member_as_null(
    http: httpx.Client, namespace: str
) -> None:
    nulls = {"location": None, "partition-spec": None, "write-order": None}
    assert create(http, "t", **nulls, properties={}, **{"stage-create": False}).status_code == 200


def test_a_table_keeps_the_location_it_asks_for(http: httpx.Client, namespace: str) -> None:
    created = create(http, "t", location="s3://bucket/somewhere/").json()
    assert created["metadata"]["location"] == "s3://bucket/somewhere"
    assert created["metadata-location"].startswith("s3://bucket/somewhere/metadata/")


def test_a_table_created_again_has_another_location(http: httpx.Client, table: str) -> None:
    first = http.get(table).json()["metadata"]["location"]
    http.delete(table)
    assert create(http, "t").json()["metadata"]["location"] != first


def test_creating_a_table_twice_is_409(http: httpx.Client, table: str) -> None:
    before = http.get(table).content
    assert error_of(create(http, "t")) == (409, "AlreadyExistsException")
    staged = create(http, "t", **{"stage-create": True})
    assert error_of(staged) == (409, "AlreadyExistsException")
    assert http.get(table).content == before


def test_creating_in_a_missing_namespace_is_404(http: httpx.Client) -> None:
    for staged in (False, True):
        response = create(http, "t", **{"stage-create": staged})
        assert error_of(response) == (404, "NoSuchNamespaceException")


@pytest.mark.parametrize("path", ["ns", "no"])
def test_an_invalid_create_is_400_before_the_names_are_looked_at(
    http: httpx.Client, table: str, path: str
) -> None:
    spec = {"fields": [{"name": "p", "transform": "identity", "source-id": 99}]}
    body = {"name": "t", "schema": SCHEMA, "partition-spec": spec}
    response = http.post(f"/namespaces/{path}/tables", json=body)
    assert response.status_code == 400


@pytest.mark.parametrize("name", ["", "a\0b", None, 1])
def test_a_table_needs_a_name(http: httpx.Client, namespace: str, name: object) -> None:
    response = http.post(TABLES, json={"name": name, "schema": SCHEMA})
    assert response.status_code == 400


def test_staging_creates_nothing_but_metadata(http: httpx.Client, namespace: str) -> None:
    staged = create(http, "t", **{"stage-create": True})
    assert staged.status_code == 200
    assert "metadata-location" not in staged.json()
    assert "etag" not in staged.headers
    assert http.head(f"{TABLES}/t").status_code == 404
    assert http.get(TABLES).json()["identifiers"] == []


def create_commit(metadata: dict[str, Any]) -> dict[str, Any]:
    updates = [
        {"action": "assign-uuid", "uuid": metadata["table-uuid"]},
        {"action": "upgrade-format-version", "format-version": 2},
        {"action": "add-schema", "schema": metadata["schemas"][0]},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": metadata["partition-specs"][0]},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": metadata["sort-orders"][0]},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-location", "location": metadata["location"]},
    ]
    return {"requirements": [{"type": "assert-create"}], "updates": updates}


def test_a_staged_table_is_created_by_its_commit(http: httpx.Client, namespace: str) -> None:
    staged = create(http, "t", **{"stage-create": True}).json()["metadata"]
    committed = http.post(f"{TABLES}/t", json=create_commit(staged))
    assert committed.status_code == 200
    metadata = http.get(f"{TABLES}/t").json()["metadata"]
    assert metadata["table-uuid"] == staged["table-uuid"]
    assert metadata["location"] == staged["location"]


def test_the_second_commit_that_creates_a_table_is_409(http: httpx.Client, namespace: str) -> None:
    staged = create(http, "t", **{"stage-create": True}).json()["metadata"]
    assert http.post(f"{TABLES}/t", json=create_commit(staged)).status_code == 200
    again = http.post(f"{TABLES}/t", json=create_commit(staged))
    assert error_of(again) == (409, "CommitFailedException")


def test_a_commit_that_creates_needs_its_namespace(http: httpx.Client, namespace: str) -> None:
    staged = create(http, "t", **{"stage-create": True}).json()["metadata"]
    response = http.post("/namespaces/no/tables/t", json=create_commit(staged))
    assert error_of(response) == (404, "NoSuchNamespaceException")


def test_a_commit_without_a_location_gets_the_default_one(
    http: httpx.Client, namespace: str
) -> None:
    staged = create(http, "t", **{"stage-create": True}).json()["metadata"]
    commit = create_commit(staged)
    commit["updates"].pop()
    created = http.post(f"{TABLES}/t", json=commit)
    assert created.status_code == 200
    assert created.json()["metadata"]["location"].startswith("memory://root/wh/ns/t-")


def test_tables_of_one_namespace_are_listed_by_name(http: httpx.Client, namespace: str) -> None:
    for name in ("b", "a", "ü"):
        create(http, name)
    http.post("/namespaces", json={"namespace": ["ns", "inner"]})
    assert http.get(TABLES).json() == {
        "identifiers": [{"namespace": ["ns"], "name": name} for name in ("a", "b", "ü")],
        "next-page-token": None,
    }
    assert error_of(http.get("/namespaces/no/tables")) == (404, "NoSuchNamespaceException")


@pytest.mark.parametrize("path", ["/namespaces/ns/tables/no", "/namespaces/no/tables/t"])
def test_a_missing_table_is_no_such_table_whatever_is_missing(
    http: httpx.Client, namespace: str, path: str
) -> None:
    missing = (404, "NoSuchTableException")
    assert error_of(http.get(path)) == missing
    assert error_of(http.delete(path)) == missing
    assert error_of(set_property(http, path, k="v")) == missing
    assert error_of(http.post(f"{path}/metrics", json=COMMIT_REPORT)) == missing
    head = http.head(path)
    assert (head.status_code, head.content) == (404, b"")


def test_a_dropped_table_is_gone_and_its_files_stay(
    mock: MockCatalog, http: httpx.Client, table: str
) -> None:
    location = http.get(table).json()["metadata-location"]
    dropped = http.delete(table, params={"purgeRequested": "False"})
    assert (dropped.status_code, dropped.content) == (204, b"")
    assert http.head(table).status_code == 404
    assert mock.files.read(location)


def test_a_purged_table_takes_its_metadata_files_with_it(
    mock: MockCatalog, http: httpx.Client, table: str
) -> None:
    locations = [http.get(table).json()["metadata-location"]]
    locations.append(set_property(http, table, k="v").json()["metadata-location"])
    assert http.delete(table, params={"purgeRequested": "TRUE"}).status_code == 204
    for location in locations:
        with pytest.raises(FileNotFoundError):
            mock.files.read(location)


def test_a_purge_flag_that_is_no_boolean_is_400(http: httpx.Client, table: str) -> None:
    assert http.delete(table, params={"purgeRequested": "yes"}).status_code == 400
    assert http.head(table).status_code == 204


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


# Renaming


def rename(http: httpx.Client, source: tuple[str, str], target: tuple[str, str]) -> httpx.Response:
    body = {
        "source": {"namespace": [source[0]], "name": source[1]},
        "destination": {"namespace": [target[0]], "name": target[1]},
    }
    return http.post("/tables/rename", json=body)


def test_a_renamed_table_is_the_same_table(http: httpx.Client, table: str) -> None:
    http.post("/namespaces", json={"namespace": ["other"]})
    before = http.get(table).json()
    renamed = rename(http, ("ns", "t"), ("other", "u"))
    assert (renamed.status_code, renamed.content) == (204, b"")
    assert http.head(table).status_code == 404
    assert http.get("/namespaces/other/tables/u").json() == before


def test_renaming_refuses_what_is_missing_or_in_the_way(http: httpx.Client, table: str) -> None:
    create(http, "u")
    assert error_of(rename(http, ("ns", "no"), ("ns", "x"))) == (404, "NoSuchTableException")
    assert error_of(rename(http, ("ns", "t"), ("no", "x"))) == (404, "NoSuchNamespaceException")
    assert error_of(rename(http, ("ns", "t"), ("ns", "u"))) == (409, "AlreadyExistsException")
    assert rename(http, ("ns", "t"), ("ns", "t")).status_code == 204
    assert http.head(table).status_code == 204


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"source": {"namespace": ["ns"], "name": "t"}},
        {"source": {"namespace": ["ns"], "name": "t"}, "destination": None},
        {"source": {"namespace": ["ns"], "name": "t"}, "destination": {"name": "u"}},
        {"source": {"namespace": ["ns"], "name": "t"}, "destination": {"namespace": ["ns"]}},
        {
            "source": {"namespace": ["ns"], "name": "t"},
            "destination": {"namespace": [], "name": "u"},
        },
    ],
)
def test_a_rename_needs_two_identifiers(http: httpx.Client, table: str, body: object) -> None:
    assert http.post("/tables/rename", json=body).status_code == 400


# Registering


def register(http: httpx.Client, name: str, location: str, **members: Any) -> httpx.Response:
    body = {"name": name, "metadata-location": location, **members}
    return http.post("/namespaces/ns/register", json=body)


def test_a_registered_table_is_what_its_file_says(http: httpx.Client, table: str) -> None:
    before = http.get(table).json()
    http.delete(table)
    registered = register(http, "again", before["metadata-location"])
    assert (registered.status_code, registered.json()) == (200, before)
    committed = set_property(http, "/namespaces/ns/tables/again", k="v").json()
    assert "/00001-" in committed["metadata-location"]


def test_registering_over_a_table_needs_overwrite(http: httpx.Client, table: str) -> None:
    first = http.get(table).json()
    set_property(http, table, k="v")
    location = first["metadata-location"]
    assert error_of(register(http, "t", location)) == (409, "AlreadyExistsException")
    refused = register(http, "t", location, overwrite=False)
    assert error_of(refused) == (409, "AlreadyExistsException")
    replaced = register(http, "t", location, overwrite=True)
    assert (replaced.status_code, replaced.json()) == (200, first)
    assert http.get(table).json() == first


def test_registering_into_a_missing_namespace_is_404(http: httpx.Client, table: str) -> None:
    body = {"name": "r", "metadata-location": "memory://none/00000-a.metadata.json"}
    response = http.post("/namespaces/no/register", json=body)
    assert error_of(response) == (404, "NoSuchNamespaceException")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("00000-a.metadata.json", None),
        ("00000-a.metadata.json", b"{}"),
        ("00000-a.metadata.json", b"not json"),
        ("00000-a.metadata.json", b"\xff\xfe"),
        ("00000-a.gz.metadata.json", b"not gzip"),
        ("00000-a.gz.metadata.json", gzip.compress(b"{}")[:-4]),
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


# Metrics

COUNTER = {"unit": "count", "value": 1}
TIMER = {"time-unit": "nanoseconds", "count": 1, "total-duration": 5}
COMMIT_REPORT = {
    "report-type": "commit-report",
    "table-name": "wh.ns.t",
    "snapshot-id": 1,
    "sequence-number": 1,
    "operation": "append",
    "metrics": {"attempts": COUNTER, "total-duration": TIMER},
    "metadata": {},
}
SCAN_REPORT = {
    "report-type": "scan-report",
    "table-name": "wh.ns.t",
    "snapshot-id": 1,
    "filter": True,
    "schema-id": 0,
    "projected-field-ids": [1],
    "projected-field-names": ["id"],
    "metrics": {},
}


@pytest.mark.parametrize(
    "report", [COMMIT_REPORT, SCAN_REPORT, {**SCAN_REPORT, "report-type": "other"}]
)
def test_a_report_about_a_table_is_accepted(
    http: httpx.Client, table: str, report: dict[str, Any]
) -> None:
    response = http.post(f"{table}/metrics", json=report)
    assert (response.status_code, response.content) == (204, b"")


@pytest.mark.parametrize(
    "report",
    [
        {},
        {"report-type": "scan-report"},
        {"report-type": "other"},
        {**COMMIT_REPORT, "metrics": {"attempts": {"unit": "count"}}},
        {**COMMIT_REPORT, "snapshot-id": "1"},
        {**COMMIT_REPORT, "report-type": "scan-report"},
    ],
)
def test_a_report_that_is_none_is_400_also_for_unknown_tables(
    http: httpx.Client, table: str, report: dict[str, Any]
) -> None:
    assert http.post(f"{table}/metrics", json=report).status_code == 400
    assert http.post("/namespaces/no/tables/t/metrics", json=report).status_code == 400
