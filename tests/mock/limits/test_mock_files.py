"""A client of the mock reads, writes and deletes no file outside the places it was given."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from icecheck.mock_server import (
    Client,
    MockCatalog,
    OAuth2Settings,
    Permissions,
    WarehouseDeclaration,
)
from tests.hostile.attacks import (
    NAMING,
    WRITING,
    client,
    committing_to_a_view,
    create,
    names_a_former_metadata_file,
    names_a_manifest,
    names_a_manifest_list,
    server,
    set_to,
)
from tests.mock.limits.locations import (
    ANY_SPELLING,
    MALFORMED,
    NAMESPACES,
    SCHEMA,
    SPELLINGS,
    TABLES,
    VIEWS,
    Ground,
    commit,
    refused,
    view_body,
)


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


@pytest.fixture
def http(ground: Ground) -> Iterator[httpx.Client]:
    with client(server(ground)) as http:
        yield http


def test_a_namespace_does_not_lead_its_tables_to_a_foreign_place(
    http: httpx.Client, ground: Ground
) -> None:
    location = f"file:{ground.root.parent}/elsewhere"
    body = {"namespace": ["led"], "properties": {"location": location}}
    http.post(NAMESPACES, json=body).raise_for_status()
    for staged in (False, True):
        table = {"name": "t", "schema": SCHEMA, "stage-create": staged}
        refused(http.post("/namespaces/led/tables", json=table))
    refused(http.post("/namespaces/led/views", json=view_body("v")))
    assert not (ground.root.parent / "elsewhere").exists()


# Deleting: a table names a file that is not its own, and is then purged.


@pytest.mark.parametrize("spelling", ANY_SPELLING)
@pytest.mark.parametrize("name_it", NAMING)
def test_a_purge_deletes_nothing_outside_the_allowed_places(
    http: httpx.Client, ground: Ground, name_it: Callable[[httpx.Client, str], None], spelling: str
) -> None:
    before = ground.foreign_files()
    name_it(http, ground.spelled(spelling, "/precious.metadata.json"))
    assert http.delete(f"{TABLES}/t?purgeRequested=true").status_code == 204
    assert http.head(f"{TABLES}/t").status_code == 404
    assert ground.foreign_files() == before


@pytest.mark.parametrize("spelling", ANY_SPELLING)
def test_a_commit_that_trims_the_metadata_log_deletes_nothing_foreign(
    http: httpx.Client, ground: Ground, spelling: str
) -> None:
    before = ground.foreign_files()
    names_a_former_metadata_file(http, ground.spelled(spelling, "/precious.metadata.json"))
    trimming = {
        "write.metadata.delete-after-commit.enabled": "true",
        "write.metadata.previous-versions-max": "1",
    }
    for _ in range(3):
        update = {"action": "set-properties", "updates": trimming}
        assert commit(http, f"{TABLES}/t", update).status_code == 200
    log = http.get(f"{TABLES}/t").json()["metadata"]["metadata-log"]
    assert len(log) == 1
    assert ground.foreign_files() == before


def test_a_purge_still_deletes_what_is_the_tables_own(http: httpx.Client, ground: Ground) -> None:
    names_a_manifest_list(http, f"file://{ground.foreign}/precious.metadata.json")
    before = list((ground.root / "wh").rglob("*.metadata.json"))
    assert before != []
    http.delete(f"{TABLES}/t?purgeRequested=true").raise_for_status()
    assert list((ground.root / "wh" / "ns").rglob("*.metadata.json")) == []


def test_a_purge_leaves_the_files_of_other_warehouses(ground: Ground) -> None:
    mock = server(ground, "other")
    theirs = ground.root / "other" / "theirs.avro"
    theirs.parent.mkdir()
    theirs.write_bytes(b"theirs")
    with client(mock) as http:
        names_a_manifest_list(http, f"file://{theirs}")
        http.delete(f"{TABLES}/t?purgeRequested=true").raise_for_status()
    assert theirs.read_bytes() == b"theirs"


# Writing: a request names the place where the mock would write.


@pytest.mark.parametrize("spelling", ANY_SPELLING)
@pytest.mark.parametrize("way", WRITING)
def test_a_request_that_would_write_outside_the_allowed_places_is_refused(
    http: httpx.Client, ground: Ground, way: str, spelling: str
) -> None:
    before = ground.foreign_files()
    message = refused(WRITING[way](ground.spelled(spelling, "/kept/t"))(http))
    assert "--allow-location" in message
    assert ground.foreign_files() == before


@pytest.mark.parametrize("location", MALFORMED)
@pytest.mark.parametrize("way", WRITING)
def test_a_location_that_is_no_path_of_this_machine_is_refused(
    http: httpx.Client, ground: Ground, way: str, location: str
) -> None:
    before = ground.foreign_files()
    refused(WRITING[way](ground.spelled(location, "/kept/t"))(http))
    assert ground.foreign_files() == before


@pytest.mark.parametrize("way", ["commit", "commit-path", "view-commit", "transaction"])
def test_a_refused_commit_leaves_the_object_as_it_was(
    http: httpx.Client, ground: Ground, way: str
) -> None:
    send = WRITING[way](f"file://{ground.foreign}/t")
    refused(send(http))
    path = f"{VIEWS}/v" if way.startswith("view") else f"{TABLES}/t"
    assert str(ground.foreign) not in http.get(path).text


# Reading: what a client has the mock read must not tell of foreign files.


@pytest.mark.parametrize("spelling", ANY_SPELLING)
def test_a_foreign_metadata_file_is_not_registered(
    http: httpx.Client, ground: Ground, spelling: str
) -> None:
    create(http, "own").raise_for_status()
    content = http.get(f"{TABLES}/own").json()["metadata"]
    (ground.foreign / "table.metadata.json").write_text(json.dumps(content))
    messages = []
    for name in ("table.metadata.json", "absent.metadata.json"):
        location = ground.spelled(spelling, f"/{name}")
        body = {"name": "t", "metadata-location": location}
        message = refused(http.post(f"{NAMESPACES}/ns/register", json=body))
        messages.append(message.replace(location, "…"))
    assert len(set(messages)) == 1, "the answer tells whether a foreign file exists"
    assert "--allow-location" in messages[0]


@pytest.mark.parametrize(
    "spelling", ["{uri}", "file:{path}", "file://localhost{path}", "FILE://{path}", "/{path}"]
)
def test_a_file_of_a_denied_namespace_is_not_registered_however_it_is_spelled(
    ground: Ground, spelling: str
) -> None:
    denied = Permissions(denied_namespaces=(("secret",),))
    clients = (Client("all", "s"), Client("some", "s", permissions=denied))
    mock = MockCatalog(root=ground.root, warehouses=["wh"], oauth2=OAuth2Settings(clients=clients))
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1/wh") as http:
        http.headers["authorization"] = f"Bearer {mock.access_token('all')}"
        for name in ("secret", "ns"):
            http.post(NAMESPACES, json={"namespace": [name]}).raise_for_status()
        body = {"name": "t", "schema": SCHEMA}
        made = http.post(f"{NAMESPACES}/secret/tables", json=body).json()
        uri = made["metadata-location"]
        location = spelling.format(uri=uri, path=uri.removeprefix("file://"))
        http.headers["authorization"] = f"Bearer {mock.access_token('some')}"
        body = {"name": "mine", "metadata-location": location}
        assert http.post(f"{NAMESPACES}/ns/register", json=body).status_code == 403


@pytest.mark.parametrize("name_it", [names_a_manifest_list, names_a_manifest])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_plan_reads_no_foreign_manifest(
    ground: Ground, name_it: Callable[[httpx.Client, str], None], spelling: str
) -> None:
    answers = []
    for name in ("precious.metadata.json", "absent.avro"):
        with client(server(ground)) as http:
            location = ground.spelled(spelling, f"/{name}")
            name_it(http, location)
            answer = http.post(f"{TABLES}/t/plan", json={"snapshot-id": 1}).json()
            answers.append(json.dumps(answer).replace(location, "…"))
            assert answer["status"] == "failed"
    assert len(set(answers)) == 1, "the answer tells whether a foreign file exists"


# What stays allowed, and what whoever starts the mock allows.


@pytest.mark.parametrize("location", ["s3://bucket/t", "gs://b/t", "memory://m/t", "hdfs://n/t"])
def test_other_schemes_stay_in_memory(http: httpx.Client, location: str) -> None:
    created = create(http, location=location)
    assert created.json()["metadata-location"].startswith(location)
    assert committing_to_a_view(set_to(location))(http).status_code == 200
    body = {"name": "again", "metadata-location": created.json()["metadata-location"]}
    assert http.post(f"{NAMESPACES}/ns/register", json=body).status_code == 200
    assert http.delete(f"{TABLES}/t?purgeRequested=true").status_code == 204


@pytest.mark.parametrize(
    "spelling", ["file:{root}/wh/t", "file://{root}/wh/a/../t", "{root}/wh/t", "FILE://{root}/wh/t"]
)
def test_a_place_below_the_warehouse_is_allowed_however_it_is_spelled(
    http: httpx.Client, ground: Ground, spelling: str
) -> None:
    assert create(http, location=ground.spelled(spelling, "")).status_code == 200
    assert len(list((ground.root / "wh" / "t" / "metadata").iterdir())) == 1
    assert http.delete(f"{TABLES}/t?purgeRequested=true").status_code == 204
    assert list((ground.root / "wh" / "t" / "metadata").iterdir()) == []


@pytest.mark.parametrize(
    "allowed", ["file:{path}", "file://{path}/", "{path}", "file://localhost{path}"]
)
def test_an_allowed_location_may_be_written_read_and_deleted(ground: Ground, allowed: str) -> None:
    mock = MockCatalog(
        root="memory://root", warehouses=["wh"], allow_locations=[ground.spelled(allowed, "")]
    )
    with client(mock) as http:
        created = create(http, location=f"file:{ground.foreign}/kept/t").json()
        file = Path(created["metadata-location"].removeprefix("file:"))
        assert file.is_relative_to(ground.foreign / "kept" / "t")
        assert json.loads(file.read_text()) == created["metadata"]
        body = {"name": "u", "metadata-location": f"file://{file}"}
        assert http.post(f"{NAMESPACES}/ns/register", json=body).status_code == 200
        http.delete(f"{TABLES}/t?purgeRequested=true").raise_for_status()
        assert not file.exists()
        refused(create(http, location=f"file:{ground.foreign}-not/t"))
        refused(create(http, location=f"file:{ground.root}/wh/t"))


def test_a_declared_warehouse_may_use_its_own_location_and_no_other(ground: Ground) -> None:
    declared = WarehouseDeclaration("wh", location=f"{ground.root}/wh")
    with client(MockCatalog(warehouses=[declared], root="memory://root")) as http:
        assert create(http, "t").status_code == 200
        refused(create(http, "u", location=f"file://{ground.root}/u"))


def test_the_kit_of_apache_has_its_tables_below_the_location_that_its_page_names(
    ground: Ground,
) -> None:
    """Its tables and views are at `file:/tmp/…`, its view locations normalised by java.nio."""
    allowed = ground.spelled("file:{path}", "")
    mock = MockCatalog(root=ground.root, warehouses=["wh"], allow_locations=[allowed])
    with client(mock) as http:
        for way in WRITING:
            location = f"{allowed}/{way}"
            answer = WRITING[way](location)(http)
            assert answer.status_code in {200, 204}, answer.text
            for path in (f"{TABLES}/t", f"{TABLES}/from", f"{VIEWS}/v"):
                purge = "?purgeRequested=true" if "tables" in path else ""
                http.delete(f"{path}{purge}")


def test_a_link_in_the_root_does_not_become_a_warehouse(ground: Ground) -> None:
    (ground.root / "evil").symlink_to(ground.foreign)
    before = ground.foreign_files()
    mock = MockCatalog(root=ground.root)
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock") as http:
        http.get("/v1/config?warehouse=evil").raise_for_status()
        http.post("/v1/evil/namespaces", json={"namespace": ["ns"]}).raise_for_status()
        body = {"name": "t", "schema": SCHEMA}
        refused(http.post("/v1/evil/namespaces/ns/tables", json=body))
    assert ground.foreign_files() == before


def test_a_root_that_is_a_link_itself_is_the_starters_choice(ground: Ground) -> None:
    (ground.foreign / "linked").symlink_to(ground.root)
    with client(MockCatalog(root=ground.foreign / "linked", warehouses=["wh"])) as http:
        assert create(http).status_code == 200
