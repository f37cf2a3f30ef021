"""Excuses: refusals that are no fault, because of the credentials or of an older document."""

from dataclasses import replace

import httpx
import pytest

from icecheck.findings.verdict import Level, Outcome, Skip, SkipKind
from icecheck.judging.judge import judge
from icecheck.replies.expect import Blocked, NotOffered
from icecheck.wire.unreachable import Unreachable
from tests.kit.findings import a_violation
from tests.unit.answering import PROVES, declared, judged


@pytest.fixture(autouse=True)
def _nothing_else_explains_it(monkeypatch):
    monkeypatch.setattr("icecheck.judging.judge.explained", lambda *_: None)


def judged_as(catalog_that, due, *came, operation="updateProperties", spec="1.10.0", **changed):
    """The verdict where these statuses came, one after another, and the last one was not due."""
    left = iter(came)
    catalog = catalog_that(lambda _: httpx.Response(next(left), json={}))
    catalog.session.spec = spec

    def body(catalog):
        for _ in came:
            catalog.call(operation, {"namespace": catalog.new_namespace_name()})
        raise a_violation("status", due, str(came[-1]), exchange=len(came))

    return judge(replace(declared(body), **changed), catalog)


# ---- what the credentials may not do


def test_who_is_refused_for_want_of_a_right_where_a_refusal_was_due_may_be_at_fault(catalog_that):
    verdict = judged_as(catalog_that, "409", 403)
    assert (verdict.outcome, verdict.skip.kind) == (Outcome.SKIP, SkipKind.MISSING_FIXTURE)
    assert verdict.skip.lacks == "updateProperties"
    assert verdict.if_permitted.outcome is Outcome.FAIL


def test_who_has_the_right_to_another_request_of_the_operation_is_at_fault(catalog_that):
    verdict = judged_as(catalog_that, "409", 200, 403)
    assert (verdict.outcome, verdict.if_permitted) == (Outcome.FAIL, None)


@pytest.mark.parametrize("due", ["200", "200 or 204"])
def test_where_a_success_was_due_a_missing_right_is_an_excuse_without_doubt(catalog_that, due):
    verdict = judged_as(catalog_that, due, 200, 403)
    assert (verdict.outcome, verdict.if_permitted) == (Outcome.SKIP, None)


def test_that_an_operation_is_not_supported_is_an_excuse_without_doubt(catalog_that):
    verdict = judged_as(catalog_that, "200", 406)
    assert (verdict.outcome, verdict.skip.kind) == (Outcome.SKIP, SkipKind.NOT_APPLICABLE)
    assert verdict.if_permitted is None


@pytest.mark.parametrize(
    ("level", "due", "excused"),
    [
        (Level.MUST, "400", False),
        (Level.SHOULD, "400", True),
        (Level.SHOULD, "400 or 401", True),
        (Level.SHOULD, "409", False),
    ],
)
def test_any_refusal_will_do_where_one_was_only_advised(catalog_that, level, due, excused):
    verdict = judged_as(catalog_that, due, 200, 403, level=level)
    assert verdict.outcome is (Outcome.SKIP if excused else Outcome.FAIL)
    assert verdict.if_permitted is None


def test_who_was_not_shown_at_all_lacks_no_right(catalog_that):
    assert judged_as(catalog_that, "401", 403).outcome is Outcome.FAIL
    assert judged_as(catalog_that, "401 or 404", 403).outcome is Outcome.FAIL


# ---- what an older document does not say


@pytest.mark.parametrize(
    ("due", "came", "spec", "excused"),
    [
        ("409", 404, "1.8.0", True),
        ("409", 400, "1.8.0", True),
        ("404 or 409", 400, "1.8.0", True),
        ("409", 404, "1.9.0", False),
        ("404", 400, "1.8.0", False),
        ("409", 204, "1.8.0", False),
        ("409", 500, "1.8.0", False),
        ("200 or 409", 400, "1.8.0", False),
        ("200", 409, "1.8.0", False),
    ],
)
def test_another_refusal_than_a_later_document_demands_is_no_fault(
    catalog_that, due, came, spec, excused
):
    """That a namespace with tables is kept with a 409 is said since 1.9.0."""
    verdict = judged_as(catalog_that, due, came, operation="dropNamespace", spec=spec)
    assert verdict.outcome is (Outcome.SKIP if excused else Outcome.FAIL)
    assert verdict.if_permitted is None
    if excused:
        assert verdict.skip.kind is SkipKind.SPEC_VERSION
        said = f"that dropNamespace is answered {due} is said since Iceberg 1.9.0"
        assert verdict.summary == verdict.skip.reason == said


# ---- what the catalog has not got


def judged_blocked(catalog, by="updateProperties.200", operation="updateProperties", exchange=2):
    """The verdict where the second of three answers blocks the check."""

    def body(catalog):
        for asked in ("listNamespaces", operation, "listNamespaces"):
            names = {"namespace": catalog.new_namespace_name()} if asked == operation else None
            catalog.call(asked, names)
        raise Blocked(by, "it failed", exchange=exchange)

    return judged(catalog, body)


def answering_in_the_middle(status):
    left = iter((200, status, 200))
    return lambda _: httpx.Response(next(left), json={})


@pytest.mark.parametrize("status", [405, 501])
def test_a_default_operation_that_is_not_known_is_not_offered(catalog_that, status):
    verdict = judged_blocked(catalog_that(answering_in_the_middle(status)))
    assert (verdict.outcome, verdict.skip.kind) == (Outcome.SKIP, SkipKind.MISSING_FIXTURE)
    said = "the config lists no endpoints, and of the default ones updateProperties is answered"
    assert verdict.summary == f"{said} {status}"


@pytest.mark.parametrize(
    ("status", "target", "blocked"),
    [
        (404, {}, {}),
        (400, {}, {}),
        (501, {"claims": ("updateProperties",)}, {}),
        (501, {}, {"exchange": 1}),
        (501, {}, {"exchange": 9}),
        (501, {}, {"by": "updateProperties.409"}),
        (501, {}, {"by": "listNamespaces.200"}),
        (404, {"accept_residue": True}, {}),
    ],
)
def test_what_fails_otherwise_than_what_is_not_known_blocks(catalog_that, status, target, blocked):
    verdict = judged_blocked(catalog_that(answering_in_the_middle(status), **target), **blocked)
    assert verdict.outcome is Outcome.BLOCKED


@pytest.mark.parametrize(
    ("status", "accepted", "deleted", "excused"),
    [
        (403, True, 0, True),
        (404, True, 1, True),
        (403, True, 1, True),
        (500, True, 0, True),
        (500, True, 1, False),
        (403, False, 0, False),
    ],
)
def test_who_says_that_nothing_is_deleted_is_judged_by_its_drops_alone(
    catalog_that, status, accepted, deleted, excused
):
    catalog = catalog_that(answering_in_the_middle(status), accept_residue=accepted)
    catalog.session.deleted = deleted
    verdict = judged_blocked(catalog, by="dropNamespace.204", operation="dropNamespace")
    assert verdict.outcome is (Outcome.SKIP if excused else Outcome.BLOCKED)
    if excused:
        said = f"dropNamespace is answered {status}, and the run accepts what stays"
        assert verdict.summary == said


@pytest.mark.parametrize(
    ("undropped", "proves", "excused"),
    [
        ({"table"}, PROVES, True),
        ({"view", "table"}, PROVES, True),
        ({"table"}, "dropTable.gone", False),
        ({"view", "table"}, "dropTable.gone", False),
        ({"view"}, "dropTable.gone", True),
        (set(), PROVES, False),
    ],
)
def test_where_drops_remove_nothing_only_drops_are_judged(catalog_that, undropped, proves, excused):
    catalog = catalog_that()
    catalog.session.undropped |= undropped
    verdict = judged(catalog, lambda _: None, proves=proves)
    assert verdict.outcome is (Outcome.SKIP if excused else Outcome.PASS)
    if excused:
        assert verdict.skip.kind is SkipKind.SAFETY_LEVEL
        said = f"a {min(undropped)} that the catalog says it has dropped is still there"
        assert verdict.summary.startswith(said)


def test_who_lacks_a_right_says_to_which_operation(catalog_that):
    def body(_):
        raise NotOffered("no right", lacks="dropTable")

    assert judged(catalog_that(), body).skip == Skip(
        SkipKind.MISSING_FIXTURE, "no right", "dropTable"
    )


def test_a_connection_that_ended_is_shown_with_what_was_asked_before(catalog_that):
    def body(catalog):
        for _ in range(3):
            catalog.call("listNamespaces")
        raise Unreachable("reset", catalog.exchanges[1])

    assert [e.ordinal for e in judged(catalog_that(), body).evidence] == [1, 2]


def test_what_may_explain_a_failure_depends_on_what_the_check_proves(catalog_that, monkeypatch):
    heard = []
    monkeypatch.setattr("icecheck.judging.judge.explained", lambda *told: heard.append(told[1]))

    def body(_):
        raise a_violation("x", "a", "b")

    assert judged(catalog_that(), body).outcome is Outcome.FAIL
    assert heard == [declared(body).proves]
