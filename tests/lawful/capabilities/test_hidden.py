"""For a catalog without one of the 30 operations, the report says so and finds no fault."""

import json

import httpx
import pytest

from icecheck.client.opening import open_session
from icecheck.findings.verdict import SkipKind
from icecheck.mock_server import MockCatalog
from icecheck.targets.target import Target
from icecheck.wire.connection import TargetUnusable
from tests.kill.killing import ADDRESS, TOKEN, WAREHOUSE
from tests.kit.contracts import CONTRACT
from tests.kit.shares import in_shares, some
from tests.lawful.capabilities.serving import said_of
from tests.lawful.capabilities.watching import watched

OPERATIONS = CONTRACT.operations
# No client works without this operation.
HIDEABLE = [id_ for id_ in OPERATIONS if id_ != "getConfig"]
# Verdict-rules 13: without these a run stops before it creates anything, unless it may leave it.
REMOVING = {"dropNamespace", "dropTable", "dropView"}


@in_shares
@pytest.mark.parametrize("operation_id", some(HIDEABLE, 5))
def test_one_operation_is_not_offered_and_nothing_else_is_wrong(operation_id: str) -> None:
    checks = watched().checks_of_operation(operation_id)
    assert len(checks) > 0
    removing = operation_id in REMOVING
    said = said_of(checks, hidden=(operation_id,), accept_residue=removing)
    assert said.wrong == []
    assert said.lacking == set()
    assert bool(said.residue) is removing
    row = said.claim(f"endpoint:{OPERATIONS[operation_id].endpoint}")
    # No list of endpoints has to name the token endpoint, and without it no request could test it.
    assert row.assessment == ("unknown" if operation_id == "getToken" else "not-supported")
    blamed = {"false-advertising", "false-acceptance", "served-but-undeclared", "not-supported"}
    said_of_others = {other.id: other.assessment for other in said.claims if other.id != row.id}
    assert blamed.isdisjoint(said_of_others.values())


@pytest.mark.parametrize("operation_id", sorted(REMOVING))
def test_what_cannot_be_removed_is_not_made(operation_id: str) -> None:
    checks = watched().checks_of_operation(operation_id)
    with pytest.raises(TargetUnusable, match=f"not {operation_id}"):
        said_of(checks, hidden=(operation_id,))


def test_without_getconfig_there_is_no_catalog() -> None:
    mock = MockCatalog(seed=1, token=TOKEN)
    served = mock.httpx_transport()

    class Hidden(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if request.url.path == "/v1/config":
                return httpx.Response(404, content=b"no such route")
            return served.handle_request(request)

    with pytest.raises(TargetUnusable, match="no Iceberg REST catalog"):
        open_session(
            Target(ADDRESS, warehouse=WAREHOUSE, token=TOKEN), run_id="lack", transport=Hidden()
        )
    mock.stop()


def test_a_hidden_operation_is_neither_claimed_nor_answered() -> None:
    mock = MockCatalog(seed=1, token=TOKEN, hidden=("listViews",))
    with httpx.Client(transport=mock.httpx_transport(), base_url=ADDRESS) as client:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        config = json.loads(client.get("/v1/config", headers=headers).content)
        answer = client.get(f"/v1/{WAREHOUSE}/namespaces/n/views", headers=headers)
    mock.stop()
    assert OPERATIONS["listViews"].endpoint not in config["endpoints"]
    assert answer.status_code in {404, 405, 406}


def test_checks_of_what_is_hidden_are_skipped_as_not_declared() -> None:
    about = [c for c in watched().checks_of_operation("reportMetrics") if "metric" in c.id.lower()]
    said = said_of(about, hidden=("reportMetrics",))
    kinds = {v.skip.kind for v in said.verdicts if v.skip is not None}
    assert kinds == {SkipKind.NOT_DECLARED}
