"""When exchanges are judged passively, and what is left out of it."""

import pytest

from icecheck.findings.verdict import Outcome
from icecheck.judging.observing import PassiveObserver
from icecheck.judging.passive import passive_verdicts
from icecheck.wire.exchange import Exchange, Step
from tests.kill.killing import mock_session
from tests.kit.contracts import CONTRACT

PAGE = "schema.listNamespaces.200"


def a_login_page(check: str) -> Exchange:
    return Exchange(
        check=check,
        ordinal=1,
        step=Step.PROBE,
        operation="listNamespaces",
        method="GET",
        url="http://catalog.invalid/v1/namespaces",
        request_headers=(),
        request_body=None,
        status=200,
        response_headers=(("content-type", "text/html"),),
        response_body=b"<html>Sign in</html>",
    )


def failed(observer: PassiveObserver) -> set[str]:
    verdicts = passive_verdicts(observer.observed, CONTRACT)
    return {v.check for v in verdicts if v.outcome is Outcome.FAIL}


@pytest.mark.parametrize("strangers", [True, False])
def test_a_page_is_judged_unless_something_else_answered_in_the_catalogs_place(strangers):
    """Another thread may take the page in before the one that asked knows what it means."""
    with mock_session() as (_, session):
        session.exchanges.clear()
        observer = PassiveObserver(session, None)
        session.exchanges.append(a_login_page("probe.witness"))
        observer.take()
        session.strangers = strangers
        observer.end()
    assert failed(observer) == (set() if strangers else {PAGE})


def test_what_pages_showed_is_added_once():
    with mock_session() as (_, session):
        session.exchanges.clear()
        observer = PassiveObserver(session, None)
        session.exchanges.append(a_login_page("probe.witness"))
        observer.end()
        observer.end()
    assert observer.observed[PAGE].seen == 1
