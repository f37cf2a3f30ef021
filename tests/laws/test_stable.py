"""Law 4: names in reports and expectations change only where a reviewer sees it."""

from pathlib import Path

from icecheck.cli.listings.requirements_page import requirements_page
from icecheck.findings.verdict import Group
from icecheck.judging.observed import Observed
from icecheck.judging.passive import passive_checks, passive_verdicts
from icecheck.run.collect import collect
from tests.kit.contracts import CONTRACT
from tests.laws.golden import expect_golden


def test_ids_levels_profiles_requirements_and_titles_are_as_reviewed() -> None:
    rows = [
        (c.id, c.group, c.level, c.profile, " ".join(c.proves), " ".join(c.needs), c.title)
        for c in collect(Group, CONTRACT, disruptive=True)
    ]
    seen = {check: Observed(seen=1) for check in passive_checks(CONTRACT)}
    rows += [
        (v.check, v.group, v.level, v.profile, " ".join(v.requirements), "(passive)", v.title)
        for v in passive_verdicts(seen, CONTRACT)
    ]
    expect_golden("checks.txt", [" | ".join(row) for row in sorted(rows)])


def test_no_two_checks_share_an_id_or_a_title() -> None:
    checks = collect(Group, CONTRACT, disruptive=True)
    ids = [*(c.id for c in checks), *passive_checks(CONTRACT)]
    assert len(ids) == len(set(ids))
    of_title: dict[tuple[str, ...], list[str]] = {}
    for check in checks:
        of_title.setdefault((*check.operations[:1], check.title), []).append(check.id)
    assert [ids for ids in of_title.values() if len(ids) > 1] == []


def test_a_title_is_one_sentence() -> None:
    titles = [c.title for c in collect(Group, CONTRACT, disruptive=True)]
    assert [t for t in titles if len(t) > 120 or not t[0].isalnum() or t.endswith(".")] == []


def test_the_page_of_requirements_is_in_step_with_the_register() -> None:
    page = requirements_page(CONTRACT).splitlines()
    expect_golden("requirements.md", page, Path(__file__).parents[2] / "docs")
