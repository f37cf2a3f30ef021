"""Iceberg's own handlers and the mock give the same sequences of requests the same answers."""

import json
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from tests.interop.oracle import drawn_steps, listed
from tests.interop.oracle.answer import Answer
from tests.interop.oracle.choices import Choices
from tests.interop.oracle.duel import Duel
from tests.interop.oracle.step import Step
from tests.kit.contracts import CONTRACT

STEPS_MAX = 7
ACCEPTED, REFUSED = "accepted", "refused"
LISTED = listed.read()
UNKNOWN = {entry.change for entry in LISTED if entry.id.startswith("unknown.")}
"""The updates and assertions that the reference does not know, and so accepts in no form."""

VIEWS_ONLY = {*CONTRACT.view_updates, *CONTRACT.view_assertions} - {
    *CONTRACT.table_updates,
    *CONTRACT.table_assertions,
}
CHANGES = {*CONTRACT.table_updates, *CONTRACT.table_assertions, *VIEWS_ONLY}


def test_all_updates_and_assertions_are_known():
    updates = {*CONTRACT.table_updates, *CONTRACT.view_updates}
    assertions = {*CONTRACT.table_assertions, *CONTRACT.view_assertions}
    assert set(drawn_steps.WEIGHTS) == updates
    assert updates | assertions == CHANGES


def test_every_listed_difference_says_what_decides_it():
    assert [flaw for entry in LISTED for flaw in entry.flaws()] == []
    ids = [entry.id for entry in LISTED]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("wild", [("operation", "change"), ("change", "reference", "ours")])
def test_a_wildcard_in_two_members_is_a_flaw(wild):
    members = dict.fromkeys(listed.MATCHED, "x") | dict.fromkeys(wild, listed.WILDCARD)
    entry = listed.Listed(id="e", sequence="[]", decides="L1009: it says so", **members)
    assert entry.flaws() == ["e: a wildcard in more than one member"]


@pytest.mark.spark
@pytest.mark.parametrize("entry", LISTED, ids=lambda entry: entry.id)
def test_a_listed_difference_is_still_there(reference, subject, entry):
    duel = Duel(reference, subject)
    *before, last = entry.steps
    for step in before:
        duel.send(step)
    found = duel.send(last)
    assert any(entry.matches(each) for each in found), (
        f"{entry.id} is no difference any more: strike it out of {listed.FILE.name}; "
        f"what differs now: {found}"
    )


@pytest.fixture
def alone(monkeypatch):
    """Hypothesis without the constants of whatever modules a worker has imported before.

    It would draw them too, and so meet other sequences in company than alone.
    """
    monkeypatch.setattr(providers, "_get_local_constants", Constants)


@pytest.mark.spark
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("examples", "different"),
    [
        (300, 230),
        pytest.param(2_400, 2_000, marks=pytest.mark.complete("draws more sequences than others")),
    ],
)
def test_generated_sequences_are_answered_alike(reference, subject, examples, different):
    """Hypothesis repeats some: so many have to be ``different``."""
    met: Counter[tuple[str, str]] = Counter()
    sequences: set[str] = set()

    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(st.randoms(use_true_random=False))
    def alike(source):
        duel = Duel(reference, subject)
        choices = Choices(source)
        for _ in range(choices.number(2, STEPS_MAX)):
            step = drawn_steps.step(choices, duel.table, duel.staged)
            found = listed.unlisted(duel.send(step), LISTED)
            assert not found, _reported(found, duel.steps)
            _count(met, step, duel.answers)
            if duel.over:
                break
        sequences.add(json.dumps([step.json for step in duel.steps]))

    alike()
    print(f"{len(sequences)} sequences", *(f"{n:6} {' '.join(key)}" for key, n in met.items()),
          sep="\n")  # fmt: skip
    assert len(sequences) >= different
    assert {change for outcome, change in met if outcome == REFUSED} >= CHANGES
    accepted = {change for outcome, change in met if outcome == ACCEPTED}
    assert accepted & CHANGES == CHANGES - VIEWS_ONLY - UNKNOWN


def _count(met: Counter[tuple[str, str]], step: Step, answers: Sequence[Answer]) -> None:
    """Count what a commit asked for, under what both sides thought of it."""
    outcomes = {ACCEPTED if answer.accepted else REFUSED for answer in answers}
    if step.creates or len(outcomes) > 1:
        return
    (outcome,) = outcomes
    for member, name in (("requirements", "type"), ("updates", "action")):
        met.update({(outcome, str(each.get(name))) for each in step.body[member]})


def _reported(found, steps):
    proposals = "\n\n".join(listed.proposal(each, steps) for each in found)
    return (
        "the mock and Iceberg's handlers differ. Read the document: either the mock is wrong, or "
        f"{listed.FILE.name} needs this, judged and completed:\n\n{proposals}"
    )
