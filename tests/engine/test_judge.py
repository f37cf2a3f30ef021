"""The judge: every way a check can end is a verdict, and what it made is removed."""

from dataclasses import replace

import pytest

from icecheck.bodies import create_table_body
from icecheck.check import check, check_of
from icecheck.client import Catalog
from icecheck.expect import Blocked, NotOffered, Unreachable, Violation
from icecheck.judge import judge
from icecheck.mock_server import MockCatalog
from icecheck.session import open_session
from icecheck.target import Target
from icecheck.verdict import Group, Level, Outcome, SkipKind

HIDDEN = "icecheck_hidden"


@pytest.fixture(scope="module")
def session():
    mock = MockCatalog(seed=1, token="tok-canary-1", hidden=("loadCredentials",))
    opened = open_session(
        Target("http://mock.invalid", warehouse="w", token="tok-canary-1"),
        run_id="r1",
        transport=mock.httpx_transport(),
    )
    yield opened
    opened.close()
    mock.stop()


def judged(session, body, **settings):
    def test_something(catalog):
        """Something holds."""
        body(catalog)

    given = {"proves": "createNamespace.409", "group": Group.CHECKS, **settings}
    declared = check_of(check("some.check", **given)(test_something))
    return judge(declared, Catalog(session, "some.check"))


def raising(error):
    def body(catalog):
        raise error

    return body


def test_a_check_that_returns_passes(session):
    verdict = judged(session, lambda catalog: catalog.given_namespace())
    assert verdict.outcome is Outcome.PASS
    assert verdict.requests == 2
    assert verdict.level is Level.MUST
    assert verdict.title == "Something holds"


def test_a_violation_fails_with_what_shows_it(session):
    def body(catalog):
        catalog.create_namespace(catalog.given_namespace()).expect(200)

    verdict = judged(session, body)
    assert verdict.outcome is Outcome.FAIL
    assert verdict.findings[0].key == ("status", "200", "409")
    shown = verdict.evidence[-1]
    assert shown.status == 409
    assert "$ICECHECK_TOKEN" in shown.curl
    assert "tok-canary-1" not in repr(verdict)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (Violation("x", "a", "b"), Outcome.FAIL),
        (Blocked("createTable.200", "it failed"), Outcome.BLOCKED),
        (NotOffered("not there"), Outcome.SKIP),
        (Unreachable("reset"), Outcome.BLOCKED),
        (ZeroDivisionError("ours"), Outcome.ERROR),
        (AssertionError("ours too"), Outcome.ERROR),
    ],
)
def test_every_ending_has_its_outcome(session, error, outcome):
    assert judged(session, raising(error)).outcome is outcome


def test_an_unreachable_target_is_what_blocks(session):
    assert judged(session, raising(Unreachable("reset"))).blocked_by == ("target",)


def test_an_interrupt_is_no_verdict_and_still_cleans_up(session):
    made = []

    def body(catalog):
        made.append(catalog.given_namespace())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judged(session, body)
    assert Catalog(session, "after").load_namespace_metadata(made[0]).status == 404


def test_an_operation_that_is_not_claimed_is_skipped_and_nothing_is_sent(session):
    verdict = judged(session, raising(AssertionError), proves="loadCredentials.200")
    assert verdict.outcome is Outcome.SKIP
    assert verdict.skip.kind is SkipKind.NOT_DECLARED
    assert "loadCredentials" in verdict.summary
    assert verdict.requests == 0


def test_a_capability_that_is_missing_skips_as_not_applicable(session):
    session.capabilities["pagination"] = False
    try:
        verdict = judged(session, raising(AssertionError), needs=("pagination",))
    finally:
        del session.capabilities["pagination"]
    assert verdict.skip.kind is SkipKind.NOT_APPLICABLE


def test_a_check_of_an_unknown_requirement_cannot_be_declared():
    with pytest.raises(ValueError, match="no such requirement"):
        check("x", proves="createNamespace.418", group=Group.CHECKS)(lambda _: None)


def test_a_check_never_mixes_levels():
    def test_two(catalog):
        """Two levels."""

    with pytest.raises(ValueError, match="mixes levels"):
        check("x", proves=("createNamespace.409", "createNamespace.401"), group=Group.CHECKS)(
            test_two
        )


def test_a_check_without_a_title_cannot_be_declared():
    with pytest.raises(ValueError, match="docstring"):
        check("x", proves="createNamespace.409", group=Group.CHECKS)(lambda _: None)


def refused(session, status):
    """A catalog like the session's that refuses every change with one status."""
    faithful = session.connection.send

    def send(wire, record):
        if wire.method == "POST":
            # Nothing may come of it: what is asked of the catalog instead changes nothing.
            asked = faithful(replace(wire, method="GET", body=None), lambda _: None)
            record(exchange := replace(asked, method="POST", status=status))
            return exchange
        return faithful(wire, record)

    return send


@pytest.mark.parametrize(
    ("status", "kind"), [(403, SkipKind.MISSING_FIXTURE), (406, SkipKind.NOT_APPLICABLE)]
)
def test_a_documented_refusal_is_no_fault_of_the_catalog(session, monkeypatch, status, kind):
    def body(catalog):
        catalog.create_namespace(catalog.new_namespace_name()).expect(200)

    monkeypatch.setattr(session.connection, "send", refused(session, status))
    verdict = judged(session, body, proves="createNamespace.200")
    assert verdict.outcome is Outcome.SKIP
    assert verdict.skip.kind is kind


def test_a_refusal_that_no_table_lists_is_a_fault(session, monkeypatch):
    def body(catalog):
        namespace = catalog.given_namespace()
        monkeypatch.setattr(session.connection, "send", refused(session, 406))
        catalog.create_table(namespace, create_table_body(catalog.new_name())).expect(200)

    verdict = judged(session, body, proves="createTable.200")
    assert verdict.outcome is Outcome.FAIL


def test_an_arrange_step_that_this_user_may_not_do_is_no_fault(session, monkeypatch):
    monkeypatch.setattr(session.connection, "send", refused(session, 403))
    verdict = judged(session, lambda catalog: catalog.given_table())
    assert verdict.skip.kind is SkipKind.MISSING_FIXTURE
