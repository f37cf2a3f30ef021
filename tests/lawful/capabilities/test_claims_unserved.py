"""A catalog that claims something and serves nothing of it never ends green."""

import httpx
import pytest

from icecheck.findings.verdict import Group, Outcome, Run
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.protocol.problem import Problem
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.target import Target
from tests.kit.shares import some

TABLE = "/v1/{prefix}/namespaces/{namespace}/tables/{table}"
ALONE = {
    "read": f"GET {TABLE}",
    "views": "GET /v1/{prefix}/namespaces/{namespace}/views/{view}",
    "metrics": f"POST {TABLE}/metrics",
    "credentials": f"GET {TABLE}/credentials",
}
ALL = {*MockCatalog(seed=1).registries.updates}


def run_on(endpoint: str, **options: object) -> Run:
    """A run on a catalog that claims one operation, and answers everything with 404."""
    config = {"defaults": {}, "overrides": {}, "endpoints": [endpoint]}
    missing = {"message": "no", "type": "NoSuchNamespaceException", "code": 404}

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/v1/config"):
            return httpx.Response(200, json=config)
        return httpx.Response(404, json={"error": missing})

    chosen = {"run_id": "r1", "groups": (Group.CHECKS,), **options}
    target = Target("http://catalog.invalid")
    return run_checks(RunOptions(target, **chosen), transport=httpx.MockTransport(handler))


@pytest.mark.parametrize(("profile", "endpoint"), some(ALONE.items(), 3))
def test_a_claim_of_which_no_success_was_seen_is_not_green(profile, endpoint):
    run = run_on(endpoint)
    statuses = {p.id: p.status for p in run.profiles}
    assert (statuses[profile], run.status) == ("not-verified", "partial")
    assert (run.exit_code, run.exit_reason) == (5, "nothing-verified")
    assert f"too little was verified of {profile}" in run.headline


def test_refusals_alone_verify_no_profile():
    """Whoever answers 404 to everything is right about what is not there."""
    run = run_on("HEAD /v1/{prefix}/namespaces/{namespace}")
    passed = {v.check for v in run.verdicts if v.outcome == "pass"}
    assert "namespaceExists.missing" in passed
    assert {p.id: p.status for p in run.profiles}["read"] == "not-verified"
    assert run.exit_code == 5


@pytest.mark.parametrize(
    ("allowed", "ends"),
    some(
        [
            ({"set-properties"}, (5, "not-verified")),
            # Rights may differ by the kind of update: to lack a few of them is no fault.
            (ALL - {"remove-schemas", "remove-partition-specs"}, (0, "partial")),
        ],
        2,
    ),
)
def test_commits_that_are_mostly_forbidden_are_not_verified(allowed, ends):
    mock = MockCatalog(seed=1)

    def forbid(*_: object) -> None:
        raise Problem(403, "ForbiddenException", "Not for you")

    updates = mock.registries.updates
    updates |= dict.fromkeys({*updates} - allowed, forbid)
    options = RunOptions(Target("http://mock.invalid"), run_id="r1", groups=(Group.CHECKS,))
    run = run_checks(options, transport=mock.httpx_transport())
    failed = {v.check for v in run.verdicts if v.outcome is Outcome.FAIL and v.level == "must"}
    assert failed == set()
    assert (run.exit_code, {p.id: p.status for p in run.profiles}["write"]) == ends
