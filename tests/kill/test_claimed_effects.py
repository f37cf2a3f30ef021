"""A refusal is a missing capability; a success without the effect breaks a MUST."""

import pytest

from icecheck.findings.verdict import Level, Outcome
from tests.kill.killing import checks_of, run_checks

MODULES = (
    "test_claimed_effects", "test_columns", "test_table_removal", "test_tables",
    "test_updates_snapshots", "test_view_commits", "test_updates_files", "test_roundtrip_updates",
)  # fmt: skip
CHECKS = {check.id: check for check in checks_of(*MODULES)}

# The check that a request is accepted, the check of its effect, and a defect for each.
PAIRS = [
    (
        "update.remove-snapshot-ref.main",
        "update.remove-snapshot-ref.main-effect",
        "update-main-removal-refused",
        "update-main-cannot-be-removed",
    ),
    (
        "update.set-properties.large-value",
        "update.set-properties.large-value-effect",
        "update-large-property-refused",
        "update-property-cut",
    ),
    (
        "createTable.thousand-columns",
        "createTable.thousand-columns-effect",
        "columns-at-most-500",
        "columns-cut-at-500",
    ),
    (
        "createTable.field-ids-from-zero",
        "createTable.field-ids-from-zero-effect",
        "field-id-zero-is-none",
        "partition-by-column-zero-left-out",
    ),
    (
        "replaceView.replaces-as-spark",
        "view-update.set-current-view-version.last-added",
        "view-last-added-version-unknown",
        "view-last-added-version-ignored",
    ),
    (
        "dropTable.as-pyiceberg",
        "dropTable.as-pyiceberg-effect",
        "drop-small-letters-only",
        "drop-capital-boolean-ignored",
    ),
    (
        "update.remove-partition-statistics",
        "roundtrip.updateTable.set-partition-statistics",
        "update-partition-statistics-unknown",
        "update-forgotten-set-partition-statistics",
    ),
    (
        "update.remove-partition-statistics",
        "roundtrip.updateTable.remove-partition-statistics",
        "update-removed-partition-statistics-unknown",
        "update-forgotten-remove-partition-statistics",
    ),
]


@pytest.mark.parametrize(("taken", "shown", "refused", "ignored"), PAIRS, ids=[p[1] for p in PAIRS])
def test_a_refusal_costs_less_than_a_success_without_effect(
    taken: str, shown: str, refused: str, ignored: str
) -> None:
    checks = (CHECKS[taken], CHECKS[shown])
    assert [check.level for check in checks] == [Level.INTEROP, Level.MUST]
    verdicts = run_checks(checks, (refused,))
    assert (verdicts[taken].outcome, verdicts[shown].outcome) == (Outcome.FAIL, Outcome.SKIP)
    verdicts = run_checks(checks, (ignored,))
    assert (verdicts[taken].outcome, verdicts[shown].outcome) == (Outcome.PASS, Outcome.FAIL)
