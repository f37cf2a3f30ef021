"""A warehouse in the object store: what the catalog itself writes, reads and removes there."""

import json
import re
import socket
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from icecheck.mock_server import MockCatalog, VendingSettings, WarehouseDeclaration
from icecheck.mock_server.objects import moto_buckets
from tests.mock.objects.conftest import DELEGATED, SCHEMA, Stage, create, key_of, sender


def keys_in(stage: Stage, bucket: str = "lake") -> list[str]:
    body = stage.root.ask("GET", f"/{bucket}?list-type=2").body.decode()
    return re.findall("<Key>([^<]*)</Key>", body)


def set_properties(**changes: str) -> dict[str, Any]:
    update = {"action": "set-properties", "updates": changes}
    return {"requirements": [], "updates": [update]}


def test_a_metadata_file_is_an_object_where_the_answer_says(stage: Stage) -> None:
    with stage.http() as http:
        made = create(http, "files").json()
        path = "/namespaces/ns/tables/files"
        committed = http.post(path, json=set_properties(a="b")).json()
        config = http.get(path, headers=DELEGATED).json()["config"]
        for answer in (made, committed):
            key = key_of(answer["metadata-location"])
            found = sender(config).ask("GET", f"/lake/{key}")
            assert json.loads(found.body) == answer["metadata"]
        http.delete(path, params={"purgeRequested": "true"}).raise_for_status()
    assert not [key for key in keys_in(stage) if "/files-" in key]


def test_a_compressed_metadata_file_is_read_again(stage: Stage) -> None:
    gzip = {"write.metadata.compression-codec": "gzip"}
    with stage.http() as http:
        made = create(http, "zipped", properties=gzip).json()
        location = made["metadata-location"]
        assert location.endswith(".gz.metadata.json")
        http.delete("/namespaces/ns/tables/zipped").raise_for_status()
        body = {"name": "again", "metadata-location": location}
        registered = http.post("/namespaces/ns/register", json=body)
        assert registered.json()["metadata"] == made["metadata"]
        http.delete("/namespaces/ns/tables/again", params={"purgeRequested": "true"})


def test_a_tables_credentials_are_for_its_places(stage: Stage) -> None:
    """Also where it writes elsewhere in its warehouse; what they are said to be for covers both."""
    places = {
        "write.data.path": "s3://lake/wh/elsewhere/data",
        "write.metadata.path": "s3a://lake/wh/elsewhere/metadata",
        "write.object-storage.path": "s3://lake2/second",
    }
    with stage.http() as http:
        made = create(http, "spread", location="s3://lake/wh/mine/spread", properties=places)
        assert made.status_code == 200, made.text
        path = "/namespaces/ns/tables/spread"
        (credential,) = http.get(path, headers=DELEGATED).json()["storage-credentials"]
        assert credential["prefix"] == "s3://"
        holder = sender(credential["config"])
        for key in ("mine/spread/x", "elsewhere/data/x", "elsewhere/metadata/x"):
            assert holder.ask("PUT", f"/lake/wh/{key}", b"x").status == 200
            assert holder.ask("DELETE", f"/lake/wh/{key}").status == 204
        for target in ("/lake/wh/mine/x", "/lake/wh/elsewhere/x", "/lake2/second/x", "/lake/x"):
            assert holder.ask("PUT", target, b"x").status == 403
        http.delete(path, params={"purgeRequested": "true"}).raise_for_status()


OUTSIDE = [
    "s3://lake", "s3://lake/", "s3://lake/wh", "s3://lake/wh/", "s3://lake/wh2/t", "s3://lake2/wh/t",
    "s3a://lake/other/t", "S3://lake/t", "s3://lake/wh/../t", "s3://lake/wh/a/../../t",
    "s3://lake/wh/./t", "s3://nowhere/wh/t", "s3:///wh/t",
]  # fmt: skip


@pytest.mark.parametrize("location", OUTSIDE)
def test_no_table_is_outside_of_its_warehouse(stage: Stage, location: str) -> None:
    """Its credentials would be for other tables, or for the whole bucket."""
    before = keys_in(stage)
    with stage.http() as http:
        for more in (
            {"location": location},
            {"location": location, "stage-create": True},
            {"properties": {"write.metadata.path": location}},
        ):
            assert create(http, "outside", **more).status_code == 400
        moved = {"action": "set-location", "location": location}
        body = {"requirements": [], "updates": [moved]}
        assert http.post("/namespaces/ns/tables/own", json=body).status_code == 400
        elsewhere = set_properties(**{"write.metadata.path": location})
        assert http.post("/namespaces/ns/tables/own", json=elsewhere).status_code == 400
        namespace = {"namespace": ["outside"], "properties": {"location": location}}
        http.post("/namespaces", json=namespace)
        in_it = {"name": "t", "schema": SCHEMA}
        found = http.post("/namespaces/outside/tables", json=in_it)
        is_below = location.rstrip("/") == "s3://lake/wh"
        assert found.status_code == (200 if is_below else 400)
        http.delete("/namespaces/outside/tables/t", params={"purgeRequested": "true"})
        http.delete("/namespaces/outside")
    assert keys_in(stage) == before


def test_the_catalog_reads_nothing_for_others(stage: Stage) -> None:
    """A client of one warehouse could have it read a table of another one."""
    with stage.http() as http:
        location = http.get("/namespaces/ns/tables/other").json()["metadata-location"]
        http.base_url = f"{stage.mock.uri}/v1/second"
        http.post("/namespaces", json={"namespace": ["ns"]})
        for spelled in (location, location.replace("s3:", "s3a:")):
            body = {"name": "stolen", "metadata-location": spelled}
            answer = http.post("/namespaces/ns/register", json=body)
            assert answer.status_code == 400
            assert "not below s3://lake2/second/" in answer.json()["error"]["message"]


def test_an_empty_warehouse_has_no_objects(stage: Stage) -> None:
    with stage.http() as http:
        http.base_url = f"{stage.mock.uri}/v1/second"
        http.post("/namespaces", json={"namespace": ["ns"]})
        for number in range(3):
            assert create(http, f"t{number}").status_code == 200
    assert stage.root.ask("PUT", "/lake2/other/x", b"x").status == 200
    before = keys_in(stage)
    stage.mock.reset("second")
    assert keys_in(stage, "lake2") == ["other/x"]
    assert keys_in(stage) == before


def declared(location: str = "s3://lake/wh", **more: Any) -> MockCatalog:
    return MockCatalog(warehouses=[WarehouseDeclaration("wh", location=location)], **more)


def table_in(mock: MockCatalog) -> httpx.Response:
    http = httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1/wh")
    http.post("/namespaces", json={"namespace": ["ns"]})
    return create(http, "t")


def config_in(mock: MockCatalog) -> Mapping[str, str]:
    http = httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1/wh")
    found: Mapping[str, str] = http.get("/namespaces/ns/tables/t", headers=DELEGATED).json()[
        "config"
    ]
    return found


def test_two_servers_share_nothing() -> None:
    """Not even the names of their buckets, which moto has once for a process."""
    from moto.s3.models import s3_backends

    with declared() as one, declared() as other:
        assert "lake" not in s3_backends.bucket_accounts
        location = table_in(one).json()["metadata-location"]
        table_in(other)
        assert one.objects is not None
        assert other.objects is not None
        roots = [sender(each.objects.properties()) for each in (one, other) if each.objects]
        target = f"/lake/{key_of(location)}"
        assert [each.ask("GET", target).status for each in roots] == [200, 404]
        mixed = roots[0]._replace(endpoint=roots[1].endpoint)
        assert mixed.ask("GET", target).status == 403
        holder = sender(dict(config_in(one)))
        assert holder.ask("GET", target).status == 200
        assert holder._replace(endpoint=roots[1].endpoint).ask("GET", target).status == 403


def test_a_server_that_was_stopped_has_forgotten_its_objects() -> None:
    mock = declared()
    with mock:
        location = table_in(mock).json()["metadata-location"]
    with mock:
        assert mock.objects is not None
        root = sender(mock.objects.properties())
        assert root.ask("GET", f"/lake/{key_of(location)}").status == 404
        assert root.ask("HEAD", "/lake").status == 200


def test_it_needs_no_server_for_what_the_catalog_does() -> None:
    """The object store listens as soon as somebody is told where it is."""
    mock = declared()
    assert table_in(mock).status_code == 200
    holder = sender(dict(config_in(mock)))
    assert holder.ask("GET", "/lake").status == 403
    mock.stop()
    with pytest.raises(OSError, match="refused"):
        holder.ask("GET", "/lake")


def test_what_was_declared_for_another_store_stays_made_up() -> None:
    """Whoever has an object store gives its keys, and the server here has nothing to do with it."""
    settings = VendingSettings(storage="s3", config={"s3.endpoint": "http://minio"})
    mock = declared(vending=settings)
    assert mock.objects is None
    location = table_in(mock).json()["metadata-location"]
    assert mock.files.read(location)
    assert config_in(mock)["s3.endpoint"] == "http://minio"


def test_a_kept_root_keeps_no_table_whose_files_are_lost(tmp_path: Path) -> None:
    more = WarehouseDeclaration("local")
    for _ in range(2):
        warehouses = [WarehouseDeclaration("wh", location="s3://lake/wh"), more]
        with MockCatalog(root=tmp_path, keep=True, warehouses=warehouses) as mock:
            assert not mock.state("wh").namespaces
            assert table_in(mock).status_code == 200
            namespaces = mock.state("local").namespaces
            http = httpx.Client(base_url=f"{mock.uri}/v1/local")
            http.post("/namespaces", json={"namespace": ["kept"]})
    assert ("kept",) in namespaces


@pytest.mark.parametrize(
    "location", ["s3://", "s3:///wh", "s3://a/wh", "s3://Lake/wh", "s3://lake_/wh", "s3://1.2.3.4"]
)
def test_a_bucket_has_the_name_of_one(location: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="write s3://BUCKET"):
        declared(location, root=tmp_path, keep=True)
    MockCatalog(root=tmp_path, keep=True).stop()  # nobody has the root


def test_without_moto_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moto_buckets, "find_spec", lambda _: None)
    with pytest.raises(ValueError, match=r"needs moto.*\[s3\]"):
        declared()


def test_settings_of_another_storage_are_not_those_of_this_one() -> None:
    for more in ({"storage": "gcs"}, {"storage": "s3", "prefixes": ("s3://x/",)}):
        with pytest.raises(ValueError, match="embedded"):
            VendingSettings(embedded=True, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("s3://lake", "s3://lake/b"), ("s3://lake/b", "s3://lake/"), ("s3://lake/b", "s3a://lake/b/"),
        ("S3://lake/b/c/", "s3n://lake/b"),
    ],
)  # fmt: skip
def test_no_warehouse_is_within_another(one: str, other: str) -> None:
    places = [WarehouseDeclaration("a", location=one), WarehouseDeclaration("b", location=other)]
    with pytest.raises(ValueError, match="is within") as raised:
        MockCatalog(warehouses=places)
    assert "\n" not in str(raised.value)


def test_warehouses_can_be_beside_each_other() -> None:
    locations = {"a": "s3://lake/b", "b": "s3://lake/bc", "c": "s3://lake2", "d": "s3://lake/c/b"}
    places = [WarehouseDeclaration(name, location=locations[name]) for name in locations]
    MockCatalog(warehouses=places)


def test_a_server_whose_port_is_taken_leaves_nothing_listening() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        mock = MockCatalog(
            port=port, warehouses=[WarehouseDeclaration("wh", location="s3://lake/wh")]
        )
        before = set(threading.enumerate())
        with pytest.raises(OSError, match="use"):
            mock.start()
        assert set(threading.enumerate()) <= before
    with mock:
        assert mock.objects is not None
        assert sender(mock.objects.properties()).ask("GET", "/lake").status == 200


def test_a_server_whose_store_cannot_start_listens_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mock = MockCatalog(warehouses=[WarehouseDeclaration("wh", location="s3://lake/wh")])
    monkeypatch.setattr(moto_buckets, "find_spec", lambda _: None)
    before = set(threading.enumerate())
    with pytest.raises(ValueError, match="needs moto"):
        mock.start()
    assert set(threading.enumerate()) <= before
