"""Sentences that can be read in two ways: a catalog that follows either of them is not blamed."""

from typing import Any

import pytest

from icecheck.findings.verdict import Group, Outcome, SkipKind
from icecheck.mock_server.core.context import Call, Registries
from icecheck.mock_server.core.context import Outcome as Answer
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_body, wrap
from icecheck.mock_server.defects.kit.updating import (
    FaithfulUpdate,
    alter_update,
    change_also,
    ignore_update,
)
from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.protocol.problem import Problem
from icecheck.run.collect import collect
from tests.kit.contracts import CONTRACT
from tests.lawful.capabilities.serving import said_of
from tests.lawful.lawful import Install

EVERY = {check.id: check for check in collect((Group.CHECKS, Group.GENERATED), CONTRACT)}


def last_of_the_table(
    registries: Registries, action: str, sent: str, current: str, listed: str, id_of: str
) -> None:
    """Let -1 mean what the table got last, be it in this commit or before (L2784, L2809, L2834)."""

    def apply(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
        added = getattr(draft, f"last_added_{sent}")
        if getattr(update, sent) == -1 and added is None:
            draft.change(**{current: getattr(getattr(draft.metadata, listed)[-1], id_of)})
        else:
            faithful(update, draft)

    alter_update(registries, action, apply)


def credentials_in_config(body: dict[str, Any]) -> dict[str, Any]:
    """Tell a table's credentials in its config, where every client looks as well (L3310)."""
    listed = body.get("storage-credentials") or ()
    moved = {key: value for each in listed for key, value in each["config"].items()}
    kept = {name: value for name, value in body.items() if name != "storage-credentials"}
    return kept | {"config": (body.get("config") or {}) | moved}


LAST_OF_THE_TABLE = {
    "set-current-schema": ("schema_id", "current_schema_id", "schemas", "schema_id"),
    "set-default-spec": ("spec_id", "default_spec_id", "partition_specs", "spec_id"),
    "set-default-sort-order": (
        "sort_order_id", "default_sort_order_id", "sort_orders", "order_id",
    ),
}  # fmt: skip
READINGS: dict[str, Install] = {
    **{
        f"update.{action}.nothing-added": by(last_of_the_table, action, *members)
        for action, members in LAST_OF_THE_TABLE.items()
    },
}
"""Check -> a catalog that reads the document in another way than the mock."""


@pytest.mark.parametrize("check_id", READINGS)
def test_the_other_reading_is_not_blamed(check_id: str) -> None:
    said = said_of([EVERY[check_id]], READINGS[check_id])
    assert [(v.check, v.summary) for v in said.verdicts if v.outcome is Outcome.FAIL] == []
    assert [v.outcome for v in said.verdicts if v.check == check_id] == [Outcome.PASS]


def test_credentials_may_come_in_config_alone() -> None:
    check_id = "loadTable.storage-credentials"
    said = said_of([EVERY[check_id]], by(alter_body, "loadTable", credentials_in_config))
    (verdict,) = [each for each in said.verdicts if each.check == check_id]
    assert (verdict.outcome, verdict.skip and verdict.skip.kind) == (
        Outcome.SKIP,
        SkipKind.NOT_APPLICABLE,
    )
    assert "config" in verdict.summary


def test_null_is_not_blamed_for_what_happens_without_it_too() -> None:
    """A second spec without spec-id is dropped, whether null is sent for it or nothing."""

    def is_second(update: Any, draft: Draft) -> bool:
        return update.spec.spec_id is None and len(draft.metadata.partition_specs) > 1

    check_id = "updateTable.null-is-absent"
    said = said_of([EVERY[check_id]], by(ignore_update, "add-spec", is_second))
    assert [v.outcome for v in said.verdicts if v.check == check_id] == [Outcome.PASS]


def test_a_malformed_requirement_may_be_one_that_does_not_hold() -> None:
    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Answer:
        try:
            return faithful(state, call)
        except Problem as refused:
            if refused.status != 400:
                raise
            raise Problem(409, "CommitFailedException", refused.message) from None

    check_id = "commit.malformed-assertion"
    said = said_of([EVERY[check_id]], by(wrap, "updateTable", around))
    assert [v.outcome for v in said.verdicts if v.check == check_id] == [Outcome.PASS]


def test_how_many_rows_a_snapshot_has_is_told_by_no_member_of_the_document() -> None:
    """The next row id goes on from the one row that the snapshot certainly has (L2526-L2529)."""

    def counted(before: TableMetadata, after: TableMetadata, _: Any) -> dict[str, Any]:
        return {} if after.next_row_id is None else {"next_row_id": (before.next_row_id or 0) + 1}

    check_id = "update.add-snapshot.next-row-id"
    said = said_of([EVERY[check_id]], by(change_also, "add-snapshot", counted))
    assert [v.outcome for v in said.verdicts if v.check == check_id] == [Outcome.PASS]
