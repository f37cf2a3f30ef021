"""A creation of the setup whose answer is lost is read back, and sent again if nothing is there."""

import httpx
import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace, given_table
from icecheck.client.opening import open_session
from icecheck.mock_server import MockCatalog
from icecheck.objects.views import given_view
from icecheck.targets.target import Target
from icecheck.wire.unreachable import Unreachable

GIVEN = {"namespaces": given_namespace, "tables": given_table, "views": given_view}
"""The last part of the path of a creation -> the setup step that sends it."""


class Losing(httpx.BaseTransport):
    """A way on which the answer to a creation is lost, before or after it is carried out."""

    def __init__(self, way: httpx.BaseTransport) -> None:
        self._way = way
        self.path, self.losses, self.carries_out = "", 0, False
        self.sent = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Hand a request on; raise ReadTimeout in place of some of the answers."""
        if request.method == "POST" and request.url.path.endswith(f"/{self.path}"):
            self.sent += 1
            if self.losses:
                self.losses -= 1
                if self.carries_out:
                    self._way.handle_request(request)
                raise httpx.ReadTimeout("timed out", request=request)
        return self._way.handle_request(request)


@pytest.fixture
def losing():
    """A catalog on such a way, and the way; nothing is left on the mock in the end."""
    with MockCatalog(seed=1) as mock:
        way = Losing(mock.httpx_transport())
        session = open_session(Target("http://mock.invalid"), run_id="lost", transport=way)
        catalog = Catalog(session, "lost")
        given_view(catalog)  # the shared namespace is there
        yield catalog, way
        way.losses = 0
        catalog.undo()
        session.close()
        assert session.residue == []


@pytest.mark.parametrize("carries_out", [True, False])
@pytest.mark.parametrize("path", GIVEN)
def test_a_lost_creation_is_there_once(losing, path, carries_out):
    catalog, way = losing
    way.path, way.losses, way.carries_out = path, 1, carries_out
    made = GIVEN[path](catalog)
    assert way.sent == (1 if carries_out else 2)
    if path == "namespaces":
        assert catalog.namespace_exists(made).status == 204
    else:
        assert made.uuid
        assert made.metadata_location


@pytest.mark.parametrize("path", GIVEN)
def test_a_creation_that_is_lost_again_ends_the_setup(losing, path):
    catalog, way = losing
    way.path, way.losses = path, 2
    with pytest.raises(Unreachable):
        GIVEN[path](catalog)


def test_a_creation_that_is_carried_out_late_ends_the_setup_and_blames_nobody(losing):
    catalog, way = losing
    way.path, way.losses, way.carries_out = "tables", 1, True
    before = catalog.load_table
    answers = []

    def too_early(namespace, name, *more, **named):
        answers.append(before((*namespace[:-1], "nowhere"), name, *more, **named))
        return answers[-1]

    catalog.load_table = too_early
    with pytest.raises(Unreachable):
        given_table(catalog)
    assert [each.status for each in answers] == [404]
