"""A session on an in-process mock, and everything that is sent in it."""

import httpx
import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.judging.check import check_of
from icecheck.judging.judge import judge
from icecheck.mock_server import MockCatalog
from icecheck.targets.target import Target
from tests.kit.contracts import CONTRACT


class Sent:
    """What a transport passed on: (method, raw path with query, body) of every request."""

    def __init__(self):
        self.requests = []


class Recorder(httpx.BaseTransport):
    def __init__(self, below, sent):
        self._below = below
        self._sent = sent

    def handle_request(self, request):
        target = request.url.raw_path.decode()
        self._sent.requests.append((request.method, target, request.read()))
        return self._below.handle_request(request)


@pytest.fixture
def new_mock():
    return lambda: MockCatalog(seed=1, clock=1_700_000_000_000, root="s3://icecheck-tests")


@pytest.fixture
def run_check(new_mock):
    """Judge a check function on a mock; returns the verdict and what was sent."""

    def run(function, *, mock=None, seed=0, run_id="t1", replays=None, **target):
        sent = Sent()
        transport = Recorder((mock or new_mock()).httpx_transport(), sent)
        session = open_session(
            Target("http://catalog.invalid", warehouse="wh", **target),
            run_id=run_id,
            seed=seed,
            transport=transport,
        )
        session.replays = replays or session.replays
        session.keeps_full_namespaces = True  # as a run finds out with its first namespace
        check = check_of(function, CONTRACT)
        verdict = judge(check, Catalog(session, check.id))
        session.close()
        assert session.residue == []
        assert session.foreign == []
        return verdict, sent.requests

    return run
