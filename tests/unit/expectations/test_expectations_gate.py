"""What expectations do to the gate, as a truth table; and that they never touch the verdict."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from icecheck.findings.expected_failures import EntryFailure, EntryResult
from icecheck.findings.verdict import Level, Outcome, totals_of
from tests.kit.findings import a_finding

EXISTS = "createNamespace.already-exists"
CREATED = "createNamespace.created"
STATUS_200 = '{ symptom = "status", actual = "200" }'
STATUS_500 = '{ symptom = "status", actual = "500" }'

MET, PASSES, DIFFERS, UNJUDGED = (
    EntryResult.AS_EXPECTED,
    EntryResult.PASSES,
    EntryResult.FAILS_DIFFERENTLY,
    EntryResult.NOT_JUDGED,
)
FAILURE, STALE = "unexpected-failure", "stale-expectation"
# kind, fails_with -> outcome of the one check it names -> (how it is met, exit code, why)
TABLE = [
    ("known-failure", None, "failed", MET, 0, "gate-satisfied"),
    ("known-failure", STATUS_200, "failed", MET, 0, "gate-satisfied"),
    ("known-failure", '{ actual = "2*" }', "failed", MET, 0, "gate-satisfied"),
    ("known-failure", STATUS_500, "failed", DIFFERS, 1, "fails-differently"),
    ("known-failure", '{ symptom = "value:*" }', "failed", DIFFERS, 1, "fails-differently"),
    ("known-failure", None, "passed", PASSES, 1, STALE),
    ("known-failure", STATUS_200, "passed", PASSES, 1, STALE),
    ("known-failure", None, "blocked", MET, 0, "gate-satisfied"),
    ("known-failure", STATUS_200, "blocked", DIFFERS, 1, "fails-differently"),
    ("known-failure", '{ symptom = "blocked" }', "blocked", MET, 0, "gate-satisfied"),
    ("known-failure", None, "skipped", UNJUDGED, 0, "gate-satisfied"),
    ("known-failure", None, "erroneous", UNJUDGED, 3, "suite-error"),
    ("flaky", None, "failed", MET, 0, "gate-satisfied"),
    ("flaky", None, "passed", MET, 0, "gate-satisfied"),
    ("flaky", None, "blocked", MET, 0, "gate-satisfied"),
    ("flaky", None, "skipped", UNJUDGED, 0, "gate-satisfied"),
    ("flaky", None, "erroneous", UNJUDGED, 3, "suite-error"),
    ("waived", None, "failed", MET, 0, "gate-satisfied"),
    ("waived", None, "passed", MET, 0, "gate-satisfied"),
    ("waived", None, "blocked", MET, 0, "gate-satisfied"),
    ("waived", None, "skipped", UNJUDGED, 0, "gate-satisfied"),
    ("waived", None, "erroneous", MET, 0, "gate-satisfied"),
]


def entry_of(a, kind, fails_with=None, check=EXISTS, **members):
    ways = {"fails_with": fails_with} if fails_with else {}
    return a.entry(check, kind, **ways, **members)


@pytest.mark.parametrize(("kind", "fails_with", "outcome", "met", "code", "why"), TABLE)
def test_the_gate_follows_the_entry_and_the_outcome(a, kind, fails_with, outcome, met, code, why):
    plain = a.finished(a.passed(CREATED), getattr(a, outcome)(EXISTS))
    run = a.expecting(plain, entry_of(a, kind, fails_with))
    assert [(m.check, m.met) for m in run.expectations.marks] == [(EXISTS, met)]
    assert (run.exit_code, run.exit_reason) == (code, why)


@pytest.mark.parametrize(("kind", "fails_with", "outcome", "met", "code", "why"), TABLE)
def test_the_verdict_is_never_changed(a, kind, fails_with, outcome, met, code, why):
    plain = a.finished(a.passed(CREATED), getattr(a, outcome)(EXISTS))
    run = a.expecting(plain, entry_of(a, kind, fails_with))
    same = {
        "exit_code": run.exit_code,
        "exit_reason": run.exit_reason,
        "expectations": run.expectations,
    }
    assert replace(plain, **same) == run


@pytest.mark.parametrize("kind", ["known-failure", "flaky", "waived"])
def test_a_day_after_its_last_an_entry_fails_the_gate_and_excuses_nothing(a, kind):
    plain = a.finished(a.passed(CREATED), a.failed(EXISTS))
    day = date.fromisoformat(plain.generated_at[:10])
    assert a.expecting(plain, entry_of(a, kind, expires=day)).exit_code == 0
    over = a.expecting(plain, entry_of(a, kind, expires=day - timedelta(days=1)))
    assert (over.exit_code, over.exit_reason) == (1, "expired-expectation")
    (unmet,) = over.expectations.unmet
    assert (unmet.kind, unmet.checks) == (EntryFailure.EXPIRED, (EXISTS,))
    assert over.expectations.excused == frozenset()


def test_an_expired_entry_of_a_passing_check_fails_the_gate_too(a):
    run = a.expecting(
        a.finished(a.passed(CREATED)), entry_of(a, "flaky", check=CREATED, expires="2020-01-01")
    )
    assert (run.exit_code, run.exit_reason) == (1, "expired-expectation")
    assert "remove it" in run.expectations.unmet[0].why


def test_a_failure_that_no_entry_names_is_the_first_thing_said(a):
    run = a.expecting(a.finished(a.failed(CREATED), a.passed(EXISTS)), entry_of(a, "known-failure"))
    assert (run.exit_code, run.exit_reason) == (1, FAILURE)
    assert [u.kind for u in run.expectations.unmet] == [EntryFailure.STALE]


def test_every_finding_of_a_check_must_be_foreseen(a):
    twice = a.failed(EXISTS, more=(a_finding("body-on-204", "none", "some"),))
    plain = a.finished(a.passed(CREATED), twice)
    assert a.expecting(plain, entry_of(a, "known-failure", STATUS_200)).exit_code == 1
    both = f'[{STATUS_200}, {{ symptom = "body-*" }}]'
    assert a.expecting(plain, entry_of(a, "known-failure", both)).exit_code == 0


def test_a_missing_answer_is_no_known_failure_unless_it_is_named(a):
    plain = a.finished(a.passed(CREATED), a.blocked(EXISTS, "target"))
    run = a.expecting(plain, entry_of(a, "known-failure"))
    assert (run.exit_code, run.exit_reason) == (4, "target-unusable")
    assert run.expectations.unmet == ()
    named = entry_of(a, "known-failure", '{ symptom = "blocked", actual = "target" }')
    assert a.expecting(plain, named).exit_code == 0


def test_a_recommendation_that_fails_differently_fails_the_gate(a):
    plain = a.finished(a.passed(CREATED), a.failed(EXISTS, level=Level.SHOULD))
    assert plain.exit_code == 0
    assert a.expecting(plain, entry_of(a, "known-failure", STATUS_200)).exit_code == 0
    run = a.expecting(plain, entry_of(a, "known-failure", STATUS_500))
    assert (run.exit_code, run.exit_reason) == (1, "fails-differently")


# globs


def test_a_glob_covers_what_it_matches_and_nothing_else(a):
    plain = a.finished(a.failed(CREATED), a.failed(EXISTS), a.failed("dropNamespace.gone"))
    run = a.expecting(plain, a.entry("createNamespace.*"))
    assert run.expectations.excused == {CREATED, EXISTS}
    assert (run.exit_code, run.exit_reason) == (1, FAILURE)


def test_a_known_failure_of_which_a_part_passes_is_stale(a):
    run = a.expecting(a.finished(a.passed(CREATED), a.failed(EXISTS)), a.entry("createName*"))
    (unmet,) = run.expectations.unmet
    assert (unmet.kind, unmet.checks) == (EntryFailure.STALE, (CREATED,))
    assert "name only those that fail" in unmet.why
    assert run.exit_reason == STALE


def test_the_first_entry_that_names_a_check_decides(a):
    plain = a.finished(a.passed(CREATED), a.failed(EXISTS))
    run = a.expecting(plain, a.entry(EXISTS, "flaky"), a.entry("*", "known-failure"))
    assert [m.entry.kind for m in run.expectations.marks] == ["known-failure", "flaky"]
    assert run.exit_reason == STALE
    assert run.expectations.unmet[0].checks == (CREATED,)


def test_an_entry_whose_checks_are_all_taken_is_stale(a):
    plain = a.finished(a.passed(CREATED), a.failed(EXISTS))
    run = a.expecting(plain, a.entry("*exists"), a.entry(EXISTS, "flaky"))
    assert run.exit_reason == STALE
    assert "earlier entries" in run.expectations.unmet[0].why


def test_a_flaky_check_that_fails_for_an_expected_cause_is_not_stale(a):
    """What it fails for is chance: the next time it may be its own entry that excuses it."""
    plain = a.finished(a.passed(CREATED), a.failed(EXISTS), a.failed("dropNamespace.gone"))
    cause = next(each for each in plain.causes if EXISTS in each.checks)
    run = a.expecting(plain, a.entry(cause=cause.id), a.entry(EXISTS, "flaky"))
    assert [unmet.kind for unmet in run.expectations.unmet] == []
    known = a.expecting(plain, a.entry(cause=cause.id), a.entry(EXISTS, "known-failure"))
    assert known.exit_reason == STALE


def test_an_expired_entry_takes_no_check_from_a_later_one(a):
    plain = a.finished(a.passed(CREATED), a.failed(EXISTS))
    run = a.expecting(plain, a.entry("*exists", expires="2020-01-01"), a.entry(EXISTS, "flaky"))
    assert run.expectations.excused == {EXISTS}
    assert run.exit_reason == "expired-expectation"


def test_a_cause_covers_its_members_and_what_it_blocks(a):
    plain = a.finished(a.passed(CREATED), a.failed(EXISTS), a.blocked("dropNamespace.gone", EXISTS))
    (cause,) = plain.causes
    run = a.expecting(plain, a.entry(cause=cause.id))
    assert run.expectations.excused == {EXISTS, "dropNamespace.gone"}
    assert run.exit_code == 0


def test_a_cause_that_is_no_more_is_stale_in_a_whole_run_only(a):
    plain = a.finished(a.passed(CREATED))
    gone = a.entry(cause="status-200-for-409")
    assert a.expecting(plain, gone).exit_reason == STALE
    assert a.expecting(plain, gone, whole=False).exit_code == 0


# selections


@pytest.mark.parametrize("kind", ["known-failure", "flaky", "waived"])
@pytest.mark.parametrize("expires", [{}, {"expires": "2020-01-01"}])
def test_an_entry_outside_of_the_selection_is_not_judged(a, kind, expires):
    plain = a.finished(a.passed(CREATED))
    entry = a.entry(EXISTS, kind, **expires)
    selected = a.expecting(plain, entry, selected={CREATED, EXISTS})
    assert selected.exit_code == 1
    assert selected.expectations.unmet[0].checks == ()
    outside = a.expecting(plain, entry, selected={CREATED}, whole=False)
    assert outside.exit_code == 0
    assert outside.expectations.unmet == ()


def test_what_passes_in_passing_is_not_stale_and_what_fails_is_excused(a):
    entry = a.entry("schema.*")
    seen = a.passed("schema.loadTable.200", passive=True)
    run = a.expecting(a.finished(a.passed(CREATED), seen), entry, selected={CREATED}, whole=False)
    assert run.exit_code == 0
    broken = a.failed("schema.loadTable.200", passive=True)
    run = a.expecting(a.finished(a.passed(CREATED), broken), entry, selected={CREATED})
    assert run.exit_code == 0
    assert run.expectations.excused == {"schema.loadTable.200"}


# other endings


def test_what_is_waived_verifies_nothing(a):
    plain = a.finished(a.passed(CREATED), a.passed(EXISTS))
    run = a.expecting(plain, a.entry("*", "waived"))
    assert (run.exit_code, run.exit_reason) == (5, "nothing-verified")
    assert run.status == plain.status


@pytest.mark.parametrize(("ending", "code"), [({"interrupted": True}, 130), ({"tripped": True}, 4)])
def test_an_incomplete_run_stays_incomplete_and_leaves_nothing_stale(a, ending, code):
    plain = a.finished(a.passed(CREATED), a.failed("dropNamespace.gone"), **ending)
    assert plain.exit_code == code
    run = a.expecting(plain, a.entry(EXISTS), a.entry("dropName*"), selected={CREATED, EXISTS})
    assert (run.exit_code, run.exit_reason) == (code, plain.exit_reason)
    assert run.expectations.unmet == ()


def test_residue_is_said_when_the_rest_of_the_gate_is_satisfied(a):
    plain = a.finished(a.passed(CREATED), a.failed(EXISTS), residue=["namespace x"])
    assert plain.exit_code == 1
    assert a.expecting(plain, a.entry(EXISTS)).exit_code == 6


def test_the_totals_tell_what_was_foreseen(a):
    plain = a.finished(
        a.passed(CREATED), a.failed(EXISTS), a.failed("a.b"), a.failed("a.c"), a.failed("a.d")
    )
    run = a.expecting(
        plain, a.entry(EXISTS), a.entry("a.b", "flaky"), a.entry("a.c", "waived"), a.entry(CREATED)
    )
    totals = totals_of(run.verdicts, run.expectations)
    assert totals["fail"] == 4
    assert totals["expected_failures"] == 2
    assert totals["flaky"] == 1
    assert totals["stale_expectations"] == 1
    assert totals["unexpected"] == 2
    assert totals_of(plain.verdicts)["unexpected"] == 4
    assert {v.outcome for v in run.verdicts} == {Outcome.PASS, Outcome.FAIL}
