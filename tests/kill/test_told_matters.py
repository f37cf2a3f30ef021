"""What a finding says is the matter, and not what a check happened to look at."""

from collections.abc import Callable
from typing import Any

import pytest

from icecheck.client.catalog import Catalog
from icecheck.findings.verdict import Finding
from icecheck.findings.verdict import Outcome as Ending
from icecheck.judging.judge import judge
from icecheck.mock_server.core.context import Call, Outcome
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_body, wrap
from icecheck.mock_server.defects.kit.updating import alter_sent_updates
from icecheck.mock_server.protocol.problem import Problem
from icecheck.run.collect import collect
from tests.kill.killing import mock_session
from tests.kit.contracts import CONTRACT
from tests.lawful.capabilities.serving import GROUPS
from tests.lawful.lawful import Install

Json = dict[str, Any]
CHECKS = {check.id: check for check in collect(GROUPS, CONTRACT)}


def found_by(check_id: str, install: Install) -> Finding:
    with mock_session() as (mock, session):
        install(mock.registries)
        verdict = judge(CHECKS[check_id], Catalog(session, check_id))
    assert verdict.outcome is Ending.FAIL, verdict.summary
    return verdict.findings[0]


def test_a_query_that_is_refused_with_and_without_a_tag_is_no_matter_of_the_tag() -> None:
    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        answered = faithful(state, call)
        if call.query.get("snapshots") == "refs" and b'"statistics":[{' in answered.reply.body:
            raise Problem(400, "ValidationException", "Cannot set metadata location")
        return answered

    told = found_by("states.every-look", lambda registries: wrap(registries, "loadTable", around))
    assert told.detail.startswith("refs only, after ")
    assert "tag of the version" not in told.detail


def test_a_table_that_a_refused_transaction_changes_is_told_as_such() -> None:
    half_done = defects()["transaction-half-done-on-conflict"].install
    told = found_by("alike.transaction-over-one-name", half_done)
    assert told.symptom.slug == "changed-although-refused"
    assert told.detail.endswith("after a refused transaction")


def test_a_name_under_which_nothing_can_be_made_is_a_matter_of_the_creation() -> None:
    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if "#" in sent_json(call)["name"]:
            raise Problem(500, "FileExistsError", "Internal server error")
        return faithful(state, call)

    told = found_by(
        "roundtrip.table-commits-by-name.address",
        lambda registries: wrap(registries, "createTable", around),
    )
    assert told.detail.startswith("createTable of ")


def test_members_that_are_always_dropped_are_not_repaired() -> None:
    def without(update: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in update.items() if not k.startswith(("max-", "min-"))}

    told = found_by(
        "commit.kept-or-refused",
        lambda registries: alter_sent_updates(registries, "set-snapshot-ref", without),
    )
    assert told.symptom.slug == "effect-missing:max-ref-age-ms"


def follows_the_last_snapshot(metadata: Json) -> None:
    if metadata.get("snapshots"):
        metadata["current-snapshot-id"] = metadata["snapshots"][-1]["snapshot-id"]


def counts_top_columns(metadata: Json) -> None:
    metadata["last-column-id"] = len(metadata["schemas"][-1]["fields"])


def gives_no_ids(metadata: Json) -> None:
    for spec in metadata["partition-specs"][1:]:
        for field in spec["fields"]:
            del field["field-id"]


@pytest.mark.parametrize(
    ("check_id", "shown", "symptom"),
    [
        (
            "update.add-snapshot",
            follows_the_last_snapshot,
            "changed-beside:current-snapshot-id",
        ),
        (
            "update.set-snapshot-ref.before-main",
            follows_the_last_snapshot,
            "changed-beside:current-snapshot-id",
        ),
        (
            "update.add-schema.nested-types",
            counts_top_columns,
            "effect-missing:last-column-id",
        ),
        ("update.add-spec.field-ids-assigned", gives_no_ids, "partition-field-id-missing"),
    ],
)
def test_what_is_there_is_not_told_as_missing(
    check_id: str, shown: Callable[[Json], None], symptom: str
) -> None:
    def altered(body: Json) -> Json:
        shown(body["metadata"])
        return body

    told = found_by(check_id, lambda registries: alter_body(registries, "loadTable", altered))
    assert told.symptom.slug == symptom
