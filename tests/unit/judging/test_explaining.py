"""Explaining a failure: a lost effect is told only where its plainest form shows none."""

from collections.abc import Callable
from typing import Any

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace, given_table
from icecheck.findings.verdict import Group, Outcome, Verdict
from icecheck.judging.check import check, check_of
from icecheck.judging.judge import judge
from icecheck.mock_server.defects import defects
from icecheck.proof.defective import defective_session
from tests.kit.contracts import CONTRACT
from tests.kit.findings import a_violation

SETS_SCHEMA = {"action": "set-current-schema", "schema-id": 0}
REMOVES_TAG = {"action": "remove-snapshot-ref", "ref-name": "old"}


def commits(sent: dict[str, Any]) -> Callable[[Catalog], object]:
    def commit(catalog: Catalog) -> object:
        table = given_table(catalog)
        return catalog.update_table(table.namespace, table.name, [sent])

    return commit


def drops_a_namespace(catalog: Catalog) -> object:
    return catalog.drop_namespace(given_namespace(catalog))


def failed_after(does: Callable[[Catalog], object], defect: str) -> Verdict:
    """The verdict on a check that does something and then fails, on a mock with a defect."""

    def test_something(catalog: Catalog) -> None:
        """Something holds."""
        does(catalog)
        raise a_violation("value:some.check", "one", "another")

    declare: Callable[[Any], Any] = check(
        "some.check", proves="createNamespace.409", group=Group.CHECKS
    )
    declared = check_of(declare(test_something), CONTRACT)
    assert declared is not None
    with defective_session([defects()[defect].install]) as (_, session):
        return judge(declared, Catalog(session, "some.check"))


@pytest.mark.parametrize(
    ("does", "defect"),
    [
        (commits(SETS_SCHEMA), "update-added-schema-becomes-current"),
        (commits(REMOVES_TAG), "update-main-cannot-be-removed"),
        (drops_a_namespace, "names-no-separator"),
    ],
)
def test_an_effect_that_shows_in_its_plainest_form_explains_nothing(
    does: Callable[[Catalog], object], defect: str
) -> None:
    assert failed_after(does, defect).outcome is Outcome.FAIL


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
    verdict = failed_after(commits({"action": action}), f"update-forgotten-{action}")
    assert (verdict.outcome, verdict.blocked_by) == (
        Outcome.BLOCKED,
        (f"update.{action}.effect",),
    )
