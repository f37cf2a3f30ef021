"""The reverse of law 1: a catalog that breaks no rule is not at fault, however unlike the mock."""

import itertools
import os
import random
from collections import Counter
from collections.abc import Iterable, Mapping

import pytest

from icecheck.findings.verdict import Group, Outcome
from icecheck.judging.check import Check
from icecheck.run.collect import collect
from tests.kit.contracts import CONTRACT
from tests.kit.shares import has_turn, is_plain, share
from tests.lawful.designs import DESIGNS, FREEDOMS, Design
from tests.lawful.freedom import Freedom
from tests.lawful.serving import Said, said_of_design
from tests.laws.golden import expect_part, reviewed

GOLDEN = "lawful_designs.txt"
COMMAND = (
    "ICECHECK_UPDATE_GOLDEN=1 ICECHECK_COMPLETE=1 pytest -m complete tests/lawful/test_designs.py"
)
NOT_DECLARED = "not-declared"
GROUPS = (Group.CHECKS, Group.GENERATED, Group.SCENARIOS)
# Unlike each other, and together with most of what the others have.
USUAL = ("many-accounts", "terse-server", "key-value-store")
OF_CHANCE = ("misses-should", "misses-interop")
"""Whether a race shows what a design leaves out is chance."""
CROSSED = ("pages", "etag", "planning")
"""What freedoms may be about of which every two values meet in some design."""


def freedoms_of(design: Design) -> list[Freedom]:
    return [FREEDOMS[name] for name in design.freedoms]


def seed() -> int:
    """Return the number that gives the order: ICECHECK_ORDER, or another one in each run."""
    return int(os.environ.get("ICECHECK_ORDER") or random.randrange(1_000_000))  # noqa: S311


def lines_of(name: str, checks: tuple[Check, ...], said: Said) -> list[str]:
    """Return the lines of the golden file for a design: what it misses, or was not judged by.

    A line is ``design | kind of skip, blocked, or the level missed | family: checks``.
    """
    ended: dict[tuple[str, str], set[str]] = {}
    asked = {check.id for check in checks}
    for verdict in said.verdicts:
        if verdict.check not in asked or verdict.outcome in {Outcome.PASS, Outcome.ERROR}:
            continue
        family, _, rest = verdict.check.partition(".")
        kind = "blocked" if verdict.skip is None else verdict.skip.kind.value
        if verdict.outcome is Outcome.FAIL:
            kind = f"misses-{verdict.level}"
        if kind not in OF_CHANCE or family != "race":
            ended.setdefault((kind, family), set()).add(rest)
    return [
        f"{name} | {kind} | {family}: {' '.join(sorted(rest))}"
        for (kind, family), rest in sorted(ended.items())
    ]


def expect_no_blame(name: str, checks: tuple[Check, ...]) -> Said:
    order = seed()
    print(f"{name}: ICECHECK_ORDER={order}")
    said = said_of_design(freedoms_of(DESIGNS[name]), checks, order)
    assert said.blames == []
    assert [v.check for v in said.verdicts if v.outcome is Outcome.BLOCKED] == []
    assert said.residue == ()
    return said


@pytest.mark.parametrize("name", USUAL)
def test_a_few_designs_are_not_blamed(name: str) -> None:
    every = collect(GROUPS, CONTRACT)
    turn = USUAL.index(name)

    def is_usual(check: Check) -> bool:
        return is_plain(check) and has_turn(check, turn, 4)

    expect_no_blame(name, share(every, turn, 4 * len(USUAL), always=is_usual))


@pytest.mark.complete("all checks on all designs; the usual command has a few designs and a share")
@pytest.mark.parametrize("name", DESIGNS)
def test_a_design_is_not_blamed_and_judged_as_reviewed(name: str) -> None:
    checks = tuple(collect(GROUPS, CONTRACT))
    said = expect_no_blame(name, checks)
    expect_part(GOLDEN, [name], lines_of(name, checks, said))


def listed() -> dict[str, dict[str, set[str]]]:
    """Return design -> kind -> the checks that the golden file lists, as reviewed."""
    found: dict[str, dict[str, set[str]]] = {}
    for line in reviewed(GOLDEN):
        design, kind, checks = line.split(" | ")
        family, _, ids = checks.partition(": ")
        mine = found.setdefault(design, {}).setdefault(kind, set())
        mine.update(f"{family}.{each}" for each in ids.split())
    return found


def lacking(
    every: Iterable[Check], known: Mapping[str, Mapping[str, set[str]]]
) -> dict[str, set[str]]:
    """Return design -> the checks that it has to list and does not.

    Where a check is skipped as not declared, every other check that uses the same operations and
    maybe more, and has the same needs and maybe more, cannot be judged either.
    """
    uses = {each.id: ({*each.operations}, {*each.needs}) for each in every}
    found: dict[str, set[str]] = {}
    for design, kinds in known.items():
        skipped = [uses[each] for each in kinds.get(NOT_DECLARED, ()) if each in uses]
        told = set().union(*kinds.values())
        for check_id, (operations, needs) in uses.items():
            if check_id not in told and any(o <= operations and n <= needs for o, n in skipped):
                found.setdefault(design, set()).add(check_id)
    return found


def test_a_design_lists_every_check_of_operations_that_it_does_not_offer() -> None:
    missing = lacking(collect(GROUPS, CONTRACT), listed())
    assert not missing, (
        f"{GOLDEN} does not list every check that a design skips; run\n"
        f'{COMMAND} -k "{" or ".join(missing)}"\n'
        + "\n".join(f"{design}: {' '.join(sorted(ids))}" for design, ids in missing.items())
    )


def test_a_check_that_a_design_would_have_to_list_is_missed() -> None:
    every, known = collect(GROUPS, CONTRACT), listed()
    known["narrow"][NOT_DECLARED].remove("namespaceExists.missing")
    assert lacking(every, known) == {"narrow": {"namespaceExists.missing"}}


def test_a_design_takes_many_freedoms_that_do_not_exclude_each_other() -> None:
    for name, design in DESIGNS.items():
        about = Counter(each.about for each in freedoms_of(design) if each.about)
        assert len(set(design.freedoms)) == len(design.freedoms) >= 8, name
        assert [each for each, many in about.items() if many > 1] == [], name
        assert design.story.endswith("."), name
    assert len({design.freedoms for design in DESIGNS.values()}) >= 40


def test_each_freedom_is_taken_by_several_designs() -> None:
    taken = Counter(name for design in DESIGNS.values() for name in design.freedoms)
    assert [name for name in FREEDOMS if taken[name] < 2] == []


def test_each_freedom_cites_what_allows_it() -> None:
    cited = ("L", "silent: ", "rule ")
    assert [n for n, each in FREEDOMS.items() if not each.lines.startswith(cited)] == []


@pytest.mark.parametrize(("one", "other"), [*itertools.combinations(CROSSED, 2)])
def test_every_two_values_of_what_is_crossed_meet_in_some_design(one: str, other: str) -> None:
    def values(about: str) -> list[str]:
        return ["", *(name for name, each in FREEDOMS.items() if each.about == about)]

    def value(design: Design, about: str) -> str:
        return next((name for name in design.freedoms if FREEDOMS[name].about == about), "")

    met = {(value(design, one), value(design, other)) for design in DESIGNS.values()}
    assert {*itertools.product(values(one), values(other))} - met == set()
