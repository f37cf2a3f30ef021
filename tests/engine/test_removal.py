"""Removing what a check has made, from catalogs that refuse in their own words."""

import pytest
from tests.kill.lawful import lawful_session

from icecheck import bodies
from icecheck.client import Catalog
from icecheck.mock_server.context import Registries, Reply
from icecheck.mock_server.defects.rewriting import alter_error
from icecheck.mock_server.problem import Problem


@pytest.mark.parametrize("status", [400, 409, 422])
def test_a_namespace_that_holds_something_unasked_is_emptied_first(status: int) -> None:
    def install(registries: Registries) -> None:
        def other(_refused: Problem, reply: Reply) -> Reply:
            body = reply.body.replace(b'"code":409', b'"code":%d' % status)
            return Reply(status, reply.headers, body)

        alter_error(registries, "dropNamespace", other)

    with lawful_session(install) as session:
        catalog = Catalog(session, "some.check")
        namespace = catalog.given_namespace()
        # No name of the run's, so no ledger knows it: a server that reads false as a name.
        catalog.create_table(namespace, bodies.create_table_body("false")).expect(200)
        catalog.undo()
    assert session.residue == []
