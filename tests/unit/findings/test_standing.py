"""No cell says that something works about which a check has found anything."""

from typing import Any

import pytest

from icecheck.findings.capability_assessment import capabilities_of
from icecheck.findings.causes import causes_of
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.findings.telling.standing import Cell, Findings, Standing, client_cell, operation_cell
from icecheck.findings.verdict import Capability, Level, Outcome, Skip, SkipKind, Verdict
from icecheck.targets.offer import Offer
from icecheck.targets.target import Target
from tests.kit.contracts import CONTRACT
from tests.kit.findings import a_finding
from tests.kit.finished_runs import verdict

PASSED = verdict("createNamespace.created")


def failed(check: str = "bad", **members: Any) -> Verdict:
    finding = a_finding("status", "409", "200", "")
    return verdict(check, Outcome.FAIL, findings=(finding,), **members)


def cell_of(assessment: str, *verdicts: Verdict) -> Cell:
    row = Capability("endpoint:x", declared=True, observed="works", assessment=assessment)
    found = Findings.of(verdicts, causes_of(verdicts, CONTRACT), CONTRACT)
    return operation_cell("createNamespace", row, found)


@pytest.mark.parametrize(
    ("assessment", "quiet", "failing"),
    [
        ("supported", "works", "works-but"),
        ("served-but-undeclared", "works", "works-but"),
        ("false-advertising", "broken", "broken"),
        ("false-acceptance", "broken", "broken"),
        ("not-supported", "not-offered", "works-but"),
        ("unknown", "not-looked-at", "works-but"),
    ],
)
def test_a_failed_check_never_stands_under_works(assessment: str, quiet: str, failing: str) -> None:
    assert cell_of(assessment, PASSED).standing == quiet
    found = cell_of(assessment, PASSED, failed())
    assert (found.standing, found.passed, found.failed) == (failing, 1, 1)
    assert found.causes
    assert found.level is Level.MUST


def test_an_operation_of_which_nothing_passed_is_broken() -> None:
    assert cell_of("unknown", failed()).standing == "broken"


def test_an_operation_is_broken_if_its_own_answer_keeps_checks_from_looking() -> None:
    unreadable = failed("schema.createNamespace.200", passive=True)
    refused = verdict("createNamespace.409")
    kept = verdict("createNamespace.created", Outcome.BLOCKED, blocked_by=(unreadable.check,))
    by_another = verdict("createNamespace.created", Outcome.BLOCKED, blocked_by=("other",))
    assert cell_of("unknown", refused, unreadable, kept).standing == "broken"
    assert cell_of("unknown", refused, unreadable, by_another).standing == "works-but"
    assert cell_of("supported", PASSED, unreadable, kept).standing == "works-but"


@pytest.mark.parametrize(
    ("shown_late", "assessment"), [((), "false-acceptance"), (("states.life",), "supported")]
)
def test_a_change_that_only_a_late_load_does_not_show_is_not_held_against_the_operation(
    shown_late: tuple[str, ...], assessment: str
) -> None:
    update = "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}"
    of_updates = {"operations": ("updateTable",), "requirements": ("updateTable.200",)}
    done = verdict("updateTable.200", **of_updates)
    finding = a_finding(EFFECT_MISSING.slug, "1", "0")
    late = verdict("states.life", Outcome.FAIL, findings=(finding,), **of_updates)
    offer = Offer.read({"endpoints": [update]}, Target("http://catalog.test"))
    rows = capabilities_of([done, late], offer, CONTRACT, shown_late=shown_late)
    assert [row.assessment for row in rows if row.id == f"endpoint:{update}"] == [assessment]


def test_a_finding_shows_wherever_the_operation_that_answered_is_its_subject() -> None:
    other = failed(operations=("dropNamespace",))
    assert cell_of("supported", PASSED, other).standing is Standing.WORKS


def test_a_finding_below_must_shows_with_its_level() -> None:
    found = cell_of("supported", PASSED, failed(level=Level.SHOULD))
    assert (found.standing, found.level) == ("works-but", Level.SHOULD)


def test_blocked_checks_are_counted() -> None:
    blocked = verdict("x", Outcome.BLOCKED, blocked_by=("bad",))
    assert cell_of("supported", PASSED, failed(), blocked).blocked == 1


def test_an_operation_that_nothing_could_look_at_says_why() -> None:
    blocked = verdict("x", Outcome.BLOCKED, blocked_by=("bad",))
    found = cell_of("unknown", blocked, failed(operations=("dropNamespace",)))
    assert (found.standing, found.blocked) == ("not-looked-at", 1)
    assert found.causes


def test_an_error_of_the_suite_is_no_finding_about_an_operation() -> None:
    ours = verdict("x", Outcome.ERROR, findings=(a_finding("suite-error", "no error", "x", ""),))
    assert cell_of("supported", PASSED, ours).standing is Standing.WORKS
    assert client(ours).standing is Standing.NOT_LOOKED_AT


def client(own: Verdict, *others: Verdict, unreadable: bool = False) -> Cell:
    verdicts = (own, *others)
    found = Findings.of(verdicts, causes_of(verdicts, CONTRACT), CONTRACT)
    return client_cell(own, found, unreadable=unreadable)


def test_a_client_works_but_where_another_check_found_something_about_its_operations() -> None:
    own = verdict("dialect.go.tables", operations=("createNamespace", "createTable"))
    assert client(own).standing is Standing.WORKS
    found = client(own, failed())
    assert found.standing is Standing.WORKS_BUT
    assert found.causes
    assert client(own, failed(operations=("dropView",))).standing is Standing.WORKS


def test_a_client_is_broken_by_its_own_check_or_by_what_it_cannot_read() -> None:
    assert client(failed("dialect.go.tables")).standing is Standing.BROKEN
    blocked = verdict("dialect.go.tables", Outcome.BLOCKED, blocked_by=("schema.loadTable.200",))
    assert client(blocked, unreadable=True).standing is Standing.BROKEN
    assert client(blocked).standing is Standing.NOT_LOOKED_AT


@pytest.mark.parametrize(
    ("kind", "standing"),
    [
        (SkipKind.NOT_DECLARED, "not-offered"),
        (SkipKind.NOT_APPLICABLE, "not-offered"),
        (SkipKind.EXCLUDED_BY_USER, "not-looked-at"),
        (SkipKind.MISSING_FIXTURE, "not-looked-at"),
    ],
)
def test_what_was_skipped_is_not_offered_or_was_not_looked_at(
    kind: SkipKind, standing: str
) -> None:
    skipped = verdict("dialect.go.tables", Outcome.SKIP, skip=Skip(kind, "why"))
    assert client(skipped).standing == standing
