"""One cause where a registered table gets another uuid, whichever check tells it how."""

from dataclasses import replace

import pytest

from icecheck.findings.causes import causes_of
from icecheck.findings.verdict import Group
from icecheck.run.collect import collect
from tests.kill.killing import run_checks
from tests.kit.contracts import CONTRACT
from tests.kit.findings import a_finding
from tests.unit.findings.test_merged_causes import causes, evidence, failing


def registered(check, symptom, pointer="", detail="", operation="registerTable"):
    """A check that was shown this of a registered table, by an answer to this operation."""
    finding = replace(a_finding(symptom, "one", "another", detail, exchange=1), pointer=pointer)
    shown = replace(evidence(operation), operation=operation)
    return failing(check, findings=(finding,), evidence=(shown,), operations=("registerTable",))


IDENTITIES = (
    registered("value", "value:registerTable", "/metadata/table-uuid"),
    registered("walk", "effect-missing:table-uuid", detail="table-uuid is b, due is a"),
    registered("load", "effect-missing:registered-metadata", "/table-uuid", operation="loadTable"),
)
BESIDE = (
    registered("other", "effect-missing:registered-metadata-of-views", "/location"),
    registered("made", "value:createTable", "/metadata/table-uuid", operation="createTable"),
)


def test_what_is_told_of_a_registered_uuid_in_several_ways_is_one_cause():
    (cause,) = causes(*IDENTITIES)
    assert cause.symptom == "effect-missing:registered-metadata"
    assert {*cause.members} == {"value", "walk", "load"}
    assert len(causes(*IDENTITIES, *BESIDE)) == 3
    assert len(causes(IDENTITIES[2], *BESIDE)) == 3


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
