"""The catalog of the tests that judge checks made by hand."""

import httpx
import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.targets.target import Target
from tests.unit.answering import ANSWERED, TOKEN


@pytest.fixture
def catalog_that():
    """Make a catalog whose answers are given by a function of the request."""
    sessions = []

    def make(answer=lambda _: httpx.Response(200, json=ANSWERED), **target):
        def handler(request):
            if request.url.path == "/v1/config":
                return httpx.Response(200, json={"defaults": {}, "overrides": {}})
            return answer(request)

        reached = Target("http://h", isolation="flat", token=TOKEN, **target)
        session = open_session(reached, run_id="r1", transport=httpx.MockTransport(handler))
        session.connection._sleep = lambda _: None  # waiting takes no time here
        sessions.append(session)
        return Catalog(session, "some.check")

    yield make
    for session in sessions:
        session.close()
