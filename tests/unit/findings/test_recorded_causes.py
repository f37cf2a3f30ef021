"""The recorded runs of catalogs grouped anew: no cause falls apart, and none swallows another."""

from functools import cache

import pytest

from icecheck.contract import Level
from icecheck.findings.causes import causes_of
from icecheck.findings.verdict import Cause, Group, Outcome, Verdict
from icecheck.run.collect import collect
from tests.kit.contracts import CONTRACT
from tests.kit.findings import a_finding
from tests.reference import recording
from tests.reference.catalogs import CATALOGS

# What is not served, and what follows from staging, is told by exchanges, which no record has.
WITHOUT = ("lakana-", "ministack-")
NAMES = [catalog.name for catalog in CATALOGS if not catalog.name.startswith(WITHOUT)]
JUDGED = {"pass", "fail"}
# Which of its many operations answered is told by the exchanges, or by the program of a race, which
# no record has.
WALKS = ("states.", "world.", "whereabouts.", "race.random-")


@cache
def proven() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Check id -> the requirements and operations of that check, passive ones apart."""
    groups = (Group.CHECKS, Group.GENERATED, Group.SCENARIOS)
    return {check.id: (check.proves, check.operations) for check in collect(groups, CONTRACT)}


def verdicts(name: str) -> list[Verdict]:
    """The verdicts of a record, without their exchanges, which no record has."""
    made = []
    for check in recording.read(name)["checks"]:
        if check["outcome"] not in JUDGED or check["id"].startswith(WALKS):
            continue
        passive = check["id"] not in proven()
        _, _, rest = check["id"].partition("schema.")
        of_passive = ((rest.removesuffix(".reading"),), (rest.partition(".")[0],)) if rest else ()
        requirements, operations = proven().get(check["id"], of_passive or ((), ()))
        said = check.get("assertions", [])
        findings = tuple(
            a_finding(
                a["id"], a["expected"], a["actual"], a.get("detail", ""), a.get("pointer", "")
            )
            for a in said
        )
        made.append(
            Verdict(
                check=check["id"],
                title=check["title"],
                group=Group.CHECKS,
                level=Level(check["severity"]),
                requirements=requirements,
                operations=operations,
                profile="core",
                outcome=Outcome(check["outcome"]),
                findings=findings,
                passive=passive,
            )
        )
    return made


@cache
def regrouped(name: str) -> tuple[Cause, ...]:
    return causes_of(verdicts(name), CONTRACT)


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_catalog_has_no_more_causes_than_were_recorded(name: str) -> None:
    assert len(regrouped(name)) <= len(recording.read(name)["causes"])


@pytest.mark.parametrize("name", NAMES)
def test_what_was_answered_differently_is_not_lumped_together(name: str) -> None:
    def kind(status: str) -> str:
        return "2xx" if status.startswith("2") else status

    answers = {
        cause.id: {
            kind(finding.actual)
            for verdict in verdicts(name)
            if verdict.check in cause.members
            for finding in verdict.findings[:1]
            if finding.symptom.slug == "status" and len({*verdict.operations}) == 1
        }
        for cause in regrouped(name)
        if not cause.actual.count(" or ") and cause.actual != "4xx"
    }
    assert any(answers.values())
    assert {id_: kinds for id_, kinds in answers.items() if len(kinds) > 1} == {}
