"""The checks of updateTable pass on the faithful mock, and each is failed by a defect."""

import pytest
from kill.killing import (
    ISOLATIONS,
    checks_of,
    defects_of,
    killed_by,
    not_caught,
    not_killed,
    residue_of,
    run_checks,
    words,
)

# Conformance modules of a family, and the modules of defects that prove them.
FAMILIES = {
    "protocol": (
        ("test_commits", "test_commits_together", "test_commits_create"),
        ("commits", "commits_together"),
    ),
    "assertions": (("test_assertions",), ("assertions",)),
    "updates": (
        (
            "test_updates_table",
            "test_updates_schemas",
            "test_updates_layout",
            "test_updates_snapshots",
            "test_updates_files",
        ),
        ("updates_table", "updates_schemas", "updates_layout", "updates_snapshots"),
    ),
    "transactions": (("test_transactions",), ("transactions",)),
}
CHECKS = checks_of(*(module for modules, _ in FAMILIES.values() for module in modules))
DEFECTS = tuple(
    (defect_name, modules)
    for modules, homes in FAMILIES.values()
    for defect_name in defects_of(*homes)
)


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_every_check_passes_on_the_faithful_mock(isolation: str) -> None:
    verdicts = run_checks(CHECKS, isolation=isolation)
    assert set(verdicts) >= {check.id for check in CHECKS}
    assert words(verdicts.values()) == []


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_nothing_is_left_behind_and_nothing_foreign_is_touched(isolation: str) -> None:
    assert residue_of(CHECKS, isolation=isolation) == ([], [])


@pytest.mark.parametrize("family", FAMILIES)
def test_every_check_is_failed_by_a_defect(family: str) -> None:
    assert not_killed(*FAMILIES[family]) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_every_defect_fails_a_check(family: str) -> None:
    assert not_caught(*FAMILIES[family]) == []
