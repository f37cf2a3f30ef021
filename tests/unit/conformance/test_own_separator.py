"""A catalog that announces a separator of its own is addressed with it, and not blamed for it."""

import json
import re

import httpx
import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.conformance.names import test_names as names
from icecheck.findings.verdict import Outcome
from icecheck.judging.check import check_of
from icecheck.judging.judge import judge
from icecheck.mock_server import MockCatalog
from icecheck.targets.target import Target
from tests.kill.killing import checks_of
from tests.kit.contracts import CONTRACT

NAMESPACE_IN_PATH = re.compile(r"(?<=/namespaces/)[^/?]+|(?<=[?&]parent=)[^&]+")


THOUSANDS = "-many"
"""What the ids of checks end with that make thousands of objects."""


class DottedCatalog(httpx.BaseTransport):
    """The mock behind a door where levels end at a dot, however it is written."""

    def __init__(self, mock, announced):
        self.inner = mock.httpx_transport()
        self.announced = announced

    def handle_request(self, request):
        path = request.url.raw_path.decode()
        path = NAMESPACE_IN_PATH.sub(lambda m: re.sub(r"\.|%2[eE]", "%1F", m[0]), path)
        url = request.url.copy_with(raw_path=path.encode())
        passed = httpx.Request(
            request.method, url, headers=request.headers, content=request.content
        )
        answer = self.inner.handle_request(passed)
        body = answer.read()
        if request.url.path == "/v1/config":
            config = json.loads(body)
            config["overrides"]["namespace-separator"] = self.announced
            return httpx.Response(200, json=config)
        return answer


def test_a_catalog_with_a_separator_of_its_own_passes_wherever_a_dot_is_not_the_question():
    modules = ("test_names", "test_listing", "test_pagination", "test_namespaces")
    checks = [check for check in checks_of(*modules) if not check.id.endswith(THOUSANDS)]
    with MockCatalog(seed=1, root="memory://dots") as mock:
        door = DottedCatalog(mock, "%2E")
        session = open_session(Target(mock.uri, warehouse="dots"), run_id="all", transport=door)
        verdicts = [judge(check, Catalog(session, check.id)) for check in checks]
        session.close()
    assert [v.summary for v in verdicts if v.outcome not in {Outcome.PASS, Outcome.SKIP}] == []
    passed = {v.check for v in verdicts if v.outcome is Outcome.PASS}
    assert "listNamespaces.multipart-parent" in passed
    assert session.residue == []


@pytest.mark.parametrize("announced", [".", "%2E", "%2e"])
@pytest.mark.parametrize("function", [names.test_a_dot_in_a_name, names.test_levels_are_not_joined])
def test_a_dot_is_no_part_of_a_name_where_it_ends_a_level(function, announced):
    check = check_of(function, CONTRACT)
    with MockCatalog(seed=1, root="memory://dots") as mock:
        target = Target(mock.uri, warehouse="dots")
        door = DottedCatalog(mock, announced)
        session = open_session(target, run_id="dots", transport=door)
        verdict = judge(check, Catalog(session, check.id))
        nested = session.isolation.mode
        session.close()
    assert verdict.outcome is Outcome.SKIP, verdict.summary
    assert "end of a level" in verdict.summary
    assert nested == "nested"  # levels joined by a dot did reach the catalog as levels
    assert session.residue == []
