"""Arrangements for the metadata engine: stateless functions, so that every test may share them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from icecheck.mock_server.commits.commit import apply_commit, decode_commit, default_registries
from icecheck.mock_server.commits.create import decode_create_table, new_table_metadata
from icecheck.mock_server.metadata.encoding import TableMetadata
from icecheck.mock_server.protocol.problem import Problem

NOW_MS = 1_700_000_000_000
UUID = "11111111-2222-4333-8444-555555555555"
OTHER_UUID = "99999999-2222-4333-8444-555555555555"
LOCATION = "s3://warehouse/sales/orders"
METADATA_LOCATION = f"{LOCATION}/metadata/00000-a.metadata.json"

ID_FIELD = {"id": 1, "name": "id", "required": True, "type": "long"}
DATA_FIELD = {"id": 2, "name": "data", "required": False, "type": "string"}
TIME_FIELD = {"id": 3, "name": "time", "required": False, "type": "timestamptz"}
FIELDS = (ID_FIELD, DATA_FIELD, TIME_FIELD)

NewTable = Callable[..., TableMetadata]
Commit = Callable[..., TableMetadata | None]
Refused = Callable[..., Any]
Snapshot = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def now_ms() -> int:
    return NOW_MS


@pytest.fixture(scope="session")
def schema_of() -> Callable[..., dict[str, Any]]:
    def schema_of(*fields: dict[str, Any], **members: Any) -> dict[str, Any]:
        return {"type": "struct", "schema-id": 0, "fields": list(fields or FIELDS), **members}

    return schema_of


@pytest.fixture(scope="session")
def new_table(schema_of: Callable[..., dict[str, Any]]) -> NewTable:
    """Make a table: `new_table(format_version=3, schema=..., partition_spec=...)`."""

    def new_table(format_version: int = 2, **members: Any) -> TableMetadata:
        properties = {"format-version": str(format_version), **(members.pop("properties", {}))}
        body = {"name": "orders", "schema": schema_of(), "properties": properties}
        body |= {name.replace("_", "-"): value for name, value in members.items()}
        request = decode_create_table(msgspec.json.encode(body))
        return new_table_metadata(request, uuid=UUID, location=LOCATION, now_ms=NOW_MS)

    return new_table


@pytest.fixture(scope="session")
def commit() -> Commit:
    """Apply updates given as JSON objects; None when nothing changed."""

    def commit(
        base: TableMetadata | None,
        *updates: dict[str, Any],
        requirements: tuple[dict[str, Any], ...] = (),
        now_ms: int = NOW_MS + 1000,
        base_location: str | None = METADATA_LOCATION,
        default_location: str | None = None,
    ) -> TableMetadata | None:
        body = {"requirements": requirements, "updates": updates}
        assertions, appliers = default_registries()
        return apply_commit(
            base,
            decode_commit(msgspec.json.encode(body)),
            assertions=assertions,
            updates=appliers,
            now_ms=now_ms,
            new_uuid=lambda: OTHER_UUID,
            base_location=base_location if base is not None else None,
            default_location=default_location,
        )

    return commit


@pytest.fixture(scope="session")
def snapshot() -> Snapshot:
    """Make the JSON of a snapshot; members of None are left out."""

    def snapshot(snapshot_id: int, /, **members: Any) -> dict[str, Any]:
        written = {
            "snapshot-id": snapshot_id,
            "timestamp-ms": NOW_MS + 500,
            "manifest-list": f"{LOCATION}/metadata/snap-{snapshot_id}.avro",
            "summary": {"operation": "append"},
        }
        written |= {name.replace("_", "-"): value for name, value in members.items()}
        return {name: value for name, value in written.items() if value is not None}

    return snapshot


@pytest.fixture(scope="session")
def add_main(snapshot: Snapshot) -> Callable[..., tuple[dict[str, Any], dict[str, Any]]]:
    """Give the two updates of an append to `main`."""

    def add_main(snapshot_id: int, **members: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return (
            {"action": "add-snapshot", "snapshot": snapshot(snapshot_id, **members)},
            set_ref("main", snapshot_id),
        )

    return add_main


def set_ref(name: str, snapshot_id: int, **members: Any) -> dict[str, Any]:
    written = {"action": "set-snapshot-ref", "ref-name": name, "type": "branch"}
    members = {key.replace("_", "-"): value for key, value in members.items()}
    return {**written, "snapshot-id": snapshot_id, **members}


@pytest.fixture(scope="session", name="set_ref")
def set_ref_fixture() -> Callable[..., dict[str, Any]]:
    return set_ref


@pytest.fixture(scope="session")
def table_with_history(new_table: NewTable, commit: Commit, add_main: Any) -> TableMetadata:
    """Give a table with snapshots 1 and 2 on main, in two commits."""
    table = new_table()
    for number in (1, 2):
        table = commit(
            table,
            *add_main(
                number,
                sequence_number=number,
                parent_snapshot_id=number - 1 or None,
                timestamp_ms=NOW_MS + number * 1000,
            ),
            now_ms=NOW_MS + number * 1000,
        )
        assert table is not None
    return table


@pytest.fixture(scope="session")
def refused() -> Refused:
    """Expect a Problem: `with refused(400, "part of the message")`."""

    @contextmanager
    def refused(status: int, part: str = "", type_name: str | None = None) -> Iterator[None]:
        with pytest.raises(Problem) as caught:
            yield
        assert caught.value.status == status
        assert part in caught.value.message
        expected = type_name or {400: "BadRequestException", 409: "CommitFailedException"}
        if isinstance(expected, dict):
            expected = expected[status]
        assert caught.value.type == expected

    return refused
