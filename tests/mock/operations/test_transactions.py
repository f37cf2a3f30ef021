"""commitTransaction: several tables change together, or none of them does."""

from typing import Any

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.storage.files import Files
from tests.mock.asking import error_of

TABLES = "/namespaces/ns/tables"
TRANSACTION = "/transactions/commit"
ID = {"id": 1, "name": "id", "required": True, "type": "long"}
SCHEMA = {"type": "struct", "fields": [ID]}
UNPARTITIONED = {"spec-id": 0, "fields": []}
UNSORTED = {"order-id": 0, "fields": []}
CREATION: list[dict[str, Any]] = [
    {"action": "assign-uuid", "uuid": "5f4b3c2d-0000-4000-8000-000000000001"},
    {"action": "add-schema", "schema": SCHEMA},
    {"action": "set-current-schema", "schema-id": -1},
    {"action": "add-spec", "spec": UNPARTITIONED},
    {"action": "set-default-spec", "spec-id": -1},
    {"action": "add-sort-order", "sort-order": UNSORTED},
    {"action": "set-default-sort-order", "sort-order-id": -1},
    {"action": "set-location", "location": "memory://root/elsewhere"},
]


@pytest.fixture
def tables(http: httpx.Client, namespace: str) -> tuple[str, str]:
    for name in ("a", "b"):
        assert http.post(TABLES, json={"name": name, "schema": SCHEMA}).status_code == 200
    return "a", "b"


def change(
    name: str, *updates: dict[str, Any], requirements: tuple[dict[str, Any], ...] = ()
) -> dict[str, Any]:
    identifier = {"namespace": ["ns"], "name": name}
    return {"identifier": identifier, "requirements": [*requirements], "updates": [*updates]}


def set_property(**properties: str) -> dict[str, Any]:
    return {"action": "set-properties", "updates": properties}


def commit(http: httpx.Client, *changes: dict[str, Any]) -> httpx.Response:
    return http.post(TRANSACTION, json={"table-changes": [*changes]})


def load(http: httpx.Client, name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = http.get(f"{TABLES}/{name}").json()
    return loaded


def test_several_changes_of_one_table_are_applied_in_order(
    http: httpx.Client, tables: tuple[str, str], mock: MockCatalog
) -> None:
    first = load(http, "a")["metadata-location"]
    answer = commit(
        http,
        change("a", set_property(step="1", kept="yes")),
        change("b", set_property(step="1")),
        change("a", set_property(step="2")),
    )
    assert answer.status_code == 204
    after = load(http, "a")
    assert after["metadata"]["properties"]["step"] == "2"
    assert after["metadata"]["properties"]["kept"] == "yes"
    logged = [entry["metadata-file"] for entry in after["metadata"]["metadata-log"]]
    assert logged[0] == first
    assert len(logged) == 2
    for location in (*logged, after["metadata-location"]):
        assert mock.files.read(location)


def test_requirements_of_a_later_change_see_the_earlier_ones(
    http: httpx.Client, tables: tuple[str, str]
) -> None:
    schema = {"type": "struct", "fields": [ID, {**ID, "id": 2, "name": "x"}]}
    evolved = (
        {"action": "add-schema", "schema": schema},
        {"action": "set-current-schema", "schema-id": -1},
    )
    now_one = {"type": "assert-current-schema-id", "current-schema-id": 1}
    still_zero = {"type": "assert-current-schema-id", "current-schema-id": 0}
    refused = commit(
        http, change("a", *evolved), change("a", set_property(k="v"), requirements=(still_zero,))
    )
    assert error_of(refused) == (409, "CommitFailedException")
    assert load(http, "a")["metadata"]["current-schema-id"] == 0
    accepted = commit(
        http, change("a", *evolved), change("a", set_property(k="v"), requirements=(now_one,))
    )
    assert accepted.status_code == 204
    assert load(http, "a")["metadata"]["properties"]["k"] == "v"


def test_a_table_can_be_created_and_filled_in_one_transaction(
    http: httpx.Client, tables: tuple[str, str]
) -> None:
    create = change("new", *CREATION, requirements=({"type": "assert-create"},))
    filled = [change(name, set_property(k="v")) for name in ("a", "new")]
    answer = commit(http, create, *filled)
    assert answer.status_code == 204
    made = load(http, "new")["metadata"]
    assert made["table-uuid"] == CREATION[0]["uuid"]
    assert made["properties"] == {"k": "v"}


def test_a_creation_in_a_missing_namespace_leaves_nothing(
    http: httpx.Client, tables: tuple[str, str]
) -> None:
    before = load(http, "a")
    create = change("new", *CREATION, requirements=({"type": "assert-create"},))
    create["identifier"]["namespace"] = ["nowhere"]
    answer = commit(http, change("a", set_property(k="v")), create)
    assert error_of(answer) == (404, "NoSuchNamespaceException")
    assert load(http, "a") == before


def test_a_file_that_cannot_be_written_undoes_the_whole_transaction(
    http: httpx.Client,
    tables: tuple[str, str],
    mock: MockCatalog,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = [load(http, name) for name in tables]
    written: list[str] = []
    faithful = Files.write

    def second_fails(self: Files, location: str, *others: Any) -> None:
        if written:
            raise OSError("no space left")
        written.append(location)
        faithful(self, location, *others)

    monkeypatch.setattr(Files, "write", second_fails)
    answer = commit(http, *(change(name, set_property(k="v")) for name in tables))
    assert error_of(answer) == (400, "BadRequestException")
    assert [load(http, name) for name in tables] == before
    with pytest.raises(FileNotFoundError):
        mock.files.read(written[0])
