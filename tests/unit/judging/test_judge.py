"""The judge: every way a check can end is a verdict, and what it made is removed."""

from dataclasses import replace

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace, given_table
from icecheck.client.opening import open_session
from icecheck.contract.register import Register
from icecheck.findings.verdict import Group, Outcome, SkipKind
from icecheck.judging.check import Unbound, check, check_of, declaration_of
from icecheck.judging.judge import judge
from icecheck.mock_server import MockCatalog
from icecheck.replies.expect import Reply
from icecheck.targets.target import Target
from tests.kit.contracts import CONTRACT
from tests.kit.findings import told


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
    declared = check_of(check("some.check", **given)(test_something), CONTRACT)
    return judge(declared, Catalog(session, "some.check"))


def raising(error):
    def body(catalog):
        raise error

    return body


def test_a_violation_fails_with_what_shows_it(session):
    def body(catalog):
        catalog.create_namespace(given_namespace(catalog)).expect(200)

    verdict = judged(session, body)
    assert verdict.outcome is Outcome.FAIL
    assert told(verdict.findings[0]) == ("status", "200", "409")
    shown = verdict.evidence[-1]
    assert shown.status == 409
    assert "$ICECHECK_TOKEN" in shown.curl
    assert "tok-canary-1" not in repr(verdict)


def test_an_interrupt_is_no_verdict_and_still_cleans_up(session):
    made = []

    def body(catalog):
        made.append(given_namespace(catalog))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judged(session, body)
    assert Catalog(session, "after").load_namespace_metadata(made[0]).status == 404


def test_a_check_of_an_unknown_requirement_cannot_be_bound():
    def test_tea(catalog):
        """Tea is refused."""

    declared = check("x", proves="createNamespace.418", group=Group.CHECKS)(test_tea)
    with pytest.raises(Unbound, match="no such requirement"):
        check_of(declared, CONTRACT)


def test_a_check_is_bound_to_a_version_when_it_is_asked_for_not_when_it_is_declared():
    def test_something(catalog):
        """Something holds."""

    check("x", proves="no.such", group=Group.CHECKS)(test_something)
    declared = declaration_of(test_something)
    assert (declared.id, declared.title, declared.proves) == ("x", "Something holds", ("no.such",))


def test_a_check_of_another_version_only_is_none_of_this_one(monkeypatch):
    def test_something(catalog):
        """Something holds."""

    check("x", proves=("getConfig.200", "made.up"), group=Group.CHECKS)(test_something)
    register = Register(CONTRACT.requirements, {"made.up": "since 1.11.0"})
    monkeypatch.setattr("icecheck.contract.register.register_of", lambda _version: register)
    assert check_of(test_something, CONTRACT) is None


def test_a_check_never_mixes_levels():
    def test_two(catalog):
        """Two levels."""

    both = ("createNamespace.409", "createNamespace.401")
    check("x", proves=both, group=Group.CHECKS)(test_two)
    with pytest.raises(Unbound, match="mixes levels"):
        check_of(test_two, CONTRACT)


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


def test_an_arrange_step_that_this_user_may_not_do_is_no_fault(session, monkeypatch):
    monkeypatch.setattr(session.connection, "send", refused(session, 403))
    verdict = judged(session, given_table)
    assert verdict.skip.kind is SkipKind.MISSING_FIXTURE


def test_what_was_made_before_a_check_blocks_it_by_its_own_shape(session):
    def body(catalog):
        given_table(catalog)
        made = replace(catalog.exchanges.pop(), check="another", response_body=b'{"metadata": {}}')
        catalog.setup_exchanges.append(made)
        catalog.list_namespaces().expect(200)
        return Reply(made, session.schemas).json()["metadata-location"]

    verdict = judged(session, body)
    assert (verdict.outcome, verdict.blocked_by) == (Outcome.BLOCKED, ("schema.createTable.200",))
    assert {each.ordinal for each in verdict.evidence} == {0}


def test_a_mistake_in_explaining_a_failure_is_an_error_of_the_suite(session, monkeypatch):
    def mistaken(*_):
        raise KeyError("x")

    monkeypatch.setattr("icecheck.judging.judge.explained", mistaken)
    verdict = judged(
        session, lambda catalog: given_namespace(catalog) and catalog.get_config().expect(404)
    )
    assert verdict.outcome is Outcome.ERROR
