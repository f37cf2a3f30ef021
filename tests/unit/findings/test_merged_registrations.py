"""One cause where a registered table gets another uuid, whichever check tells it how."""

import pytest

from icecheck.findings.causes import causes_of
from icecheck.findings.verdict import Group
from icecheck.run.collect import collect
from tests.kill.killing import run_checks
from tests.kit.contracts import CONTRACT

OF_REGISTRATIONS = (
    "registerTable.succeeds", "registerTable.keeps-identity", "registerTable.same-table",
    "roundtrip.registerTable", "states.overwritten", "world.tables", "dropTable.without-purge",
)  # fmt: skip


@pytest.mark.parametrize(
    ("planted", "causes"),
    [(("register-new-uuid",), 1), (("register-new-uuid", "namespace-drop-cascades"), 2), ((), 0)],
)
def test_a_uuid_of_its_own_is_one_cause_and_takes_no_other_with_it(planted, causes):
    every = collect((Group.CHECKS, Group.GENERATED), CONTRACT)
    wanted = [c for c in every if c.id in OF_REGISTRATIONS or c.id == "dropNamespace.holds-table"]
    found = causes_of(tuple(run_checks(wanted, planted).values()), CONTRACT)
    assert len(found) == causes
    if planted:
        assert "registerTable" in [operation for cause in found for operation in cause.operations]
