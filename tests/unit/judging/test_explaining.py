"""Explaining a failure: a lost effect is told only where its plainest form shows none."""

from collections.abc import Callable
from typing import Any

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_table
from icecheck.findings.verdict import Group, Outcome, Verdict
from icecheck.judging.check import check, check_of
from icecheck.judging.judge import judge
from icecheck.mock_server.defects import defects
from icecheck.proof.defective import defective_session
from tests.kit.contracts import CONTRACT
from tests.kit.findings import a_violation

SETS_SCHEMA = {"action": "set-current-schema", "schema-id": 0}
REMOVES_TAG = {"action": "remove-snapshot-ref", "ref-name": "old"}


def failed_after(sent: dict[str, Any], *names: str) -> Verdict:
    """The verdict on a check that commits an update and then fails, on a mock with defects."""

    def test_something(catalog: Catalog) -> None:
        """Something holds."""
        table = given_table(catalog)
        catalog.update_table(table.namespace, table.name, [sent])
        raise a_violation("value:some.check", "one", "another")

    declare: Callable[[Any], Any] = check(
        "some.check", proves="createNamespace.409", group=Group.CHECKS
    )
    declared = check_of(declare(test_something), CONTRACT)
    assert declared is not None
    with defective_session([defects()[name].install for name in names]) as (_, session):
        return judge(declared, Catalog(session, "some.check"))


@pytest.mark.parametrize(
    ("sent", "defect"),
    [
        (SETS_SCHEMA, "update-added-schema-becomes-current"),
        (REMOVES_TAG, "update-main-cannot-be-removed"),
    ],
)
def test_an_update_that_shows_in_its_plainest_form_explains_nothing(
    sent: dict[str, Any], defect: str
) -> None:
    assert failed_after(sent, defect).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    "action",
    [
        "set-current-schema",
        "remove-schemas",
        "set-default-spec",
        "remove-partition-specs",
        "set-default-sort-order",
        "set-snapshot-ref",
        "remove-snapshot-ref",
    ],
)
def test_an_update_that_is_left_out_explains_a_failure(action: str) -> None:
    verdict = failed_after({"action": action}, f"update-forgotten-{action}")
    assert (verdict.outcome, verdict.blocked_by) == (
        Outcome.BLOCKED,
        (f"update.{action}.effect",),
    )
