"""Every finding names the clients that it affects, or says that none is known."""

from icecheck.contract import Contract
from icecheck.findings.telling.finding_card import card_of
from icecheck.findings.verdict import Group, Outcome, Verdict
from icecheck.judging.observed import Observed
from icecheck.judging.passive import passive_checks, passive_verdicts
from icecheck.run.collect import collect
from tests.kit.contracts import CONTRACT, of_every_version
from tests.kit.findings import a_finding

NOBODY = "no known client"
FINDING = a_finding("status", "404", "200")


def verdicts() -> list[Verdict]:
    """Return a failure of every existing check, the passive ones included."""
    contract = CONTRACT
    asked = [
        Verdict(c.id, c.title, c.group, c.level, c.proves, c.operations, c.profile, Outcome.FAIL,
                findings=(FINDING,))
        for c in collect(tuple(Group), CONTRACT, disruptive=True)
    ]  # fmt: skip
    seen = {check: Observed(1, {(): FINDING}) for check in passive_checks(contract)}
    return asked + passive_verdicts(seen, contract)


def test_every_card_says_who_is_hurt() -> None:
    silent = [
        v.check
        for v in verdicts()
        if not [
            line for line in card_of(v, CONTRACT).splitlines() if line.strip().startswith("hurts ")
        ]
    ]
    assert silent == []


@of_every_version
def test_every_requirement_names_a_client_or_says_that_none_is_known(contract: Contract) -> None:
    silent = [
        r.id for r in contract.requirements.values() if r.hurts != NOBODY and len(r.hurts) < 10
    ]
    assert silent == []
