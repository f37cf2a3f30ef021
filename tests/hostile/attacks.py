"""Requests that make the mock write, read or delete at a location that their sender chooses."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from icecheck.mock_server import MockCatalog
from tests.mock.limits.locations import (
    NAMESPACES,
    SCHEMA,
    TABLES,
    VIEWS,
    Ground,
    commit,
    snapshot,
    view_body,
)
from tests.mock.planning.handmade import File, Manifest, make_table

TRANSACTION = "/transactions/commit"


def server(ground: Ground, *others: str) -> MockCatalog:
    return MockCatalog(root=ground.root, warehouses=["wh", *others], clock=1_700_000_000_000)


@contextmanager
def client(mock: MockCatalog) -> Iterator[httpx.Client]:
    with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1/wh") as http:
        http.get("http://mock/v1/config?warehouse=wh").raise_for_status()
        http.post(NAMESPACES, json={"namespace": ["ns"]}).raise_for_status()
        yield http


def create(
    http: httpx.Client, name: str = "t", *, stage_create: bool = False, **members: Any
) -> httpx.Response:
    """Create a table, or stage it."""
    body = {"name": name, "schema": SCHEMA, "stage-create": stage_create, **members}
    return http.post(TABLES, json=body)


# A table names a file that is not its own.


def names_a_manifest_list(http: httpx.Client, location: str) -> None:
    create(http).raise_for_status()
    added = snapshot(1, **{"manifest-list": location})
    commit(http, f"{TABLES}/t", added).raise_for_status()


def names_a_manifest(http: httpx.Client, location: str) -> None:
    create(http, properties={"format-version": "1"}).raise_for_status()
    added = snapshot(1, manifests=[location], **{"sequence-number": 0})
    commit(http, f"{TABLES}/t", added).raise_for_status()


def names_a_data_file(http: httpx.Client, location: str) -> None:
    table = make_table(http, http_root(http), "t", SCHEMA)
    table.commit(Manifest([File(location)]))


def http_root(http: httpx.Client) -> Path:
    """A directory that the warehouse may use: where it has put a table."""
    body = {"name": "placed", "schema": SCHEMA}
    metadata = http.post(TABLES, json=body).json()["metadata"]
    return Path(metadata["location"].removeprefix("file://"))


def names_statistics(http: httpx.Client, location: str) -> None:
    create(http).raise_for_status()
    statistics = {
        "snapshot-id": 1,
        "statistics-path": location,
        "file-size-in-bytes": 1,
        "file-footer-size-in-bytes": 1,
        "blob-metadata": [],
    }
    set_statistics = {"action": "set-statistics", "snapshot-id": 1, "statistics": statistics}
    added = snapshot(1, **{"manifest-list": "s3://none"})
    commit(http, f"{TABLES}/t", added, set_statistics).raise_for_status()


def names_partition_statistics(http: httpx.Client, location: str) -> None:
    create(http).raise_for_status()
    statistics = {"snapshot-id": 1, "statistics-path": location, "file-size-in-bytes": 1}
    update = {"action": "set-partition-statistics", "partition-statistics": statistics}
    added = snapshot(1, **{"manifest-list": "s3://none"})
    commit(http, f"{TABLES}/t", added, update).raise_for_status()


def names_a_former_metadata_file(http: httpx.Client, location: str) -> None:
    created = create(http, "from").json()
    metadata = created["metadata"]
    metadata["metadata-log"] = [{"metadata-file": location, "timestamp-ms": 1}]
    file = Path(created["metadata-location"].removeprefix("file://")).with_name("1.metadata.json")
    file.write_text(json.dumps(metadata))
    body = {"name": "t", "metadata-location": f"file://{file}"}
    http.post(f"{NAMESPACES}/ns/register", json=body).raise_for_status()


NAMING: list[Callable[[httpx.Client, str], None]] = [
    names_a_manifest_list,
    names_a_manifest,
    names_a_data_file,
    names_statistics,
    names_partition_statistics,
    names_a_former_metadata_file,
]


# A request names the place where the mock would write.

PATH = "write.metadata.path"


def set_to(location: str) -> dict[str, Any]:
    return {"action": "set-location", "location": location}


def property_to(location: str) -> dict[str, Any]:
    return {"action": "set-properties", "updates": {PATH: location}}


def committing(update: dict[str, Any]) -> Callable[[httpx.Client], httpx.Response]:
    def send(http: httpx.Client) -> httpx.Response:
        create(http).raise_for_status()
        return commit(http, f"{TABLES}/t", update)

    return send


def in_transaction(update: dict[str, Any]) -> Callable[[httpx.Client], httpx.Response]:
    def send(http: httpx.Client) -> httpx.Response:
        create(http).raise_for_status()
        identifier = {"namespace": ["ns"], "name": "t"}
        change = {"identifier": identifier, "requirements": [], "updates": [update]}
        return http.post(TRANSACTION, json={"table-changes": [change]})

    return send


def creating_by_commit(*updates: dict[str, Any]) -> Callable[[httpx.Client], httpx.Response]:
    def send(http: httpx.Client) -> httpx.Response:
        staged = create(http, stage_create=True).json()["metadata"]
        built = [
            {"action": "assign-uuid", "uuid": staged["table-uuid"]},
            {"action": "upgrade-format-version", "format-version": 2},
            {"action": "add-schema", "schema": SCHEMA, "last-column-id": 1},
            {"action": "set-current-schema", "schema-id": -1},
            {"action": "add-spec", "spec": {"spec-id": 0, "fields": []}},
            {"action": "set-default-spec", "spec-id": -1},
            {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
            {"action": "set-default-sort-order", "sort-order-id": -1},
            *updates,
        ]
        body = {"requirements": [{"type": "assert-create"}], "updates": built}
        return http.post(f"{TABLES}/t", json=body)

    return send


def committing_to_a_view(update: dict[str, Any]) -> Callable[[httpx.Client], httpx.Response]:
    def send(http: httpx.Client) -> httpx.Response:
        http.post(VIEWS, json=view_body("v")).raise_for_status()
        return http.post(f"{VIEWS}/v", json={"requirements": [], "updates": [update]})

    return send


def registering(alter: Callable[[dict[str, Any]], Any]) -> Callable[[httpx.Client], httpx.Response]:
    def send(http: httpx.Client) -> httpx.Response:
        created = create(http, "from").json()
        metadata = created["metadata"]
        alter(metadata)
        known = Path(created["metadata-location"].removeprefix("file://"))
        file = known.with_name("1.metadata.json")
        file.write_text(json.dumps(metadata))
        body = {"name": "t", "metadata-location": f"file://{file}"}
        return http.post(f"{NAMESPACES}/ns/register", json=body)

    return send


WRITING: dict[str, Callable[[str], Callable[[httpx.Client], httpx.Response]]] = {
    "create": lambda to: lambda http: create(http, location=to),
    "stage": lambda to: lambda http: create(http, location=to, stage_create=True),
    "create-path": lambda to: lambda http: create(http, properties={PATH: to}),
    "stage-path": lambda to: lambda http: create(http, properties={PATH: to}, stage_create=True),
    "location-beside-a-lawful-path": lambda to: (
        lambda http: create(http, location=to, properties={PATH: "s3://kept/in/memory"})
    ),
    "commit": lambda to: committing(set_to(to)),
    "commit-path": lambda to: committing(property_to(to)),
    "transaction": lambda to: in_transaction(set_to(to)),
    "transaction-path": lambda to: in_transaction(property_to(to)),
    "staged-commit": lambda to: creating_by_commit(set_to(to)),
    "staged-commit-path": lambda to: creating_by_commit(property_to(to)),
    "view": lambda to: lambda http: http.post(VIEWS, json=view_body("v", location=to)),
    "view-path": lambda to: (
        lambda http: http.post(VIEWS, json=view_body("v", properties={PATH: to}))
    ),
    "view-commit": lambda to: committing_to_a_view(set_to(to)),
    "view-commit-path": lambda to: committing_to_a_view(property_to(to)),
    "register": lambda to: registering(lambda metadata: metadata.update(location=to)),
    "register-path": lambda to: registering(
        lambda metadata: metadata["properties"].update({PATH: to})
    ),
}
