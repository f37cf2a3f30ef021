"""Law 2, from the contract: whatever documented status turns into another one is noticed."""

import msgspec
import pytest
from tests.kill.killing import mock_session

from icecheck.assembly.collect import collect
from icecheck.client import Catalog
from icecheck.contract import Response, load
from icecheck.judge import judge
from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects.rewriting import wrap
from icecheck.mock_server.problem import Problem
from icecheck.mock_server.state import WarehouseState
from icecheck.verdict import Group
from icecheck.verdict import Outcome as Ending

CONTRACT = load()
CHECKS = collect((Group.CHECKS,))
OF_CATALOGS_THAT_OFFER_LESS = {"406"}  # the mock offers everything, so it never says so
OF_A_GATE = {"401"}  # answered before any operation; authorization has defects of its own


def judged_rows() -> list[Response]:
    proven = {requirement for check in CHECKS for requirement in check.proves}
    aside = OF_CATALOGS_THAT_OFFER_LESS | OF_A_GATE
    return [
        row for row in CONTRACT.documented_responses if row.id in proven and row.status not in aside
    ]


def turn(registries: Registries, row: Response, into: int) -> None:
    """Answer another status wherever the faithful server gives this row's."""
    status = int(row.status)

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        try:
            outcome = faithful(context, state, call)
        except Problem as refused:
            if refused.status != status:
                raise
            raise Problem(into, refused.type, refused.message) from None
        if outcome.reply.status != status:
            return outcome
        reply = msgspec.structs.replace(outcome.reply, status=into)
        return msgspec.structs.replace(outcome, reply=reply)

    wrap(registries, row.operation_id, around)


@pytest.mark.parametrize("row", judged_rows(), ids=lambda row: row.id)
def test_another_status_than_the_documented_one_fails_what_proves_it(row: Response) -> None:
    proving = [check for check in CHECKS if row.id in check.proves]
    for into in (500, 299 if row.status.startswith("2") else 418):
        with mock_session() as (mock, session):
            turn(mock.registries, row, into)
            endings = {judge(c, Catalog(session, c.id)).outcome for c in proving}
        assert Ending.FAIL in endings, f"{row.id} as {into}: {endings}"
        assert Ending.ERROR not in endings
