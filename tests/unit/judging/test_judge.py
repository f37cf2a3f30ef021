"""The judge: every way a check can end is a verdict, and what it made is removed."""

import json
from dataclasses import replace

import httpx
import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace, given_table
from icecheck.client.opening import open_session
from icecheck.findings.verdict import Group, Outcome
from icecheck.judging.check import check, check_of, declaration_of
from icecheck.judging.judge import judge
from icecheck.mock_server import MockCatalog
from icecheck.replies.expect import Reply
from icecheck.targets.target import Target
from tests.kit.contracts import CONTRACT
from tests.unit.answering import declared


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


def test_an_interrupt_is_no_verdict_and_still_cleans_up(session):
    made = []

    def body(catalog):
        made.append(given_namespace(catalog))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judged(session, body)
    assert Catalog(session, "after").load_namespace_metadata(made[0]).status == 404


def test_a_check_is_bound_to_a_version_when_it_is_asked_for_not_when_it_is_declared():
    def test_something(catalog):
        """Something holds."""

    check("x", proves="no.such", group=Group.CHECKS)(test_something)
    declared = declaration_of(test_something)
    assert (declared.id, declared.title, declared.proves) == ("x", "Something holds", ("no.such",))


def test_a_check_without_a_title_cannot_be_declared():
    with pytest.raises(ValueError, match="docstring"):
        check("x", proves="createNamespace.409", group=Group.CHECKS)(lambda _: None)


def test_what_was_made_before_a_check_blocks_it_by_its_own_shape(session):
    def body(catalog):
        given_table(catalog)
        made = replace(catalog.exchanges.pop(), check="another", response_body=b'{"metadata": {}}')
        catalog.borrowed.setup.append(made)
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


def test_an_exchange_is_shown_as_it_was_kept_when_its_secrets_were_known(catalog_that):
    """Of vended values only the last ones are known."""
    vended = [
        "vended/canary+0123456789",
        *(f"vended-Session-{number:04d}-x" for number in range(200)),
    ]
    first, *later = (json.dumps({"s3.session-token": each}).encode() for each in vended)

    def body(catalog):
        redactor = catalog.session.connection.redactor
        redactor.learn(first)
        answer = catalog.call("listNamespaces")
        for each in later:
            redactor.learn(each)
        answer.expect(500)

    catalog = catalog_that(lambda _: httpx.Response(200, json={"note": vended[0]}))
    verdict = judge(declared(body), catalog)
    assert verdict.evidence
    assert "canary" not in repr(verdict)
