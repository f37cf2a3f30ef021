"""No lawful catalog is blamed for what PyIceberg makes of it."""

import pytest

from icecheck.findings.verdict import Outcome, Verdict
from icecheck.judging.check import Check
from tests.lawful.designs import DESIGNS, FREEDOMS
from tests.lawful.serving import said_of_design
from tests.witnesses.judging import ALONE, CHECKS

SOME = tuple(
    CHECKS[check_id]
    for check_id in ("pyiceberg.branch", "pyiceberg.namespaces", "pyiceberg.rename-drop")
)
# Locations in capitals, other clocks, a separator of its own, other versions, no branches, no
# answer beyond what is required.
A_FEW = (
    "sparse", "new-clock", "ahead-of-time", "version-three-only", "wide-refusals", "many-accounts",
)  # fmt: skip
BESIDE_STORES = sorted(
    name
    for name, design in DESIGNS.items()
    if not any(each.startswith(("root-", "vends-", "bucket-")) for each in design.freedoms)
)
"""The designs whose tables are in files of this machine; others are somewhere in a network."""


def blamed_on(name: str, checks: tuple[Check, ...]) -> list[str]:
    freedoms = [FREEDOMS[each] for each in DESIGNS[name].freedoms]
    said = said_of_design(freedoms, checks, 1)
    assert said.residue == ()
    wrong = {Outcome.FAIL, Outcome.BLOCKED, Outcome.ERROR}
    return [
        f"{v.check}: {v.outcome} {v.summary}"
        for v in said.verdicts
        if v.outcome in wrong and not v.passive and not is_left_out(v)
    ]


def is_left_out(verdict: Verdict) -> bool:
    """Return whether a verdict says that PyIceberg demands a member which the document does not."""
    symptoms = {each.symptom.slug for each in verdict.findings}
    return verdict.check == "pyiceberg.namespaces" and symptoms == {"client-answer-unreadable"}


@pytest.mark.parametrize("name", A_FEW)
def test_a_few_lawful_designs_are_not_blamed(name: str) -> None:
    assert blamed_on(name, SOME) == []


@pytest.mark.complete("all checks with PyIceberg on all designs; the usual command has a few")
@pytest.mark.parametrize("name", BESIDE_STORES)
def test_no_lawful_design_is_blamed(name: str) -> None:
    assert blamed_on(name, tuple(CHECKS[each] for each in ALONE)) == []


def test_that_pyiceberg_demands_more_than_the_document_is_told_of_no_other_client() -> None:
    freedoms = [FREEDOMS[each] for each in DESIGNS["terse-server"].freedoms]
    said = said_of_design(freedoms, (CHECKS["pyiceberg.namespaces"],), 1)
    (verdict,) = [each for each in said.verdicts if not each.passive]
    assert verdict.outcome is Outcome.FAIL
    assert verdict.findings[0].symptom.slug == "client-answer-unreadable"
    assert "PyIceberg" in verdict.findings[0].detail
