"""No verdict depends on what other checks have made before."""

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace
from icecheck.findings.verdict import Group, Outcome
from icecheck.judging.judge import judge
from icecheck.run.collect import collect
from tests.kit.contracts import CONTRACT
from tests.lawful.designs import FREEDOMS
from tests.lawful.serving import design_session

LISTS = {
    check.id: check
    for check in collect((Group.CHECKS,), CONTRACT)
    if check.id.startswith("listNamespaces.") and not check.disruptive
}


def outcome(check_id: str, others: int) -> Outcome:
    """Judge a check of the list at the top level, where others have made namespaces too."""
    with design_session([FREEDOMS["nested-namespaces-406"]]) as session:
        other = Catalog(session, "another")
        for _ in range(others):
            given_namespace(other)
        return judge(LISTS[check_id], Catalog(session, check_id)).outcome


@pytest.mark.parametrize("check_id", LISTS)
def test_a_list_at_the_top_level_is_judged_alike_whatever_else_is_there(check_id: str) -> None:
    found = {others: outcome(check_id, others) for others in (0, 1, 4)}
    assert len({*found.values()}) == 1, found
