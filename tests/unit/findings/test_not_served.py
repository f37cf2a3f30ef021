"""Operations that are claimed and not there: when that is the cause, and when it is not."""

from dataclasses import replace

import pytest

from icecheck.contract import Level
from icecheck.findings.causes import causes_of
from icecheck.findings.never_worked import unserved_operations
from icecheck.findings.not_served import (
    failed_where_not_served,
    named_by_endpoint,
    named_by_one_answer,
)
from icecheck.findings.verdict import Evidence, Group, Outcome, Skip, SkipKind, Verdict
from tests.kit.contracts import CONTRACT
from tests.kit.findings import a_finding

LACKS_A_FILE = Skip(SkipKind.MISSING_FIXTURE, "no metadata file is known")


def asked(operation_id: str, status: int, *, step: str = "do", body: str = "") -> Evidence:
    return Evidence(1, step, operation_id, f"POST /{operation_id}", status, "", "", body, "curl")


def verdict(check: str, outcome: Outcome, *evidence: Evidence, proves: str, **more) -> Verdict:
    operation_id = proves.partition(".")[0]
    finding = a_finding("status", "200", str(evidence[-1].status) if evidence else "", exchange=1)
    return Verdict(
        check=check,
        title=check,
        group=Group.CHECKS,
        level=Level.MUST,
        requirements=(proves,),
        operations=(operation_id,),
        profile="write",
        outcome=outcome,
        findings=(finding,) if outcome is Outcome.FAIL else (),
        evidence=evidence,
        **more,
    )


def works(status: int, body: str = "") -> Verdict:
    answer = asked("renameTable", status, body=body)
    return verdict("works", Outcome.FAIL, answer, proves="renameTable.204")


@pytest.mark.parametrize("status", [404, 405, 406, 501])
def test_an_operation_that_never_did_anything_is_not_served(status: int) -> None:
    assert unserved_operations([works(status)]) == {"renameTable": status}


@pytest.mark.parametrize(
    "others",
    [
        [verdict("passed", Outcome.PASS, proves="renameTable.204")],
        [verdict("else", Outcome.FAIL, asked("renameTable", 500), proves="renameTable.409")],
        [verdict("done", Outcome.FAIL, asked("renameTable", 204), proves="renameTable.409")],
    ],
    ids=["one-success", "another-failure", "another-answer"],
)
def test_one_that_ever_answered_otherwise_is_served(others: list[Verdict]) -> None:
    assert unserved_operations([works(501), *others]) == {}


def test_a_check_that_never_came_to_ask_does_not_speak_for_an_operation() -> None:
    """A table that cannot be loaded blocks the success of tableExists; a missing one is a 404."""
    waits = verdict(
        "waits", Outcome.BLOCKED, asked("loadTable", 500), proves="tableExists.204",
        blocked_by=("loadTable.200",),
    )  # fmt: skip
    loaded = replace(asked("loadTable", 500), ordinal=2)
    gone = replace(
        verdict("gone", Outcome.FAIL, asked("tableExists", 404), loaded, proves="loadTable.200"),
        findings=(a_finding("status", "200", "500", exchange=2),),
    )
    refused = verdict("missing", Outcome.PASS, asked("tableExists", 404), proves="tableExists.404")
    assert unserved_operations([waits, gone, refused]) == {}
    assert failed_where_not_served([refused, waits, gone])[0].outcome is Outcome.PASS
    met = verdict(
        "met", Outcome.BLOCKED, asked("tableExists", 404), proves="tableExists.204",
        blocked_by=("loadTable.200",),
    )  # fmt: skip
    assert unserved_operations([met, gone]) == {"tableExists": 404}
    never = verdict("never", Outcome.FAIL, asked("loadTable", 404), proves="loadTable.200")
    waits = replace(waits, evidence=(asked("loadTable", 404),))
    assert unserved_operations([waits, refused, never]) == {"loadTable": 404}
    told = asked("tableExists", 404)
    also = verdict("also", Outcome.FAIL, asked("loadTable", 404), told, proves="dropTable.gone")
    assert unserved_operations([waits, never, also]) == {"loadTable": 404, "tableExists": 404}
    there = replace(
        verdict("there", Outcome.FAIL, asked("tableExists", 404), proves="tableExists.agrees"),
        findings=(a_finding("status", "204", "404", exchange=1),),
    )
    assert unserved_operations([waits, gone, there]) == {"tableExists": 404}


def test_a_404_that_misses_an_object_is_the_answer_of_a_route() -> None:
    body = '{"error": {"type": "NoSuchTableException"}}'
    assert unserved_operations([works(404, body)]) == {}


def test_what_stands_before_the_routes_does_not_count() -> None:
    gate = verdict("gate", Outcome.FAIL, asked("renameTable", 400), proves="renameTable.409")
    assert unserved_operations([works(501), gate]) == {"renameTable": 501}


def test_an_operation_of_which_no_success_is_due_is_not_spoken_of() -> None:
    only = verdict("refused", Outcome.FAIL, asked("renameTable", 404), proves="renameTable.409")
    assert unserved_operations([only]) == {}


@pytest.mark.parametrize(("status", "told"), [(501, True), (405, True), (404, False)])
def test_a_status_that_says_so_speaks_for_an_operation_whose_success_was_not_asked(
    status: int, told: bool
) -> None:
    only = verdict("refused", Outcome.FAIL, asked("renameTable", status), proves="renameTable.409")
    assert bool(unserved_operations([only])) is told
    served = verdict("good", Outcome.PASS, proves="renameTable.406")
    assert unserved_operations([only, served]) == {}


def missing(check: str, due: str) -> Verdict:
    made = verdict(check, Outcome.FAIL, asked("renameTable", 404), proves=f"renameTable.{due}")
    return replace(made, findings=(a_finding("status", due, "404", exchange=1),))


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ((missing("bad", "400"), missing("taken", "409")), True),
        ((missing("bad", "400"), missing("worse", "400")), False),
        ((missing("bad", "400"), missing("gone", "404 or 409")), False),
    ],
    ids=["two-kinds", "one-kind", "it-may-be-missing"],
)
def test_404_speaks_for_an_operation_where_nothing_that_was_asked_was_missing(
    found: tuple[Verdict, ...], told: bool
) -> None:
    passed = verdict("no-parent", Outcome.PASS, proves="renameTable.404")
    assert bool(unserved_operations([*found, passed])) is told
    works_at_times = verdict("bad-name", Outcome.PASS, proves="renameTable.400")
    assert unserved_operations([*found, works_at_times]) == {}


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (verdict("any", Outcome.PASS, proves="renameTable.unreadable"), True),
        (verdict("no-file", Outcome.SKIP, proves="renameTable.204", skip=LACKS_A_FILE), True),
        (verdict("token", Outcome.PASS, proves="renameTable.401"), True),
        (verdict("seen", Outcome.FAIL, proves="renameTable.204", passive=True), False),
    ],
    ids=["any-refusal", "nothing-to-try-with", "a-bad-token", "a-success-was-seen"],
)
def test_what_may_be_refused_anyhow_does_not_show_that_an_operation_is_served(
    other: Verdict, told: bool
) -> None:
    only = verdict("refused", Outcome.FAIL, asked("renameTable", 501), proves="renameTable.409")
    assert bool(unserved_operations([only, other])) is told


def test_a_route_that_was_refused_beside_what_is_judged_names_nothing() -> None:
    walks = verdict("walks", Outcome.FAIL, asked("loadTable", 200), proves="request.json")
    first = replace(walks.findings[0], exchange=2)
    walks = replace(
        walks,
        findings=(first,),
        evidence=(asked("renameTable", 501), replace(asked("loadTable", 200), ordinal=2)),
    )
    assert named_by_endpoint([works(501), walks])[1] == walks


def test_what_is_removed_again_does_not_count() -> None:
    undone = asked("dropTable", 204, step="undo")
    failed = verdict("drop", Outcome.FAIL, asked("dropTable", 405), undone, proves="dropTable.204")
    assert unserved_operations([failed]) == {"dropTable": 405}


def test_whoever_met_it_has_it_as_finding_and_whoever_did_not_keeps_his_own() -> None:
    other = verdict("other", Outcome.FAIL, asked("loadTable", 500), proves="loadTable.200")
    named, kept = named_by_endpoint([works(501), other])
    assert named.findings[0].symptom.slug == "not-served"
    assert "renameTable" in named.findings[0].expected
    assert named.findings[1:] == works(501).findings
    assert kept == other


def test_all_of_it_is_one_cause_and_blocks_what_builds_on_it() -> None:
    answer = asked("renameTable", 501)
    refused = verdict("refused", Outcome.FAIL, answer, proves="renameTable.409")
    refused = replace(refused, findings=(a_finding("status", "409", "501", exchange=1),))
    blocked = verdict("blocked", Outcome.BLOCKED, answer, proves="loadTable.200")
    blocked = replace(blocked, blocked_by=("renameTable.204",))
    (cause,) = causes_of([works(501), refused, blocked], CONTRACT)
    assert cause.id == "not-served-501"
    assert cause.members == ("works", "refused")
    assert cause.blocked == ("blocked",)
    assert "501" in cause.title


def blocked_at_renaming(proves: str) -> Verdict:
    blocked = verdict("waits", Outcome.BLOCKED, asked("renameTable", 501), proves=proves)
    return replace(blocked, blocked_by=("renameTable.204",), summary="renameTable answered 501")


def test_a_check_fails_where_the_operation_that_it_is_about_is_not_served() -> None:
    _, failed = failed_where_not_served([works(501), blocked_at_renaming("renameTable.moves")])
    assert (failed.outcome, failed.blocked_by) == (Outcome.FAIL, ())
    (finding,) = failed.findings
    assert (finding.symptom.slug, finding.exchange) == ("not-served", 1)
    (cause,) = causes_of([works(501), failed], CONTRACT)
    assert (cause.members, cause.blocked) == (("works", "waits"), ())


@pytest.mark.parametrize(
    ("works", "proves"),
    [
        (works(501), "loadTable.moves"),
        (verdict("works", Outcome.PASS, proves="renameTable.204"), "renameTable.moves"),
    ],
    ids=["about-another-operation", "served-to-others"],
)
def test_a_check_that_waits_for_something_else_stays_blocked(works: Verdict, proves: str) -> None:
    both = works, blocked_at_renaming(proves)
    assert failed_where_not_served(both)[1] == both[1]


def test_a_check_that_takes_the_word_of_a_router_for_a_refusal_fails() -> None:
    answer = asked("renameTable", 404)
    passed = verdict("no-source", Outcome.PASS, answer, proves="renameTable.404")
    elsewhere = verdict("elsewhere", Outcome.PASS, answer, proves="loadTable.404")
    _, failed, kept = failed_where_not_served([works(404), passed, elsewhere])
    assert (failed.outcome, failed.findings[0].symptom.slug) == (Outcome.FAIL, "not-served")
    assert "renameTable answers 404 whatever is asked" in failed.summary
    assert (kept.outcome, kept.evidence) == (Outcome.PASS, ())
    walk = replace(elsewhere, requirements=("loadTable.404", "renameTable.404"))
    assert failed_where_not_served([works(404), walk])[1].requirements == ("loadTable.404",)
    (cause,) = causes_of([works(404), failed], CONTRACT)
    assert cause.members == ("works", "no-source")


@pytest.mark.parametrize(
    "answer",
    [
        asked("renameTable", 404, body='{"error": {"type": "NoSuchTableException"}}'),
        asked("renameTable", 409),
        asked("renameTable", 204),
    ],
    ids=["names-what-is-missing", "another-refusal", "a-success"],
)
def test_what_passed_checks_were_answered_may_show_that_an_operation_is_served(
    answer: Evidence,
) -> None:
    passed = verdict("passed", Outcome.PASS, answer, proves="renameTable.404")
    _, kept = failed_where_not_served([works(404), passed])
    assert kept.outcome is Outcome.PASS


def test_a_check_of_what_is_not_served_says_nothing_else() -> None:
    odd = replace(
        verdict("by-name", Outcome.FAIL, asked("renameTable", 404), proves="renameTable.named"),
        findings=(a_finding("name-not-found", "it", "404", "a name with a blank", exchange=1),),
    )
    walk = replace(
        verdict("walk", Outcome.FAIL, asked("loadTable", 200), proves="renameTable.walk"),
        findings=(a_finding("effect-missing:last-column-id", "11", "9"),),
    )
    other = replace(
        verdict("other", Outcome.FAIL, asked("renameTable", 404), proves="loadTable.walk"),
        findings=(a_finding("status", "204", "404", "stops at rename", exchange=1),),
    )
    told = failed_where_not_served([works(404), odd, walk, other])
    assert {v.findings[0].symptom.slug for v in told} == {"not-served"}
    assert all(len(v.findings) == 1 and "whatever is asked" in v.summary for v in told)
    assert [v.check for v in told if "blank" in v.summary] == []
    assert "stops at rename" in told[-1].summary
    (cause,) = causes_of(told, CONTRACT)
    assert cause.members == ("works", "by-name", "walk", "other")


def broke(check: str, due: str, proves: str, status: int = 500) -> Verdict:
    operation_id = proves.partition(".")[0]
    failed = verdict(check, Outcome.FAIL, asked(operation_id, status), proves=proves)
    return replace(failed, findings=(a_finding("status", due, str(status), exchange=1),))


EXISTS = broke("exists", "204", "tableExists.204")
MISSING = broke("missing", "404", "tableExists.404")
WAITS = verdict("waits", Outcome.BLOCKED, asked("loadTable", 502), proves="tableExists.204",
                blocked_by=("loadTable.200",))  # fmt: skip


def test_an_operation_with_one_error_for_all_is_one_cause_whatever_was_due() -> None:
    token = replace(broke("token", "401", "viewExists.401"), level=Level.SHOULD)
    shown = broke("shown", "204", "viewExists.204")
    blocked = verdict("blocked", Outcome.BLOCKED, asked("tableExists", 500), proves="loadTable.200")
    blocked = replace(blocked, blocked_by=("tableExists.204",))
    elsewhere = broke("elsewhere", "204", "dropTable.204")
    found = causes_of([EXISTS, MISSING, token, shown, blocked, elsewhere], CONTRACT)
    cause, other = sorted(found, key=lambda c: c.id)
    assert cause.id == "one-answer-500"
    assert set(cause.members) == {"exists", "missing", "shown"}
    assert cause.lesser == ("token",)
    assert cause.blocked == ("blocked",)
    assert cause.level is Level.MUST
    assert "500" in cause.title
    assert "tableExists, viewExists" in cause.title
    assert other.members == ("elsewhere",)
    assert cause.severity == other.severity


@pytest.mark.parametrize(
    "others",
    [
        [EXISTS],
        [MISSING],
        [EXISTS, MISSING, verdict("passed", Outcome.PASS, proves="tableExists.agrees")],
        [EXISTS, broke("missing", "404", "tableExists.404", status=502)],
        [EXISTS, broke("missing", "404", "tableExists.404", status=200)],
        [
            broke("exists", "204", "tableExists.204", 501),
            broke("no", "404", "tableExists.404", 501),
        ],
        [MISSING, WAITS],
    ],
    ids=[
        "success-alone",
        "refusal-alone",
        "one-passed",
        "two-errors",
        "one-answer",
        "not-served",
        "success-not-asked",
    ],
)
def test_one_that_may_answer_otherwise_has_more_than_one_answer(others: list[Verdict]) -> None:
    assert named_by_one_answer(others) == others


@pytest.mark.parametrize(("status", "named"), [(418, True), (400, False), (403, False)])
def test_a_refusal_may_be_the_one_answer_unless_it_stands_before_the_routes(
    status: int, named: bool
) -> None:
    two = [
        broke("a", "204", "tableExists.204", status),
        broke("b", "404", "tableExists.404", status),
    ]
    assert (named_by_one_answer(two) != two) == named


def test_whoever_stands_before_the_routes_says_nothing_of_them() -> None:
    refused = verdict("refused", Outcome.PASS, proves="tableExists.401")
    exists, missing, kept = named_by_one_answer([EXISTS, MISSING, refused])
    assert exists.findings[0].symptom.slug == missing.findings[0].symptom.slug == "one-answer"
    assert kept == refused
