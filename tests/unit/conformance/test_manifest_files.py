"""Several snapshots in one commit: a catalog that drops some of them is not blamed for plans."""

from typing import Any

import pytest

from icecheck.client.catalog import Catalog
from icecheck.conformance.kit.manifest_files import ManifestFiles, PlannedFile, given_files
from icecheck.mock_server.core.context import Call, Registries
from icecheck.mock_server.defects.kit.rewriting import alter_body, alter_request_body
from icecheck.replies.expect import Blocked
from tests.kill.killing import mock_session
from tests.kill.refusing import refuse_if, updates_in

Json = dict[str, Any]
ADDITION = "add-snapshot"


def _additions(updates: list[Json]) -> list[Json]:
    return [update for update in updates if update["action"] == ADDITION]


def _drop_all_but_the_last(registries: Registries) -> None:
    def dropped(body: Json) -> Json:
        lost = _additions(body["updates"])[:-1]
        return {**body, "updates": [update for update in body["updates"] if update not in lost]}

    alter_request_body(registries, "updateTable", dropped)


def _show_the_current_one_only(registries: Registries) -> None:
    def shortened(body: Json) -> Json:
        metadata = body["metadata"]
        current = metadata.get("current-snapshot-id")
        kept = [s for s in metadata.get("snapshots") or () if s["snapshot-id"] == current]
        return {**body, "metadata": {**metadata, "snapshots": kept}}

    for operation_id in ("updateTable", "loadTable"):
        alter_body(registries, operation_id, shortened)


def _append_two(files: ManifestFiles) -> list[int]:
    with files.at_once():
        return [files.append(PlannedFile(f"{name}.parquet")) for name in "ab"]


def _shown(files: ManifestFiles) -> list[int]:
    return [each["snapshot-id"] for each in files.table.metadata["snapshots"]]


def _commits(catalog: Catalog) -> list[int | None]:
    return [each.status for each in catalog.exchanges if each.operation == "updateTable"]


def test_several_snapshots_are_committed_at_once() -> None:
    with mock_session() as (_, session):
        catalog = Catalog(session, "files")
        with given_files(catalog) as files:
            assert _append_two(files) == _shown(files)
        assert _commits(catalog) == [200]


def test_a_catalog_that_takes_one_snapshot_gets_one_by_one() -> None:
    def several(call: Call) -> bool:
        return len(_additions(updates_in(call))) > 1

    with mock_session() as (mock, session):
        refuse_if(mock.registries, "updateTable", several, 422)
        catalog = Catalog(session, "files")
        with given_files(catalog) as files:
            assert _append_two(files) == _shown(files)
        assert _commits(catalog) == [422, 200, 200]


def test_a_catalog_that_drops_snapshots_of_a_commit_blocks_the_check() -> None:
    with mock_session() as (mock, session):
        _drop_all_but_the_last(mock.registries)
        catalog = Catalog(session, "files")
        with given_files(catalog) as files, pytest.raises(Blocked, match="1 are missing") as found:
            _append_two(files)
        assert found.value.by == "update.add-snapshot.effect"


def test_snapshots_that_only_a_load_shows_are_there() -> None:
    def without(body: Json) -> Json:
        return {**body, "metadata": {**body["metadata"], "snapshots": []}}

    with mock_session() as (mock, session):
        alter_body(mock.registries, "updateTable", without)
        with given_files(Catalog(session, "files")) as files:
            _append_two(files)


def test_a_catalog_that_keeps_the_current_snapshot_only_is_not_blocked() -> None:
    with mock_session() as (mock, session):
        _show_the_current_one_only(mock.registries)
        with given_files(Catalog(session, "files")) as files:
            last = _append_two(files)[-1]
            assert _shown(files) == [last]
