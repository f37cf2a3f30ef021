"""Open routes: strangers may use a reading route, but no writing one where others are closed."""

from collections.abc import Callable

import pytest

from icecheck.client.catalog import Catalog
from icecheck.findings.verdict import Outcome, SkipKind, Verdict
from icecheck.judging.judge import judge
from icecheck.mock_server.core.context import Registries, Reply, Request
from icecheck.mock_server.defects.security.bearer_tokens import is_at
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.security.callers import Security
from icecheck.proof.defective import defective_session
from tests.kill.killing import checks_of, run_check

CHECKS = {check.id: check for check in checks_of("test_authorization")}
NOTHING = {
    "loadCredentials": {"storage-credentials": []},
    "loadTable": {"metadata": {}},
    "listNamespaces": {"namespaces": []},
    "loadView": {},
}


def on_route(operation_id: str, answer: Reply | None) -> Callable[[Registries], None]:
    """Let all requests use one route, or give strangers this answer there, if there is one."""

    def install(registries: Registries) -> None:
        faithful = registries.gates["authorization"]

        def gate(request: Request, security: Security) -> Reply | None:
            refusal = faithful(request, security)
            return answer if refusal is not None and is_at(request, operation_id) else refusal

        registries.gates["authorization"] = gate

    return install


def verdict_on(operation_id: str, answer: Reply | None) -> Verdict:
    check = CHECKS[f"{operation_id}.bad-token"]
    with defective_session([on_route(operation_id, answer)]) as (_, session):
        return judge(check, Catalog(session, check.id))


@pytest.mark.parametrize("operation_id", [*NOTHING, "namespaceExists", "reportMetrics"])
def test_a_route_that_answers_strangers_as_anybody_is_open(operation_id: str) -> None:
    verdict = verdict_on(operation_id, None)
    assert verdict.skip is not None
    assert verdict.skip.kind is SkipKind.NOT_APPLICABLE


@pytest.mark.parametrize("operation_id", NOTHING)
def test_a_route_that_has_nothing_for_strangers_is_not_open(operation_id: str) -> None:
    verdict = verdict_on(operation_id, replies.json_reply(NOTHING[operation_id]))
    assert verdict.outcome is Outcome.FAIL
    assert verdict.findings[0].symptom.slug == "leak:false-token"


@pytest.mark.parametrize("operation_id", ["createNamespace", "renameTable", "commitTransaction"])
def test_a_route_that_writes_is_not_open_where_others_are_closed(operation_id: str) -> None:
    assert verdict_on(operation_id, None).outcome is Outcome.FAIL


def test_refusals_are_judged_beside_a_route_that_takes_any_token() -> None:
    check = CHECKS["auth.refused-changes-nothing"]
    verdict = run_check(check, ("auth-any-token-updateTable", "auth-drop-checked-too-late"))
    assert verdict.findings[0].symptom.slug == "changed-although-refused"


def test_a_success_on_one_route_is_no_change_by_another() -> None:
    check = CHECKS["auth.refused-changes-nothing"]
    for operation_id in ("updateTable", "createTable", "dropTable"):
        assert run_check(check, (f"auth-any-token-{operation_id}",)).outcome is Outcome.PASS
