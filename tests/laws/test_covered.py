"""Law 3 and the registries of law 5: requirements are proven, documented operations served."""

from collections.abc import Collection, Mapping

from icecheck.contract import JUDGED_VERSIONS, SPEC_VERSIONS, Contract, Requirement, load
from icecheck.findings.verdict import Group
from icecheck.judging.observed import Observed
from icecheck.judging.passive import passive_checks, passive_verdicts
from icecheck.mock_server.operations.served import default_registries
from icecheck.run.collect import collect
from tests.kit.contracts import CONTRACT, of_every_version
from tests.laws.golden import expect_debts


def proven(contract: Contract = CONTRACT) -> Mapping[str, list[str]]:
    """Return requirement id -> the checks that prove it.

    A passive check of a body does not count: it judges answers to other checks' requests.
    """
    proving: dict[str, list[str]] = {}
    for check in collect(Group, contract, disruptive=True):
        for requirement in check.proves:
            proving.setdefault(requirement, []).append(check.id)
    wire = [c for c in passive_checks(contract) if not c.startswith("schema.")]
    for verdict in passive_verdicts({c: Observed(seen=1) for c in wire}, contract):
        for requirement in verdict.requirements:
            proving.setdefault(requirement, []).append(verdict.check)
    return proving


def requirements(contract: Contract) -> list[Requirement]:
    return [*contract.requirements.values()]


def bare(contract: Contract) -> list[str]:
    """Return the requirements that no check proves, and that give no reason for it."""
    proving = proven(contract)
    return [r.id for r in requirements(contract) if r.id not in proving and r.not_tested is None]


def test_every_requirement_is_proven_or_says_why_it_cannot_be() -> None:
    """Of each version that a run can hold to."""
    expect_debts("requirement", {id_ for v in JUDGED_VERSIONS for id_ in bare(load(v))})


@of_every_version
def test_a_requirement_that_is_proven_gives_no_reason_for_not_being_tested(
    contract: Contract,
) -> None:
    proving = proven(contract)
    rows = requirements(contract)
    assert [r.id for r in rows if r.id in proving and r.not_tested is not None] == []


@of_every_version
def test_a_reason_is_one_sentence(contract: Contract) -> None:
    reasons = {r.not_tested for r in requirements(contract) if r.not_tested is not None}
    assert len(reasons) > 4
    assert [r for r in reasons if not r.strip().endswith(".") or len(r) > 160] == []


@of_every_version
def test_a_client_need_names_the_client(contract: Contract) -> None:
    """An INTEROP requirement without a named client that depends on it is an opinion."""
    interop = [r for r in requirements(contract) if r.level == "interop"]
    assert interop
    assert [r.id for r in interop if r.hurts == "no known client"] == []


def test_every_documented_operation_is_served() -> None:
    for version in SPEC_VERSIONS:
        served = default_registries(version).operations
        expect_served("operation", load(version).operations, served)


@of_every_version
def test_every_documented_update_is_applied(contract: Contract) -> None:
    served = default_registries(contract.version)
    expect_served("update", contract.table_updates, served.updates)
    expect_served("view-update", contract.view_updates, served.view_updates)


@of_every_version
def test_every_documented_assertion_is_judged(contract: Contract) -> None:
    served = default_registries(contract.version)
    expect_served("assertion", contract.table_assertions, served.assertions)
    expect_served("view-assertion", contract.view_assertions, served.view_assertions)


def expect_served(kind: str, documented: Collection[str], served: Collection[str]) -> None:
    """Check that the mock does what the contract names, except debts, and nothing else."""
    assert set(served) <= set(documented)
    expect_debts(kind, set(documented) - set(served))
