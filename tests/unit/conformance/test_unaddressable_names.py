"""A catalog behind a door that lets no encoded slash or percent sign through is left empty."""

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
from tests.kit.contracts import CONTRACT

PAGE = {"message": "Ambiguous URI path encoding", "status": "400"}


class StrictDoor(httpx.BaseTransport):
    """The mock behind a web server that refuses paths which could be read in two ways."""

    def __init__(self, mock):
        self.inner = mock.httpx_transport()

    def handle_request(self, request):
        path = request.url.raw_path.decode().lower()
        if "%2f" in path or "%25" in path:
            return httpx.Response(400, json=PAGE)
        return self.inner.handle_request(request)


@pytest.mark.parametrize(
    "function", [names.test_a_slash_in_a_name, names.test_a_percent_sign_in_a_name]
)
def test_what_could_not_be_dropped_again_is_not_made(function):
    check = check_of(function, CONTRACT)
    with MockCatalog(seed=1, root="memory://door") as mock:
        target = Target(mock.uri, warehouse="door")
        session = open_session(target, run_id="door", transport=StrictDoor(mock))
        verdict = judge(check, Catalog(session, check.id))
        session.close()
    assert verdict.outcome is Outcome.SKIP, verdict.summary
    assert session.residue == []
