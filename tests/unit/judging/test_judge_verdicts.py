"""Verdicts: what each ending of a check puts on record, and whom it does not blame."""

from dataclasses import replace
from types import SimpleNamespace

import httpx
import pytest

from icecheck.findings.verdict import Evidence, Group, Level, Outcome, Skip, SkipKind
from icecheck.judging.judge import judge, not_run
from icecheck.judging.settling import settled
from icecheck.replies.expect import Blocked, NotOffered
from icecheck.wire.unreachable import CredentialsEnded, Unreachable
from tests.kit.findings import a_finding, a_violation
from tests.unit.answering import PROVES, TOKEN, declared, judged


def asking(operation, status=200, *, names=None, times=1):
    """A check that asks something and expects one status of the last answer."""

    def body(catalog):
        for _ in range(times):
            answer = catalog.call(operation, names)
        answer.expect(status)

    return body


def ending_with(error):
    """A check that asks twice and ends with an error."""

    def body(catalog):
        catalog.call("listNamespaces")
        catalog.call("listNamespaces")
        raise error

    return body


def statuses(*answers):
    """Answer with these statuses, one after the other."""
    left = iter(answers)
    return lambda _: httpx.Response(next(left), json={})


# ---- what is on record


ENDINGS = {
    "violation": (a_violation("x", "a", "b"), Outcome.FAIL),
    "blocked": (Blocked("createTable.200", "it failed"), Outcome.BLOCKED),
    "not-offered": (NotOffered("not there"), Outcome.SKIP),
    "credentials": (CredentialsEnded("over"), Outcome.BLOCKED),
    "unreachable": (Unreachable("reset"), Outcome.BLOCKED),
    "ours": (ZeroDivisionError("ours"), Outcome.ERROR),
    "ours-too": (AssertionError("ours too"), Outcome.ERROR),
}


@pytest.mark.parametrize("which", [*ENDINGS, "pass"])
def test_every_verdict_names_its_check_what_it_proves_and_what_it_took(
    catalog_that, monkeypatch, which
):
    ticks = iter([2.0, 2.25])
    clock = SimpleNamespace(perf_counter=lambda: next(ticks), time=lambda: 1_700_000_000.5)
    monkeypatch.setattr("icecheck.judging.judge.time", clock)
    error, outcome = ENDINGS.get(which, (None, Outcome.PASS))
    body = ending_with(error) if error else asking("listNamespaces", times=2)
    verdict = judged(catalog_that(), body)
    assert verdict.outcome is outcome
    assert (verdict.check, verdict.title) == ("some.check", "Something holds")
    assert (verdict.group, verdict.level) == (Group.SCENARIOS, Level.MUST)
    assert (verdict.requirements, verdict.operations) == (PROVES, ("createNamespace",))
    assert verdict.profile == "write"
    assert (verdict.requests, verdict.duration_ms) == (2, 250.0)
    assert verdict.started_ms == 1_700_000_000_500
    assert (verdict.passive, verdict.gating) == (False, True)


def test_a_pass_has_nothing_to_say(catalog_that):
    verdict = judged(catalog_that(), asking("listNamespaces"))
    assert (verdict.summary, verdict.findings, verdict.skip) == ("", (), None)
    assert (verdict.blocked_by, verdict.evidence) == ((), ())


@pytest.mark.parametrize(
    ("finding", "summary"),
    [
        (a_finding("x", "a", "b"), "expected a, got b"),
        (a_finding("x", "a", "b", pointer="/p"), "expected a, got b at /p"),
        (a_finding("x", "a", "b", "why", "/p"), "expected a, got b at /p (why)"),
    ],
)
def test_a_failure_is_summed_up_by_its_first_finding(catalog_that, finding, summary):
    other = a_finding("y", "c", "d")
    said = {"detail": finding.detail, "pointer": finding.pointer, "others": (other,)}
    verdict = judged(catalog_that(), ending_with(a_violation("x", "a", "b", **said)))
    assert verdict.findings == (finding, other)
    assert verdict.summary == summary
    assert verdict.skip is None


def test_a_blocked_check_says_by_what_and_why(catalog_that):
    blocked = judged(catalog_that(), ending_with(Blocked("createTable.200", "it failed")))
    assert (blocked.blocked_by, blocked.summary) == (("createTable.200",), "it failed")
    over = judged(catalog_that(), ending_with(CredentialsEnded("over")))
    assert (over.blocked_by, over.summary) == (("credentials",), "over")
    reset = judged(catalog_that(), ending_with(Unreachable("reset")))
    assert (reset.blocked_by, reset.summary) == (("target",), "reset")


def test_a_check_that_the_catalog_offers_nothing_for_says_what_and_why(catalog_that):
    left = NotOffered("no views", SkipKind.HARNESS_GAP)
    verdict = judged(catalog_that(), ending_with(left))
    assert verdict.skip == Skip(SkipKind.HARNESS_GAP, "no views")
    assert verdict.summary == "no views"


def test_an_error_of_the_suite_is_told_with_its_traceback(catalog_that):
    verdict = judged(catalog_that(), ending_with(ZeroDivisionError("ours")))
    (finding,) = verdict.findings
    assert finding.symptom.slug == "suite-error"
    assert (finding.expected, finding.actual) == ("no error", "ZeroDivisionError")
    assert verdict.summary == "ZeroDivisionError: ours"
    first, *_, last = finding.detail.splitlines()
    assert first.startswith("Traceback")
    assert last == "ZeroDivisionError: ours"
    assert [e.ordinal for e in verdict.evidence] == [1, 2]


@pytest.mark.parametrize(
    "error",
    [
        a_violation("x", "a", f"b {TOKEN}", detail=f"with {TOKEN}"),
        Blocked("createTable.200", f"with {TOKEN}"),
        NotOffered(f"with {TOKEN}"),
        CredentialsEnded(f"with {TOKEN}"),
        Unreachable(f"with {TOKEN}"),
        ZeroDivisionError(f"with {TOKEN}"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_no_verdict_quotes_a_secret(catalog_that, error):
    verdict = judged(catalog_that(), ending_with(error))
    assert TOKEN not in repr(verdict)
    assert "with" in verdict.summary


@pytest.mark.parametrize(
    "end", [a_violation("x", "a", "b", exchange=1), Blocked("x", "y", exchange=1)]
)
def test_evidence_ends_with_the_exchange_that_shows_it(catalog_that, end):
    assert [e.ordinal for e in judged(catalog_that(), ending_with(end)).evidence] == [1]


def test_evidence_is_an_excerpt_of_the_exchanges(catalog_that):
    verdict = judged(catalog_that(), asking("listNamespaces", 204, times=2))
    assert [type(e) for e in verdict.evidence] == [Evidence] * 2
    assert [(e.ordinal, e.operation, e.status) for e in verdict.evidence] == [
        (1, "listNamespaces", 200),
        (2, "listNamespaces", 200),
    ]


def test_a_check_is_given_its_resources_by_name(catalog_that):
    given = {}
    spark = object()
    verdict = judge(
        declared(lambda _, **resources: given.update(resources)), catalog_that(), {"spark": spark}
    )
    assert verdict.outcome is Outcome.PASS
    assert given == {"spark": spark}


@pytest.mark.parametrize("which", ENDINGS)
def test_who_changed_something_and_was_wrong_is_doubted(catalog_that, which):
    catalog = catalog_that()
    judged(catalog, ending_with(ENDINGS[which][0]))
    assert catalog.doubted is (which == "violation")


def test_a_check_that_was_not_run_says_why():
    verdict = not_run(declared(asking("listNamespaces")), SkipKind.EXCLUDED_BY_USER, "unwanted")
    assert (verdict.check, verdict.outcome) == ("some.check", Outcome.SKIP)
    assert verdict.skip == Skip(SkipKind.EXCLUDED_BY_USER, "unwanted")
    assert verdict.summary == "unwanted"


# ---- what is not run


@pytest.mark.parametrize(
    ("read_only", "group", "skipped"),
    [
        (True, Group.SPARK, True),
        (True, Group.CLIENTS, True),
        (True, Group.SCENARIOS, False),
        (False, Group.SPARK, False),
    ],
)
def test_no_real_client_is_let_near_a_catalog_that_may_only_be_read(
    catalog_that, read_only, group, skipped
):
    catalog = catalog_that(read_only=read_only)
    verdict = judged(catalog, asking("listNamespaces"), group=group)
    assert verdict.outcome is (Outcome.SKIP if skipped else Outcome.PASS)
    if skipped:
        assert verdict.skip.kind is SkipKind.SAFETY_LEVEL
        assert (verdict.requests, verdict.summary) == (0, verdict.skip.reason)
        assert "writes" in verdict.summary


def test_what_the_catalog_does_not_claim_is_listed(catalog_that):
    proves = ("loadCredentials.200", "createNamespace.200", "planTableScan.200")
    verdict = judged(catalog_that(), asking("listNamespaces"), proves=proves)
    assert verdict.skip.kind is SkipKind.NOT_DECLARED
    assert "loadCredentials, planTableScan" in verdict.skip.reason
    assert "createNamespace" not in verdict.skip.reason
    assert (verdict.requests, verdict.summary) == (0, verdict.skip.reason)


def test_a_capability_that_is_missing_is_named_and_one_that_is_there_is_none(catalog_that):
    catalog = catalog_that()
    catalog.session.capabilities.update({"pagination": True, "branches": False})
    needs = ("pagination", "branches")
    verdict = judged(catalog, asking("listNamespaces"), needs=needs)
    assert verdict.skip.kind is SkipKind.NOT_APPLICABLE
    assert "branches" in verdict.skip.reason
    assert "pagination" not in verdict.skip.reason
    assert judged(catalog, asking("listNamespaces"), needs=needs[:1]).outcome is Outcome.PASS
    assert catalog.session.needed_by == {
        "pagination": {"some.check"},
        "branches": {"some.check"},
    }


# ---- whom a refusal does not blame


def test_what_a_check_only_looks_with_need_not_be_served(catalog_that):
    def body(catalog):
        catalog.call("listNamespaces").expect(200)
        catalog.call("namespaceExists", {"namespace": ("a",)}).expect(204)

    catalog = catalog_that(statuses(200, 404))
    verdict = judged(catalog, body)
    assert (verdict.outcome, verdict.requests) == (Outcome.SKIP, 2)
    assert verdict.skip.kind is SkipKind.MISSING_FIXTURE
    assert "namespaceExists" in verdict.skip.reason
    assert verdict.summary == verdict.skip.reason


def test_a_wrong_answer_of_what_is_claimed_is_a_fault_whatever_else_was_asked(catalog_that):
    def body(catalog):
        catalog.call("namespaceExists", {"namespace": ("a",)})
        catalog.call("listNamespaces").expect(200)

    assert judged(catalog_that(statuses(204, 404)), body).outcome is Outcome.FAIL


REFUSALS = {
    "no-rights": (403, a_violation("status", "200", "403", exchange=2), SkipKind.MISSING_FIXTURE),
    "no-rights-to-any": (
        403,
        a_violation("status", "200 or 204", "403", exchange=2),
        SkipKind.MISSING_FIXTURE,
    ),
    "not-supported": (
        406,
        a_violation("status", "200", "406", exchange=2),
        SkipKind.NOT_APPLICABLE,
    ),
    "another-refusal": (404, a_violation("status", "200", "404", exchange=2), None),
    "a-refusal-was-due": (403, a_violation("status", "409", "403", exchange=2), None),
    "a-refusal-was-due-too": (403, a_violation("status", "200 or 409", "403", exchange=2), None),
    "not-about-the-status": (403, a_violation("value", "200", "403", exchange=2), None),
    "about-an-answer-before": (403, a_violation("status", "200", "403", exchange=1), None),
    "about-no-answer": (403, a_violation("status", "200", "403"), None),
}


@pytest.mark.parametrize("which", REFUSALS)
def test_only_a_documented_refusal_where_a_success_was_due_is_excused(catalog_that, which):
    status, violation, kind = REFUSALS[which]

    def body(catalog):
        for _ in range(3):
            catalog.call("updateProperties", {"namespace": catalog.new_namespace_name()})
        raise violation

    verdict = judged(catalog_that(statuses(200, status, 200)), body)
    if kind is None:
        assert (verdict.outcome, verdict.skip) == (Outcome.FAIL, None)
    else:
        assert (verdict.outcome, verdict.requests) == (Outcome.SKIP, 3)
        assert verdict.skip.kind is kind
        assert "updateProperties" in verdict.skip.reason
        assert str(status) in verdict.skip.reason
        assert verdict.summary == verdict.skip.reason


@pytest.mark.parametrize(
    ("operation", "status"), [("getToken", 403), ("listNamespaces", 406), ("loadTable", 406)]
)
def test_a_refusal_that_the_operations_table_does_not_list_is_a_fault(
    catalog_that, operation, status
):
    names = {"namespace": ("a",), "table": "t"}
    catalog = catalog_that(statuses(status), claims=(operation,))
    assert judged(catalog, asking(operation, names=names)).outcome is Outcome.FAIL


# ---- what a check leaves out


LOST, LOST_TOO = "createTable.properties-kept", "dropTable.204"


def asking_whether_kept(*effects):
    """A check that relies on each effect unless it is told that the catalog loses it."""

    def body(catalog):
        catalog.call("listNamespaces")
        for effect in effects:
            if catalog.keeps(effect):
                raise Blocked(effect, "it is lost")

    return body


def test_a_check_is_judged_again_without_what_the_catalog_loses(catalog_that):
    verdict = judged(catalog_that(), asking_whether_kept(LOST, LOST_TOO))
    assert (verdict.outcome, verdict.without) == (Outcome.PASS, (LOST, LOST_TOO))
    assert verdict.summary == f"judged without {LOST}, {LOST_TOO}, which the catalog lacks"
    assert verdict.requests == 3
    assert verdict.blocked_by == ()


def test_a_failure_says_what_the_check_was_judged_without(catalog_that):
    def body(catalog):
        asking_whether_kept(LOST)(catalog)
        raise a_violation("x", "a", "b")

    verdict = judged(catalog_that(), body)
    assert (verdict.outcome, verdict.without) == (Outcome.FAIL, (LOST,))
    assert verdict.summary == f"expected a, got b; judged without {LOST}, which the catalog lacks"


def test_a_check_that_needs_an_effect_all_the_same_stays_blocked(catalog_that):
    def body(catalog):
        catalog.keeps(LOST)
        raise Blocked(LOST, "it is lost")

    verdict = judged(catalog_that(), body)
    assert (verdict.outcome, verdict.blocked_by) == (Outcome.BLOCKED, (LOST,))


def test_a_check_of_which_nothing_is_left_stays_blocked(catalog_that):
    def body(catalog):
        asking_whether_kept(LOST)(catalog)
        raise NotOffered("nothing is left")

    verdict = judged(catalog_that(), body)
    assert (verdict.outcome, verdict.blocked_by) == (Outcome.BLOCKED, (LOST,))
    assert verdict.without == ()


def test_names_of_a_check_that_is_judged_again_are_new(catalog_that):
    names = []

    def body(catalog):
        names.append(catalog.new_name())
        asking_whether_kept(LOST)(catalog)

    judged(catalog_that(), body)
    assert len({*names}) == 2


def test_a_loss_that_no_check_tells_of_blocks_what_was_judged_without_it(catalog_that):
    partly = judged(catalog_that(), asking_whether_kept(LOST))
    (alone,) = settled([partly], ())
    assert (alone.outcome, alone.blocked_by) == (Outcome.BLOCKED, (LOST,))
    telling = replace(partly, check="c", outcome=Outcome.FAIL, requirements=(LOST,), without=())
    assert settled([telling, partly], ())[1] == partly
